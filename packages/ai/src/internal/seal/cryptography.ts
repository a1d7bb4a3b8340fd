/**
 * The little cryptography Assent needs, from `effect/crypto` over the runtime's own WebCrypto, without services to
 * provide: they are built on first use and kept per `Crypto` object, so that importing this module does nothing.
 *
 * Where the runtime can compute at once, HMAC and SHA-256 do ({@link NativeCryptography}), unless a program has put
 * another `Crypto` in the place of the runtime's: then that one is used for all.
 *
 * What `effect/crypto` can fail with (a key of the wrong kind, an unsupported algorithm) cannot happen with HMAC and
 * SHA-256 over bytes made here; a runtime without WebCrypto is a defect that says so.
 */
import * as Digest from "effect/crypto/Digest"
import * as Mac from "effect/crypto/Mac"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as WebCrypto from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as NativeCryptography from "./nativeCryptography.ts"

/** An opaque key: it shows its algorithm only, in `toString`, JSON and inspection. */
export type MacKey = Mac.Key<typeof Mac.hmacSha256>

/** `bytes` random bytes as base64url. */
export const randomToken = (bytes: number): Effect.Effect<string> =>
  using(({ random }) => Effect.mapEager(random.randomBytes(bytes), Base64Url.encode))

/** SHA-256 as base64url: 43 characters. */
export const sha256 = (data: string | Uint8Array): Effect.Effect<string> => using(({ sha256 }) => sha256(toBytes(data)))

/** Makes a key for {@link hmacSha256} of a secret that is not empty. */
export const makeMacKey = (secret: string | Uint8Array): Effect.Effect<MacKey> =>
  Effect.orDie(Mac.key(Mac.hmacSha256, toBytes(secret)))

/** HMAC-SHA-256 as base64url: 43 characters. */
export const hmacSha256 = (key: MacKey, data: string): Effect.Effect<string> =>
  using(({ mac }) => Effect.mapEager(Effect.orDie(mac.sign(key, toBytes(data))), Base64Url.encode))

/** Checks a tag of {@link hmacSha256} in constant time. Only the one spelling that `hmacSha256` writes is accepted. */
export const verifyHmacSha256 = (key: MacKey, tag: string, data: string): Effect.Effect<boolean> => {
  if (!isCanonicalTag(tag)) return Effect.succeed(false)
  const bytes = Base64Url.decode(tag)
  return Result.isFailure(bytes)
    ? Effect.succeed(false)
    : using(({ mac }) => Effect.orDie(mac.verify(key, bytes.success, toBytes(data))))
}

/**
 * Whether a text is the one base64url spelling of 32 bytes: the last of its 43 characters carries four bits, so only
 * every fourth letter of the alphabet may stand there.
 */
export const isCanonicalTag = (text: string): boolean => /^[\w-]{42}[AEIMQUYcgkosw048]$/.test(text)

/** A random secret of this process. A closure, so that nothing that walks `globalThis` shows it. */
export interface ProcessSecret {
  readonly reveal: () => string
  /** Whether somebody was told that approvals end with the process. */
  warned: boolean
}

/**
 * The secret of this process: 32 random bytes as base64url, made on first use. It is kept on `globalThis`, so that a
 * module loaded twice, by hot reload or by two packages, finds the same one.
 */
export const processSecret: Effect.Effect<ProcessSecret> = Effect.suspend(() => {
  const known = slot[processSecretSymbol]
  if (known !== undefined) return Effect.succeed(known)
  return Effect.map(randomToken(32), (secret) => {
    // Another fiber may have been faster.
    const faster = slot[processSecretSymbol]
    if (faster !== undefined) return faster
    const made: ProcessSecret = { reveal: () => secret, warned: false }
    Object.defineProperty(globalThis, processSecretSymbol, { value: made, configurable: true })
    return made
  })
})

// =============================================================================
// Internals
// =============================================================================

interface Services {
  readonly mac: Mac.Mac["Service"]
  readonly random: SecureRandom.SecureRandom["Service"]
  readonly sha256: (data: Uint8Array) => Effect.Effect<string>
}

const build = (native: NativeCryptography.NativeCryptography | undefined): Effect.Effect<Services> =>
  Effect.gen(function*() {
    const digest = yield* Digest.Digest
    return {
      mac: yield* Mac.Mac,
      random: yield* SecureRandom.SecureRandom,
      sha256: (data: Uint8Array) =>
        native === undefined
          ? Effect.map(digest.digest(Digest.sha256, data), Base64Url.encode)
          : Effect.sync(() => native.sha256(data))
    }
  }).pipe(
    // `local`: a layer built by the program around us may stand on another `Crypto`.
    Effect.provide(
      Layer.provideMerge(
        Layer.merge(
          Digest.layerWebCrypto,
          Mac.layerWebCryptoWith({
            // All keys are made above, for SHA-256.
            hmac: native === undefined ? undefined : (_hash, key, data) => native.hmacSha256(key, data)
          })
        ),
        SecureRandom.layerWebCrypto
      ),
      { local: true }
    )
  )

const cache = new WeakMap<Crypto, Services>()

const using = <A>(use: (services: Services) => Effect.Effect<A>): Effect.Effect<A> =>
  Effect.withFiber((fiber) => {
    const crypto: Crypto | undefined = fiber.getRef(WebCrypto.WebCrypto)
    // A runtime without `globalThis.crypto` gets services that say so when they are used.
    if (crypto === undefined) return Effect.flatMap(build(undefined), use)
    const cached = cache.get(crypto)
    if (cached !== undefined) return use(cached)
    const native = crypto === globalThis.crypto ? NativeCryptography.find() : undefined
    return Effect.flatMap(build(native), (services) => {
      cache.set(crypto, services)
      return use(services)
    })
  })

const processSecretSymbol = Symbol.for("@assent/ai/processSecret")

// A cast, because the type of `globalThis` cannot be given a property whose name is a symbol.
const slot = globalThis as { readonly [processSecretSymbol]?: ProcessSecret }

const encoder = new TextEncoder()

const toBytes = (data: string | Uint8Array): Uint8Array => typeof data === "string" ? encoder.encode(data) : data
