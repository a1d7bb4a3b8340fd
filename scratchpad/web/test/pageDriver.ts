/** The page of this repository, `scratchpad/web/page`. */
import * as Path from "node:path"
import { type Driver, fill } from "./tab.ts"

export const folder = Path.join(import.meta.dirname, "../page")

export const driver: Driver = {
  name: "our page",
  isLoaded: (page, chat) => page.locator(`[data-chat="${chat}"][aria-busy=false]`).waitFor(),
  edit: async (card, fields) => {
    await card.getByRole("button", { name: /^Edit: / }).click()
    await fill(card, fields)
    await card.getByRole("button", { name: /^Approve as edited: / }).click()
  },
  deny: async (card, why) => {
    await card.getByRole("button", { name: /^Deny: / }).click()
    if (why !== undefined) await card.getByLabel("Why not? The agent is told.").fill(why)
    await card.getByRole("button", { name: /^Deny: / }).click()
  },
  answer: async (card, fields) => {
    await fill(card, fields)
    await card.getByRole("button", { name: /^Answer: / }).click()
  },
  unfold: async (card) => {
    const fold = card.getByRole("button", { expanded: false })
    if (await fold.count() > 0) await fold.click()
  },
  // It comes back to a server that was gone by itself; who cannot wait presses "Try now".
  tryAgain: async (page) => {
    const lost = page.getByText("Connection lost.")
    if (await lost.isVisible()) {
      await page.getByRole("button", { name: "Try now" }).click({ timeout: 1_000 }).catch(() => undefined)
      await lost.waitFor({ state: "hidden" })
    }
    await page.getByRole("button", { name: /^Try again/ }).click()
  }
}
