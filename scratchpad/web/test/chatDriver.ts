/** The page of this folder, whose client is `useChat` as it is on npm. */
import { type Driver, fill } from "./tab.ts"

export const driver: Driver = {
  name: "useChat",
  isLoaded: (page, chat) => page.locator(`[data-chat="${chat}"]`).waitFor(),
  edit: async (card, fields) => {
    await fill(card, fields)
    await card.getByRole("button", { name: /^Approve: / }).click()
  },
  deny: async (card, why) => {
    if (why !== undefined) await card.getByLabel("why not").fill(why)
    await card.getByRole("button", { name: /^Deny: / }).click()
  },
  answer: async (card, fields) => {
    await fill(card, fields)
    await card.getByRole("button", { name: /^Answer: / }).click()
  },
  unfold: async () => {},
  tryAgain: (page) => page.getByRole("button", { name: /^Try again/ }).click()
}
