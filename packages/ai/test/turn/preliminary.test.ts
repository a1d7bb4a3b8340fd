/** What approved runs say before they end, while the reader of the stream stands still, and when it has come to it (L17). */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Results from "../../src/internal/history/results.ts"
import * as Chunks from "../../src/internal/turn/chunks.ts"
import * as Preliminary from "../../src/internal/turn/preliminary.ts"

/** As JSON it is of ten characters. */
const part = Results.toolResult({ id: "w1", name: "Watch" }, {
  result: "12345678",
  encodedResult: "12345678",
  isFailure: false,
  preliminary: true
})

describe("L17 what waits for the reader of a stream", () => {
  it.effect("is no more than the bound, and what has been read makes room", () =>
    Effect.gen(function*() {
      const read = yield* Deferred.make<void>()
      const said: Array<ReadonlyArray<boolean>> = []
      const pull = yield* Stream.toPull(Chunks.toStream<Results.ResultPart, never>((chunks) =>
        Effect.gen(function*() {
          const { say } = Preliminary.make(chunks, 25)
          const sayMore = () => {
            let room = true
            while (room) room = Chunks.offerUnsafe(chunks, [part])
            said.push([part, part, part].map((part) => say(part) !== undefined))
          }
          sayMore()
          yield* Deferred.await(read)
          sayMore()
        })
      ))
      yield* Effect.replicateEffect(pull, 60)
      yield* Deferred.succeed(read, undefined)
      yield* Effect.replicateEffect(pull, 60)
      assert.deepStrictEqual(said, [[true, true, false], [true, true, false]])
    }).pipe(Effect.scoped))
})
