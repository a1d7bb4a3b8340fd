/** What a callback gives for an answer: itself, a Promise or an Effect, and what of it is about the request. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Approval from "../../Approval.ts"
import * as Posted from "../posted.ts"

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

/** The decision of a reply to this request; `undefined` for what is none, or answers another. */
export const decisionOf = (
  request: Approval.ApprovalRequest,
  reply: unknown
): Approval.ApprovalDecision | undefined => {
  if (reply === true) return new Approval.Approved({})
  if (reply === false) return new Approval.Denied({})
  if (Posted.isAnswer(reply)) {
    const answer = Result.getOrUndefined(Posted.answer(reply))
    return answer?.approvalId === request.approvalId ? answer.decision : undefined
  }
  return Result.getOrUndefined(Posted.decision(reply))
}

/** What of a list is about this request: an answer to it wherever it stands, and what stands in its place. */
export const decisionAmong = (
  request: Approval.ApprovalRequest,
  replies: unknown,
  index: number
): Approval.ApprovalDecision | undefined => {
  if (!Array.isArray(replies)) return undefined
  const list: ReadonlyArray<unknown> = replies
  const decisions = list.flatMap((reply, place) => {
    const decision = place === index || Posted.isAnswer(reply)
      ? decisionOf(request, reply)
      : undefined
    return decision === undefined ? [] : [decision]
  })
  return decisions.find(({ _tag }) => _tag === "Denied") ?? decisions[0]
}
