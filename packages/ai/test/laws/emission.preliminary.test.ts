/**
 * What approved runs say before they end: the reader of a stream gets all of it, however slowly it reads, or is told how much
 * it did not get; and no run waits for it (L2).
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Schema, Stream } from "effect"
import type { Response } from "../../src/index.ts"
import { Approval, ApprovalController, ApprovalEvents, LanguageModel, Prompt, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"
import { idle } from "./support.ts"

const Watch = Tool.make("Watch", {
  parameters: { count: Schema.Number },
  success: Schema.String,
  needsApproval: true
})

const watch = (count: number) => ScriptedModel.toolCall({ id: "w1", name: "Watch", params: { count } })

const numbers = (count: number) => Array.from({ length: count }, (_, index) => `${index}`)

/** A toolkit whose tool says so much before its end, each so long. */
const watching = (length = 1) =>
  C.withHandlers(Toolkit.make(Watch), {
    Watch: ({ count }, context) =>
      Effect.gen(function*() {
        for (const number of numbers(count)) yield* context.preliminary(number.padEnd(length, "-"))
        return "seen"
      })
  })

type Seen = ReadonlyArray<Response.AnyPart>

const resultsOf = (parts: Seen) =>
  parts.flatMap((part) => part.type === "tool-result" && part.id === "w1" ? [part] : [])

const leftOutOf = (parts: Seen) =>
  resultsOf(parts).reduce(
    (sum, { metadata: { assent } }) =>
      sum + (assent !== null && assent !== undefined && "leftOut" in assent ? assent.leftOut ?? 0 : 0),
    0
  )

describe("preliminary results of approved calls", () => {
  for (const way of ["streamText", "Chat.streamText"] as const) {
    it.effect(`L2 all of 300 arrive, in their order [${way}]`, () =>
      C.fresh(Effect.gen(function*() {
        const chat = yield* C.start({ way, toolkit: yield* watching(), turns: [[watch(300)], "done"] })
        const asked = yield* chat.send("watch")
        const turn = yield* chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)]))
        const results = resultsOf(turn.parts)
        assert.deepStrictEqual(results.map(({ encodedResult }) => encodedResult), [...numbers(300), "seen"])
        assert.strictEqual(leftOutOf(turn.parts), 0)
      })))
  }

  // A reader that stands still at the first of them until the run is on record as ended, and what events tell of it.
  const slowly = Effect.fnUntraced(function*(count: number, length: number) {
    const ended = yield* Deferred.make<void>()
    const events = yield* ApprovalEvents.make()
    const told: Array<ApprovalEvents.Observed> = []
    const reading = yield* Effect.forkScoped(Stream.runForEach(yield* events.subscribe, (event) => {
      told.push(event)
      return event._tag === "Changed" && event.state === "done" ? Deferred.succeed(ended, undefined) : Effect.void
    }))
    const { model } = yield* ScriptedModel.make({ turns: [[watch(count)]], afterLastTurn: "done" })
    const seen: Array<Response.AnyPart> = []
    yield* LanguageModel.streamText({ prompt: "watch", toolkit: yield* watching(length) }).pipe(
      Stream.runForEach((part) => {
        seen.push(part)
        return part.type === "tool-result" ? Deferred.await(ended) : Effect.void
      }),
      Effect.provideService(LanguageModel.LanguageModel, model),
      Effect.provideService(ApprovalController.ApprovalController, ApprovalController.approveAll),
      Effect.provideService(ApprovalEvents.ApprovalEvents, events)
    )
    yield* idle
    yield* Fiber.interrupt(reading)
    return { results: resultsOf(seen), told }
  })

  it.effect("L2 all arrive at a reader that stands still until the run has ended, which does not wait for it", () =>
    C.fresh(Effect.gen(function*() {
      const { results } = yield* slowly(1_000, 1_000)
      assert.lengthOf(results, 1_001)
      assert.strictEqual(leftOutOf(results), 0)
    })))

  it.effect("L17 of what is beyond the bound the next part says how much it was, and so does an event", () =>
    C.fresh(Effect.gen(function*() {
      const { results, told } = yield* slowly(110, 500_000)
      const leftOut = leftOutOf(results)
      assert.isAbove(leftOut, 0)
      assert.strictEqual(results.length - 1 + leftOut, 110)
      assert.strictEqual(results.at(-1)?.encodedResult, "seen")
      // Those that came are the first of them, in their order.
      assert.deepStrictEqual(
        results.slice(0, -1).map(({ encodedResult }) => Number.parseInt(String(encodedResult))),
        numbers(results.length - 1).map(Number)
      )
      assert.deepStrictEqual(
        told.flatMap((event) => event._tag === "PreliminaryLeftOut" ? [[event.toolCallId, event.count]] : []),
        [["w1", leftOut]]
      )
    })))
})
