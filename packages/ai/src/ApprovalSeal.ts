/**
 * What proves that a request for approval is ours (law L4).
 *
 * An approval comes back from a history that someone else may have written. The id of each request is therefore a
 * seal: it carries a nonce, its times and a tag (HMAC-SHA-256) over the call, its parameters, the scope and what the
 * person was shown. An id that was made up, or moved to another call, does not verify, and nothing runs.
 *
 * A seal proves the question, not the person: who may answer is the program's business. It does not prove that an
 * answer is new either; what became of a nonce is written to the journal (law L2).
 *
 * Without any layer the key is read from the configuration `ASSENT_APPROVAL_KEY`; without that, a random key lives as
 * long as the process.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Approval from "./Approval.ts"
import * as ApprovalError from "./ApprovalError.ts"
import * as Requirements from "./internal/requirements.ts"
import * as ApprovalId from "./internal/seal/approvalId.ts"
import * as Canonical from "./internal/seal/canonical.ts"
import * as Cryptography from "./internal/seal/cryptography.ts"
import { InPassing } from "./internal/seal/passing.ts"
import * as Text from "./internal/text.ts"

// =============================================================================
// Models
// =============================================================================

/**
 * What a seal binds: one call of one tool, as a person is asked about it.
 *
 * `source` says whose tool it is: `"local"`, or for example `"mcp:server"`. `params` is the canonical JSON of the
 * encoded parameters. `schemaFingerprint` and `presentationDigest` stand in the id itself, so they are at most 64
 * characters of `A-Z a-z 0-9 _ ~ -`; a SHA-256 in base64url has 43. A `presentationDigest` of `"-"` is refused.
 *
 * @category models
 * @since 0.1.0
 */
export interface Binding {
  readonly source: string
  readonly toolName: string
  readonly toolCallId: string
  readonly schemaFingerprint: string
  readonly params: string
  readonly scope: Approval.ApprovalScope
  readonly presentationDigest?: string | undefined
}

/**
 * What an approval id says. `issuedAt` (missing for a foreign id) and `expiresAt` (`Infinity` where none was set) are
 * milliseconds since 1970-01-01T00:00Z. None of it is proven before {@link Service.verify} has succeeded.
 *
 * @category models
 * @since 0.1.0
 */
export interface Sealed {
  readonly approvalId: string
  readonly keyId: string
  readonly nonce: string
  readonly issuedAt?: number | undefined
  readonly expiresAt: number
  readonly schemaFingerprint: string
  readonly presentationDigest: string | undefined
}

/**
 * A key that seals approvals: any text of at least 32 bytes as UTF-8, such as `openssl rand -base64 32` makes.
 *
 * @category models
 * @since 0.1.0
 */
export type Key = string | Redacted.Redacted

/**
 * A key that sealed approvals before. From `until` on it is not known any more.
 *
 * @category models
 * @since 0.1.0
 */
export interface PreviousKey {
  readonly key: Key
  /** The id it had as the current key, if it was given one. */
  readonly keyId?: string | undefined
  /** Milliseconds since 1970, a `Date`, a `DateTime`, or an ISO text (UTC where it names no zone). */
  readonly until: DateTime.DateTime.Input
}

/**
 * The keys of a seal.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options {
  readonly key: Key
  /**
   * The name of the key inside approval ids: 1 to 32 characters of `A-Z a-z 0-9 _ ~ -`. Default: the first 8
   * base64url characters of a SHA-256 of the key.
   */
  readonly keyId?: string | undefined
  /** Keys that still verify for a while, so that a key can be replaced while approvals are open. */
  readonly previousKeys?: ReadonlyArray<PreviousKey> | undefined
}

// =============================================================================
// Service
// =============================================================================

/**
 * Seals requests and checks the seals of those that come back.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  /**
   * Whether a key was configured. Approvals then outlive the process, so what became of them must too: a journal has
   * to be named. Fails with `InvalidKey`.
   */
  readonly configured: Effect.Effect<boolean, ApprovalError.ApprovalError>

  /**
   * Seals a call that was just received from the provider. The seal has no expiry unless `expiresIn` sets one: it lives
   * as long as its key. Fails with `InvalidKey`, and with `InvalidParameters` for a binding that cannot be sealed: an
   * id, name or parameters that are too long or not Unicode, or a fingerprint or digest that does not fit.
   */
  readonly seal: (binding: Binding, options?: {
    readonly expiresIn?: Duration.Input | undefined
  }) => Effect.Effect<Sealed, ApprovalError.ApprovalError>

  /**
   * Reads an approval id, of at most 512 bytes, without proving anything. Fails with `Malformed`, which holds at most
   * 64 characters of the text.
   */
  readonly parse: (approvalId: string) => Result.Result<Sealed, ApprovalError.ApprovalError>

  /**
   * Checks that this id was issued for this very call. Fails with `Malformed`; with `UnknownKey`; with `Drifted` when
   * the id names another fingerprint than the binding, without looking at the tag, because a new schema may also
   * write the same parameters differently; else with `Forged`. What was shown is compared only if the binding names it:
   * the id's own digest is under the tag in any case. It does not look at `expiresAt`: compare it with the
   * clock after the journal was asked.
   */
  readonly verify: (approvalId: string, binding: Binding) => Effect.Effect<Sealed, ApprovalError.ApprovalError>
}

/**
 * The seal of the running program.
 *
 * Its default reads the key from the configuration `ASSENT_APPROVAL_KEY` of the fiber that first seals or verifies
 * (once per `ConfigProvider`). If there is none, a random key is made that lives as long as the process, survives hot
 * reload, and is warned about once, when it first seals a request that outlives its turn and may outlive the process.
 *
 * @example
 * import { ApprovalSeal } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const seal = yield* ApprovalSeal.ApprovalSeal
 *   const call = { source: "local", toolName: "DeleteFile", toolCallId: "call-1", schemaFingerprint: "v1", scope: {} }
 *   const { approvalId } = yield* seal.seal({ ...call, params: `{"path":"notes.txt"}` })
 *   const forged = yield* Effect.flip(seal.verify(approvalId, { ...call, params: `{"path":"id_rsa"}` }))
 *   return forged.reason._tag
 * }).pipe(Effect.provide(ApprovalSeal.layer({ key: "an example key of 32 bytes or more" })))
 *
 * await Effect.runPromise(program) // => "Forged"
 *
 * @category references
 * @since 0.1.0
 */
export const ApprovalSeal: Context.Reference<Service> = Context.Reference<Service>("@assent/ai/ApprovalSeal", {
  defaultValue: () => fromConfig
})

// =============================================================================
// Constructors
// =============================================================================

/**
 * Makes a seal from keys. Fails with `InvalidKey` for a key that is too short, a `keyId` of the wrong form, an
 * `until` that is no date, or two keys with one id. Neither the seal nor an error ever shows a key.
 *
 * @example
 * import { ApprovalSeal } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const error = await Effect.runPromise(Effect.flip(ApprovalSeal.make({ key: "too short" })))
 *
 * error.reason._tag // => "InvalidKey"
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(
  options: Options
): Effect.fn.Return<Service, ApprovalError.ApprovalError> {
  const current = yield* makeEntry("key", options.key, options.keyId)
  const entries = new Map([[current.id, current]])
  for (const [index, previous] of (options.previousKeys ?? []).entries()) {
    const name = `previousKeys[${index}]`
    const entry = yield* makeEntry(`${name}.key`, previous.key, previous.keyId)
    const until = DateTime.make(previous.until)
    if (Option.isNone(until)) return yield* invalidKey(`${name}.until is not a date.`)
    if (entries.has(entry.id)) {
      return yield* invalidKey(`${name} has the id of another key. List a key once, and give each its own keyId.`)
    }
    entries.set(entry.id, { ...entry, until: DateTime.toEpochMillis(until.value) })
  }
  return fromEntries(current, entries)
})

// =============================================================================
// Layers
// =============================================================================

/**
 * Seals with a configured key, so that approvals outlive the process and other processes with the same key accept them.
 * To replace a key, move the old one to `previousKeys` for as long as its approvals may be open. Fails as {@link make}
 * does.
 *
 * @example
 * import { ApprovalSeal } from "@assent/ai"
 * import { Effect, Redacted } from "effect"
 *
 * const Seal = ApprovalSeal.layer({
 *   key: Redacted.make("the new key, of 32 bytes or more"),
 *   previousKeys: [{ key: Redacted.make("the old key, of 32 bytes or more"), until: "2030-01-31T00:00:00Z" }]
 * })
 *
 * const configured = Effect.flatMap(ApprovalSeal.ApprovalSeal, (seal) => seal.configured)
 *
 * await Effect.runPromise(Effect.provide(configured, Seal)) // => true
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<never, ApprovalError.ApprovalError> =>
  Layer.effect(ApprovalSeal, make(options))

/**
 * **Dangerous.** Believes whatever approval ids a history holds: seals as the seal underneath does (the default, or
 * one provided to this layer), but `verify` checks no tag. Whoever can write to the history can then run every tool
 * with any parameters, in anybody's name, and as often as they can make up ids.
 *
 * It is only for programs whose history never leaves their own trusted store, for example to settle approvals that
 * were issued by upstream's engine or before a key was configured. Ids that are not ours are accepted as long as they
 * are text of at most 512 bytes; such an id gets a nonce that is a digest of id, call, parameters and scope, and never
 * expires. Such ids are known to `verify` only; `parse` stays as it is. An id of ours whose schema changed is still
 * `Drifted`. Approvals outlive the process here even without a key: name a journal that does too.
 *
 * @example
 * import { ApprovalSeal } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const seal = yield* ApprovalSeal.ApprovalSeal
 *   const sealed = yield* seal.verify("id_UPSTREAM", {
 *     source: "local",
 *     toolName: "DeleteFile",
 *     toolCallId: "call-1",
 *     schemaFingerprint: "v1",
 *     params: "{}",
 *     scope: {}
 *   })
 *   return sealed.approvalId
 * }).pipe(Effect.provide(ApprovalSeal.layerTrustHistory))
 *
 * await Effect.runPromise(program) // => "id_UPSTREAM"
 *
 * @category layers
 * @since 0.1.0
 */
export const layerTrustHistory: Layer.Layer<never> = Layer.effect(
  ApprovalSeal,
  // Here a restart loses nothing, so the default's warning would be untrue.
  Effect.map(ApprovalSeal, (seal) => trustHistory(seal === fromConfig ? fromConfigQuiet : seal))
)

// =============================================================================
// Internals: keys and seals
// =============================================================================

const parse = (approvalId: string): Result.Result<Sealed, ApprovalError.ApprovalError> => {
  const id = ApprovalId.parse(approvalId)
  return id === undefined ? Result.fail(malformed(approvalId)) : Result.succeed({ approvalId, ...id })
}

/** What the tag is computed over. A JSON array, so that no text can pass for two fields or for a part of one. */
const signedText = (id: ApprovalId.ApprovalId, binding: Binding): string =>
  JSON.stringify([
    `@assent/ai/ApprovalSeal ${ApprovalId.version}`,
    id.keyId,
    id.nonce,
    id.issuedAt,
    id.expiresAt === Infinity ? null : id.expiresAt,
    binding.source,
    binding.toolName,
    id.schemaFingerprint,
    binding.params,
    binding.toolCallId,
    scopeFields(binding.scope),
    id.presentationDigest ?? null
  ])

const scopeFields = (scope: Approval.ApprovalScope): ReadonlyArray<string | null> => [
  scope.tenant ?? null,
  scope.principal ?? null,
  scope.conversation ?? null
]

interface Entry {
  readonly id: string
  readonly key: Cryptography.MacKey
  /** From when on the key is unknown; the current key has no end. */
  readonly until?: number | undefined
}

const makeEntry = Effect.fnUntraced(function*(
  name: string,
  key: Key,
  keyId: string | undefined
): Effect.fn.Return<Entry, ApprovalError.ApprovalError> {
  const secret = yield* Effect.try({
    try: () => Redacted.isRedacted(key) ? Redacted.value(key) : key,
    catch: () => invalidKey(`${name} was wiped.`)
  })
  // The type says it is a text, but an environment variable that is not set often says so too. And half a surrogate
  // pair has no bytes of its own: two keys with one could be the same key.
  if (
    typeof secret !== "string" || !Canonical.isWellFormedId(secret, Infinity) ||
    new TextEncoder().encode(secret).length < 32
  ) {
    return yield* invalidKey(`${name} is not a text of at least 32 bytes. Make one with: openssl rand -base64 32`)
  }
  if (keyId !== undefined && !ApprovalId.isKeyId(keyId)) {
    return yield* invalidKey(`The keyId of ${name} is not 1 to 32 characters of A-Z a-z 0-9 _ ~ -.`)
  }
  return {
    id: keyId ?? (yield* Cryptography.sha256(`assent key id${secret}`)).slice(0, 8),
    key: yield* Cryptography.makeMacKey(secret)
  }
})

const fromEntries = (current: Entry, entries: ReadonlyMap<string, Entry>): Service => ({
  configured: Effect.succeed(true),
  parse,
  seal: Effect.fnUntraced(function*(binding, options) {
    const problem = ApprovalId.findProblem(binding)
    if (problem !== undefined) return yield* invalidParameters(binding.toolName, problem)
    const now = Math.max(0, Math.trunc(yield* Clock.currentTimeMillis))
    const lifetime = Math.trunc(Duration.toMillis(options?.expiresIn ?? "Infinity"))
    const id = {
      keyId: current.id,
      nonce: yield* Cryptography.randomToken(16),
      issuedAt: now,
      // No expiry is one thing, a far one another: that one a `Date` must be able to hold.
      expiresAt: lifetime === Infinity ? Infinity : Math.min(now + Math.max(0, lifetime), ApprovalId.maxTime),
      schemaFingerprint: binding.schemaFingerprint,
      presentationDigest: binding.presentationDigest
    }
    const tag = yield* Cryptography.hmacSha256(current.key, signedText(id, binding))
    return { approvalId: ApprovalId.write(id, tag), ...id }
  }),
  verify: Effect.fnUntraced(function*(approvalId, binding) {
    const id = ApprovalId.parse(approvalId)
    if (id === undefined) return yield* malformed(approvalId)
    const entry = entries.get(id.keyId)
    if (entry === undefined || (entry.until !== undefined && (yield* Clock.currentTimeMillis) >= entry.until)) {
      return yield* ApprovalError.make(new ApprovalError.UnknownKey({ approvalId, keyId: id.keyId }))
    }
    if (id.schemaFingerprint !== binding.schemaFingerprint) return yield* drifted(binding.toolName)
    // The tag covers what the id says was shown; that it is also what the caller means is ours to check.
    if (
      (binding.presentationDigest !== undefined && id.presentationDigest !== binding.presentationDigest) ||
      !(yield* Cryptography.verifyHmacSha256(entry.key, ApprovalId.tagOf(approvalId), signedText(id, binding)))
    ) {
      return yield* ApprovalError.make(new ApprovalError.Forged({ approvalId }))
    }
    return { approvalId, ...id }
  })
})

// =============================================================================
// Internals: the default, and trusting a history
// =============================================================================

const warnOnce = (key: Cryptography.ProcessSecret): Effect.Effect<void> =>
  Effect.flatMap(InPassing, (inPassing) => {
    if (key.warned || inPassing) return Effect.void
    key.warned = true
    return Effect.logWarning(
      "A request was left open, and approvals are sealed with a random key, which ends with this process. To answer" +
        ` after a restart, provide ${Requirements.everything}; or set ASSENT_APPROVAL_KEY (openssl rand -base64 32) and` +
        " configure a journal that outlives the process (ApprovalJournal.layerStore)."
    )
  })

const makeDefault = (options: { readonly warn: boolean }): Service => {
  // Per provider: where each request or test brings its own configuration, one must not get another's key.
  const resolved = new WeakMap<ConfigProvider.ConfigProvider, Service>()
  const resolve = Effect.flatMap(ConfigProvider.ConfigProvider, (provider) => {
    const known = resolved.get(provider)
    if (known !== undefined) return Effect.succeed(known)
    return Effect.tap(load(provider, options), (service) => Effect.sync(() => resolved.set(provider, service)))
  })
  return {
    configured: Effect.flatMap(resolve, (service) => service.configured),
    seal: (binding, options) => Effect.flatMap(resolve, (service) => service.seal(binding, options)),
    parse,
    verify: (approvalId, binding) => Effect.flatMap(resolve, (service) => service.verify(approvalId, binding))
  }
}

const load = Effect.fnUntraced(function*(
  provider: ConfigProvider.ConfigProvider,
  options: { readonly warn: boolean }
): Effect.fn.Return<Service, ApprovalError.ApprovalError> {
  // Not the cause: it may quote what it could not read.
  const unreadable = () => invalidKey("ASSENT_APPROVAL_KEY cannot be read as a text.")
  const configured = yield* Effect.mapError(provider.load(["ASSENT_APPROVAL_KEY"]), unreadable)
  if (configured !== undefined) {
    if (configured.value === undefined) return yield* unreadable()
    const entry = yield* makeEntry("ASSENT_APPROVAL_KEY", configured.value, undefined)
    return fromEntries(entry, new Map([[entry.id, entry]]))
  }
  const key = yield* Cryptography.processSecret
  const entry = yield* makeEntry("The key of this process", key.reveal(), undefined)
  const service = fromEntries(entry, new Map([[entry.id, entry]]))
  return {
    ...service,
    configured: Effect.succeed(false),
    seal: (binding, sealOptions) =>
      options.warn
        ? Effect.tap(service.seal(binding, sealOptions), () => warnOnce(key))
        : service.seal(binding, sealOptions)
  }
})

const fromConfig: Service = makeDefault({ warn: true })

const fromConfigQuiet: Service = makeDefault({ warn: false })

const trustHistory = (seal: Service): Service => ({
  ...seal,
  verify: Effect.fnUntraced(function*(approvalId, binding) {
    if (!Canonical.isWellFormedId(approvalId, ApprovalId.maxBytes)) return yield* malformed(approvalId)
    const { params, scope, toolCallId, toolName } = binding
    const ours = parse(approvalId)
    if (Result.isSuccess(ours)) {
      return ours.success.schemaFingerprint === binding.schemaFingerprint ? ours.success : yield* drifted(toolName)
    }
    return {
      approvalId,
      keyId: "foreign",
      // Such ids may repeat, so the nonce stands for the whole question and not for the id alone.
      nonce: yield* Cryptography.sha256(JSON.stringify([approvalId, toolCallId, toolName, params, scopeFields(scope)])),
      expiresAt: Infinity,
      schemaFingerprint: binding.schemaFingerprint,
      presentationDigest: binding.presentationDigest
    }
  })
})

// =============================================================================
// Internals: errors
// =============================================================================

const malformed = (approvalId: string): ApprovalError.ApprovalError =>
  ApprovalError.make(new ApprovalError.Malformed({ approvalId: excerpt(approvalId, 64) }))

const drifted = (toolName: string): ApprovalError.ApprovalError =>
  ApprovalError.make(
    new ApprovalError.Drifted({
      toolName: excerpt(toolName, Canonical.maxToolNameBytes),
      description: "The tool's parameters are not what they were when the person was asked."
    })
  )

const invalidParameters = (toolName: string, description: string): ApprovalError.ApprovalError =>
  ApprovalError.make(
    new ApprovalError.InvalidParameters({ toolName: excerpt(toolName, Canonical.maxToolNameBytes), description })
  )

const invalidKey = (description: string): ApprovalError.ApprovalError =>
  ApprovalError.make(new ApprovalError.InvalidKey({ description }))

/** The beginning of a text nobody has checked: a pasted one is never repeated whole, nor its control characters. */
const excerpt = (text: string, maxLength: number): string =>
  Text.escape(text.slice(0, maxLength), { maxLength }).slice(0, maxLength).replace(/[\ud800-\udbff]$/, "")
