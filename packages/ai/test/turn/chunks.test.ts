import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Chunks from "../../src/internal/turn/chunks.ts"

/** So many may be said and not yet read, and so many are left when the producer goes on. */
const capacity = 64
const refillAt = 16

const idle = Effect.replicateEffect(Effect.yieldNow, 20, { discard: true })

/** A stream whose reader takes one chunk at a time, and what its producer has said so far. */
const start = Effect.fnUntraced(function*<E = never>(
  produce: (
    say: (...parts: ReadonlyArray<number>) => Effect.Effect<void>,
    chunks: Chunks.Chunks<number, E>
  ) => Effect.Effect<void, E, Scope.Scope>
) {
  const said: Array<number> = []
  const scope = yield* Scope.fork(yield* Effect.scope)
  const pull = yield* Chunks.toStream<number, E>((chunks) =>
    produce((...parts) => Effect.map(Chunks.offer(chunks, parts), () => void said.push(...parts)), chunks)
  ).pipe(Stream.toPull, Scope.provide(scope))
  return {
    said,
    next: pull,
    take: (count: number) => Effect.tap(Effect.replicateEffect(pull, count), () => idle),
    leave: Scope.close(scope, Exit.void)
  }
})

const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index)

const sayAll = (say: (part: number) => Effect.Effect<void>, parts: ReadonlyArray<number>) =>
  Effect.forEach(parts, (part) => say(part), { discard: true })

describe("what is said", () => {
  it.effect("is read in the chunks in which it was said, and of no parts there is no chunk", () =>
    Effect.gen(function*() {
      const chunks = yield* Chunks.toStream<number, never>((chunks) =>
        Effect.forEach([[1, 2], [], [3], [4, 5, 6]], (parts) => Chunks.offer(chunks, parts), { discard: true })
      ).pipe(Stream.chunks, Stream.runCollect)
      assert.deepStrictEqual(chunks, [[1, 2], [3], [4, 5, 6]])
    }))

  it.effect("is read while the producer has more to say", () =>
    Effect.gen(function*() {
      const more = yield* Deferred.make<void>()
      const { next } = yield* start((say) => Effect.andThen(say(1), Effect.andThen(Deferred.await(more), say(2))))
      assert.deepStrictEqual(yield* next, [1])
      const second = yield* Effect.forkChild(next, { startImmediately: true })
      yield* idle
      assert.isUndefined(second.pollUnsafe())
      yield* Deferred.succeed(more, undefined)
      assert.deepStrictEqual(yield* Fiber.join(second), [2])
      assert.isTrue(Cause.isDone((yield* Effect.flip(next)) as unknown))
    }))

  it.effect("comes before the failure that ends it, also what had no room", () =>
    Effect.gen(function*() {
      const stream = Chunks.toStream<number, string>((chunks) =>
        Effect.gen(function*() {
          yield* sayAll((part) => Chunks.offer(chunks, [part]), numbers(capacity))
          for (const part of [64, 65]) {
            yield* Effect.forkScoped(Chunks.offer(chunks, [part]), { startImmediately: true })
          }
          return yield* Effect.fail("broken")
        })
      )
      const read: Array<number> = []
      const exit = yield* Effect.exit(Stream.runForEach(stream, (part) => Effect.sync(() => read.push(part))))
      assert.deepStrictEqual(exit, Exit.fail("broken"))
      assert.deepStrictEqual(read, numbers(capacity + 2))
    }))

  it.effect("is not heard after the end, and holds nobody", () =>
    Effect.gen(function*() {
      const ended = yield* Deferred.make<Chunks.Chunks<number, string>>()
      const { next } = yield* start<string>((say, chunks) =>
        Effect.andThen(sayAll(say, numbers(2)), Effect.andThen(Deferred.succeed(ended, chunks), Effect.fail("broken")))
      )
      const chunks = yield* Deferred.await(ended)
      yield* idle
      yield* Chunks.offer(chunks, [9])
      assert.isFalse(Chunks.offerUnsafe(chunks, [9]))
      assert.deepStrictEqual([yield* next, yield* next, yield* Effect.flip(next)], [[0], [1], "broken"])
    }))
})

describe("a slow reader", () => {
  it.effect("holds the producer", () =>
    Effect.gen(function*() {
      const { said, take } = yield* start((say) => sayAll(say, numbers(200)))
      yield* idle
      assert.lengthOf(said, capacity)
      yield* take(capacity - refillAt - 1)
      assert.lengthOf(said, capacity)
      yield* take(1)
      // The one that waited, and as many more as have room.
      assert.lengthOf(said, capacity - refillAt + capacity)
    }))

  it.effect("is told nothing for which there is no room, where nobody can wait", () =>
    Effect.gen(function*() {
      const told: Array<boolean> = []
      const { next, take } = yield* start((_, chunks) =>
        Effect.sync(() => {
          for (const part of numbers(capacity + 2)) told.push(Chunks.offerUnsafe(chunks, [part]))
        })
      )
      yield* take(capacity)
      assert.deepStrictEqual(told, [...numbers(capacity).map(() => true), false, false])
      assert.isTrue(Cause.isDone((yield* Effect.flip(next)) as unknown))
    }))

  it.effect("hears those who wait in the order in which they came", () =>
    Effect.gen(function*() {
      const { take } = yield* start((say) =>
        Effect.gen(function*() {
          yield* sayAll(say, numbers(capacity))
          for (const part of [1_000, 2_000, 3_000]) {
            yield* Effect.forkScoped(sayAll(say, numbers(3, part)), { startImmediately: true })
          }
          yield* Effect.never
        })
      )
      yield* take(capacity)
      // Who goes on waits again behind the others.
      assert.deepStrictEqual((yield* take(9)).flat(), [1_000, 2_000, 3_000, 1_001, 2_001, 3_001, 1_002, 2_002, 3_002])
    }))

  it.effect("does not hear what was withdrawn while it waited", () =>
    Effect.gen(function*() {
      const { said, take } = yield* start((say) =>
        Effect.gen(function*() {
          yield* sayAll(say, numbers(capacity))
          const withdrawn = yield* Effect.forkScoped(say(1_000), { startImmediately: true })
          yield* Effect.forkScoped(say(2_000), { startImmediately: true })
          yield* Fiber.interrupt(withdrawn)
          yield* Effect.never
        })
      )
      assert.deepStrictEqual((yield* take(capacity + 1)).flat(), [...numbers(capacity), 2_000])
      assert.notInclude(said, 1_000)
    }))

  it.effect("who leaves interrupts the producer, and all who wait", () =>
    Effect.gen(function*() {
      const left: Array<string> = []
      const leaving = (who: string) => Effect.onInterrupt(() => Effect.sync(() => left.push(who)))
      const { leave, said, take } = yield* start((say) =>
        Effect.gen(function*() {
          yield* sayAll(say, numbers(capacity))
          yield* Effect.forkScoped(say(1_000).pipe(leaving("who waits")), { startImmediately: true })
          yield* sayAll(say, numbers(100, 100))
        }).pipe(leaving("the producer"))
      )
      yield* take(1)
      yield* leave
      assert.deepStrictEqual(left.toSorted(), ["the producer", "who waits"])
      assert.deepStrictEqual(said, numbers(capacity))
    }))

  it.effect.prop(
    "reads all of it in order and is never more than so many chunks behind, however the two take turns",
    { steps: Arbitrary.schema(Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 90 })))) },
    ({ steps }) =>
      Effect.gen(function*() {
        const { next, said, take } = yield* start((say) => Effect.andThen(sayAll(say, numbers(400)), idle))
        const read: Array<number> = []
        for (const step of steps) {
          read.push(...(yield* take(Math.min(step, 400 - read.length))).flat())
          assert.isAtMost(said.length - read.length, capacity)
        }
        read.push(...(yield* take(400 - read.length)).flat())
        assert.deepStrictEqual(read, numbers(400))
        assert.isTrue(Cause.isDone((yield* Effect.flip(next)) as unknown))
      }).pipe(Effect.scoped)
  )
})
