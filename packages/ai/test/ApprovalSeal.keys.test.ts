/** L4 the keys of a seal: their rotation, a process without one, and the opt-out. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import type * as ApprovalError from "../src/ApprovalError.ts"
import * as ApprovalSeal from "../src/ApprovalSeal.ts"
import { afresh } from "./afresh.ts"
import {
  binding,
  keyA,
  keyB,
  keyIn,
  reasonOf,
  recordLogs,
  replaceSegment,
  restart,
  sealedBy,
  tagOf
} from "./sealing.ts"

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
      for (
        const unreadable of [
          ConfigProvider.make(() => Effect.fail(new ConfigProvider.SourceError({ message: "hunter2" }))),
          ConfigProvider.fromUnknown({ ASSENT_APPROVAL_KEY: { hunter2: "hunter2" } })
        ]
      ) {
        const reason = yield* reasonOf(
          Effect.provideService(seal.configured, ConfigProvider.ConfigProvider, unreadable)
        )
        assert.strictEqual(reason._tag, "InvalidKey")
        assert.notInclude(reason.message, "hunter2")
      }
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
        /^Warn .*SqlApproval\.layer.*ASSENT_APPROVAL_KEY \(openssl rand -base64 32\).*ApprovalJournal\.layerStore/
      )
    }))

  it.effect("the random key survives hot reload and ends with the process", () =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.ApprovalSeal
      const { approvalId } = yield* keyIn(undefined)(seal.seal(binding))
      const reloaded = yield* Effect.promise(() =>
        afresh<typeof ApprovalSeal>(import.meta.resolve("../src/ApprovalSeal.ts"))
      )
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
        expiresAt: Infinity,
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
