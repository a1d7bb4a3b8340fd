import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Ordered from "../../src/internal/store/ordered.ts"

const Place = Schema.Struct({
  at: Schema.Literals([-1, 0, 0.5, 2, 10]),
  key: Schema.Literals(["", "a", "ab", "b", "é"])
})

const Change = Schema.Struct({ adds: Schema.Boolean, place: Place })

const spelled = ({ at, key }: typeof Place.Type): string => `${at} ${key}`

const compare = (left: typeof Place.Type, right: typeof Place.Type): number =>
  left.at - right.at || (left.key < right.key ? -1 : left.key > right.key ? 1 : 0)

describe("ordered", () => {
  it.effect.prop(
    "are those that were added and not taken away, in order, from anywhere",
    { changes: Schema.Array(Change), from: Schema.UndefinedOr(Place), until: Schema.Literals([-2, 0, 3]) },
    ({ changes, from, until }) =>
      Effect.sync(() => {
        const expected = new Map<string, typeof Place.Type>()
        const ordered = Ordered.make()
        for (const { adds, place } of changes) {
          ordered[adds ? "add" : "delete"](place.at, place.key)
          if (adds) expected.set(spelled(place), place)
          else expected.delete(spelled(place))
        }
        const all = [...expected.values()].toSorted(compare)
        assert.deepStrictEqual(
          [...ordered.after(from)],
          all.filter((place) => from === undefined || compare(place, from) > 0).map(({ key }) => key)
        )
        const [first] = all
        assert.strictEqual(ordered.firstUntil(until), first !== undefined && first.at <= until ? first.key : undefined)
        assert.strictEqual(ordered.isEmpty(), all.length === 0)
      }),
    { arbitrary: { runs: 500, seed: "ordered" } }
  )

  it("stay so over many runs", () => {
    const ordered = Ordered.make()
    const numbers = Array.from({ length: 5_000 }, (_, index) => (index * 7_919) % 5_000)
    for (const number of numbers) ordered.add(Math.trunc(number / 3), `k${String(number).padStart(4, "0")}`)
    for (const number of numbers) {
      if (number % 3 !== 0) ordered.delete(Math.trunc(number / 3), `k${String(number).padStart(4, "0")}`)
    }
    const left = [...ordered.after()]
    assert.deepStrictEqual(left.length, 1_667)
    assert.deepStrictEqual(left, left.toSorted())
    assert.strictEqual(ordered.after({ at: 833, key: "k2499" }).next().value, "k2502")
    for (const [at, key] of left.entries()) ordered.delete(at, key)
    assert.isTrue(ordered.isEmpty())
  })
})
