/** Somebody who is faster than their page, or does things twice: only ours takes a text before it has the messages. */
import { assert } from "vitest"
import type { Tab } from "../tab.ts"
import type { Scenario } from "../theatre.ts"

/** Loads a page again, and keeps back what was said until it is let go. */
const reloadSlowly = async ({ page }: Tab): Promise<() => Promise<void>> => {
  const isHistory = /\/api\/chat\/[^/]+$/
  let release = () => {}
  const released = new Promise<void>((resolve) => release = resolve)
  // Once: a route that is taken away as something is posted may hide that post from whoever counts.
  await page.route(isHistory, async (route) => {
    await released
    await route.continue()
  }, { times: 1 })
  await page.reload()
  await page.getByText("Loading…").waitFor()
  return async () => {
    release()
    await page.getByText("Loading…").waitFor({ state: "hidden" })
  }
}

export const hasty: ReadonlyArray<Scenario> = [
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
  },
  {
    name: "what was written and not sent is there again after a reload, and in another conversation it is not",
    isAlone: true,
    act: async ({ tab }) => {
      const ada = await tab()
      const field = ada.page.getByRole("textbox", { name: "Message" })
      ada.expect(/ERR_INTERNET_DISCONNECTED/)
      await ada.context.setOffline(true)
      await ada.say("hello")
      await ada.failsToPost()
      await field.fill("and then")
      await ada.context.setOffline(false)
      await ada.reload()
      await ada.reads("Not sent. The page was left before.")
      assert.strictEqual(await field.inputValue(), "and then")
      await ada.page.getByRole("button", { name: "New conversation" }).click()
      await ada.page.getByText("Try it").waitFor()
      assert.strictEqual(await field.inputValue(), "")
      await ada.page.goBack()
      await ada.reads("Not sent. The page was left before.")
      await ada.tryAgain()
      await ada.reads("You said hello.")
      await ada.reload()
      await ada.reads("You said hello.")
      assert.strictEqual(await ada.page.getByText("Not sent.").count(), 0)
      assert.strictEqual(await field.inputValue(), "and then")
      assert.deepStrictEqual(await ada.messages(), ["hello", "You said hello."])
    }
  },
  {
    name: "who presses Try again twice tries once",
    act: async ({ tab }) => {
      const ada = await tab()
      await ada.say("break")
      await ada.reads("The model did not answer.")
      await ada.rests()
      await ada.tryAgainTwice()
      await ada.reads("The model did not answer.")
      await ada.rests()
      assert.lengthOf(ada.posts, 2)
    }
  },
  {
    name: "a page that comes back to its screen and to the network at once reads what goes on once",
    act: async ({ stage, tab }) => {
      const ada = await tab()
      const bob = await tab("Bob")
      await bob.say("tell")
      await stage.said.until("begun story")
      await ada.page.evaluate(() => {
        for (const name of ["visibilitychange", "online", "online"]) dispatchEvent(new Event(name))
      })
      await ada.reads("Once upon a time")
      stage.release("story")
      await ada.reads("there was a queue.")
      await bob.reads("there was a queue.")
      assert.deepStrictEqual(await ada.messages(), ["tell", "Once upon a time there was a queue."])
    }
  }
]
