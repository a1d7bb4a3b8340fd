import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import * as ApprovalSeal from "../src/ApprovalSeal.ts"
import { canonicalize } from "../src/internal/seal/canonical.ts"
import { bare, binding, keyA, reasonOf, replaceSegment, tagOf } from "./sealing.ts"

describe("L4 No forgery: an approval id", () => {
  it.effect("verifies for the call it was issued for, and says what it sealed", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_800_000_000_000)
      const seal = yield* ApprovalSeal.make({ key: keyA })
      for (const call of [binding, bare]) {
        const sealed = yield* seal.seal(call)
        assert.strictEqual(sealed.issuedAt, 1_800_000_000_000)
        assert.strictEqual(sealed.expiresAt, Infinity, "nobody set an expiry")
        assert.strictEqual(sealed.schemaFingerprint, "schema_1")
        assert.strictEqual(sealed.presentationDigest, call.presentationDigest)
        assert.deepStrictEqual(seal.parse(sealed.approvalId), Result.succeed(sealed))
        assert.deepStrictEqual(yield* seal.verify(sealed.approvalId, call), sealed)
      }
    }))

  it.effect("is URL-safe, at most 512 bytes, and has 128 random bits", () =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.make({ key: keyA, keyId: "k".repeat(32) })
      const longest = { ...binding, schemaFingerprint: "f".repeat(64), presentationDigest: "~".repeat(64) }
      const ids = yield* Effect.forEach(
        Array.from({ length: 100 }),
        () => seal.seal(longest, { expiresIn: "Infinity" })
      )
      for (const { approvalId, nonce } of ids) {
        assert.match(approvalId, /^[\w.~-]{1,512}$/)
        assert.isAtLeast(nonce.length * 6, 128)
      }
      assert.strictEqual(new Set(ids.map((sealed) => sealed.nonce)).size, 100)
    }))

  it.effect("is forged for a call that differs in any one bound field", () =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.make({ key: keyA })
      const { approvalId } = yield* seal.seal(binding)
      const changes: Record<string, Partial<ApprovalSeal.Binding>> = {
        source: { source: "mcp:server" },
        toolName: { toolName: "deletefile" },
        toolCallId: { toolCallId: "call-2" },
        params: { params: `{"path":"id_rsa"}` },
        tenant: { scope: { ...binding.scope, tenant: "other" } },
        "no tenant": { scope: { ...binding.scope, tenant: undefined } },
        principal: { scope: { ...binding.scope, principal: "eve" } },
        "empty principal": { scope: { ...binding.scope, principal: "" } },
        conversation: { scope: { ...binding.scope, conversation: "chat-8" } },
        "no scope": { scope: {} },
        presentation: { presentationDigest: "shown_2" }
      }
      for (const [name, change] of Object.entries(changes)) {
        assert.strictEqual(yield* tagOf(seal.verify(approvalId, { ...binding, ...change })), "Forged", name)
      }
      assert.strictEqual(
        yield* tagOf(seal.verify(approvalId, { ...binding, schemaFingerprint: "schema_2" })),
        "Drifted"
      )
      assert.strictEqual(yield* tagOf(seal.verify(approvalId, binding)), "Verified")
    }))

  it.effect("is refused with any one of its segments changed", () =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.make({ key: keyA })
      const { approvalId } = yield* seal.seal(binding, { expiresIn: "1 hour" })
      const other = (yield* seal.seal({ ...binding, toolCallId: "call-2" })).approvalId.split(".")
      const later = (segment: string) => (Number.parseInt(segment, 36) + 1).toString(36)
      const cases: ReadonlyArray<[number, (segment: string) => string, string]> = [
        [0, () => "apr2", "Malformed"],
        [1, () => "unknown", "UnknownKey"],
        [2, () => other[2]!, "Forged"],
        [3, later, "Forged"],
        [4, later, "Forged"],
        [4, () => "-", "Forged"],
        [5, () => "schema_2", "Drifted"],
        [6, () => "shown_2", "Forged"],
        [6, () => "-", "Forged"],
        [7, () => other[7]!, "Forged"]
      ]
      for (const [index, change, tag] of cases) {
        const changed = replaceSegment(approvalId, index, change)
        assert.strictEqual(yield* tagOf(seal.verify(changed, binding)), tag, `segment ${index}`)
      }
    }))

  it.effect("that gives the caller's own fingerprint or presentation to a foreign tag is forged", () =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.make({ key: keyA })
      const { approvalId } = yield* seal.seal(binding)
      const call = { ...binding, schemaFingerprint: "schema_2", presentationDigest: "shown_2" }
      const changed = replaceSegment(replaceSegment(approvalId, 5, () => "schema_2"), 6, () => "shown_2")
      assert.strictEqual(yield* tagOf(seal.verify(changed, call)), "Forged")
      const drifted = replaceSegment(approvalId, 5, () => "schema_2")
      assert.strictEqual(yield* tagOf(seal.verify(drifted, { ...binding, schemaFingerprint: "schema_2" })), "Forged")
      const shownElse = replaceSegment(approvalId, 6, () => "shown_2")
      const callShownElse = { ...binding, presentationDigest: "shown_2" }
      assert.strictEqual(yield* tagOf(seal.verify(shownElse, callShownElse)), "Forged")
      const notShown = replaceSegment(approvalId, 6, () => "-")
      assert.strictEqual(yield* tagOf(seal.verify(notShown, { ...binding, presentationDigest: undefined })), "Forged")
    }))

  it.effect("does not depend on the order of keys in the parameters", () =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.make({ key: keyA })
      const params = (value: unknown) => Result.getOrThrow(canonicalize(value))
      const { approvalId } = yield* seal.seal({ ...binding, params: params({ b: 1, a: { d: 1, c: 2 } }) })
      const again = { ...binding, params: params({ a: { c: 2, d: 1 }, b: 1 }) }
      assert.strictEqual(yield* tagOf(seal.verify(approvalId, again)), "Verified")
    }))

  it.effect("does not fit another call made by moving text between fields or by control characters", () =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.make({ key: keyA })
      const call = { ...bare, source: "a", toolName: "b", toolCallId: "c", params: `"d"` }
      const twins: ReadonlyArray<[Partial<ApprovalSeal.Binding>, Partial<ApprovalSeal.Binding>]> = [
        [{ source: "ab", toolName: "c" }, { source: "a", toolName: "bc" }],
        [{ toolName: "b\u0000c", toolCallId: "d" }, { toolName: "b", toolCallId: "c\u0000d" }],
        [{ toolName: "b\",\"c" }, { toolName: "b", schemaFingerprint: "c" }],
        [{ toolName: "b\n" }, { toolName: "b\\n" }],
        [{ toolName: "b\u001f", params: "1" }, { toolName: "b", params: "\u001f1" }],
        [{ scope: { tenant: "x" } }, { scope: { principal: "x" } }],
        [{ scope: { tenant: "x", principal: "y" } }, { scope: { tenant: "x\",\"y" } }],
        [{ scope: { tenant: "" } }, { scope: {} }],
        [{ scope: { tenant: "null" } }, { scope: {} }],
        [{ source: "\ud800" }, { source: "\ufffd" }],
        [{ toolName: "é" }, { toolName: "e\u0301" }]
      ]
      for (const [one, two] of twins) {
        const { approvalId } = yield* seal.seal({ ...call, ...one })
        assert.notStrictEqual(
          yield* tagOf(seal.verify(approvalId, { ...call, ...two })),
          "Verified",
          inspect([one, two])
        )
      }
    }))

  it.effect("binds __proto__ and friends like any other text", () =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.make({ key: keyA })
      const names = ["__proto__", "constructor", "toString"]
      for (const name of names) {
        const call = { ...bare, toolName: name, toolCallId: name, params: `{"${name}":1}` }
        const { approvalId } = yield* seal.seal(call)
        assert.strictEqual(yield* tagOf(seal.verify(approvalId, call)), "Verified")
        assert.strictEqual(yield* tagOf(seal.verify(approvalId, { ...call, params: "{}" })), "Forged")
        assert.strictEqual(yield* tagOf(seal.verify(name, call)), "Malformed")
        assert.strictEqual(yield* tagOf(seal.verify(replaceSegment(approvalId, 1, () => name), call)), "UnknownKey")
      }
    }))

  it.effect("has one spelling: no other text verifies for the same seal", () =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.make({ key: keyA })
      const { approvalId } = yield* seal.seal(bare)
      const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
      const variants = [
        ...[...alphabet].map((letter) => approvalId.slice(0, -1) + letter),
        ...[...alphabet].map((letter) => replaceSegment(approvalId, 2, (nonce) => nonce.slice(0, -1) + letter)),
        ...[1, 2, 3, 4, 5, 6, 7].flatMap((index) =>
          ["0", " ", "=", "\n", "%"].flatMap((extra) => [
            replaceSegment(approvalId, index, (segment) => segment + extra),
            replaceSegment(approvalId, index, (segment) => extra + segment)
          ])
        ),
        ...[3, 4].flatMap((index) => [
          replaceSegment(approvalId, index, (time) => `${time}.`),
          replaceSegment(approvalId, index, (time) => `+${time}`),
          replaceSegment(approvalId, index, (time) => time === "0" ? "-0" : time.toUpperCase())
        ]),
        replaceSegment(approvalId, 6, () => ""),
        replaceSegment(approvalId, 7, (tag) => tag.replaceAll("-", "+").replaceAll("_", "/") + "="),
        `${approvalId}.`,
        `.${approvalId}`,
        `${approvalId}.x`,
        `${approvalId}.${approvalId.split(".")[7]}`,
        ` ${approvalId}`,
        `${approvalId}\n`,
        approvalId.toUpperCase(),
        approvalId.replace("apr1", "APR1")
      ].filter((variant) => variant !== approvalId)
      for (const variant of variants) {
        assert.notStrictEqual(yield* tagOf(seal.verify(variant, bare)), "Verified", JSON.stringify(variant))
      }
    }))

  it.effect("that is 10 kB, not Unicode, or of any other form is malformed, and not repeated whole", () =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.make({ key: keyA })
      const { approvalId } = yield* seal.seal(binding)
      const texts = [
        "",
        "id_UPSTREAM",
        "x".repeat(10_000),
        approvalId.padEnd(513, "x"),
        "é".repeat(10_000),
        `${"x".repeat(63)}😀${"y".repeat(500)}`,
        `\u0000${"x".repeat(57)}😀${"y".repeat(500)}`,
        replaceSegment(approvalId, 2, (nonce) => nonce.slice(1)),
        replaceSegment(approvalId, 2, (nonce) => `${nonce}A`),
        replaceSegment(approvalId, 1, () => "\ud800"),
        `\udc00${approvalId}`,
        "\u202e\u0000\u001b[31m",
        replaceSegment(approvalId, 4, () => "9999999999a"),
        replaceSegment(approvalId, 4, () => "zzzzzzzzzzz"),
        "apr1.......",
        ".".repeat(512)
      ]
      for (const text of texts) {
        assert.isTrue(Result.isFailure(seal.parse(text)))
        const reason = yield* reasonOf(seal.verify(text, binding))
        if (reason._tag !== "Malformed") return assert.fail(reason._tag)
        assert.isAtMost(reason.approvalId.length, 64)
        // oxlint-disable-next-line no-control-regex -- that there are none is what is asked
        assert.notMatch(reason.approvalId, /[\u0000-\u001f\u202e]|[\ud800-\udfff](?![\udc00-\udfff])/)
      }
    }))

  it.effect("that has expired still verifies: the caller asks the journal first", () =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.make({ key: keyA })
      yield* TestClock.setTime(1_000)
      const { approvalId, expiresAt } = yield* seal.seal(binding, { expiresIn: "1 minute" })
      assert.strictEqual(expiresAt, 61_000)
      yield* TestClock.adjust("365 days")
      assert.strictEqual((yield* seal.verify(approvalId, binding)).expiresAt, 61_000)
    }))

  it.effect("lives as long as it was told, within what a Date can show, and has no expiry that nobody set", () =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.make({ key: keyA })
      yield* TestClock.setTime(5_000)
      const expiry = (expiresIn: Duration.Input) => Effect.map(seal.seal(binding, { expiresIn }), (it) => it.expiresAt)
      assert.strictEqual(yield* expiry("2 hours"), 7_205_000)
      assert.strictEqual(yield* expiry(0), 5_000)
      assert.strictEqual(yield* expiry("-1 minutes"), 5_000)
      assert.strictEqual(yield* expiry(1.5), 5_001)
      const far = yield* expiry("1000000000 days")
      assert.doesNotThrow(() => new Date(far).toISOString())
      for (const options of [undefined, { expiresIn: "Infinity" }] as const) {
        const never = yield* seal.seal(binding, options)
        assert.strictEqual(never.expiresAt, Infinity)
        assert.strictEqual(yield* tagOf(seal.verify(never.approvalId, binding)), "Verified")
        const bounded = replaceSegment(never.approvalId, 4, () => "zz")
        assert.strictEqual(yield* tagOf(seal.verify(bounded, binding)), "Forged")
      }
    }))

  it.effect("is not issued for a binding that cannot be told from another or does not fit", () =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.make({ key: keyA })
      const bad: ReadonlyArray<Partial<ApprovalSeal.Binding>> = [
        { toolName: "" },
        { toolName: "é".repeat(65) },
        { toolName: "a\ud800" },
        { toolCallId: "" },
        { toolCallId: "x".repeat(257) },
        { toolCallId: "\udc00" },
        { params: "" },
        { params: `"${"x".repeat(1_048_576)}"` },
        { schemaFingerprint: "" },
        { schemaFingerprint: "a.b" },
        { schemaFingerprint: "x".repeat(65) },
        { presentationDigest: "-" },
        { presentationDigest: "" },
        { presentationDigest: "sha256:abc" }
      ]
      for (const change of bad) {
        const reason = yield* reasonOf(seal.seal({ ...binding, ...change }))
        assert.strictEqual(reason._tag, "InvalidParameters", inspect(change))
        assert.isBelow(reason.message.length, 500)
      }
    }))

  const Field = Schema.String.check(
    Schema.isMinLength(1),
    Schema.isMaxLength(20),
    Schema.isPattern(/^[^\ud800-\udfff]*$/)
  )
  const Call = Arbitrary.schema(Schema.Struct({
    source: Schema.Literals(["local", "mcp:a"]),
    toolName: Field,
    toolCallId: Field,
    schemaFingerprint: Schema.Literals(["s1", "s2"]),
    params: Schema.Literals([`{"a":1}`, `{"a":2}`]),
    scope: Schema.Struct({ tenant: Schema.optionalKey(Field), principal: Schema.optionalKey(Field) })
  }))

  it.effect.prop(
    "verifies for its call and for no other",
    { one: Call, two: Call },
    ({ one, two }) =>
      Effect.gen(function*() {
        const seal = yield* ApprovalSeal.make({ key: keyA })
        const { approvalId } = yield* seal.seal(one)
        assert.strictEqual(yield* tagOf(seal.verify(approvalId, one)), "Verified")
        const same = canonicalize(one)
        assert.strictEqual(
          (yield* tagOf(seal.verify(approvalId, two))) === "Verified",
          Result.getOrThrow(same) === Result.getOrThrow(canonicalize(two))
        )
      })
  )

  it.effect.prop("is never verified from free text", [Schema.String], ([text]) =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.make({ key: keyA })
      assert.strictEqual(yield* tagOf(seal.verify(text, binding)), "Malformed")
    }))
})
