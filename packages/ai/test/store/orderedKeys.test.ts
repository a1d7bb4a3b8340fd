import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as OrderedKeys from "../../src/internal/store/orderedKeys.ts"

const Key = Schema.Literals(["a", "ab", "b", "b/1", "b/2", "b/10", "c", "b.", "b0", ""])

const Change = Schema.Struct({ adds: Schema.Boolean, key: Key, number: Schema.Literals([0, 1, 2, 3]) })

const nameOf = ({ key, number }: typeof Change.Type): string => `${key}${number}`

describe("orderedKeys", () => {
  it.effect.prop(
    "are those that were added and not taken away, in order, from anywhere",
    { before: Schema.Array(Change), changes: Schema.Array(Change), prefix: Key, after: Schema.UndefinedOr(Key) },
    ({ after, before, changes, prefix }) =>
      Effect.sync(() => {
        const expected = new Set(before.map(nameOf))
        const keys = OrderedKeys.make(expected)
        for (const change of changes) {
          const name = nameOf(change)
          keys[change.adds ? "add" : "delete"](name)
          expected[change.adds ? "add" : "delete"](name)
        }
        assert.deepStrictEqual(
          [...keys.from(prefix, after)],
          [...expected].filter((key) => key.startsWith(prefix) && (after === undefined || key > after)).toSorted()
        )
      }),
    { arbitrary: { runs: 500, seed: "ordered" } }
  )

  it("stay so over many runs", () => {
    const keys = OrderedKeys.make([])
    const numbers = Array.from({ length: 5_000 }, (_, index) => (index * 7_919) % 5_000)
    for (const number of numbers) keys.add(`k${String(number).padStart(4, "0")}`)
    for (const number of numbers) if (number % 3 !== 0) keys.delete(`k${String(number).padStart(4, "0")}`)
    const left = [...keys.from("k", undefined)]
    assert.deepStrictEqual(left.length, 1_667)
    assert.deepStrictEqual(left, left.toSorted())
    assert.strictEqual(keys.from("k", "k2499").next().value, "k2502")
    for (const key of left) keys.delete(key)
    assert.deepStrictEqual([...keys.from("", undefined)], [])
  })
})
