/** Two people, or one with two tabs, at the same conversation. */
import { assert } from "vitest"
import type { Play, Scenario } from "../theatre.ts"

/** Ada has approved what Bob sees open still, and it runs. */
const approvedByAda = async ({ stage, tab }: Pick<Play, "stage" | "tab">) => {
  const ada = await tab()
  await ada.say("mail ann")
  await ada.is("ann", "open")
  const bob = await tab("Bob")
  await bob.is("ann", "open")
  await ada.approve("ann")
  await stage.said.until("begun mail ann")
  return { ada, bob }
}

export const together: ReadonlyArray<Scenario> = [
  {
    name: "two tabs approve while the tool runs: it runs once, and both read its result",
    act: async ({ ran, shoot, stage, tab }) => {
      const { ada, bob } = await approvedByAda({ stage, tab })
      await bob.approve("ann")
      await bob.is("ann", "answered", "running", "sending")
      await shoot(bob, "running")
      stage.release("mail ann")
      for (const one of [ada, bob]) {
        await one.is("ann", "done")
        await one.reads("sent to ann")
        await one.reads("by Ada")
      }
      await shoot(bob, "too late")
      assert.deepStrictEqual(ran(), ["mail ann"])
    }
  },
  {
    name: "who denies what is running already reads that it was approved, and by whom",
    act: async ({ ran, shoot, stage, tab }) => {
      const { ada, bob } = await approvedByAda({ stage, tab })
      await bob.deny("ann", "not now")
      stage.release("mail ann")
      await bob.is("ann", "done")
      await bob.reads("by Ada")
      await ada.is("ann", "done")
      await shoot(bob, "too late")
      assert.deepStrictEqual(ran(), ["mail ann"])
    }
  },
  {
    name: "a click on what was decided long ago changes nothing, and says what was decided",
    act: async ({ ran, shoot, tab }) => {
      const ada = await tab()
      await ada.say("delete a.log")
      await ada.is("a.log", "open")
      const bob = await tab("Bob")
      await bob.is("a.log", "open")
      await ada.deny("a.log", "we need it")
      await ada.is("a.log", "denied")
      await ada.reads("Finished 1.")
      await bob.approveIfOpen("a.log")
      await bob.is("a.log", "denied")
      await bob.reads("by Ada")
      await shoot(bob, "too late")
      assert.deepStrictEqual(ran(), [])
    }
  },
  {
    name: "a click on a card of an older message changes nothing, and closes it",
    act: async ({ ran, shoot, tab }) => {
      const bob = await tab("Bob")
      await bob.say("delete a.log")
      await bob.is("a.log", "open")
      const ada = await tab()
      await ada.is("a.log", "open")
      await ada.deny("a.log")
      await ada.reads("Finished 1.")
      // Bob's page learns of it by the click, under a message that was said since.
      await bob.say("hello")
      await bob.reads("You said hello.")
      await bob.approveIfOpen("a.log")
      await bob.is("a.log", "denied")
      await shoot(bob, "closed")
      assert.deepStrictEqual(ran(), [])
      await bob.reload()
      await bob.is("a.log", "denied")
    }
  },
  {
    name: "a new message closes the cards before it",
    act: async ({ ran, shoot, tab }) => {
      const ada = await tab()
      await ada.say("delete a.log")
      await ada.is("a.log", "open")
      await ada.say("hello")
      await ada.reads("You said hello.")
      await shoot(ada, "said")
      await ada.approveIfOpen("a.log")
      await ada.is("a.log", "denied", "failed", "unknown", "void")
      await shoot(ada, "closed")
      assert.deepStrictEqual(ran(), [])
    }
  }
]
