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
 * What is asked in the agents of a call, as it is shown outside, and whether something has come that they can go on with.
 *
 * @category models
 * @since 0.1.0
 */
export interface Asked {
  readonly requests: ReadonlyArray<Approval.ApprovalRequest>
  readonly hasNews: boolean
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

const decodeDue = Schema.decodeUnknownResult(
  Schema.fromJsonString(Schema.Struct({
    awaited: Schema.Struct({ dueAt: Schema.optionalKey(Schema.Number) })
  }))
)

const unavailable = ({ description }: Store.StoreError): ApprovalError.ApprovalError =>
  ApprovalError.make(new ApprovalError.SuspensionsUnavailable({ description }))

const unknown = (approvalId: string) =>
  ApprovalError.make(new ApprovalError.UnknownApproval({ approvalId: approvalId.slice(0, 64) }))

const nonceOf = (approvalId: string): string | undefined => ApprovalId.parse(approvalId)?.nonce

export const make = ({ atomically, requests }: Store.Store): Agents => {
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
      hasNews: hasNews || found.length === 0
    }
  })

  // The runs above it, the innermost first; `undefined` where one of them has ended.
  const above = Effect.fnUntraced(function*(
    row: Store.RequestRow
  ): Effect.fn.Return<ReadonlyArray<Above> | undefined, Store.StoreError> {
    const found: Array<Above> = []
    for (let nonce = row.parent; nonce !== undefined;) {
      const call: Store.RequestRow | undefined = yield* requests.get(nonce)
      if (call === undefined) return undefined
      const entry = decodeEntry(call.entry)
      const as = Result.isSuccess(entry) && entry.success.suspendedAs !== undefined
        ? nonceOf(entry.success.suspendedAs)
        : undefined
      const waits = as === undefined ? undefined : yield* requests.get(as)
      const goesOn = waits === undefined
        ? call.state === "running" || call.state === "unknown"
        : waits.waits !== "over" && (waits.state === "pending" || waits.state === "running" || waits.state === "unknown")
      if (!goesOn) return undefined
      found.push({ call, waits })
      nonce = call.parent
    }
    return found
  })

  const give: Agents["give"] = Effect.fnUntraced(function*(approvalId, to, given) {
    const nonce = nonceOf(approvalId) ?? approvalId
    const kept = yield* use(atomically(Effect.gen(function*() {
      const row = yield* requests.get(nonce)
      if (row?.approvalId !== approvalId || row.parent === undefined) return "unknown" as const
      if ("root" in to && row.root !== to.root) return "unknown" as const
      const runs = yield* above(row)
      if ("call" in to && runs?.some(({ call }) => call.nonce === to.call) !== true) {
        return runs === undefined ? "over" as const : "unknown" as const
      }
      if (runs === undefined || row.state !== "pending") return row.state
      const known = row.given === undefined ? [] : Result.getOrElse(decode(row.given), () => [])
      const outermost = runs.at(-1)?.waits?.nonce
      return (yield* requests.give(nonce, row.given, encode([...known, given]), outermost)) ? undefined : row.state
    })))
    if (kept === undefined) return
    if (kept === "unknown") return yield* unknown(approvalId)
    const state = kept === "over" || kept === "pending" ? "superseded" : kept
    return yield* ApprovalError.make(new ApprovalError.AlreadyDecided({ approvalId, state }))
  })

  const rowOf = (approvalId: string) => use(requests.get(nonceOf(approvalId) ?? approvalId))

  return {
    agents,
    give,
    given: (approvalId) =>
      Effect.map(rowOf(approvalId), (row) =>
        row?.given === undefined ? [] : Result.getOrElse(decode(row.given), () => [])),
    forgetGiven: (approvalId) =>
      Effect.flatMap(rowOf(approvalId), (row) =>
        row?.given === undefined ? Effect.void : Effect.asVoid(use(requests.give(row.nonce, row.given, undefined))))
  }
}

interface Above {
  readonly call: Store.RequestRow
  /** The request as which it waits. */
  readonly waits: Store.RequestRow | undefined
}

const inOrder = (one: Store.RequestRow, other: Store.RequestRow): number =>
  one.issuedAt - other.issuedAt || (one.nonce < other.nonce ? -1 : 1)

// Somebody has answered it, its time has come, or is over.
const isNews = ({ answer, expiresAt = Infinity, given, kind, suspension }: Store.RequestRow, now: number): boolean => {
  if (given !== undefined || answer !== undefined) return true
  if (kind === "nested") return false
  if (expiresAt <= now) return true
  if (suspension === undefined) return false
  const due = decodeDue(suspension)
  return Result.isSuccess(due) && (due.success.awaited.dueAt ?? Infinity) <= now
}
