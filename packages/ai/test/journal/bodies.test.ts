/** The bodies of results, which are given up when there is no room for them: `internal/journal/bodies.ts`. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Bodies from "../../src/internal/journal/bodies.ts"
import * as NotingStore from "./notingStore.ts"

describe("L2 bodies of results", () => {
  const begin = (maxSize: number) =>
    Effect.gen(function*() {
      const { store, writes } = yield* NotingStore.make
      const bodies = Bodies.make(store, maxSize)
      const keep = (key: string, size: number, expiresAt = 1_000_000) =>
        Effect.andThen(
          store.putIfAbsent(key, "with body", { expiresAt }),
          bodies.keep({ key, size, expiresAt, version: 0, withoutBody: () => "without" })
        )
      const values = (...keys: ReadonlyArray<string>) =>
        Effect.forEach(keys, (key) => Effect.map(store.get(key), (stored) => stored?.value))
      return { keep, values, writes }
    })

  it.effect("L2 as many as there is room for are kept, and then the oldest is given up, never its record", () =>
    Effect.gen(function*() {
      const { keep, values, writes } = yield* begin(20)
      yield* keep("a", 10)
      yield* keep("b", 10)
      assert.deepStrictEqual([yield* values("a", "b"), writes], [["with body", "with body"], []])
      yield* keep("c", 1)
      assert.deepStrictEqual(yield* values("a", "b", "c"), ["without", "with body", "with body"])
      yield* keep("d", 9)
      assert.deepStrictEqual([yield* values("b", "c", "d"), writes], [["with body", "with body", "with body"], ["a"]])
      yield* keep("e", 11)
      assert.deepStrictEqual(
        yield* values("a", "b", "c", "d", "e"),
        [
          "without",
          "without",
          "with body",
          "with body",
          "with body"
        ].with(2, "without")
      )
      assert.deepStrictEqual(writes, ["a", "b", "c"])
    }))

  it.effect("L2 one that is larger than all the room is given up at once", () =>
    Effect.gen(function*() {
      const { keep, values } = yield* begin(20)
      yield* keep("a", 21)
      yield* keep("b", 20)
      assert.deepStrictEqual(yield* values("a", "b"), ["without", "with body"])
    }))

  it.effect("L2 what the store has forgotten by itself takes no room, and is not written again", () =>
    Effect.gen(function*() {
      const { keep, values, writes } = yield* begin(20)
      yield* keep("a", 15, 1_000)
      yield* TestClock.setTime(1_000)
      yield* keep("b", 15)
      assert.deepStrictEqual([yield* values("a", "b"), writes], [[undefined, "with body"], []])
      yield* keep("c", 5)
      assert.deepStrictEqual([yield* values("b", "c"), writes], [["with body", "with body"], []])
    }))
})
