/** What a callback said, in whatever it said it, and whose word that is. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Approval from "../../Approval.ts"
import type * as Approver from "../../Approver.ts"
import * as Answering from "../answering.ts"
import * as Posted from "../posted.ts"
import * as Asking from "./asking.ts"

/** What a reply says of one request. */
export type Read = Approval.ApprovalDecision | Asking.Decided

/** Who answers. */
export type By = Approver.Person | ((request: Approval.ApprovalRequest) => Approver.Person | undefined)

/** Throws a `TypeError` for a callback that is no function. */
export const callback = <F>(door: string, callback: F): F =>
  Answering.functionOf(door, callback, "(request) => confirm(request.description)")

/** Waits for it. Whoever called back is told by the signal when nobody does any more. */
export const awaited = <A>(
  callback: (options: { readonly signal: AbortSignal }) => A | PromiseLike<A> | Effect.Effect<A, unknown>
): Effect.Effect<A, unknown> =>
  Effect.suspend(() => {
    const waiting = new AbortController()
    const reply = callback({ signal: waiting.signal })
    const answer = Effect.isEffect(reply)
      ? reply
      : isPromiseLike(reply)
      ? Effect.tryPromise(() => reply)
      : Effect.succeed(reply)
    return Effect.onInterrupt(answer, () => Effect.sync(() => waiting.abort()))
  })

const isPromiseLike = <A>(u: A | PromiseLike<A>): u is PromiseLike<A> =>
  typeof u === "object" && u !== null && "then" in u && typeof u.then === "function"

export const readReply = (request: Approval.ApprovalRequest, reply: unknown, by: By | undefined): Read | undefined => {
  const decision = Result.getOrUndefined(Asking.decisionOf(request, saidIn(reply)))
  const person = Asking.isDecided(reply) ? reply.by : typeof by === "function" ? by(request) : by
  return decision === undefined || person === undefined ? decision : Asking.decided(decision, person)
}

const saidIn = (reply: unknown): unknown => Asking.isDecided(reply) ? reply.decision : reply

/** What of a list is about this request: an answer to it wherever it stands, and what stands in its place. */
export const replyAmong = (
  request: Approval.ApprovalRequest,
  replies: unknown,
  index: number
): Read | undefined => {
  if (!Array.isArray(replies)) return undefined
  const list: ReadonlyArray<unknown> = replies
  const read = list.flatMap((reply, place) => {
    const one = place === index || Posted.isAnswer(saidIn(reply)) ? readReply(request, reply, undefined) : undefined
    return one === undefined ? [] : [one]
  })
  return read.find((one) => saidOf(one)._tag === "Denied") ?? read[0]
}

const saidOf = (read: Read) => Asking.isDecided(read) ? read.decision as Approval.ApprovalDecision : read
