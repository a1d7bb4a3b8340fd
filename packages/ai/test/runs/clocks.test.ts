/**
 * L2, L4: a clock that ran ahead and came back opens nothing: what ran does not run again, what was over stays over, and
 * what was reclaimed meanwhile is no gap.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalController, LanguageModel, Prompt } from "../../src/index.ts"
import { failureReason } from "../laws/support.ts"
import * as Processes from "./processes.ts"
import * as R from "./support.ts"

const make = Effect.fnUntraced(function*(way: R.Way, expiresIn: "1 hour" | undefined) {
  const shared = yield* Processes.makeShared
  const process = Processes.make(shared)
  yield* TestClock.adjust("1 day")
  const world = yield* R.make(way, {
    turns: [[R.pay]],
    controller: ApprovalController.deferred,
    store: process.store,
    within: process.within,
    ...(expiresIn === undefined ? undefined : { approval: { expiresIn } })
  })
  yield* world.begin
  const [request] = world.conversation === undefined ? [] : yield* world.conversation.pending()
  const decide = (answer: Approval.ApprovalAnswer) => world.serving(world.conversation!.decide(answer))
  /** The clock is far ahead for a while, in which all is done that is done by the way. */
  const ahead = Effect.fnUntraced(function*(by: "2 hours" | "1000 days", during: Effect.Effect<unknown, unknown>) {
    process.setAhead(by)
    yield* during
    while ((yield* process.within(shared.sweep(100))) > 0);
    process.setAhead(0)
  })
  return { ahead, decide, request, shared, world }
})

describe("a clock that ran ahead and came back", () => {
  for (const expiresIn of ["1 hour", undefined] as const) {
    const which = expiresIn === undefined ? "that never expires" : "that expires"
    for (const by of ["2 hours", "1000 days"] as const) {
      R.inWays(`by ${by}: what ran under an approval ${which} does not run again`, function*(way) {
        const { ahead, decide, request, world } = yield* make(way, expiresIn)
        yield* decide(Approval.approve(request!))
        assert.strictEqual(world.count("Pay"), 1)
        yield* ahead(by, world.say("Are you there?"))
        assert.isTrue(Exit.isFailure(yield* Effect.exit(decide(Approval.approve(request!)))))
        assert.strictEqual(world.count("Pay"), 1)
      }, ["send"])

      R.inWays(`by ${by}: nor does it where the same history comes again, ${which}`, function*(way) {
        const { ahead, shared, world } = yield* make(way, expiresIn)
        const asked = yield* world.history
        const [open] = LanguageModel.collectToolApprovals(asked.content).pending
        const approved = Prompt.approvalResponses([Approval.approve({ approvalId: open!.approvalId })])
        yield* world.say(approved)
        assert.strictEqual(world.count("Pay"), 1)
        yield* ahead(by, world.say("Are you there?"))
        const again = yield* R.make(way, { turns: [], store: shared, controller: ApprovalController.deferred })
        yield* again.say(Prompt.concat(asked, approved))
        assert.deepStrictEqual([world.count("Pay"), again.count("Pay")], [1, 0])
      }, R.plainWays)
    }
  }

  R.inWays("what had expired then stays over: an approval of it runs nothing", function*(way) {
    const { ahead, decide, request, world } = yield* make(way, "1 hour")
    yield* ahead("2 hours", world.say("Are you there?"))
    assert.match(failureReason(yield* R.toldOf(world, "pay-1")), /expired/i)
    assert.deepStrictEqual(yield* world.conversation!.pending(), [])
    yield* Effect.exit(decide(Approval.approve(request!)))
    yield* world.say([])
    assert.strictEqual(world.count("Pay"), 0)
  }, ["send", "stream"])
})
