import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { runInNewContext } from "node:vm"
import { canonicalize, isWellFormedId, maxParamsBytes } from "../../src/internal/seal/canonical.ts"

const ok = (value: unknown): string => Result.getOrThrow(canonicalize(value))

const refused = (value: unknown): string => {
  const result = canonicalize(value)
  assert.isTrue(Result.isFailure(result), "expected a failure")
  const sentence = Result.isFailure(result) ? result.failure : ""
  assert.match(sentence, /^[A-Z][^\n]{5,200}\.$/)
  return sentence
}

const nested = (levels: number, inner: unknown = 1): unknown => {
  let value = inner
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { a: value }
  return value
}

const bytes = (text: string): number => new TextEncoder().encode(text).length

/** The specification, as slowly and plainly as it can be written. */
const slow = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(slow).join(",")}]`
    : typeof value === "object" && value !== null
    ? `{${
      Object.entries(value)
        .toSorted(([a], [b]) => a < b ? -1 : 1)
        .map(([key, item]) => `${JSON.stringify(key)}:${slow(item)}`)
        .join(",")
    }}`
    : JSON.stringify(value)

const reversed = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(reversed)
    : typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).toReversed().map(([key, item]) => [key, reversed(item)]))
    : value

const isUnicode = (value: unknown): boolean => !/\\ud[89a-f]/i.test(JSON.stringify(value))

describe("L4 No forgery: canonical JSON", () => {
  it("writes every JSON value as JSON.stringify does", () => {
    for (const value of [null, true, false, 0, 1.5, -7, 1e21, 5e-324, "", "a", "é😀\u2028\"\\\n\u0000\u007f", [], {}]) {
      assert.strictEqual(ok(value), JSON.stringify(value))
    }
    assert.strictEqual(ok([1, [2, { a: [] }]]), `[1,[2,{"a":[]}]]`)
  })

  it("sorts keys at every level, so that their order is irrelevant", () => {
    assert.strictEqual(ok({ b: 1, a: { d: 1, c: 2 }, 10: 0, 9: 0 }), `{"10":0,"9":0,"a":{"c":2,"d":1},"b":1}`)
    assert.strictEqual(ok({ a: { c: 2, d: 1 }, b: 1, 9: 0, 10: 0 }), ok({ b: 1, a: { d: 1, c: 2 }, 10: 0, 9: 0 }))
    // By UTF-16 unit, not by code point or locale.
    assert.strictEqual(ok({ "\uffff": 1, "😀": 2, "é": 3, "Z": 4, "a": 5 }), `{"Z":4,"a":5,"é":3,"😀":2,"\uffff":1}`)
  })

  it("writes -0 as 0", () => {
    assert.strictEqual(ok(-0), "0")
    assert.strictEqual(ok([-0, { a: -0 }]), ok([0, { a: 0 }]))
  })

  it("leaves out properties that are undefined", () => {
    assert.strictEqual(ok({ a: undefined, b: 1, c: undefined }), `{"b":1}`)
    assert.strictEqual(ok({ a: undefined }), "{}")
  })

  it("refuses undefined at the top and in arrays", () => {
    refused(undefined)
    refused([undefined])
    refused([1, , 2]) // oxlint-disable-line no-sparse-arrays
    refused({ a: [undefined] })
  })

  it("refuses what is not JSON, without repeating it", () => {
    class Person {
      name = "secret"
    }
    class List extends Array<string> {}
    const values: ReadonlyArray<unknown> = [
      NaN,
      Infinity,
      -Infinity,
      123456789n,
      () => "secret",
      Symbol("secret"),
      new Date(0),
      new Map([["secret", 1]]),
      new Set(["secret"]),
      /secret/,
      new Person(),
      new String("secret"),
      new Number(1),
      new Uint8Array(2),
      Promise.resolve("secret"),
      Object.create({ secret: 1 }),
      Object.create(Object.create(null)),
      List.of("secret"),
      new Proxy({ a: 1 }, {
        ownKeys() {
          throw new Error("secret")
        }
      }),
      {
        get a() {
          throw new Error("secret")
        }
      }
    ]
    for (const value of values) {
      for (const placed of [value, [value], { key: value }, { a: [{ b: value }] }]) {
        assert.notInclude(refused(placed), "secret")
      }
    }
  })

  it("never calls toJSON", () => {
    refused({ toJSON: () => 1 })
    assert.strictEqual(ok({ toJSON: 1 }), `{"toJSON":1}`)
  })

  it("takes objects without a prototype and from another realm", () => {
    assert.strictEqual(ok(Object.assign(Object.create(null), { b: 1, a: 2 })), `{"a":2,"b":1}`)
    assert.strictEqual(ok(runInNewContext(`({ b: [1, { c: 2 }], a: 2 })`)), `{"a":2,"b":[1,{"c":2}]}`)
    refused(runInNewContext(`new Date(0)`))
  })

  it("keeps __proto__, constructor and toString as ordinary keys", () => {
    const text = `{"__proto__":{"isAdmin":true},"constructor":1,"hasOwnProperty":2,"toString":3}`
    const value: unknown = JSON.parse(ok(JSON.parse(text)))
    assert.sameMembers(Object.keys(value as object), ["__proto__", "constructor", "hasOwnProperty", "toString"])
    assert.strictEqual(Object.getPrototypeOf(value), Object.prototype)
    assert.notStrictEqual(ok(JSON.parse(text)), ok({ constructor: 1, hasOwnProperty: 2, toString: 3 }))
    assert.strictEqual(ok(value), ok(JSON.parse(text)))
  })

  it("refuses lone surrogates in texts and keys", () => {
    for (
      const bad of [
        "\ud800",
        "\udc00",
        "a\ud83d",
        "\ude00a",
        "\ud83d\uffff",
        "\ud83da",
        "\ud83d\ud83d\ude00",
        "\ude00\ud83d"
      ]
    ) {
      assert.notInclude(refused(bad), bad)
      refused([bad])
      refused({ [bad]: 1 })
    }
    assert.strictEqual(ok({ "😀": "😀" }), `{"😀":"😀"}`)
  })

  it("takes 512 levels and refuses 513", () => {
    assert.strictEqual(ok(nested(512)), slow(nested(512)))
    refused(nested(513))
    refused(nested(100_000))
  })

  it("refuses cycles, however wide, at once", () => {
    const object: Record<string, unknown> = { a: 1 }
    object["self"] = object
    refused(object)
    const wide: Array<unknown> = []
    for (let i = 0; i < 100; i++) wide.push(wide)
    refused(wide)
    const late: Record<string, unknown> = { text: "x".repeat(1000) }
    late["z"] = [late, late]
    refused(late)
  })

  it("takes a value twice when it is no cycle", () => {
    const shared = { a: 1 }
    assert.strictEqual(ok([shared, shared]), `[{"a":1},{"a":1}]`)
  })

  it("takes 1,048,576 bytes and refuses one more, counted as UTF-8", () => {
    assert.strictEqual(maxParamsBytes, 1_048_576)
    for (const unit of ["a", "é", "漢", "😀", "\n", "\u0001", "\""]) {
      const size = bytes(JSON.stringify(unit)) - 2
      const count = Math.floor((maxParamsBytes - 2) / size)
      const padding = "a".repeat(maxParamsBytes - 2 - count * size)
      assert.strictEqual(bytes(ok(padding + unit.repeat(count))), maxParamsBytes)
      assert.include(refused(`${padding}a${unit.repeat(count)}`), "1 MB")
    }
    const full = { a: undefined, b: { c: 1 }, d: "x".repeat(maxParamsBytes - bytes(`{"b":{"c":1},"d":""}`)) }
    assert.strictEqual(ok(full).length, maxParamsBytes)
    refused([full])
  })

  it("stops early instead of building hundreds of megabytes", () => {
    // 2^60 leaves in 60 small arrays, whose end nobody would see; objects that write nothing; huge texts, arrays and objects.
    let bomb: unknown = "x".repeat(100)
    for (let i = 0; i < 60; i++) bomb = [bomb, bomb]
    refused(bomb)
    const silent = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, undefined]))
    refused(Array.from({ length: 100_000 }, () => silent))
    refused("x".repeat(400_000_000))
    refused(new Array<number>(5_000_000).fill(1))
    refused(Object.fromEntries(Array.from({ length: 300_000 }, (_, i) => [`key${i}`, i])))
  }, 60_000)

  it.prop("round trip: the parse of the text is the value, and canonical again", [Schema.Json], ([value]) => {
    if (!isUnicode(value)) return
    const text = ok(value)
    assert.strictEqual(text, slow(value))
    assert.deepStrictEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)))
    assert.strictEqual(ok(JSON.parse(text)), text)
    assert.strictEqual(ok(reversed(value)), text)
  }, { arbitrary: { runs: 500 } })

  it.prop("two texts are the same only if the values are", [Schema.Json, Schema.Json], ([a, b]) => {
    if (!isUnicode([a, b])) return
    assert.strictEqual(ok(a) === ok(b), slow(a) === slow(b))
  })

  it.prop("whatever it is given it answers", [Schema.Unknown], ([value]) => {
    assert.isTrue(Result.isResult(canonicalize(value)))
  })
})

describe("L4 No forgery: ids", () => {
  it("are not empty, whole Unicode, and short, counted as UTF-8", () => {
    assert.isTrue(isWellFormedId("call_1", 256))
    assert.isTrue(isWellFormedId("a".repeat(256), 256))
    assert.isTrue(isWellFormedId("é".repeat(128), 256))
    assert.isTrue(isWellFormedId("漢".repeat(85), 256))
    assert.isTrue(isWellFormedId("😀".repeat(64), 256))
    assert.isFalse(isWellFormedId("", 256))
    assert.isFalse(isWellFormedId("a".repeat(257), 256))
    assert.isFalse(isWellFormedId("é".repeat(129), 256))
    assert.isFalse(isWellFormedId("漢".repeat(86), 256))
    assert.isFalse(isWellFormedId(`a${"😀".repeat(64)}`, 256))
    for (const bad of ["\ud800", "a\udc00b", "\ud83d", "\ude00\ud83d"]) assert.isFalse(isWellFormedId(bad, 256))
    assert.isTrue(isWellFormedId("__proto__", 128))
  })

  it.prop("agree with TextEncoder", [Schema.String], ([id]) => {
    const whole = isUnicode(id)
    assert.strictEqual(isWellFormedId(id, bytes(id)), whole && id.length > 0)
    assert.isFalse(isWellFormedId(id, bytes(id) - 1))
  })
})

describe("L4 Unicode", () => {
  it("L4 an id takes as many bytes as its UTF-8, at every border of it", () => {
    const encoder = new TextEncoder()
    const borders = [0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x1f400, 0x10fc00, 0x10ffff]
    for (const point of borders) {
      const text = `${String.fromCodePoint(point)}${String.fromCodePoint(point)}`
      const bytes = encoder.encode(text).length
      assert.isTrue(isWellFormedId(text, bytes), point.toString(16))
      assert.isFalse(isWellFormedId(text, bytes - 1), point.toString(16))
      assert.deepStrictEqual(canonicalize(text), Result.succeed(JSON.stringify(text)))
    }
  })

  it("L4 half of a pair is no text, wherever it stands", () => {
    for (
      const half of ["\ud800", "\udbff", "\udc00", "\udfff", "\ud800\ud800", "\udc00\ud800", "\ud800a", "\udbff\ue000"]
    ) {
      for (const text of [half, `a${half}`, `${half}a`, `${half}\u{1f642}`]) {
        assert.isFalse(isWellFormedId(text, 100), JSON.stringify(text))
        assert.isTrue(Result.isFailure(canonicalize({ text })), JSON.stringify(text))
      }
    }
  })

  it("L4 L14 what is no JSON is named by its type, and never quoted", () => {
    const values: ReadonlyArray<readonly [unknown, string]> = [
      [[undefined], "A value is undefined, so it is not JSON."],
      [() => "secret", "A value is a function, so it is not JSON."],
      [Symbol("secret"), "A value is a symbol, so it is not JSON."],
      [7n, "A value is a bigint, so it is not JSON."],
      ["x".repeat(1_048_577), "The value is larger than 1 MB (1,048,576 bytes) as JSON."]
    ]
    for (const [value, problem] of values) assert.deepStrictEqual(canonicalize(value), Result.fail(problem))
  })
})
