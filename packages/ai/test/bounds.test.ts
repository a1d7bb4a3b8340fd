/** L17, the measure by itself: depth and size of what `JSON.stringify` would write, beside what it does write. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Bounds from "../src/internal/bounds.ts"

const nested = (levels: number, wrap: (inner: unknown) => unknown = (inner) => [inner]): unknown => {
  let value: unknown = 1
  for (let i = 0; i < levels; i++) value = wrap(value)
  return value
}

const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length

const depthOf = (value: unknown): number =>
  typeof value !== "object" || value === null ? 0 : 1 + Math.max(0, ...Object.values(value).map(depthOf))

const wraps: Record<string, (inner: unknown) => unknown> = {
  "arrays": (inner) => [inner],
  "objects": (inner) => ({ a: inner }),
  "arrays between others": (inner) => ["before", inner, "behind"],
  "objects that say how they are written": (inner) => ({ toJSON: () => [inner] })
}

describe("L17 depth", () => {
  for (const [what, wrap] of Object.entries(wraps)) {
    it(`L17 takes 512 levels of ${what} and refuses 513, however deep it goes on`, () => {
      const checked = [0, 1, 511, 512, 513, 1_000_000].map((levels) =>
        Bounds.check(nested(levels, wrap), Bounds.result(1e9))
      )
      assert.deepStrictEqual(checked, [undefined, undefined, undefined, undefined, "depth", "depth"])
    })
  }

  it("L17 what contains itself can never be written", () => {
    const self: Record<string, unknown> = {}
    self["again"] = { self }
    assert.strictEqual(Bounds.check(self, Bounds.params), "unwritable")
  })
})

describe("L17 size", () => {
  const values: Record<string, unknown> = {
    "a text": "abc",
    "an empty text": "",
    "escapes": "\"\\\n\t\b\f\r\u0000\u001f/",
    "two, three and four bytes": "ä€😀",
    "halves of pairs": "\ud800a\udc00\ud83d",
    "numbers": [0, -0, 1.5, 1e21, 1e-7, -123456789.123, Number.MAX_VALUE, NaN, Infinity],
    "the longest numbers": Array.from({ length: 9 }, () => -0.0000012345678901234567),
    "true, false and null": [true, false, null],
    "what is left out": { a: undefined, b: () => 1, c: Symbol.for("c"), d: 1, e: undefined },
    "what is null in an array": [undefined, () => 1, Symbol.for("c")],
    "nothing": [{}, [], [[]], { a: {} }],
    "keys with escapes": { "a\"b": 1, "ä": 2, "\n": 3 },
    "dates and addresses": { at: new Date(0), url: new URL("https://example.com/ä") },
    "a class": { money: Object.assign(new (class Money {})(), { amount: 1 }) },
    "a map": { map: new Map([[1, 2]]) }
  }

  for (const [what, value] of Object.entries(values)) {
    it(`L17 counts ${what} as they are written, to the byte`, () => {
      const bytes = bytesOf(value)
      assert.strictEqual(Bounds.check(value, Bounds.result(bytes)), undefined)
      assert.strictEqual(Bounds.check(value, Bounds.result(bytes - 1)), "bytes")
    })
  }

  it("L17 ends where the bound is: what would take for ever to write is refused at once", () => {
    let many: unknown = "x"
    for (let i = 0; i < 60; i++) many = [many, many]
    assert.strictEqual(Bounds.check(many, Bounds.params), "bytes")
    assert.strictEqual(Bounds.check(new Array(4e9), Bounds.params), "bytes")
    assert.strictEqual(Bounds.check(new Uint8Array(1e6), Bounds.params), "bytes")
  })

  it("L17 what cannot be read is told so, and not what it said", () => {
    const readings: ReadonlyArray<unknown> = [
      {
        get secret() {
          throw new Error("a secret")
        }
      },
      {
        toJSON: () => {
          throw new Error("a secret")
        }
      },
      new Proxy({}, {
        ownKeys: () => {
          throw new Error("a secret")
        }
      })
    ]
    for (const value of readings) assert.strictEqual(Bounds.check(value, Bounds.params), "unwritable")
  })
})

describe("L17 any JSON", () => {
  it.prop(
    "L17 is in bounds exactly where its depth and its bytes are",
    { value: Schema.Json, depth: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 6 })), by: Schema.Int },
    ({ by, depth, value }) => {
      const bytes = Math.max(0, bytesOf(value) + (by % 8))
      const fits = depthOf(value) <= depth && bytesOf(value) <= bytes
      assert.strictEqual(
        Bounds.check(value, { depth, bytes }) === undefined,
        fits || typeof value === "number" || typeof value === "boolean" || value === null
      )
    },
    { arbitrary: { runs: 300, seed: "bounds" } }
  )
})

describe("L17 what is cut", () => {
  const cut = (value: unknown, depth: number): unknown => {
    if (typeof value !== "object" || value === null) return value
    if (depth === 0) return null
    if (Array.isArray(value)) return value.map((one) => cut(one, depth - 1))
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, cut(one, depth - 1)]))
  }

  it.prop(
    "L17 is the same as far as the bound, and null below it",
    { value: Schema.Json, depth: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 })) },
    ({ depth, value }) => {
      assert.strictEqual(JSON.stringify(Bounds.cutBelow(value, depth)), JSON.stringify(cut(value, depth)))
    },
    { arbitrary: { runs: 300, seed: "bounds" } }
  )
})
