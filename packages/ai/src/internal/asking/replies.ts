/** What a callback said, in whatever it said it, and whose word that is. */
import type * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Approval from "../../Approval.ts"
import type * as Approver from "../../Approver.ts"
import * as Asking from "./asking.ts"

/** What a reply says of one request. */
export type Read = Approval.ApprovalDecision | Asking.Decided

/** Who answers. */
export type By = Approver.Person | ((request: Approval.ApprovalRequest) => Approver.Person | undefined)

/** One who is asked about. */
export interface Waiting {
  readonly request: Approval.ApprovalRequest
  readonly decided: Deferred.Deferred<Read | undefined, unknown>
}

/** Those who are asked about together, and the question. */
export interface Group {
  readonly waiting: Set<Waiting>
  question: Fiber.Fiber<unknown, unknown> | undefined
}

export const awaited = <A>(callback: () => A | PromiseLike<A> | Effect.Effect<A, unknown>): Effect.Effect<A, unknown> =>
  Effect.suspend(() => {
    const reply = callback()
    if (Effect.isEffect(reply)) return reply
    return isPromiseLike(reply) ? Effect.tryPromise(() => reply) : Effect.succeed(reply)
  })

const isPromiseLike = <A>(u: A | PromiseLike<A>): u is PromiseLike<A> =>
  typeof u === "object" && u !== null && "then" in u && typeof u.then === "function"

export const readReply = (request: Approval.ApprovalRequest, reply: unknown, by: By | undefined): Read | undefined => {
  const decision = Asking.decisionOf(request, Asking.isDecided(reply) ? reply.decision : reply)
  const person = Asking.isDecided(reply) ? reply.by : typeof by === "function" ? by(request) : by
  return decision === undefined || person === undefined ? decision : Asking.decided(decision, person)
}

/** What of a list is about this request: an answer to it wherever it stands, and what stands in its place. */
export const replyAmong = (
  request: Approval.ApprovalRequest,
  replies: unknown,
  index: number
): Read | undefined => {
  if (!Array.isArray(replies)) return undefined
  const list: ReadonlyArray<unknown> = replies
  const read = list.flatMap((reply, place) => {
    const said = Asking.isDecided(reply) ? reply.decision : reply
    const one = place === index || said instanceof Approval.ApprovalAnswer
      ? readReply(request, reply, undefined)
      : undefined
    return one === undefined ? [] : [one]
  })
  return read.find((one) => saidOf(one)._tag === "Denied") ?? read[0]
}

const saidOf = (read: Read) => Asking.isDecided(read) ? read.decision as Approval.ApprovalDecision : read
