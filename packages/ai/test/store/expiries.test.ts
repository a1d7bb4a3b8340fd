/**
 * Which key expires next, whatever was set, moved and dropped before: `internal/store/expiries.ts` against a list that is
 * searched from end to end.
 */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Expiries from "../../src/internal/store/expiries.ts"

const Step = Schema.Union([
  Schema.Struct({
    _tag: Schema.tag("set"),
    key: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 30 })),
    at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 }))
  }),
  Schema.Struct({ _tag: Schema.tag("delete"), key: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 30 })) }),
  Schema.Struct({ _tag: Schema.tag("take"), now: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 })) })
])

const Steps = Schema.Array(Step).check(Schema.isMaxLength(80))

/** Takes out what has expired, and says in which order. */
const drain = (expiries: Expiries.Expiries, now: number): ReadonlyArray<string> => {
  const taken: Array<string> = []
  for (let key = expiries.takeUntil(now); key !== undefined; key = expiries.takeUntil(now)) taken.push(key)
  return taken
}

describe("expiries", () => {
  it("a key is taken when its time has come, and not a moment before", () => {
    const expiries = Expiries.make()
    assert.isUndefined(expiries.takeUntil(Number.MAX_SAFE_INTEGER))
    expiries.set("a", 10)
    assert.isUndefined(expiries.takeUntil(9))
    assert.strictEqual(expiries.takeUntil(10), "a")
    assert.isUndefined(expiries.takeUntil(10))
  })

  it("of many, in whatever order they were set, the earliest is taken first", () => {
    for (let step = 1; step < 64; step += 2) {
      const expiries = Expiries.make()
      for (let i = 0; i < 64; i++) expiries.set(`k${(i * step) % 64}`, (i * step) % 64)
      assert.deepStrictEqual(drain(expiries, 63), Array.from({ length: 64 }, (_, i) => `k${i}`))
    }
  })

  it("an expiry that is moved, sooner or later, counts as it was set last", () => {
    for (let moved = 0; moved < 32; moved++) {
      for (const at of [-1, 15.5, 100]) {
        const expiries = Expiries.make()
        for (let i = 31; i >= 0; i--) expiries.set(`k${i}`, i)
        expiries.set(`k${moved}`, at)
        const expected = Array.from({ length: 32 }, (_, i) => ({ key: `k${i}`, at: i === moved ? at : i }))
          .toSorted((self, that) => self.at - that.at)
          .map(({ key }) => key)
        assert.deepStrictEqual(drain(expiries, 100), expected)
      }
    }
  })

  it("what is dropped is never taken, and the others still come in order", () => {
    for (let dropped = 0; dropped < 32; dropped++) {
      const expiries = Expiries.make()
      for (let i = 0; i < 32; i++) expiries.set(`k${i}`, (i * 5) % 32)
      expiries.delete(`k${dropped}`)
      expiries.delete("never set")
      const expected = Array.from({ length: 32 }, (_, at) => `k${(at * 13) % 32}`).filter((key) =>
        key !== `k${dropped}`
      )
      assert.deepStrictEqual(drain(expiries, 31), expected)
    }
  })

  it.prop(
    "whatever was set, moved, dropped and taken before, it takes what a list would",
    { steps: Steps },
    ({ steps }) => {
      const expiries = Expiries.make()
      const list = new Map<string, number>()
      for (const step of steps) {
        switch (step._tag) {
          case "set":
            expiries.set(`k${step.key}`, step.at)
            list.set(`k${step.key}`, step.at)
            break
          case "delete":
            expiries.delete(`k${step.key}`)
            list.delete(`k${step.key}`)
            break
          case "take": {
            const taken = expiries.takeUntil(step.now)
            const earliest = Math.min(...list.values())
            assert.strictEqual(
              taken === undefined ? undefined : list.get(taken),
              earliest <= step.now ? earliest : undefined
            )
            if (taken !== undefined) list.delete(taken)
          }
        }
      }
      assert.deepStrictEqual(drain(expiries, 60).toSorted(), [...list.keys()].toSorted())
    },
    { arbitrary: { runs: 300, seed: "expiries" } }
  )
})
