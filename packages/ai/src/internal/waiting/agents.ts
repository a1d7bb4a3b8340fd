/**
 * What is asked in the agents of a call, at every level, and the decisions that are given for it from outside: they are kept
 * with the request at once, and the agent takes them when it goes on. Who gives one knows the request by its id alone, and it
 * counts only where the way up leads to whom it was given.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import * as Approver from "../../Approver.ts"
import type * as Store from "../../Store.ts"
import * as ApprovalId from "../seal/approvalId.ts"

/**
 * A decision for a request of an agent: whose it is, and whether they are trusted, so that what they change counts (law L4).
 *
 * @category models
 * @since 0.1.0
 */
export interface Given {
  readonly decision: Approval.ApprovalDecision
  readonly decidedBy: Approver.DecidedBy
  readonly trusted: boolean
}

/**
 * What is asked in the agents of a call, as it is shown outside, whether something has come that they can go on with, and
 * the ids of those that are given up when the user says something else.
 *
 * @category models
 * @since 0.1.0
 */
export interface Asked {
  readonly requests: ReadonlyArray<Approval.ApprovalRequest>
  readonly hasNews: boolean
  readonly superseded: ReadonlyArray<string>
}

/**
 * To whom an answer was given: a conversation, by its row, or a call, by the nonce of its first claim.
 *
 * @category models
 * @since 0.1.0
 */
export type LeadsTo = { readonly root: string } | { readonly call: string }

/** What a store of suspensions does for agents. */
export interface Agents {
  /** What is asked in the agents of the call with this first claim. */
  readonly agents: (began: string) => Effect.Effect<Asked, ApprovalError.ApprovalError>
  /**
   * Keeps a decision with a request of an agent. Fails with `UnknownApproval` where the way up from it does not lead to whom it
   * was given, and with `AlreadyDecided`.
   */
  readonly give: (
    approvalId: string,
    to: LeadsTo,
    given: Given
  ) => Effect.Effect<void, ApprovalError.ApprovalError>
  /** Whether the call has begun agents in which anything was asked. */
  readonly hasAgents: (began: string) => Effect.Effect<boolean, ApprovalError.ApprovalError>
  /** The request as which the outermost call waits within which this one is asked. */
  readonly waiting: (approvalId: string) => Effect.Effect<string | undefined, ApprovalError.ApprovalError>
  /** What became of a request of an agent within that conversation; `undefined` of any other. */
  readonly became: (
    approvalId: string,
    root: string
  ) => Effect.Effect<
    | {
      readonly state: Approval.ApprovalState
      readonly isGiven: boolean
      readonly request: Approval.ApprovalRequest | undefined
      readonly toolName: string
      readonly toolCallId: string
    }
    | undefined,
    ApprovalError.ApprovalError
  >
  /** The decisions that are kept with an open request. */
  readonly given: (approvalId: string) => Effect.Effect<ReadonlyArray<Given>, ApprovalError.ApprovalError>
  /** Those have no effect: it is asked again. */
  readonly forgetGiven: (approvalId: string) => Effect.Effect<void, ApprovalError.ApprovalError>
}

const codec = Schema.fromJsonString(Schema.toCodecJson(Schema.Array(Schema.Struct({
  decision: Approval.ApprovalDecision,
  decidedBy: Approver.DecidedBy,
  trusted: Schema.Boolean
}))))
const decode = Schema.decodeUnknownResult(codec)
const encode = Schema.encodeSync(codec)

const decodeRequest = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.toCodecJson(Approval.ApprovalRequest)))

const decodeEntry = Schema.decodeUnknownResult(
  Schema.fromJsonString(Schema.Struct({ suspendedAs: Schema.optionalKey(Schema.String) }))
)

const decodeWait = Schema.decodeUnknownResult(
  Schema.fromJsonString(Schema.Struct({
    awaited: Schema.Struct({ dueAt: Schema.optionalKey(Schema.Number) }),
    onNewMessage: Schema.optionalKey(Schema.String)
  }))
)

const unavailable = ({ description }: Store.StoreError): ApprovalError.ApprovalError =>
  ApprovalError.make(new ApprovalError.SuspensionsUnavailable({ description }))

const unknown = (approvalId: string) =>
  ApprovalError.make(new ApprovalError.UnknownApproval({ approvalId: approvalId.slice(0, 64) }))

const lost =
  "The call in which this agent runs is not in the store of suspensions: it has expired, or the journal is in another "
  + "store. Provide the journal, the suspensions and the conversations over one store, as SqlApproval.layer does, or none of "
  + "them: then all are kept in memory."

// Whoever asks may have any value.
const nonceOf = (approvalId: string): string | undefined =>
  typeof approvalId === "string" ? ApprovalId.parse(approvalId)?.nonce : undefined

export const make = ({ atomically, requests }: Store.RequestOperations): Agents => {
  const use = <A>(effect: Effect.Effect<A, Store.StoreError>) => Effect.mapError(effect, unavailable)

  const collect = Effect.fnUntraced(function*(
    parent: string,
    now: number,
    found: Array<Store.RequestRow>
  ): Effect.fn.Return<boolean, Store.StoreError> {
    let hasNews = false
    for (const row of yield* requests.within(parent)) {
      if (row.state === "pending") {
        found.push(row)
        hasNews ||= isNews(row, now)
      } else if (yield* collect(row.nonce, now, found)) hasNews = true
    }
    return hasNews
  })

  const agents: Agents["agents"] = Effect.fnUntraced(function*(began) {
    const found: Array<Store.RequestRow> = []
    const hasNews = yield* use(collect(began, yield* Clock.currentTimeMillis, found))
    return {
      requests: found.toSorted(inOrder).flatMap((row) =>
        row.kind === "nested" || row.given !== undefined || row.answer !== undefined
          ? []
          : Result.match(decodeRequest(row.request), { onFailure: () => [], onSuccess: (request) => [request] })
      ),
      // With nothing open in them they have come to their ends, and nobody was told.
      hasNews: hasNews || found.length === 0,
      superseded: found.filter(isSuperseded).map(({ approvalId }) => approvalId)
    }
  })

  // As what a call waits by now, if it does.
  const waitsAs = Effect.fnUntraced(function*(
    call: Store.RequestRow
  ): Effect.fn.Return<Store.RequestRow | undefined, Store.StoreError> {
    let last: Store.RequestRow | undefined
    for (let next = suspendedAs(call); next !== undefined;) {
      last = yield* requests.get(next)
      next = last === undefined ? undefined : suspendedAs(last)
    }
    return last
  })

  // The runs above it, the innermost first, and whether all of them go on or wait.
  const above = Effect.fnUntraced(function*(
    row: Store.RequestRow
  ): Effect.fn.Return<Way, Store.StoreError> {
    const runs: Array<Above> = []
    let goOn = true
    for (let nonce = row.parent; nonce !== undefined;) {
      const call: Store.RequestRow | undefined = yield* requests.get(nonce)
      if (call === undefined) return { runs, goOn: false, isLost: true }
      const waits = yield* waitsAs(call)
      goOn &&= waits === undefined
        ? call.state === "running" || call.state === "unknown"
        : waits.waits !== "over" &&
          (waits.state === "pending" || waits.state === "running" || waits.state === "unknown")
      runs.push({ call, waits })
      nonce = call.parent
    }
    return { runs, goOn, isLost: false }
  })

  const give: Agents["give"] = Effect.fnUntraced(function*(approvalId, to, given) {
    const nonce = nonceOf(approvalId)
    if (nonce === undefined) return yield* unknown(String(approvalId))
    const state = yield* use(atomically(Effect.gen(function*(): Effect.fn.Return<
      Approval.ApprovalState | "never" | "lost" | undefined,
      Store.StoreError
    > {
      const row = yield* requests.get(nonce)
      if (row?.approvalId !== approvalId) return "never"
      // What became of a conversation's own it knows better.
      if ("root" in to && (row.root !== to.root || (row.parent === undefined && row.state !== "pending"))) {
        return "never"
      }
      const { goOn, isLost, runs } = yield* above(row)
      if ("call" in to && !runs.some(({ call }) => call.nonce === to.call)) return "never"
      if (row.state !== "pending") return row.state
      if (isLost) return "lost"
      if (!goOn) return "superseded"
      const known = row.given === undefined ? [] : Result.getOrElse(decode(row.given), () => [])
      const outermost = runs.at(-1)?.waits?.nonce
      const isKept = yield* requests.give(nonce, row.given, encode([...known, given]), outermost)
      if (isKept) return undefined
      // Somebody else was faster, or its conversation has expired and nobody knows of it any more.
      const now = yield* requests.get(nonce)
      return now?.state === "pending" && now.given === row.given && now.answer === undefined
        ? "never"
        : now?.state === "pending"
        ? "answered"
        : now?.state ?? "never"
    })))
    if (state === undefined) return
    return yield* state === "never"
      ? unknown(approvalId)
      : state === "lost"
      ? ApprovalError.make(new ApprovalError.SuspensionsUnavailable({ description: lost }))
      : ApprovalError.make(new ApprovalError.AlreadyDecided({ approvalId, state }))
  })

  const rowOf = (approvalId: string) => {
    const nonce = nonceOf(approvalId)
    return nonce === undefined ? Effect.undefined : use(requests.get(nonce))
  }

  return {
    agents,
    give,
    hasAgents: (began) => use(requests.hasWithin(began)),
    waiting: Effect.fnUntraced(function*(approvalId) {
      const row = yield* rowOf(approvalId)
      if (row?.parent === undefined) return undefined
      const { runs } = yield* use(above(row))
      return runs.at(-1)?.waits?.approvalId
    }),
    became: Effect.fnUntraced(function*(approvalId, root) {
      const row = yield* rowOf(approvalId)
      return row === undefined || row.approvalId !== approvalId || row.root !== root || row.parent === undefined ?
        undefined :
        {
          state: row.state,
          isGiven: row.given !== undefined || row.answer !== undefined,
          request: Result.getOrUndefined(decodeRequest(row.request)),
          toolName: row.toolName,
          toolCallId: row.toolCallId
        }
    }),
    given: (approvalId) =>
      Effect.map(
        rowOf(approvalId),
        (row) => row?.given === undefined ? [] : Result.getOrElse(decode(row.given), () => [])
      ),
    forgetGiven: (approvalId) =>
      Effect.flatMap(
        rowOf(approvalId),
        (row) =>
          row?.given === undefined ? Effect.void : Effect.asVoid(use(requests.give(row.nonce, row.given, undefined)))
      )
  }
}

interface Way {
  readonly runs: ReadonlyArray<Above>
  readonly goOn: boolean
  /** Whether one of them is not in this store. */
  readonly isLost: boolean
}

interface Above {
  readonly call: Store.RequestRow
  /** The request as which it waits. */
  readonly waits: Store.RequestRow | undefined
}

const suspendedAs = ({ entry }: Store.RequestRow): string | undefined => {
  const read = decodeEntry(entry)
  return Result.isSuccess(read) && read.success.suspendedAs !== undefined
    ? nonceOf(read.success.suspendedAs)
    : undefined
}

const inOrder = (one: Store.RequestRow, other: Store.RequestRow): number =>
  one.issuedAt - other.issuedAt || (one.nonce < other.nonce ? -1 : 1)

// Somebody has answered it, its time has come, or is over.
const isNews = ({ answer, expiresAt = Infinity, given, kind, suspension }: Store.RequestRow, now: number): boolean => {
  if (given !== undefined || answer !== undefined) return true
  if (kind === "nested") return false
  if (expiresAt <= now) return true
  if (suspension === undefined) return false
  const wait = decodeWait(suspension)
  return Result.isSuccess(wait) && (wait.success.awaited.dueAt ?? Infinity) <= now
}

// Of a run that waits for its agents those say what becomes of it.
const isSuperseded = ({ kind, suspension }: Store.RequestRow): boolean => {
  if (kind === "nested") return false
  const wait = Result.getOrUndefined(decodeWait(suspension))
  return wait?.onNewMessage !== "keep"
}
