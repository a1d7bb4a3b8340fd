/**
 * Suspensions in a store: each stands in the row of the request as which its tool waits, beside what the journal says of that
 * request, and is open, then taken, then over. Whoever races for a step of it, exactly one gets it.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import * as Approver from "../../Approver.ts"
import type * as Store from "../../Store.ts"
import * as Within from "../agent/within.ts"
import * as ApprovalId from "../seal/approvalId.ts"
import * as Cryptography from "../seal/cryptography.ts"
import * as ScopeId from "../store/scopeId.ts"
import * as Agents from "./agents.ts"

/**
 * A tool that waits: for what, and in whose name. `state` is what it must remember, as JSON, of `stateVersion`. `previous`
 * is the id of the request whose run began to wait here, if there was one. `params` are the encoded parameters that it
 * began with, and `edits`, as a JSON Patch, lead to them from what was proposed. Times are in milliseconds since
 * 1970-01-01T00:00Z; `expiresAt` is `Infinity` where nobody set an expiry. `handlesExpiry`: the tool's handler said, when
 * it began to wait, that it goes on then. `began` is the nonce of the first claim of its call, by which its agents are
 * known; `wakes` is the program's name of the conversation that is to go on, where that is not its own: the outermost. Of what
 * waits in an agent `onNewMessage` is what its interaction says becomes of it when the user says something else. `converses`: the run
 * that went on from here talks to agents, so that it may begin again.
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
  handlesExpiry: Schema.optionalKey(Schema.Literal(true)),
  began: Schema.optionalKey(Schema.String),
  wakes: Schema.optionalKey(Schema.String),
  onNewMessage: Schema.optionalKey(Schema.Literals(["supersede", "keep"])),
  converses: Schema.optionalKey(Schema.Literal(true)),
  scope: Schema.Struct({
    tenant: Schema.optionalKey(Schema.String),
    principal: Schema.optionalKey(Schema.String),
    conversation: Schema.optionalKey(Schema.String)
  }),
  issuedAt: Schema.Number,
  expiresAt: Schema.Number
}) {}

/** As it is shown to whoever wakes: what waits in an agent goes on with the conversation that it works for. */
export const outermost = (suspension: Suspension): Suspension =>
  suspension.wakes === undefined ? suspension : new Suspension({
    ...suspension,
    scope: { ...suspension.scope, conversation: suspension.wakes }
  })

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
export interface Records extends Agents.Agents {
  /** Keeps a suspension that has just begun. `webhook` is the digest of the token that leads to it. */
  readonly put: (
    suspension: Suspension,
    options?: { readonly webhook?: string | undefined }
  ) => Effect.Effect<void, ApprovalError.ApprovalError>
  /** What is known of a suspension, or `undefined` where it was never here, is long gone, or cannot be read. */
  readonly find: (approvalId: string) => Effect.Effect<Found | undefined, ApprovalError.ApprovalError>
  /** Takes an open suspension, once: exactly one of several who race gets true. */
  readonly take: (approvalId: string) => Effect.Effect<boolean, ApprovalError.ApprovalError>
  /** One that was taken waits again. */
  readonly reopen: (approvalId: string) => Effect.Effect<void, ApprovalError.ApprovalError>
  /** The run that has taken it begins an agent: from here on it may begin again, where its process dies. */
  readonly noteAgents: (approvalId: string) => Effect.Effect<void, ApprovalError.ApprovalError>
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
  /**
   * Those that were answered, then those whose timer is due or whose expiry has come by `now`, the earliest first, that
   * nobody was told of. One that cannot be read is logged and left out, and looked for again an hour later.
   */
  readonly due: (options: {
    readonly now: number
    readonly limit?: number | undefined
  }) => Effect.Effect<ReadonlyArray<Suspension>, ApprovalError.ApprovalError>
  /** Notes that whoever waits for it was told that it is due. */
  readonly told: (suspension: Suspension) => Effect.Effect<void, ApprovalError.ApprovalError>
}

const suspensionCodec = Schema.fromJsonString(Schema.toCodecJson(Suspension))
const decodeSuspension = Schema.decodeUnknownResult(suspensionCodec)
const encodeSuspension = Schema.encodeSync(suspensionCodec)

const decodeObject = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)))

const Delivered = Schema.Struct({ answer: Schema.Json, decidedBy: Schema.optionalKey(Approver.DecidedBy) })

const deliveredCodec = Schema.fromJsonString(Schema.toCodecJson(Delivered))
const decodeDelivered = Schema.decodeUnknownResult(deliveredCodec)
const encodeDelivered = Schema.encodeSync(deliveredCodec)

// Who answered, for whoever is told that it was.
const encodeDecider = Schema.encodeSync(
  Schema.fromJsonString(Schema.toCodecJson(Schema.Struct({ decidedBy: Approver.DecidedBy })))
)

const unavailable = (description: string): ApprovalError.ApprovalError =>
  ApprovalError.make(new ApprovalError.SuspensionsUnavailable({ description }))

/** Why a suspension is not kept by a store that could keep it. */
const refusals = {
  unknownId: "The request's id is not one that Assent issued.",
  known: "A request with this id exists already.",
  webhook: "Another request waits for this webhook token already. Make a new token."
} as const

const unreadable = (what: string, approvalId: string) =>
  unavailable(`What is kept of the ${what} "${approvalId.slice(0, 64)}" cannot be read.`)

const pageSize = 100

const damagedFor = Duration.toMillis(Duration.hours(1))

const finite = (time: number): number | undefined => time < Number.MAX_SAFE_INTEGER ? time : undefined

// With the name of whoever takes it, which nobody else reads; nothing where it cannot be read.
const markedBy = (suspension: string | undefined): Effect.Effect<string | undefined> =>
  Effect.map(Cryptography.randomToken(9), (takenBy) => {
    const read = decodeObject(suspension)
    return Result.isSuccess(read) ? JSON.stringify({ ...read.success, takenBy }) : undefined
  })

const nonceOf = (approvalId: string): string | undefined => ApprovalId.parse(approvalId)?.nonce

export const make = (store: Store.RequestOperations): Records => {
  const { requests } = store
  const use = <A>(effect: Effect.Effect<A, Store.StoreError>) =>
    Effect.mapError(effect, ({ description }) => unavailable(description))

  const suspensionOf = ({ approvalId, suspension }: Store.RequestRow): Result.Result<
    Suspension,
    ApprovalError.ApprovalError
  > => Result.mapError(decodeSuspension(suspension), () => unreadable("request", approvalId))

  // Until when nobody looks again at what could not be read.
  const damaged = new Map<string, number>()

  // Those that can be read: one that cannot keeps no other from being told of. It is logged once.
  const readable = Effect.fnUntraced(function*(rows: ReadonlyArray<Store.RequestRow>) {
    const suspensions: Array<Suspension> = []
    for (const row of rows) {
      const read = suspensionOf(row)
      if (Result.isSuccess(read)) {
        suspensions.push(read.success)
        continue
      }
      if (!damaged.has(row.nonce)) {
        yield* Effect.logError(`Assent leaves out a tool that waits: ${read.failure.message}`)
      }
      damaged.set(row.nonce, (yield* Clock.currentTimeMillis) + damagedFor)
    }
    return suspensions
  })

  const foundOf = Effect.fnUntraced(function*(row: Store.RequestRow | undefined): Effect.fn.Return<
    Found | undefined,
    ApprovalError.ApprovalError
  > {
    if (row?.waits === undefined) return undefined
    // Of one that is over a store may have given up all but that it is.
    if (row.waits === "over" && row.suspension === undefined) return undefined
    const [suspension] = yield* readable([row])
    // What it must remember is lost: it is as if it was not known.
    if (suspension === undefined) return undefined
    const { answer, approvalId, waits: status } = row
    if (answer === undefined || status === "over") return { status, suspension, delivered: undefined }
    const kept = decodeDelivered(answer)
    if (Result.isFailure(kept)) return yield* unreadable("answer to", approvalId)
    return { status, suspension, delivered: kept.success.answer, deliveredBy: kept.success.decidedBy }
  })

  const find: Records["find"] = (approvalId) => {
    const nonce = nonceOf(approvalId)
    return nonce === undefined ? Effect.undefined : Effect.flatMap(use(requests.get(nonce)), foundOf)
  }

  const due: Records["due"] = Effect.fnUntraced(function*({ limit = pageSize, now }) {
    const at = yield* Clock.currentTimeMillis
    for (const [nonce, until] of damaged) if (until <= at) damaged.delete(nonce)
    const most = Math.min(limit, Number.MAX_SAFE_INTEGER)
    while (true) {
      const rows = yield* use(requests.due(now, most, new Set(damaged.keys())))
      const suspensions = yield* readable(rows)
      // In the place of those that cannot be read there may be others.
      if (suspensions.length === rows.length || rows.length < most) return suspensions
    }
  })

  return {
    ...Agents.make(store),
    find,
    put: Effect.fnUntraced(function*(suspension, options) {
      const { approvalId, awaited, expiresAt, issuedAt, scope, toolCallId, toolName } = suspension
      const nonce = nonceOf(approvalId)
      if (nonce === undefined) return yield* unavailable(refusals.unknownId)
      const conversation = yield* ScopeId.make(scope)
      const kept = yield* use(requests.suspend({
        nonce,
        approvalId,
        toolName,
        toolCallId,
        kind: awaited.kind,
        tenant: scope.tenant,
        principal: scope.principal,
        conversation,
        issuedAt,
        expiresAt: finite(expiresAt),
        suspension: encodeSuspension(suspension),
        // Whether the answer comes, or its time is over, somebody has to be woken.
        dueAt: finite(Math.min(awaited.dueAt ?? Infinity, expiresAt)),
        webhook: options?.webhook,
        ...Within.belongs(yield* Within.Within, scope.conversation === undefined ? undefined : conversation)
      }))
      if (kept !== "suspended") return yield* unavailable(refusals[kept])
    }),
    take: Effect.fnUntraced(function*(approvalId) {
      const nonce = nonceOf(approvalId)
      const row = nonce === undefined ? undefined : yield* use(requests.get(nonce))
      if (nonce === undefined || row?.waits !== "open") return false
      const marked = yield* markedBy(row.suspension)
      // A store may have written it and have failed to say so, and what nobody has taken nobody goes on with. What stands says
      // who took it.
      return yield* use(
        Effect.catch(
          requests.advance(nonce, ["open"], "taken", marked),
          (error) =>
            Effect.matchEffect(Effect.retry(requests.get(nonce), { times: 3 }), {
              onFailure: () => Effect.fail(error),
              onSuccess: (row) =>
                marked !== undefined && row?.waits === "taken" && row.suspension === marked
                  ? Effect.succeed(true)
                  : Effect.fail(error)
            })
        )
      )
    }),
    reopen: (approvalId) => {
      const nonce = nonceOf(approvalId)
      return nonce === undefined ? Effect.void : Effect.asVoid(use(requests.advance(nonce, ["taken"], "open")))
    },
    noteAgents: Effect.fnUntraced(function*(approvalId) {
      const nonce = nonceOf(approvalId)
      const row = nonce === undefined ? undefined : yield* use(requests.get(nonce))
      const read = decodeObject(row?.suspension)
      if (nonce === undefined || Result.isFailure(read)) return
      yield* use(requests.advance(nonce, ["taken"], "taken", JSON.stringify({ ...read.success, converses: true })))
    }),
    end: Effect.fnUntraced(function*(approvalId) {
      const nonce = nonceOf(approvalId)
      const row = nonce === undefined ? undefined : yield* use(requests.get(nonce))
      if (nonce === undefined || row?.waits === undefined || row.waits === "over") return
      const [suspension] = yield* readable([row])
      const forgotten = suspension === undefined
        ? undefined
        : encodeSuspension(new Suspension({ ...suspension, state: null }))
      yield* use(requests.advance(nonce, ["open", "taken"], "over", forgotten))
    }),
    deliver: (approvalId, answer, decidedBy) => {
      const nonce = nonceOf(approvalId)
      return nonce === undefined ? Effect.succeed(false) : use(requests.deliver(
        nonce,
        encodeDelivered({ answer, ...(decidedBy === undefined ? undefined : { decidedBy }) }),
        decidedBy === undefined ? undefined : encodeDecider({ decidedBy })
      ))
    },
    findWebhook: (digest) => Effect.flatMap(use(requests.byWebhook(digest)), foundOf),
    list: Effect.fnUntraced(function*(options) {
      const scope = options?.scope
      const page = yield* use(requests.page({
        waiting: true,
        conversation: scope === undefined ? undefined : yield* ScopeId.make(scope)
      }, { after: options?.after, limit: Math.max(1, Math.trunc(options?.limit ?? pageSize)) }))
      return { suspensions: yield* readable(page.requests), next: page.next }
    }),
    due,
    told: ({ approvalId }) => {
      const nonce = nonceOf(approvalId)
      return nonce === undefined ? Effect.void : use(requests.told(nonce))
    }
  }
}
