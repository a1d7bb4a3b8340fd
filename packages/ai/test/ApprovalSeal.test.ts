import { assert, describe, it, vi } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Cause from "effect/Cause"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import type * as ApprovalError from "../src/ApprovalError.ts"
import * as ApprovalSeal from "../src/ApprovalSeal.ts"
import { canonicalize } from "../src/internal/canonical.ts"

const keyA = "key A ".repeat(8)
const keyB = "key B ".repeat(8)

const binding: ApprovalSeal.Binding = {
  source: "local",
  toolName: "DeleteFile",
  toolCallId: "call-1",
  schemaFingerprint: "schema_1",
  params: `{"path":"notes.txt"}`,
  scope: { tenant: "acme", principal: "ada", conversation: "chat-7" },
  presentationDigest: "shown_1"
}

const bare: ApprovalSeal.Binding = { ...binding, scope: {}, presentationDigest: undefined }

const reasonOf = <A>(effect: Effect.Effect<A, ApprovalError.ApprovalError>) =>
  Effect.map(Effect.flip(effect), (error) => error.reason)

const tagOf = <A>(effect: Effect.Effect<A, ApprovalError.ApprovalError>) =>
  Effect.map(Effect.result(effect), (result) => Result.isSuccess(result) ? "Verified" : result.failure.reason._tag)

const keyIn = (key: string | undefined) =>
  Effect.provideService(
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromUnknown(key === undefined ? {} : { ASSENT_APPROVAL_KEY: key })
  )

/** As a new process: the key of the old one is gone. */
const restart = Effect.sync(() => Reflect.deleteProperty(globalThis, Symbol.for("@assent/ai/processSecret")))

const recordLogs = Effect.sync(() => {
  const lines: Array<string> = []
  const logger = Logger.make<unknown, void>(({ logLevel, message }) =>
    void lines.push(`${logLevel} ${String(message)}`)
  )
  return { lines, layer: Logger.layer([logger]) }
})

const replaceSegment = (approvalId: string, index: number, change: (segment: string) => string): string =>
  approvalId.split(".").map((segment, i) => i === index ? change(segment) : segment).join(".")

describe("L4 No forgery: an approval id", () => {
  it.effect("verifies for the call it was issued for, and says what it sealed", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_800_000_000_000)
      const seal = yield* ApprovalSeal.make({ key: keyA })
      for (const call of [binding, bare]) {
        const sealed = yield* seal.seal(call)
        assert.strictEqual(sealed.issuedAt, 1_800_000_000_000)
        assert.strictEqual(sealed.expiresAt, 1_800_000_000_000 + Duration.toMillis("30 days"))
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
      const { approvalId } = yield* seal.seal(binding)
      const other = (yield* seal.seal({ ...binding, toolCallId: "call-2" })).approvalId.split(".")
      const later = (segment: string) => (Number.parseInt(segment, 36) + 1).toString(36)
      const cases: ReadonlyArray<[number, (segment: string) => string, string]> = [
        [0, () => "apr2", "Malformed"],
        [1, () => "unknown", "UnknownKey"],
        [2, () => other[2]!, "Forged"],
        [3, later, "Forged"],
        [4, later, "Forged"],
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

  it.effect("lives as long as it was told, within what a Date can show", () =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.make({ key: keyA })
      yield* TestClock.setTime(5_000)
      const expiry = (expiresIn: Duration.Input) => Effect.map(seal.seal(binding, { expiresIn }), (it) => it.expiresAt)
      assert.strictEqual(yield* expiry("2 hours"), 7_205_000)
      assert.strictEqual(yield* expiry(0), 5_000)
      assert.strictEqual(yield* expiry("-1 minutes"), 5_000)
      assert.strictEqual(yield* expiry(1.5), 5_001)
      const never = yield* seal.seal(binding, { expiresIn: "Infinity" })
      assert.doesNotThrow(() => new Date(never.expiresAt).toISOString())
      assert.strictEqual(yield* tagOf(seal.verify(never.approvalId, binding)), "Verified")
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

describe("L4 No forgery: keys", () => {
  it.effect("two processes that share a key accept each other's approvals", () =>
    Effect.gen(function*() {
      const one = yield* ApprovalSeal.make({ key: keyA })
      const two = yield* ApprovalSeal.make({ key: Redacted.make(keyA) })
      const { approvalId } = yield* one.seal(binding)
      assert.strictEqual(yield* tagOf(two.verify(approvalId, binding)), "Verified")
    }))

  it.effect("a foreign key is unknown, and forged under a known id", () =>
    Effect.gen(function*() {
      const { approvalId, keyId } = yield* Effect.flatMap(
        ApprovalSeal.make({ key: keyB }),
        (seal) => seal.seal(binding)
      )
      const unknown = yield* ApprovalSeal.make({ key: keyA })
      assert.deepInclude(yield* reasonOf(unknown.verify(approvalId, binding)), { _tag: "UnknownKey", keyId })
      const sameId = yield* ApprovalSeal.make({ key: keyA, keyId })
      assert.strictEqual(yield* tagOf(sameId.verify(approvalId, binding)), "Forged")
    }))

  it.effect("a previous key verifies until its end, and never seals", () =>
    Effect.gen(function*() {
      const old = yield* ApprovalSeal.make({ key: keyA, keyId: "2026" })
      const { approvalId } = yield* old.seal(binding)
      const rotated = yield* ApprovalSeal.make({
        key: keyB,
        previousKeys: [{ key: keyA, keyId: "2026", until: "1970-01-02T00:00:00Z" }]
      })
      assert.strictEqual(yield* tagOf(rotated.verify(approvalId, binding)), "Verified")
      assert.strictEqual(yield* tagOf(rotated.verify(approvalId, { ...binding, params: "1" })), "Forged")
      assert.strictEqual(yield* tagOf(old.verify((yield* rotated.seal(binding)).approvalId, binding)), "UnknownKey")
      yield* TestClock.setTime(86_399_999)
      assert.strictEqual(yield* tagOf(rotated.verify(approvalId, binding)), "Verified")
      yield* TestClock.setTime(86_400_000)
      assert.strictEqual(yield* tagOf(rotated.verify(approvalId, binding)), "UnknownKey")
    }))

  it.effect("the id of the key is sealed too, where one key has two", () =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.make({
        key: keyA,
        keyId: "one",
        previousKeys: [{ key: keyA, keyId: "two", until: "2030-01-01T00:00:00Z" }]
      })
      const { approvalId } = yield* seal.seal(binding)
      assert.strictEqual(yield* tagOf(seal.verify(replaceSegment(approvalId, 1, () => "two"), binding)), "Forged")
    }))

  it.effect("a key's id is that of the same key everywhere, or the one it was given", () =>
    Effect.gen(function*() {
      const keyId = (options: ApprovalSeal.Options) =>
        Effect.map(Effect.flatMap(ApprovalSeal.make(options), (seal) => seal.seal(binding)), (it) => it.keyId)
      assert.match(yield* keyId({ key: keyA }), /^[\w-]{8}$/)
      assert.strictEqual(yield* keyId({ key: keyA }), yield* keyId({ key: Redacted.make(keyA) }))
      assert.notStrictEqual(yield* keyId({ key: keyA }), yield* keyId({ key: keyB }))
      assert.strictEqual(yield* keyId({ key: keyA, keyId: "2026-11" }), "2026-11")
    }))

  it.effect("keys that cannot be used are refused with the way to make one, and never shown", () =>
    Effect.gen(function*() {
      const previous = (options: Partial<ApprovalSeal.PreviousKey>) => ({
        key: keyA,
        previousKeys: [{ key: keyB, until: 0, ...options }]
      })
      const wiped = Redacted.make(keyA)
      Redacted.wipeUnsafe(wiped)
      const bad: ReadonlyArray<[ApprovalSeal.Options, string]> = [
        [{ key: "" }, "openssl rand -base64 32"],
        [{ key: undefined as unknown as string }, "openssl rand -base64 32"],
        [{ key: "hunter2".repeat(4) }, "openssl rand -base64 32"],
        [{ key: Redacted.make("hunter2") }, "openssl rand -base64 32"],
        [{ key: `hunter2${"\ud800".repeat(32)}` }, "openssl rand -base64 32"],
        [{ key: wiped }, "wiped"],
        [{ key: keyA, keyId: "" }, "keyId"],
        [{ key: keyA, keyId: "hunter2.hunter2" }, "keyId"],
        [{ key: keyA, keyId: "k".repeat(33) }, "keyId"],
        [previous({ key: "hunter2" }), "previousKeys[0].key"],
        [previous({ until: "hunter2" }), "previousKeys[0].until"],
        [previous({ until: NaN }), "previousKeys[0].until"],
        [previous({ key: keyA }), "previousKeys[0]"]
      ]
      for (const [options, says] of bad) {
        const reason = yield* reasonOf(ApprovalSeal.make(options))
        assert.strictEqual(reason._tag, "InvalidKey")
        assert.include(reason.message, says)
        assert.notInclude(reason.message, "hunter2")
        assert.strictEqual(
          (yield* reasonOf(Effect.scoped(Layer.build(ApprovalSeal.layer(options)))))._tag,
          "InvalidKey"
        )
      }
      // 32 bytes, not 32 characters.
      assert.isTrue(yield* (yield* ApprovalSeal.make({ key: "é".repeat(16) })).configured)
    }))

  it.effect("the key is in nothing that can be printed", () =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.make({ key: keyA, previousKeys: [{ key: keyB, until: 0 }] })
      const exit = yield* Effect.exit(seal.verify("x", binding))
      yield* Effect.flatMap(ApprovalSeal.ApprovalSeal, (seal) => seal.seal(binding)).pipe(keyIn(undefined))
      const shown = [
        inspect(seal, { depth: 20, showHidden: true, getters: true }),
        JSON.stringify(seal),
        String(seal),
        inspect(exit, { depth: 20, showHidden: true }),
        Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "",
        inspect(Reflect.get(globalThis, Symbol.for("@assent/ai/processSecret")), { depth: 20, showHidden: true })
      ].join("\n")
      for (const text of ["key A", "key B", Buffer.from("key A").toString("base64").slice(0, 6)]) {
        assert.notInclude(shown, text)
      }
      assert.notMatch(shown, /[\w-]{43}/)
      assert.isFalse(Object.prototype.propertyIsEnumerable.call(globalThis, Symbol.for("@assent/ai/processSecret")))
    }))
})

describe("L4 No forgery: without a layer", () => {
  it.effect("the key is ASSENT_APPROVAL_KEY of the running fiber, and configured", () =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.ApprovalSeal
      const { lines, layer } = yield* recordLogs
      const { approvalId } = yield* seal.seal(binding).pipe(keyIn(keyA), Effect.provide(layer))
      assert.isTrue(yield* keyIn(keyA)(seal.configured))
      assert.strictEqual(yield* tagOf(keyIn(keyA)(seal.verify(approvalId, binding))), "Verified")
      assert.strictEqual(yield* tagOf(keyIn(keyB)(seal.verify(approvalId, binding))), "UnknownKey")
      const layered = yield* ApprovalSeal.make({ key: keyA })
      assert.strictEqual(yield* tagOf(layered.verify(approvalId, binding)), "Verified")
      assert.deepStrictEqual(lines, [])
      const environment = ConfigProvider.fromEnvRecord({ ASSENT_APPROVAL_KEY: keyA, ASSENT_APPROVAL_KEY_OLD: keyB })
      const fromEnvironment = Effect.provideService(ConfigProvider.ConfigProvider, environment)
      assert.strictEqual(yield* tagOf(fromEnvironment(seal.verify(approvalId, binding))), "Verified")
    }))

  it.effect("a key that cannot be used fails, and is not replaced by a random one", () =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.ApprovalSeal
      const { approvalId } = yield* sealedBy(keyA)
      const uses: ReadonlyArray<Effect.Effect<unknown, ApprovalError.ApprovalError>> = [
        seal.seal(binding),
        seal.configured,
        seal.verify(approvalId, binding)
      ]
      for (const use of uses) {
        const reason = yield* reasonOf(keyIn("hunter2")(use))
        assert.strictEqual(reason._tag, "InvalidKey")
        assert.include(reason.message, "ASSENT_APPROVAL_KEY")
        assert.notInclude(reason.message, "hunter2")
      }
      const unreadable = ConfigProvider.make(() => Effect.fail(new ConfigProvider.SourceError({ message: "hunter2" })))
      const reason = yield* reasonOf(Effect.provideService(seal.configured, ConfigProvider.ConfigProvider, unreadable))
      assert.strictEqual(reason._tag, "InvalidKey")
      assert.notInclude(reason.message, "hunter2")
    }))

  it.effect("a random key per process is warned about once, when it first seals", () =>
    Effect.gen(function*() {
      yield* restart
      const seal = yield* ApprovalSeal.ApprovalSeal
      const { lines, layer } = yield* recordLogs
      yield* Effect.gen(function*() {
        assert.isFalse(yield* seal.configured)
        yield* Effect.ignore(seal.verify((yield* sealedBy(keyA)).approvalId, binding))
        assert.deepStrictEqual(lines, [])
        const sealed = yield* Effect.all(Array.from({ length: 5 }, () => seal.seal(binding)), { concurrency: 5 })
        yield* Effect.forEach(sealed, ({ approvalId }) => seal.verify(approvalId, binding))
        yield* keyIn(undefined)(seal.seal(binding))
      }).pipe(keyIn(undefined), Effect.provide(layer))
      assert.lengthOf(lines, 1)
      assert.match(
        lines[0]!,
        /^Warn .*ASSENT_APPROVAL_KEY \(openssl rand -base64 32\).*ApprovalJournal\.layerFileSystem/
      )
    }))

  it.effect("the random key survives hot reload and ends with the process", () =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.ApprovalSeal
      const { approvalId } = yield* keyIn(undefined)(seal.seal(binding))
      vi.resetModules()
      const reloaded = yield* Effect.promise(() => import("../src/ApprovalSeal.ts"))
      assert.notStrictEqual(reloaded.ApprovalSeal, ApprovalSeal.ApprovalSeal)
      const again = reloaded.ApprovalSeal.defaultValue()
      assert.notStrictEqual(again, seal)
      assert.strictEqual(yield* tagOf(keyIn(undefined)(again.verify(approvalId, binding))), "Verified")
      yield* restart
      const reason = yield* reasonOf(keyIn(undefined)(seal.verify(approvalId, binding)))
      assert.strictEqual(reason._tag, "UnknownKey")
      assert.include(reason.message, "ASSENT_APPROVAL_KEY")
    }))

  it.effect("a layer takes the default's place", () =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.ApprovalSeal
      assert.strictEqual((yield* seal.seal(binding)).keyId, "layer")
    }).pipe(Effect.provide(ApprovalSeal.layer({ key: keyA, keyId: "layer" }))))
})

const sealedBy = (key: string) => Effect.flatMap(ApprovalSeal.make({ key }), (seal) => seal.seal(binding))

describe("L4 No forgery: layerTrustHistory opts out", () => {
  it.effect("believes ids of ours without their tag, but not over a changed schema", () =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.ApprovalSeal
      const { approvalId, nonce } = yield* sealedBy(keyB)
      const sealed = yield* seal.verify(approvalId, { ...binding, params: `{"path":"id_rsa"}` })
      assert.strictEqual(sealed.nonce, nonce)
      assert.strictEqual(yield* tagOf(seal.verify(approvalId, { ...binding, schemaFingerprint: "s2" })), "Drifted")
    }).pipe(Effect.provide(ApprovalSeal.layerTrustHistory)))

  it.effect("believes any text of at most 512 bytes, with one nonce per question", () =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.ApprovalSeal
      const sealed = yield* seal.verify("id_UPSTREAM", binding)
      assert.deepInclude(sealed, {
        approvalId: "id_UPSTREAM",
        expiresAt: Number.MAX_SAFE_INTEGER,
        schemaFingerprint: "schema_1",
        presentationDigest: "shown_1"
      })
      assert.isUndefined(sealed.issuedAt, "a foreign id does not say when it was issued")
      assert.match(sealed.nonce, /^[\w-]{43}$/)
      assert.strictEqual((yield* seal.verify("id_UPSTREAM", binding)).nonce, sealed.nonce)
      const others = yield* Effect.all([
        seal.verify("id_UPSTREAm", binding),
        seal.verify("id_UPSTREAM", { ...binding, toolCallId: "call-2" }),
        seal.verify("id_UPSTREAM", { ...binding, toolName: "Other" }),
        seal.verify("id_UPSTREAM", { ...binding, params: "{}" }),
        seal.verify("id_UPSTREAM", { ...binding, scope: {} })
      ])
      assert.strictEqual(new Set([sealed, ...others].map((it) => it.nonce)).size, 6)
      assert.strictEqual(yield* tagOf(seal.verify("é".repeat(256), binding)), "Verified")
      for (const bad of ["", "é".repeat(257), "x".repeat(10_000), "a\ud800"]) {
        assert.strictEqual(yield* tagOf(seal.verify(bad, binding)), "Malformed")
      }
      assert.isTrue(Result.isFailure(seal.parse("id_UPSTREAM")))
    }).pipe(Effect.provide(ApprovalSeal.layerTrustHistory)))

  it.effect("seals as the seal underneath does, without the warning that would be untrue", () =>
    Effect.gen(function*() {
      yield* restart
      const { lines, layer } = yield* recordLogs
      const sealWith = Effect.flatMap(
        ApprovalSeal.ApprovalSeal,
        (seal) => Effect.all([seal.seal(binding), seal.configured])
      )
      const [sealed, configured] = yield* sealWith.pipe(
        Effect.provide(ApprovalSeal.layerTrustHistory),
        keyIn(undefined),
        Effect.provide(layer)
      )
      assert.isFalse(configured)
      assert.deepStrictEqual(lines, [])
      const plain = yield* ApprovalSeal.ApprovalSeal
      assert.strictEqual(yield* tagOf(keyIn(undefined)(plain.verify(sealed.approvalId, binding))), "Verified")
      const underneath = Layer.provide(
        ApprovalSeal.layerTrustHistory,
        ApprovalSeal.layer({ key: keyA, keyId: "under" })
      )
      const [own, ownConfigured] = yield* Effect.provide(sealWith, underneath)
      assert.strictEqual(own.keyId, "under")
      assert.isTrue(ownConfigured)
    }))
})
