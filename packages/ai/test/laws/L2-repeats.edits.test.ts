/**
 * L2 and L11: a run of an idempotent tool whose parameters a person had edited, and whose outcome is unknown, is repeated
 * with those parameters if all that allowed them still does. With the parameters that were proposed it never runs.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalPolicy, Store, Tool, Toolkit } from "../../src/index.ts"
import { cuttable } from "../store/intercept.ts"
import { startProcess } from "../store/process.ts"
import { accidents, assertPaid, assertUnknown, type Begin, Pay, ran } from "./repeats.ts"
import * as Repeats from "./repeats.ts"
import * as Support from "./support.ts"

const editable = ApprovalPolicy.make(() => Approval.needsApproval({ editable: true }))

/** A payment of 1000, approved with an edit to 10, started, and cut off. */
const edited = { edited: 10, policy: editable } as const
const begin = (options: Begin) => Repeats.begin({ ...edited, ...options })

const ten = ran(10)

const judging = (judge: (amount: number) => ReturnType<Parameters<typeof ApprovalPolicy.make>[0]>) =>
  ApprovalPolicy.make((call) => judge((call.encodedParams as { readonly amount: number }).amount))

for (const ending of accidents) {
  describe(`L2 an edited call of an idempotent tool whose run ended in ${ending}`, () => {
    Support.forEachMode(
      `L2 after ${ending} it runs again, once, with the edited parameters, and the model is told of them`,
      function*(mode) {
        const { retry, script, tools } = yield* begin({ mode, ending })
        for (let i = 0; i < 3; i++) {
          assertPaid(yield* retry())
          const [sent] = yield* Support.sentResults(script)
          assert.include(JSON.stringify(sent!.modelOutput), "{\\\"amount\\\":10}")
        }
        assert.deepStrictEqual(tools.runs, [ten, ten])
      }
    )

    const policies: Record<string, ApprovalPolicy.Service> = {
      "lets nobody edit it": ApprovalPolicy.make(() => Approval.needsApproval({ editable: false })),
      "lets nobody edit what it was edited to": judging((amount) => Approval.needsApproval({ editable: amount > 100 })),
      "blocks the edited parameters": judging((amount) =>
        amount === 10 ? Approval.blocked("too little") : Approval.needsApproval({ editable: true })
      ),
      "fails for the edited parameters": judging((amount) =>
        amount === 10 ? Effect.fail("the database is down") : Approval.needsApproval({ editable: true })
      ),
      "blocks the tool": ApprovalPolicy.make(() => Approval.blocked("paying is off")),
      "fails": ApprovalPolicy.make(() => Effect.fail("the database is down"))
    }
    for (const [how, policy] of Object.entries(policies)) {
      Support.forEachMode(
        `L11 after ${ending} it does not run again under a policy that ${how} by now`,
        function*(mode) {
          const { retry, tools } = yield* begin({ mode, ending })
          assertUnknown(yield* retry({ policy }))
          assert.deepStrictEqual(tools.runs, [ten])
          assertPaid(yield* retry())
          assert.deepStrictEqual(tools.runs, [ten, ten], "nothing was used up")
        }
      )
    }

    Support.forEachMode(
      `L2 after ${ending} it never runs with other parameters, whatever is approved now`,
      function*(mode) {
        const { request, retry, to, tools } = yield* begin({ mode, ending })
        const plain = Approval.approve(request)
        const lists = [[], [plain], [to(1000)], [to(20)], [plain, to(20)], [to(20), plain]]
        for (const list of lists) assertUnknown(yield* retry({ prompt: Support.answers(...list) }))
        for (const list of [[plain, to(10)], [to(10), plain]]) yield* retry({ prompt: Support.answers(...list) })
        for (const run of tools.runs) assert.deepStrictEqual(run, ten)
      }
    )

    Repeats.staysAway({ ...edited, ending })

    Support.forEachMode(
      `L2 L11 after ${ending} it does not run again if what was shown has changed`,
      (mode) => Repeats.shownOtherwise({ ...edited, mode, ending })
    )
  })
}

describe("L2 an edited call of an idempotent tool that somebody stopped", () => {
  Support.forEachMode(
    "L2 Stop is final: an edit of a history is not run again by a retry of the turn",
    function*(mode) {
      const { request, retry, tools } = yield* begin({ mode, ending: "Stop" })
      assertUnknown(yield* retry())
      assertUnknown(yield* retry({ prompt: Support.answers(Approval.approve(request)) }))
      assert.deepStrictEqual(tools.runs, [ten])
    }
  )
})

describe("L2 an edit that the program vouches for", () => {
  for (const idempotent of [true, false]) {
    const then = idempotent ? "it runs again in the next, as it was edited" : "one that is not idempotent does not"
    it.effect(`L2 decided in a conversation whose process dies, ${then}`, () =>
      Effect.gen(function*() {
        const shared = yield* Store.makeMemory()
        const { cut, store } = cuttable(shared)
        const runs: Array<unknown> = []
        const hold = yield* Support.makeHold
        const pay = (params: { readonly amount: number }) =>
          Effect.suspend(() => {
            runs.push(params)
            return Effect.as(runs.length === 1 ? hold.wait : Effect.void, "paid")
          })
        const tool = Pay.annotate(Tool.Idempotent, idempotent)
        const kit = Toolkit.make(tool)
        const layer = kit.toLayer({ Pay: pay })
        const first = yield* startProcess(store, [[Support.call("c1", "Pay", { amount: 1000 })]], kit, layer)
        const asked = yield* first.send("Go.")
        if (asked._tag !== "Waiting") return assert.fail("it was not asked about")
        const edited = Approval.approve(asked.requests[0]!, { params: { amount: 10 } })
        yield* Effect.forkChild(first.decide(edited), { startImmediately: true })
        yield* hold.entered
        cut()
        yield* TestClock.adjust("5 minutes")
        const second = yield* startProcess(shared, [], kit, layer)
        const fiber = yield* Effect.forkChild(second.send([]), { startImmediately: true })
        assert.isTrue(yield* Support.advance(fiber, "1 second"), "it came to its end")
        const outcome = yield* Fiber.join(fiber)
        assert.deepStrictEqual([outcome._tag, outcome.text], ["Completed", "done"])
        const results = Support.partsOf(yield* second.history).filter((part) => part.type === "tool-result")
        if (idempotent) {
          assert.deepStrictEqual(results.map(({ result }) => result), ["paid"])
        } else assert.match(Support.failureReason(results[0]), /unknown/i)
        assert.deepStrictEqual(runs, idempotent ? [{ amount: 10 }, { amount: 10 }] : [{ amount: 10 }])
      }).pipe(Effect.scoped))
  }
})
