/** Somebody who types faster than their page can follow: only ours takes a text before it has the messages. */
import { assert } from "vitest"
import type { Tab } from "../tab.ts"
import type { Scenario } from "../theatre.ts"

/** Loads a page again, and keeps back what was said until it is let go. */
const reloadSlowly = async ({ page }: Tab): Promise<() => Promise<void>> => {
  const isHistory = /\/api\/chat\/[^/]+$/
  let release = () => {}
  const released = new Promise<void>((resolve) => release = resolve)
  await page.route(isHistory, async (route) => {
    await released
    await route.continue()
  })
  await page.reload()
  await page.getByText("Loading…").waitFor()
  return async () => {
    release()
    await page.getByText("Loading…").waitFor({ state: "hidden" })
    await page.unroute(isHistory)
  }
}

export const typing: ReadonlyArray<Scenario> = [
  {
    name: "what is typed before the messages are there is said when they are, once and in its order",
    act: async ({ tab }) => {
      const ada = await tab()
      const load = await reloadSlowly(ada)
      await ada.type("one")
      await ada.type("two")
      assert.strictEqual(await ada.page.getByRole("textbox", { name: "Message" }).inputValue(), "")
      assert.lengthOf(ada.posts, 0)
      await load()
      await ada.reads("You said two.")
      assert.deepStrictEqual(
        await ada.messages(),
        ["one", "You said one.", "two", "You said two."]
      )
      assert.lengthOf(ada.posts, 2)
    }
  },
  {
    name: "what is typed before a card is there does not take it back unless it is said again",
    act: async ({ ran, shoot, tab }) => {
      const ada = await tab()
      await ada.say("delete a.log")
      await ada.is("a.log", "open")
      await ada.rests()
      const load = await reloadSlowly(ada)
      await ada.type("hello")
      await load()
      await ada.is("a.log", "open")
      await ada.reads("Not sent. Something is asked above")
      await shoot(ada, "held back")
      assert.lengthOf(ada.posts, 1)
      await ada.approve("a.log")
      await ada.reads("Finished 1.")
      await ada.tryAgain()
      await ada.reads("You said hello.")
      assert.deepStrictEqual(ran(), ["delete a.log"])
    }
  }
]
