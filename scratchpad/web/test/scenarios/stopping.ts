/** A turn that is stopped while it asks: only our page has a button for that. */
import { assert } from "vitest"
import type { Scenario } from "../theatre.ts"

const tooLate = "Your answer came too late."

const stopped = "Somebody stopped it. Nothing ran"

export const stopping: ReadonlyArray<Scenario> = [
  {
    name: "who stops a turn while a card is open reads that it did not run, and so does everybody else",
    act: async ({ ran, shoot, stage, tab }) => {
      const ada = await tab()
      await ada.say("both ann a.log")
      await ada.is("a.log", "open")
      const bob = await tab("Bob")
      await bob.is("a.log", "open")
      await ada.approve("ann")
      await stage.said.until("begun mail ann")
      const cleo = await tab("Cleo")
      await cleo.is("a.log", "open")
      await ada.stop()
      await ada.rests()
      for (const one of [ada, cleo]) {
        await one.is("ann", "unknown")
        await one.is("a.log", "void")
        await one.reads(stopped)
        await shoot(one, "stopped")
        assert.strictEqual(await one.card("a.log").getByRole("button", { name: /^(Approve|Deny|Edit)/ }).count(), 0)
      }
      stage.release("mail ann")
      // Bob's page was at rest, and learns of it as he answers.
      await bob.approveIfOpen("a.log")
      await bob.is("a.log", "void")
      await bob.reads(tooLate)
      await bob.reads(stopped)
      await shoot(bob, "clicked")
      for (const one of [ada, bob, cleo]) {
        await one.reload()
        await one.is("ann", "unknown")
        await one.is("a.log", "void")
      }
      await shoot(bob, "loaded again")
      assert.deepStrictEqual(ran(), [])
    }
  },
  {
    name: "who answers what was stopped meanwhile reads that, and nothing runs",
    act: async ({ ran, shoot, stage, tab }) => {
      const bob = await tab("Bob")
      await bob.say("delete a.log b.log")
      await bob.is("b.log", "open")
      await bob.rests()
      const ada = await tab()
      await ada.is("a.log", "open")
      const response = await ada.context.request.post(`${stage.url}/api/chat/${stage.chat}/stop`, { data: {} })
      assert.strictEqual(response.status(), 200)
      await ada.approve("a.log")
      await bob.deny("b.log", "not this")
      await ada.rests()
      await bob.rests()
      await shoot(ada, "too late")
      await shoot(bob, "too late")
      for (const one of [ada, bob]) {
        for (const path of ["a.log", "b.log"]) await one.is(path, "void")
        await one.reads(stopped)
        await one.reads(tooLate)
      }
      assert.deepStrictEqual(ran(), [])
    }
  }
]
