/** A turn as it is sent, with a clock. */
import type { Response } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { Turn } from "../../src/internal/proxy/conversation.ts"
import * as Deciding from "../../src/internal/proxy/deciding.ts"
import * as Streaming from "../../src/internal/proxy/streaming.ts"

const conversation = {
  start: () => Effect.die("not played"),
  turn: Effect.undefined,
  stateOf: () => Effect.succeed({ state: "running" as const }),
  read: Effect.die("not played"),
  pending: () => Effect.succeed([]),
  cancel: () => Effect.void
}

const options = { conversation, posted: { ids: [], refused: new Map() }, heartbeat: Duration.seconds(15) }

const turnOf = (parts: Stream.Stream<Response.AnyPart, unknown>): Turn => ({
  messageId: "m-1",
  parts,
  outcome: Effect.succeed({ _tag: "Completed", text: "", refused: [] })
})

describe("a turn that is read", () => {
  it.effect("says from time to time that it goes on, and nothing more when it has ended", () =>
    Effect.gen(function*() {
      const silence = yield* Deferred.make<void>()
      const sent: Array<string> = []
      const turn = turnOf(Stream.drain(Stream.fromEffect(Deferred.await(silence))))
      const reading = yield* Effect.forkChild(
        Stream.runForEach(Streaming.of(turn, options), ({ type }) => Effect.sync(() => void sent.push(type)))
      )
      yield* TestClock.adjust("14 seconds")
      assert.deepStrictEqual(sent, ["turn-start"])
      yield* TestClock.adjust("32 seconds")
      assert.deepStrictEqual(sent, ["turn-start", "heartbeat", "heartbeat", "heartbeat"])
      yield* Deferred.succeed(silence, undefined)
      yield* Fiber.join(reading)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(sent, ["turn-start", "heartbeat", "heartbeat", "heartbeat", "turn-end"])
    }))

  it.effect("one that never ends does not hold who decides for longer than they have patience", () =>
    Effect.gen(function*() {
      const played = { ...conversation, start: () => Effect.succeed(turnOf(Stream.never)) }
      const deciding = yield* Effect.forkChild(
        Deciding.decide(played, [{ approvalId: "id-1", approved: true }], {
          by: undefined,
          patience: Duration.seconds(10)
        })
      )
      yield* TestClock.adjust("9 seconds")
      assert.isUndefined(deciding.pollUnsafe())
      yield* TestClock.adjust("1 second")
      const { fates, isRunning } = yield* Fiber.join(deciding)
      assert.deepStrictEqual([fates, isRunning], [[{ approvalId: "id-1", state: "running" }], true])
    }))
})
