import { afterEach, assert, describe, it, vi } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import { WebCrypto } from "effect/crypto"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Node from "node:crypto"
import { inspect } from "node:util"
import * as Cryptography from "../../src/internal/seal/cryptography.ts"
import * as NativeCryptography from "../../src/internal/seal/nativeCryptography.ts"
import { afresh } from "../afresh.ts"

const utf8 = (text: string) => new TextEncoder().encode(text)

const fromHex = (hex: string) => Uint8Array.from(Buffer.from(hex, "hex"))

const base64Url = (hex: string) => Buffer.from(hex, "hex").toString("base64url")

/** A program's own `Crypto`: the runtime's, under another identity, that says what was asked of it. */
const makeOther = () => {
  const { subtle } = globalThis.crypto
  const asked: Array<string> = []
  const crypto = {
    subtle: {
      importKey: (...args: Parameters<SubtleCrypto["importKey"]>) => subtle.importKey(...args),
      sign: (...args: Parameters<SubtleCrypto["sign"]>) => {
        asked.push("sign")
        return subtle.sign(...args)
      },
      verify: (...args: Parameters<SubtleCrypto["verify"]>) => {
        asked.push("verify")
        return subtle.verify(...args)
      },
      digest: (...args: Parameters<SubtleCrypto["digest"]>) => {
        asked.push("digest")
        return subtle.digest(...args)
      }
    },
    getRandomValues: (bytes: Uint8Array) => {
      asked.push("random")
      return bytes.fill(7)
    }
  } as unknown as Crypto
  return { asked, provide: Effect.provideService(WebCrypto.WebCrypto, crypto) }
}

/** By the runtime itself, and by WebCrypto. */
const both = <A>(effect: Effect.Effect<A>) =>
  Effect.map(Effect.suspend(() => makeOther().provide(effect)), (web) => [Effect.runSync(effect), web] as const)

const native = () => {
  const found = NativeCryptography.find()
  if (found === undefined) throw new Error("The runtime of the tests has node:crypto.")
  return found
}

const unimplemented = () => {
  throw new Error("Not implemented.")
}

const stubNode = (changed: object) => vi.stubGlobal("process", { getBuiltinModule: () => ({ ...Node, ...changed }) })

// RFC 4231, with the keys and data in hex.
const tags = [
  [
    "0b".repeat(20),
    "4869205468657265",
    "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
  ],
  [
    "4a656665",
    "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
  ],
  [
    "aa".repeat(20),
    "dd".repeat(50),
    "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
  ],
  [
    "0102030405060708090a0b0c0d0e0f10111213141516171819",
    "cd".repeat(50),
    "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
  ],
  [
    "aa".repeat(131),
    Buffer.from("Test Using Larger Than Block-Size Key - Hash Key First").toString("hex"),
    "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
  ],
  [
    "aa".repeat(131),
    Buffer.from(
      "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be " +
        "hashed before being used by the HMAC algorithm."
    ).toString("hex"),
    "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
  ]
] as const

// FIPS 180-4, from NIST's examples.
const digests = [
  ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
  ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  [
    "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
  ],
  ["a".repeat(1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"]
] as const

const Byte = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))

const Bytes = Arbitrary.map(Arbitrary.schema(Schema.Array(Byte)), (bytes) => Uint8Array.from(bytes))

const Secret = Arbitrary.map(Arbitrary.schema(Schema.NonEmptyArray(Byte)), (bytes) => Uint8Array.from(bytes))

// So that there are lengths beyond a block, which is 64 bytes, and beyond many.
const Times = Arbitrary.schema(Schema.Literals([1, 10, 1_000]))

const repeat = (bytes: Uint8Array, times: number) =>
  Uint8Array.from(Array.from({ length: times }, () => [...bytes]).flat())

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

describe("HMAC-SHA-256", () => {
  it("gives the tags of RFC 4231 by the runtime", () => {
    for (const [key, data, tag] of tags) {
      assert.strictEqual(Buffer.from(native().hmacSha256(fromHex(key), fromHex(data))).toString("hex"), tag)
    }
  })

  it.effect("gives them by the runtime and by WebCrypto, where the data is a text", () =>
    Effect.gen(function*() {
      const texts = tags.filter(([, data]) => !/^(?:dd|cd)/.test(data))
      assert.lengthOf(texts, 4)
      for (const [secret, data, tag] of texts) {
        const key = yield* Cryptography.makeMacKey(fromHex(secret))
        const signed = Cryptography.hmacSha256(key, Buffer.from(data, "hex").toString())
        assert.deepStrictEqual(yield* both(signed), [base64Url(tag), base64Url(tag)])
      }
    }))

  it.effect.prop(
    "is the same by the runtime and by WebCrypto, and each takes the other's",
    { secret: Secret, times: Times, text: Schema.String },
    ({ secret, text, times }) =>
      Effect.gen(function*() {
        const key = yield* Cryptography.makeMacKey(repeat(secret, times))
        const data = text.repeat(times)
        const [tag, web] = yield* both(Cryptography.hmacSha256(key, data))
        assert.strictEqual(tag, web)
        assert.deepStrictEqual(yield* both(Cryptography.verifyHmacSha256(key, tag, data)), [true, true])
        assert.deepStrictEqual(yield* both(Cryptography.verifyHmacSha256(key, tag, `${data}.`)), [false, false])
        const other = yield* Cryptography.makeMacKey(Uint8Array.from([...secret, 1]))
        assert.deepStrictEqual(yield* both(Cryptography.verifyHmacSha256(other, tag, data)), [false, false])
      })
  )

  it.effect("takes the one spelling of a tag", () =>
    Effect.gen(function*() {
      const key = yield* Cryptography.makeMacKey("Jefe")
      const tag = "F2GSNkVMOn-eq97c7oGyQej2oaClkuEOPoEoKekst_M"
      const data = "data 59"
      assert.deepStrictEqual(yield* both(Cryptography.verifyHmacSha256(key, tag, data)), [true, true])
      // Another last letter with the same four bits, padding, the other alphabet, and less of it.
      const base64 = Buffer.from(tag, "base64url").toString("base64").slice(0, -1)
      const spellings = [`${tag.slice(0, -1)}N`, `${tag}=`, base64, tag.slice(0, -1), ""]
      for (const spelling of spellings) {
        assert.deepStrictEqual(yield* both(Cryptography.verifyHmacSha256(key, spelling, data)), [false, false])
      }
    }))

  it.effect("shows nothing of a key", () =>
    Effect.gen(function*() {
      const key = yield* Cryptography.makeMacKey("a secret")
      yield* Cryptography.hmacSha256(key, "data")
      const shown = [String(key), JSON.stringify(key), inspect(key, { depth: null, showHidden: false })]
      for (const text of shown) assert.notMatch(text, /secret|97/)
    }))
})

describe("SHA-256", () => {
  it.effect("gives NIST's digests by the runtime and by WebCrypto", () =>
    Effect.gen(function*() {
      for (const [text, digest] of digests) {
        assert.deepStrictEqual(yield* both(Cryptography.sha256(text)), [base64Url(digest), base64Url(digest)])
        assert.strictEqual(yield* Cryptography.sha256(utf8(text)), base64Url(digest))
      }
    }))

  it.effect.prop(
    "is the same by the runtime and by WebCrypto",
    { bytes: Bytes, times: Times, text: Schema.String },
    ({ bytes, text, times }) =>
      Effect.gen(function*() {
        for (const data of [repeat(bytes, times), text.repeat(times)]) {
          const [digest, web] = yield* both(Cryptography.sha256(data))
          assert.strictEqual(digest, web)
        }
      })
  )

  it.effect("is of half a surrogate pair what it is of the character for what cannot be read", () =>
    Effect.gen(function*() {
      const [digest, web] = yield* both(Cryptography.sha256("\ud800"))
      assert.strictEqual(digest, web)
      assert.strictEqual(digest, yield* Cryptography.sha256("\ufffd"))
    }))
})

describe("what computes", () => {
  it.effect("is a program's own Crypto, if it gives one", () =>
    Effect.gen(function*() {
      const { asked, provide } = makeOther()
      const key = yield* Cryptography.makeMacKey("Jefe")
      yield* provide(Effect.gen(function*() {
        const tag = yield* Cryptography.hmacSha256(key, "data")
        assert.isTrue(yield* Cryptography.verifyHmacSha256(key, tag, "data"))
        yield* Cryptography.sha256("data")
        assert.strictEqual(yield* Cryptography.randomToken(3), "BwcH")
      }))
      assert.deepStrictEqual(asked, ["sign", "verify", "digest", "random"])
    }))

  const withoutRuntime: ReadonlyArray<readonly [what: string, leave: () => void]> = [
    ["has no process", () => vi.stubGlobal("process", undefined)],
    ["has no getBuiltinModule, as Node before 20.16", () => vi.stubGlobal("process", {})],
    ["has no node:crypto", () => vi.stubGlobal("process", { getBuiltinModule: () => undefined })],
    ["has one of which nothing is there", () => vi.stubGlobal("process", { getBuiltinModule: () => ({}) })],
    ["refuses to give one", () => vi.stubGlobal("process", { getBuiltinModule: unimplemented })],
    ["has one that only throws", () => stubNode({ createHmac: unimplemented, createHash: unimplemented })],
    ["has no HMAC", () => stubNode({ createHmac: unimplemented })],
    ["has no SHA-256", () => stubNode({ createHash: unimplemented })],
    ["computes a wrong HMAC", () => stubNode({ createHmac: (_: string, key: string) => Node.createHmac("sha1", key) })],
    ["computes a wrong SHA-256", () => stubNode({ createHash: () => Node.createHash("sha1") })]
  ]

  it.effect.each(withoutRuntime)("is WebCrypto where the runtime %s", ([, leave]) =>
    Effect.gen(function*() {
      const key = yield* Cryptography.makeMacKey("Jefe")
      const expected = [yield* Cryptography.hmacSha256(key, "data"), yield* Cryptography.sha256("data")]
      const again = yield* Effect.promise(() =>
        afresh<typeof Cryptography>(import.meta.resolve("../../src/internal/seal/cryptography.ts"))
      )
      const asked = [vi.spyOn(globalThis.crypto.subtle, "sign"), vi.spyOn(globalThis.crypto.subtle, "digest")]
      leave()
      // The services are built on first use, and found here.
      assert.match(yield* again.randomToken(16), /^[\w-]{22}$/)
      vi.unstubAllGlobals()
      assert.deepStrictEqual([yield* again.hmacSha256(key, "data"), yield* again.sha256("data")], expected)
      assert.isTrue(yield* again.verifyHmacSha256(key, expected[0]!, "data"))
      for (const method of asked) assert.strictEqual(method.mock.calls.length, 1)
    }))

  it("is the runtime, which does not ask WebCrypto", () => {
    const asked = [
      vi.spyOn(globalThis.crypto.subtle, "sign"),
      vi.spyOn(globalThis.crypto.subtle, "verify"),
      vi.spyOn(globalThis.crypto.subtle, "digest")
    ]
    const key = Effect.runSync(Cryptography.makeMacKey("Jefe"))
    const tag = Effect.runSync(Cryptography.hmacSha256(key, "data"))
    assert.isTrue(Effect.runSync(Cryptography.verifyHmacSha256(key, tag, "data")))
    assert.strictEqual(Effect.runSync(Cryptography.sha256("abc")), base64Url(digests[1][1]))
    for (const method of asked) assert.strictEqual(method.mock.calls.length, 0)
  })
})
