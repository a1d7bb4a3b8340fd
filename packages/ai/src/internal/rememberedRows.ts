/**
 * A memory over a store: a row for each answer. One that speaks of a single call is found by the digest of its parameters;
 * those that speak of more are looked at for every call of the tool.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as ApprovalError from "../ApprovalError.ts"
import * as ApprovalMatcher from "../ApprovalMatcher.ts"
import type * as Store from "../Store.ts"
import { definedFields } from "./fields.ts"
import { matching } from "./matching.ts"
import type { MemoryCall, Remembering, Service } from "./memory.ts"
import { type MemoryScope, Remembered } from "./remembered.ts"
import * as Canonical from "./seal/canonical.ts"
import * as Cryptography from "./seal/cryptography.ts"

export const make = (
  { remembered: rows }: Store.Store,
  timeToLive: Duration.Input = Duration.infinity
): Remembering => {
  const lifetime = Duration.toMillis(timeToLive)

  const listRows = Effect.fnUntraced(function*(scope: string): Effect.fn.Return<ReadonlyArray<Row>, Failure> {
    const all: Array<Row> = []
    let after: string | undefined
    while (true) {
      const found = yield* Effect.mapError(rows.list(scope, { after, limit: page }), unavailable)
      for (const row of found) all.push(row)
      if (found.length < page) return all
      after = found[found.length - 1]!.id
    }
  })

  // Those that may speak of the call. One that is of a single call is found by its parameters, a denial too: whatever became
  // of the tool's parameters, it can speak of no others.
  const candidates = Effect.fnUntraced(function*(call: MemoryCall): Effect.fn.Return<ReadonlyArray<Stored>, Failure> {
    const { source, toolName } = call
    const scope = yield* scopeKey(call.scope)
    const params = Canonical.canonicalize(call.params)
    const found = Result.isSuccess(params)
      ? yield* Effect.mapError(
        rows.candidates({ scope, source, toolName, exact: yield* Cryptography.sha256(params.success) }),
        unavailable
      )
      // Of parameters that have no canonical form, any denial may speak.
      : yield* listRows(scope)
    const all = yield* Effect.forEach(found, read)
    return all.filter(({ remembered }) => remembered.source === source && remembered.toolName === toolName)
  })

  /** One use less, or nothing if it has none left by now. */
  const take = ({ remembered, row }: Stored): Effect.Effect<Remembered | undefined, Failure> =>
    row.uses === undefined ? Effect.succeed(remembered) : Effect.map(
      Effect.mapError(rows.take(row.id), unavailable),
      (uses) => uses === undefined ? undefined : new Remembered({ ...remembered, uses })
    )

  const find: Service["find"] = Effect.fnUntraced(function*(call, options) {
    const behaviors = yield* ApprovalMatcher.Behaviors
    const all = yield* candidates(call)
    const covering = all.filter(({ remembered }) => matching.covers(remembered, call, behaviors))
    const denied = covering.find(isDenial) ??
      all.find((stored) => isDenial(stored) && matching.mayCover(stored.remembered, call, behaviors))
    if (denied !== undefined) return denied.remembered
    // A use is not taken where something without uses says the same.
    const endless = covering.filter(({ remembered }) => remembered.uses === undefined)
    for (const approved of endless.length > 0 ? endless : covering) {
      const taken = options?.peek === true ? approved.remembered : yield* take(approved)
      if (taken !== undefined) return taken
    }
    return undefined
  })

  const remember: Service["remember"] = Effect.fnUntraced(function*(answered) {
    const { remember } = answered
    if (remember === "none") return undefined
    const said = typeof remember === "string" ? {} : remember
    const matcher = said.covers === undefined ?
      ApprovalMatcher.exact(answered.params) :
      ApprovalMatcher.fromDescription(
        said.covers,
        yield* ApprovalMatcher.Behaviors
      )
    // What does not even cover the call that was answered was not meant so.
    if (!matcher.covers(answered.params)) return undefined
    const { description } = matcher
    const now = yield* Clock.currentTimeMillis
    const expiresAt = now + (said.expiresIn ?? lifetime)
    const lasting = {
      ...(expiresAt === Infinity ? undefined : { expiresAt }),
      ...(said.uses === undefined || answered.decision === "denied" ? undefined : { uses: said.uses })
    }
    const remembered = new Remembered({
      id: answered.id,
      source: answered.source,
      toolName: answered.toolName,
      version: answered.version,
      decision: answered.decision,
      covers: description,
      scope: answered.scope,
      approvalId: answered.approvalId,
      toolCallId: answered.toolCallId,
      rememberedAt: now,
      ...definedFields({ note: answered.note, decidedBy: answered.decidedBy }),
      ...lasting
    })
    const scope = yield* scopeKey(answered.scope)
    const row: Row = {
      id: yield* rowId(scope, answered.id),
      scope,
      source: answered.source,
      toolName: answered.toolName,
      denies: answered.decision === "denied",
      body: encode(remembered),
      ...(description._tag === "Exact" ? { exact: yield* Cryptography.sha256(description.params) } : undefined),
      ...lasting
    }
    return (yield* Effect.mapError(rows.insert(row), unavailable)) ? remembered : undefined
  })

  const list: Service["list"] = Effect.fnUntraced(function*(scope) {
    const found = yield* Effect.flatMap(scopeKey(scope), listRows)
    return (yield* Effect.forEach(found, read)).map(({ remembered }) => remembered)
  })

  const revoke: Service["revoke"] = Effect.fnUntraced(function*(scope, id) {
    const key = yield* scopeKey(scope)
    return yield* Effect.mapError(rows.revoke(key, yield* rowId(key, id)), unavailable)
  })

  return { remembers: true, matching, find, remember, list, revoke }
}

type Failure = ApprovalError.ApprovalError

type Row = Store.RememberedRow

interface Stored {
  readonly row: Row
  readonly remembered: Remembered
}

const isDenial = ({ remembered }: Stored): boolean => remembered.decision === "denied"

const page = 100

const codec = Schema.fromJsonString(Schema.toCodecJson(Remembered))
const decode = Schema.decodeUnknownResult(codec)
const encode = Schema.encodeSync(codec)

const memoryUnavailable = (description: string): Failure =>
  ApprovalError.make(new ApprovalError.MemoryUnavailable({ description }))

const unavailable = (error: Store.StoreError): Failure => memoryUnavailable(error.description)

// The row counts its uses, and the body says how many there were.
const read = (row: Row): Effect.Effect<Stored, Failure> => {
  const decoded = decode(row.body)
  return Result.isFailure(decoded)
    ? Effect.fail(memoryUnavailable("An answer that was remembered cannot be read."))
    : Effect.succeed({
      row,
      remembered: row.uses === undefined ? decoded.success : new Remembered({ ...decoded.success, uses: row.uses })
    })
}

// Scopes and ids are anybody's text, of any length: their digests are keys that cannot run into each other.
const scopeKey = (scope: MemoryScope): Effect.Effect<string> =>
  Cryptography.sha256(JSON.stringify([
    scope.tenant ?? null,
    scope.principal ?? null,
    scope.conversation ?? null,
    scope.call ?? null,
    scope.project ?? null
  ]))

const rowId = (scope: string, id: string): Effect.Effect<string> => Cryptography.sha256(JSON.stringify([scope, id]))
