/** L2 for tools that wait: what the journal has on record is told from there, whatever became of the rest. */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import {
  Approval,
  ApprovalController,
  ApprovalError,
  ApprovalJournal,
  DeferredTool,
  Prompt,
  SuspensionStore
} from "../../src/index.ts"
import * as H from "../laws/byHand.ts"
import * as Support from "./support.ts"

const unavailable = ApprovalError.make(
  new ApprovalError.SuspensionsUnavailable({ description: "the store is down" })
)

describe("a run that waited and came to its end", () => {
  Support.inEachMode("L2 its result is given again while nobody can reach what it remembered", function*(mode) {
    const calls = [Support.call("c1", "Menu", { kind: "external" })]
    const { chat, first, names, toolkit } = yield* Support.begin(mode, calls)
    yield* DeferredTool.deliver(Support.Menu, "external", Support.only(first), { paid: 20 })
    yield* chat.take([])
    const store = yield* SuspensionStore.SuspensionStore
    const { model } = yield* Support.answering
    const again = yield* Support.takeTurn(mode, { model, toolkit, history: first.history }).pipe(
      Effect.provideService(SuspensionStore.SuspensionStore, { ...store, find: () => Effect.fail(unavailable) })
    )
    assert.deepStrictEqual([Support.resultsOf(again), again.text], [[["c1", { paid: 20 }]], "done"])
    assert.deepStrictEqual(names(), ["start", "external"])
  })
})

describe("a run of which a journal says that it waits, and not for what", () => {
  Support.inEachMode("L2 it is not run again, and the turn comes to its end", function*(mode) {
    const calls = [Support.call("c1", "Gated", { question: "Size?" })]
    const { first, names, toolkit } = yield* Support.begin(mode, calls)
    const journal = yield* ApprovalJournal.ApprovalJournal
    const entry = new ApprovalJournal.Entry({ state: "suspended", toolName: "Gated", toolCallId: "c1", at: 0 })
    const { model } = yield* Support.answering
    const turn = yield* Effect.forkChild(
      Support.takeTurn(mode, {
        model,
        toolkit,
        history: first.history,
        prompt: Support.answers(Approval.approve(Support.only(first)))
      }).pipe(Effect.provideService(ApprovalJournal.ApprovalJournal, {
        ...journal,
        find: () => Effect.succeed(entry),
        run: () => Effect.succeed({ entry, ran: undefined })
      }))
    )
    const ended = yield* Support.advance(turn, "1 millis", 3)
    yield* Fiber.interrupt(turn)
    assert.isTrue(ended, "it came to its end")
    const { results } = yield* Fiber.join(turn)
    assert.match(Support.failureReason(results[0]), /check/i)
    assert.deepStrictEqual(names(), [])
  })
})

describe("a result that says that nobody knew", () => {
  Support.inOneMode(
    "generateText",
    "L2 L13 is followed by what its own run came to, and not by another's",
    function*(mode) {
      const { chat, first, toolkit } = yield* Support.begin(mode, [Support.submit("c1")])
      const second = yield* chat.take(Support.answers(Approval.approve(Support.only(first))))
      yield* chat.take(Support.answers(Approval.approve(Support.only(second))))
      const [asked, next] = [first, second].map((turn) => Support.only(turn).approvalId)
      const call = Support.callPart("c1", "Submit", { item: "chairs", amount: "250" })
      const result = (assent: object) =>
        H.tool(Prompt.toolResultPart({
          id: "c1",
          name: "Submit",
          isFailure: true,
          result: { type: "execution-interrupted", reason: "nobody knows" },
          options: { assent: { approvalId: next!, ...assent } as never },
          providerExecuted: false
        }))
      const begun = H.assistant(call, Support.requestPart(asked!, "c1"))
      const goesOn = H.assistant(Support.requestPart(next!, "c1"))
      // The other call has the same id, and the request stands behind it.
      for (const [before, told] of [[[begun], 1], [[begun, result({}), H.assistant(call)], 0]] as const) {
        const { model } = yield* Support.answering
        const history = Prompt.fromMessages([
          H.user("Go on."),
          ...before,
          goesOn,
          result({ unknown: true }),
          H.user("So?")
        ])
        const turn = yield* Support.takeTurn(mode, { model, toolkit, history })
        assert.deepStrictEqual([turn.results.length, turn.text], [told, "done"])
      }
    }
  )
})

describe("a call that is denied while somebody else has let it begin", () => {
  Support.inEachMode("L13 its result names the request that was asked about", function*(mode) {
    const { names, toolkit } = yield* makeTools
    const journal = yield* ApprovalJournal.ApprovalJournal
    const asked: Array<string> = []
    const turn = yield* Support.firstTurn(mode, toolkit, [Support.call("c1", "Gated", { question: "Size?" })]).pipe(
      Effect.provideService(
        ApprovalController.ApprovalController,
        ApprovalController.interactive((request) => (asked.push(request.approvalId), false))
      ),
      Effect.provideService(ApprovalJournal.ApprovalJournal, {
        ...journal,
        end: (claim, state, reason) =>
          Effect.andThen(
            journal.run(claim, { effect: Effect.succeed({ suspendedAs: "elsewhere" }), idempotent: false }),
            journal.end(claim, state, reason)
          )
      })
    )
    assert.deepStrictEqual(names(), [])
    assert.match(Support.failureReason(turn.results[0]), /had begun and was waiting/)
    assert.deepStrictEqual(turn.results.map(({ metadata }) => metadata), [{ assent: { approvalId: asked[0] } }])
  })
})

const makeTools = Effect.map(Support.makeWaiting(), ({ steps, toolkit }) => ({
  toolkit,
  names: () => steps.map(([name]) => name)
}))
