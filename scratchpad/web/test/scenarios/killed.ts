/** The server is killed (`kill -9`), and another one goes on with the same file. */
import { assert } from "vitest"
import type { KillableScenario } from "../theatre.ts"

const gone = /ERR_(INCOMPLETE_CHUNKED_ENCODING|CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE)|network error/i

export const killed: ReadonlyArray<KillableScenario> = [
  {
    name: "killed in the middle of an answer: it is tried again, and said once",
    act: async ({ shoot, stage, tab }) => {
      const ada = await tab()
      ada.expect(gone)
      await ada.say("tell")
      await stage.said.until("begun story")
      await ada.reads("Once upon a time")
      await stage.kill()
      await shoot(ada, "killed")
      await stage.start()
      stage.release("story")
      await ada.tryAgain()
      await ada.reads("there was a queue.")
      await shoot(ada, "again")
      await ada.reload()
      await ada.reads("there was a queue.")
      const messages = await ada.messages()
      assert.lengthOf(messages.filter((text) => text.includes("tell")), 1, messages.join("\n"))
    }
  },
  {
    name: "killed between the question and the answer: the answer counts at the next one, once",
    act: async ({ ran, shoot, stage, tab }) => {
      const ada = await tab()
      ada.expect(gone)
      await ada.say("delete a.log")
      await ada.is("a.log", "open")
      await ada.rests()
      await stage.kill()
      await ada.approve("a.log")
      await ada.is("a.log", "answered", "unsent")
      await ada.failsToPost()
      await shoot(ada, "killed")
      await stage.start()
      await ada.tryAgain()
      await ada.is("a.log", "done")
      await ada.reads("Finished 1.")
      assert.deepStrictEqual(ran(), ["delete a.log"])
    }
  },
  {
    name: "killed while an approved call runs: nobody knows what it did, so it never runs again",
    act: async ({ ran, shoot, stage, tab }) => {
      const ada = await tab()
      ada.expect(gone)
      await ada.say("mail ann")
      await ada.is("ann", "open")
      await ada.approve("ann")
      await stage.said.until("begun mail ann")
      await stage.kill()
      await stage.start()
      stage.release("mail ann")
      await ada.tryAgain()
      await ada.is("ann", "failed", "unknown")
      await ada.reads("Finished 1.")
      await shoot(ada, "again")
      assert.deepStrictEqual(ran(), [])
      assert.lengthOf(stage.said.all.filter((word) => word === "begun mail ann"), 1)
    }
  }
]
