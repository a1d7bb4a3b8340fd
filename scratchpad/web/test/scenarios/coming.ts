/** Pages that are left and come back, and a network that goes. */
import { assert } from "vitest"
import type { Scenario } from "../theatre.ts"

export const coming: ReadonlyArray<Scenario> = [
  {
    name: "a page that is loaded again in the middle of an answer reads all of it, once",
    act: async ({ shoot, stage, tab }) => {
      const ada = await tab()
      await ada.say("tell")
      await stage.said.until("begun story")
      await ada.reads("Once upon a time")
      await ada.reload()
      await ada.reads("Once upon a time")
      await shoot(ada, "again")
      stage.release("story")
      await ada.reads("Once upon a time there was a queue.")
      assert.lengthOf((await ada.messages()).filter((text) => text.includes("Once upon")), 1)
      assert.lengthOf(ada.posts, 1)
    }
  },
  {
    name: "a page that is loaded again while an approved call runs shows that it does, and its result",
    act: async ({ ran, shoot, stage, tab }) => {
      const ada = await tab()
      await ada.say("mail ann")
      await ada.is("ann", "open")
      await ada.approve("ann")
      await stage.said.until("begun mail ann")
      await ada.reload()
      await ada.is("ann", "answered", "running")
      await shoot(ada, "again")
      stage.release("mail ann")
      await ada.is("ann", "done")
      await ada.reads("Finished 1.")
      assert.deepStrictEqual(ran(), ["mail ann"])
      assert.lengthOf(ada.posts, 2)
    }
  },
  {
    name: "who goes away and comes back by the back button finds the card open, and it can be answered",
    act: async ({ ran, shoot, stage, tab }) => {
      const ada = await tab()
      await ada.say("delete a.log")
      await ada.is("a.log", "open")
      await ada.page.goto(`${stage.url}/api/chat/${stage.chat}`)
      await ada.page.goBack()
      await ada.is("a.log", "open")
      await shoot(ada, "back")
      await ada.approve("a.log")
      await ada.is("a.log", "done")
      await ada.reads("Finished 1.")
      assert.deepStrictEqual(ran(), ["delete a.log"])
    }
  },
  {
    name: "who decided, went away and comes back by the back button finds what was decided",
    act: async ({ ran, stage, tab }) => {
      const ada = await tab()
      await ada.say("delete a.log")
      await ada.is("a.log", "open")
      await ada.approve("a.log")
      await ada.reads("Finished 1.")
      await ada.page.goto(`${stage.url}/api/chat/${stage.chat}`)
      await ada.page.goBack()
      await ada.is("a.log", "done")
      await ada.reads("Finished 1.")
      assert.deepStrictEqual(ran(), ["delete a.log"])
    }
  },
  {
    name: "a click without a network is not lost, and can be tried again",
    isAlone: true,
    act: async ({ ran, shoot, tab }) => {
      const ada = await tab()
      await ada.say("delete a.log")
      await ada.is("a.log", "open")
      ada.expect(/ERR_INTERNET_DISCONNECTED/)
      await ada.context.setOffline(true)
      await ada.approve("a.log")
      await ada.is("a.log", "answered", "unsent")
      await ada.failsToPost()
      await shoot(ada, "offline")
      assert.deepStrictEqual(ran(), [])
      await ada.context.setOffline(false)
      await ada.tryAgain()
      await ada.is("a.log", "done")
      await ada.reads("Finished 1.")
      assert.deepStrictEqual(ran(), ["delete a.log"])
    }
  },
  {
    name: "a message without a network is not lost, and is said once",
    isAlone: true,
    act: async ({ shoot, tab }) => {
      const ada = await tab()
      ada.expect(/ERR_INTERNET_DISCONNECTED/)
      await ada.context.setOffline(true)
      await ada.say("hello")
      await ada.failsToPost()
      await shoot(ada, "offline")
      await ada.context.setOffline(false)
      await ada.tryAgain()
      await ada.reads("You said hello.")
      await ada.reload()
      await ada.reads("You said hello.")
      assert.lengthOf((await ada.messages()).filter((text) => text.includes("You said hello.")), 1)
    }
  }
]
