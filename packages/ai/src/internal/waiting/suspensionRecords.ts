/**
 * Suspensions in an `AtomicStore`:
 *
 * ```
 * suspension/<nonce>               the suspension: open, then taken, then over, each by compare and set
 * next/<nonce>                     the id as which the run of that request waits, written once
 * delivered/<nonce>                the answer that was given to the store, written once
 * webhook/<digest of the token>    the id of the request that waits for it
 * waiting/<scope>/<time>.<nonce>   those that wait, to be listed
 * due/<time>.<nonce>               timers that somebody has to be told of; those that were answered to the store, at 0
 * ```
 *
 * The last two are for looking up alone, and nothing is decided by them: they are written before the suspension and
 * expire when it is over, so that what is listed is there, and what is there is listed.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import * as Approver from "../../Approver.ts"
import type * as AtomicStore from "../../AtomicStore.ts"
import * as ApprovalId from "../seal/approvalId.ts"
import * as Cryptography from "../seal/cryptography.ts"

/**
 * A tool that waits: for what, and in whose name. `state` is what it must remember, as JSON, of `stateVersion`. `previous`
 * is the id of the request whose run began to wait here, if there was one. `params` are the encoded parameters that it
 * began with, and `edits`, as a JSON Patch, lead to them from what was proposed. Times are in milliseconds since
 * 1970-01-01T00:00Z; `expiresAt` is `Infinity` where nobody set an expiry.
 *
 * @category models
 * @since 0.1.0
 */
export class Suspension extends Schema.Class<Suspension>("@assent/ai/SuspensionStore/Suspension")({
  approvalId: Schema.String,
  previous: Schema.optionalKey(Schema.String),
  toolName: Schema.String,
  toolCallId: Schema.String,
  awaited: Approval.Awaited,
  state: Schema.Json,
  stateVersion: Schema.Number,
  params: Schema.Json,
  edits: Schema.optionalKey(Schema.Json),
  scope: Schema.Struct({
    tenant: Schema.optionalKey(Schema.String),
    principal: Schema.optionalKey(Schema.String),
    conversation: Schema.optionalKey(Schema.String)
  }),
  issuedAt: Schema.Number,
  expiresAt: Schema.Number
}) {}

/**
 * What is known of a suspension, as the store has it.
 *
 * `open`: it waits. `taken`: somebody has gone on from it. `over`: it ended, and what it remembered is gone. `delivered`
 * is the answer that was given to the store, if there is one, and `deliveredBy` who gave it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Found {
  readonly status: "open" | "taken" | "over"
  readonly suspension: Suspension
  readonly delivered: Schema.Json | undefined
  readonly deliveredBy?: Approver.DecidedBy | undefined
}

/**
 * A page of the suspensions that wait, the oldest first. `next` leads to the next page; `undefined` on the last.
 *
 * @category models
 * @since 0.1.0
 */
export interface Page {
  readonly suspensions: ReadonlyArray<Suspension>
  readonly next: string | undefined
}

/**
 * Which suspensions to list: those of one scope, or all; at most `limit` (default 100).
 *
 * @category options
 * @since 0.1.0
 */
export interface ListOptions {
  readonly scope?: Approval.ApprovalScope | undefined
  readonly after?: string | undefined
  readonly limit?: number | undefined
}

/** The operations of a store. */
export interface Records {
  /** Keeps a suspension that has just begun. `webhook` is the digest of the token that leads to it. */
  readonly put: (
    suspension: Suspension,
    options?: { readonly webhook?: string | undefined }
  ) => Effect.Effect<void, ApprovalError.ApprovalError>
  /** What is known of a suspension, or `undefined` where it was never here or is long gone. */
  readonly find: (approvalId: string) => Effect.Effect<Found | undefined, ApprovalError.ApprovalError>
  /**
   * The request as which the run of this one began to wait: for whoever finds that the run's process died before it could
   * tell the journal.
   */
  readonly next: (approvalId: string) => Effect.Effect<string | undefined, ApprovalError.ApprovalError>
  /** Takes an open suspension, once: exactly one of several who race gets true. */
  readonly take: (approvalId: string) => Effect.Effect<boolean, ApprovalError.ApprovalError>
  /** Ends a suspension: it waits no more, and what it remembered is given up. */
  readonly end: (approvalId: string) => Effect.Effect<void, ApprovalError.ApprovalError>
  /** Keeps an answer for an open suspension, once: exactly one of several who race gets true. It is due from then on. */
  readonly deliver: (
    approvalId: string,
    answer: Schema.Json,
    decidedBy?: Approver.DecidedBy
  ) => Effect.Effect<boolean, ApprovalError.ApprovalError>
  /** The suspension to which the token with this digest leads. */
  readonly findWebhook: (digest: string) => Effect.Effect<Found | undefined, ApprovalError.ApprovalError>
  /** A page of those that wait. What it costs does not depend on how many there are. */
  readonly list: (options?: ListOptions) => Effect.Effect<Page, ApprovalError.ApprovalError>
  /** Those that were answered, then those whose timer is due by `now`, the earliest first, that nobody was told of. */
  readonly due: (options: {
    readonly now: number
    readonly limit?: number | undefined
  }) => Effect.Effect<ReadonlyArray<Suspension>, ApprovalError.ApprovalError>
  /** Notes that whoever waits for it was told that it is due. */
  readonly told: (suspension: Suspension) => Effect.Effect<void, ApprovalError.ApprovalError>
}

const Record = Schema.Struct({ status: Schema.Literals(["open", "taken", "over"]), suspension: Suspension })

type Record = typeof Record.Type

const decodeRecord = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.toCodecJson(Record)))
const encodeRecord = Schema.encodeSync(Schema.fromJsonString(Schema.toCodecJson(Record)))

const Delivered = Schema.Struct({ answer: Schema.Json, decidedBy: Schema.optionalKey(Approver.DecidedBy) })

const decodeDelivered = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.toCodecJson(Delivered)))
const encodeDelivered = Schema.encodeSync(Schema.fromJsonString(Schema.toCodecJson(Delivered)))

/** How long a record outlives its request, so that one that came too late is told so. */
const margin = Duration.toMillis(Duration.days(1))

const unavailable = (description: string): ApprovalError.ApprovalError =>
  ApprovalError.make(new ApprovalError.SuspensionsUnavailable({ description }))

const pageSize = 100

/** The nonce at the end of a key that leads to a suspension. */
const nonceIn = (key: string): string => key.slice(key.lastIndexOf(".") + 1)

const nonceOf = (approvalId: string): string | undefined => ApprovalId.parse(approvalId)?.nonce

/** A time as text of one length, so that texts are in the order of times. */
const timeKey = (time: number): string => Math.max(0, Math.trunc(time)).toString(36).padStart(10, "0")

const scopeKey = ({ conversation, principal, tenant }: Approval.ApprovalScope): Effect.Effect<string> =>
  Effect.map(
    Cryptography.sha256(JSON.stringify([tenant ?? null, principal ?? null, conversation ?? null])),
    (digest) => digest.slice(0, 22)
  )

export const make = (store: AtomicStore.AtomicStore): Records => {
  const use = <A>(effect: Effect.Effect<A, AtomicStore.AtomicStoreError>) =>
    Effect.mapError(effect, ({ description }) => unavailable(description))

  const read = Effect.fnUntraced(function*(nonce: string): Effect.fn.Return<
    { readonly version: number; readonly record: Record } | undefined,
    ApprovalError.ApprovalError
  > {
    const stored = yield* use(store.get(`suspension/${nonce}`))
    if (stored === undefined) return undefined
    const record = decodeRecord(stored.value)
    return Result.isSuccess(record)
      ? { version: stored.version, record: record.success }
      : yield* unavailable(`The record "suspension/${nonce}" cannot be read.`)
  })

  const waitingKey = (suspension: Suspension, nonce: string) =>
    Effect.map(scopeKey(suspension.scope), (scope) => `waiting/${scope}/${timeKey(suspension.issuedAt)}.${nonce}`)

  const dueKey = ({ awaited }: Suspension, nonce: string): string | undefined =>
    awaited.dueAt === undefined ? undefined : `due/${timeKey(awaited.dueAt)}.${nonce}`

  const deliveredKey = (nonce: string): string => `due/${timeKey(0)}.${nonce}`

  const write = (key: string, value: string, expiresAt: number) =>
    use(store.put(key, value, { expiresAt: Math.min(expiresAt, Number.MAX_SAFE_INTEGER) }))

  const forget = (key: string | undefined) =>
    key === undefined ? Effect.void : Effect.flatMap(Clock.currentTimeMillis, (now) => write(key, "", now))

  const forgetDue = (suspension: Suspension, nonce: string) =>
    Effect.andThen(
      forget(dueKey(suspension, nonce)),
      // Most were never answered so, and a look costs less than a write.
      Effect.flatMap(use(store.get(deliveredKey(nonce))), (stored) =>
        stored === undefined ? Effect.void : forget(deliveredKey(nonce)))
    )

  // From one status to the next; whether it was there to be changed.
  const advance = (approvalId: string, from: ReadonlyArray<Record["status"]>, to: Record["status"]) =>
    Effect.gen(function*() {
      const nonce = nonceOf(approvalId)
      if (nonce === undefined) return false
      while (true) {
        const found = yield* read(nonce)
        if (found === undefined || !from.includes(found.record.status)) return false
        const { suspension } = found.record
        const kept = to === "over" ? new Suspension({ ...suspension, state: null }) : suspension
        const next = encodeRecord({ status: to, suspension: kept })
        if (!(yield* use(store.compareAndSet(`suspension/${nonce}`, found.version, next)))) continue
        yield* Effect.ignore(Effect.andThen(
          Effect.flatMap(waitingKey(suspension, nonce), forget),
          forgetDue(suspension, nonce)
        ))
        return true
      }
    })

  const find: Records["find"] = Effect.fnUntraced(function*(approvalId) {
    const nonce = nonceOf(approvalId)
    if (nonce === undefined) return undefined
    const found = yield* read(nonce)
    if (found === undefined) return undefined
    const delivered = found.record.status === "over" ? undefined : yield* use(store.get(`delivered/${nonce}`))
    if (delivered === undefined) return { ...found.record, delivered: undefined }
    const kept = decodeDelivered(delivered.value)
    if (Result.isFailure(kept)) return yield* unavailable(`The record "delivered/${nonce}" cannot be read.`)
    return { ...found.record, delivered: kept.success.answer, deliveredBy: kept.success.decidedBy }
  })

  // One that is to be answered, and is not yet, is not due.
  const hasBegun = (key: string) => {
    const nonce = nonceIn(key)
    return key !== deliveredKey(nonce)
      ? Effect.succeed(true)
      : Effect.map(use(store.get(`delivered/${nonce}`)), (answer) => answer !== undefined)
  }

  // Those that keys lead to and that still wait.
  const open = (keys: ReadonlyArray<string>) =>
    Effect.map(
      Effect.forEach(keys, (key) => read(nonceIn(key)), { concurrency: 8 }),
      (found) =>
        found.flatMap((one) => one === undefined || one.record.status !== "open" ? [] : [one.record.suspension])
    )

  return {
    find,
    put: Effect.fnUntraced(function*(suspension, options) {
      const { approvalId, expiresAt } = suspension
      const nonce = nonceOf(approvalId)
      if (nonce === undefined) return yield* unavailable("The request's id is not one that Assent issued.")
      const until = Math.min(expiresAt + margin, Number.MAX_SAFE_INTEGER)
      if (options?.webhook !== undefined) {
        const key = `webhook/${options.webhook}`
        while (!(yield* use(store.putIfAbsent(key, approvalId, { expiresAt: until })))) {
          const known = yield* use(store.get(key))
          if (known === undefined) continue
          const before = yield* find(known.value)
          if (before?.status === "open") {
            return yield* unavailable("Another request waits for this webhook token already. Make a new token.")
          }
          if (yield* use(store.compareAndSet(key, known.version, approvalId))) break
        }
      }
      yield* write(yield* waitingKey(suspension, nonce), "", expiresAt)
      const due = dueKey(suspension, nonce)
      if (due !== undefined) yield* write(due, "", expiresAt)
      const written = yield* use(
        store.putIfAbsent(`suspension/${nonce}`, encodeRecord({ status: "open", suspension }), { expiresAt: until })
      )
      if (!written) return yield* unavailable("A request with this id exists already.")
      const previous = suspension.previous === undefined ? undefined : nonceOf(suspension.previous)
      if (previous !== undefined) yield* use(store.putIfAbsent(`next/${previous}`, approvalId, { expiresAt: until }))
    }),
    next: (approvalId) => {
      const nonce = nonceOf(approvalId)
      return nonce === undefined
        ? Effect.undefined
        : Effect.map(use(store.get(`next/${nonce}`)), (stored) => stored?.value)
    },
    take: (approvalId) => advance(approvalId, ["open"], "taken"),
    end: (approvalId) => Effect.asVoid(advance(approvalId, ["open", "taken"], "over")),
    deliver: Effect.fnUntraced(function*(approvalId, answer, decidedBy) {
      const nonce = nonceOf(approvalId)
      const found = nonce === undefined ? undefined : yield* read(nonce)
      if (nonce === undefined || found?.record.status !== "open") return false
      const { expiresAt } = found.record.suspension
      if ((yield* use(store.get(`delivered/${nonce}`))) !== undefined) return false
      // Before the answer: whoever accepts one and dies has left word that somebody is to be told.
      const until = Math.min(expiresAt + margin, Number.MAX_SAFE_INTEGER)
      const delivered = encodeDelivered({ answer, ...(decidedBy === undefined ? undefined : { decidedBy }) })
      yield* write(deliveredKey(nonce), "", until)
      return yield* use(store.putIfAbsent(`delivered/${nonce}`, delivered, { expiresAt: until }))
    }),
    findWebhook: (digest) =>
      Effect.flatMap(
        use(store.get(`webhook/${digest}`)),
        (stored) => stored === undefined ? Effect.undefined : find(stored.value)
      ),
    list: Effect.fnUntraced(function*(options) {
      const limit = Math.max(1, Math.trunc(options?.limit ?? 100))
      const prefix = options?.scope === undefined ? "waiting/" : `waiting/${yield* scopeKey(options.scope)}/`
      const keys = yield* use(store.listByPrefix(prefix, { after: options?.after, limit }))
      return { suspensions: yield* open(keys), next: keys.length < limit ? undefined : keys[keys.length - 1] }
    }),
    due: Effect.fnUntraced(function*({ limit = pageSize, now }) {
      const end = `due/${timeKey(now + 1)}`
      const due = new Map<string, Suspension>()
      let after: string | undefined
      while (due.size < limit) {
        const keys: ReadonlyArray<string> = yield* use(store.listByPrefix("due/", { after, limit: pageSize }))
        const begun = yield* Effect.filter(keys.filter((key) => key < end), hasBegun, { concurrency: 8 })
        // A timer that was answered as well is due once.
        for (const suspension of yield* open(begun)) due.set(suspension.approvalId, suspension)
        after = keys[keys.length - 1]
        if (after === undefined || after >= end || keys.length < pageSize) break
      }
      return Array.from(due.values()).slice(0, limit)
    }),
    told: (suspension) => {
      const nonce = nonceOf(suspension.approvalId)
      return nonce === undefined ? Effect.void : forgetDue(suspension, nonce)
    }
  }
}
