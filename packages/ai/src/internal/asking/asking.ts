/**
 * Asking whoever answers for a person: one question at a time unless the controller says otherwise, and whatever is not
 * a decision leaves the request open (law L1).
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as Approval from "../../Approval.ts"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import * as Approver from "../../Approver.ts"
import * as Posted from "../posted.ts"

// Only code of this process can make one: no JSON has a symbol, so nobody can post who they are (law L16).
const DecidedTypeId: unique symbol = Symbol.for("@assent/ai/ApprovalController/Decided")

/** A decision, and who made it; the public name is `ApprovalController.Decided`. */
export interface Decided {
  readonly [DecidedTypeId]: typeof DecidedTypeId
  readonly _tag: "Decided"
  readonly decision: Approval.DecisionInput | Approval.AnswerInput | boolean
  readonly by: Approver.Person | undefined
  /** It is the program's own word, as a policy's, and nobody's. */
  readonly isProgram: boolean
}

export const isDecided = (u: unknown): u is Decided => typeof u === "object" && u !== null && DecidedTypeId in u

export const decided = (
  decision: Decided["decision"],
  by: Approver.Person | undefined,
  isProgram = false
): Decided => ({ [DecidedTypeId]: DecidedTypeId, _tag: "Decided", decision, by, isProgram })

/** Of a controller, what asking needs. */
export interface Controller {
  readonly ask?:
    | ((request: Approval.ApprovalRequest) => Effect.Effect<Approval.ApprovalDecision | Decided | undefined, unknown>)
    | undefined
  readonly via?: string | undefined
  readonly parallel?: boolean | undefined
  readonly personOf?: ((context: Context.Context<never>) => object | undefined) | undefined
}

/** Nobody is there to ask; the public name is `ApprovalController.strict`. */
export const strict: Controller = {
  ask: () =>
    Effect.succeed(
      new Approval.Denied({
        note: "This call needs a person's approval, and nobody can be asked here. Do not retry it."
      })
    ),
  via: "strict"
}

/** Everybody's yes, and nobody's; the public name is `ApprovalController.approveAll`. Nothing of it is remembered. */
export const approveAll: Controller = { ask: () => Effect.succeed(new Approval.Approved({ remember: "none" })) }

/** Why what the person wants cannot be, as a sentence; the reference is `ApprovalController.Check`. */
export type Check = (json: Schema.Json) => Effect.Effect<string | undefined>

const unchecked: Check = () => Effect.undefined

export const Check = Context.Reference<Check>("@assent/ai/ApprovalController/Check", { defaultValue: () => unchecked })

/** For how long an answer is remembered that wants to be; the reference is `ApprovalController.Remembers`. */
export type Lifetime = "turn" | "toolkit" | "conversation"

export const Remembers = Context.Reference<Lifetime | undefined>("@assent/ai/ApprovalController/Remembers", {
  defaultValue: () => undefined
})

/** What whoever asks knows beyond the question. */
export interface About {
  readonly check?: Check | undefined
  readonly remembers: Lifetime | undefined
}

// By controller, or by person where the controller says who that is; those in it, or about to be.
const lines = new WeakMap<object, Map<string, Line>>()

interface Line {
  readonly turn: Semaphore.Semaphore
  members: number
}

/** Which conversation is asked in; all of those without a name are one. */
export const conversationOf = (context: Context.Context<never>): string => {
  const { conversation, principal, tenant } = Context.get(context, Approval.Scope)
  return JSON.stringify([tenant, principal, conversation])
}

const inLine = <A, E>(
  asked: object,
  name: string,
  effect: Effect.Effect<A, E>,
  until: number
): Effect.Effect<A, E> =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const ofAsked = lines.get(asked) ?? new Map<string, Line>()
      const line = ofAsked.get(name) ?? { turn: Semaphore.makeUnsafe(1), members: 0 }
      line.members++
      lines.set(asked, ofAsked.set(name, line))
      return line
    }),
    ({ turn }) => until === Infinity ? turn.withPermit(effect) : inTime(turn, effect, until),
    (line) =>
      Effect.sync(() => {
        line.members--
        if (line.members === 0) lines.get(asked)?.delete(name)
      })
  )

// Once its time is over nobody is asked, so that it needs no turn.
const inTime = <A, E>(turn: Semaphore.Semaphore, effect: Effect.Effect<A, E>, until: number): Effect.Effect<A, E> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    let begun = false
    const begin = Effect.suspend(() => {
      if (begun) return Effect.never
      begun = true
      return effect
    })
    return Effect.raceFirst(turn.withPermit(begin), Effect.andThen(Effect.sleep(Math.max(0, until - now)), begin))
  })

// Those whose turn it is in this fiber: who asks again from within a question must not wait for its end.
const Asking = Context.Reference<ReadonlyArray<object>>("@assent/ai/internal/Asking", { defaultValue: () => [] })

/**
 * When it is this question's turn: a controller that asks one after the other is asked so by all turns of a conversation.
 * Those of different conversations do not wait for each other, unless it is one person who is asked by all of them. None
 * waits longer than `until`, in milliseconds since 1970.
 */
export const inTurn = <A, E>(
  controller: Controller,
  effect: Effect.Effect<A, E>,
  until = Infinity
): Effect.Effect<A, E> => {
  if (controller.parallel === true || controller.ask === undefined) return effect
  return Effect.contextWith((context: Context.Context<never>) => {
    const asking = Context.get(context, Asking)
    const asked = controller.personOf === undefined ? controller : controller.personOf(context)
    if (asked === undefined || asking.includes(asked)) return effect
    const name = controller.personOf === undefined ? conversationOf(context) : ""
    return inLine(asked, name, Effect.provideService(effect, Asking, [...asking, asked]), until)
  })
}

/** What was decided, and by whom. */
export interface Reply {
  readonly decision: Approval.ApprovalDecision
  readonly decidedBy: Approver.DecidedBy
  readonly isProgram: boolean
}

/** What the controller decides, if there is one; `undefined` while nobody has decided. */
export const ask = (
  controller: Controller,
  request: Approval.ApprovalRequest,
  { check = unchecked, remembers }: About
): Effect.Effect<Reply | undefined> => {
  const { ask, via = "controller" } = controller
  if (ask === undefined) return Effect.undefined
  return Effect.suspend(() => {
    const asked = ask(request)
    return Effect.isEffect(asked)
      ? asked.pipe(Effect.provideService(Check, check), Effect.provideService(Remembers, remembers))
      : Effect.undefined
  }).pipe(
    Effect.flatMap((reply) =>
      Result.match(replyOf(request, reply, via, controller === strict), {
        onFailure: (problem) => Effect.fail(new Error(`The controller gave no decision: ${problem}`)),
        onSuccess: Effect.succeed
      })
    ),
    // Not even an answer cut short says more than that nobody has answered.
    Effect.catchCause((cause) =>
      Effect.as(
        Effect.andThen(
          ApprovalEvents.publish((occasion) => ({
            _tag: "ControllerFailed",
            ...occasion,
            toolCallId: request.toolCallId,
            toolName: request.toolName,
            approvalId: request.approvalId,
            cause
          })),
          Effect.logWarning(
            `Assent: the approval controller failed, or gave no decision, for "${request.toolName}"; the request` +
              " stays open. Return true, false, Approval.approve(request) or Approval.deny(request, \"why\"), or an Effect" +
              " or a Promise of one; the stream of ApprovalEvents says what failed."
          )
        ),
        undefined
      )
    )
  )
}

const replyOf = (
  request: Approval.ApprovalRequest,
  reply: unknown,
  via: string,
  isProgram: boolean
): Result.Result<Reply, string> =>
  Result.map(decisionOf(request, isDecided(reply) ? reply.decision : reply), (decision) => ({
    decision,
    decidedBy: Approver.decidedBy(isDecided(reply) ? reply.by : undefined, via),
    isProgram: isDecided(reply) ? reply.isProgram : isProgram
  }))

/** What a reply says of this very request; the failure is a sentence that says what is wrong with it. */
export const decisionOf = (
  request: Approval.ApprovalRequest,
  reply: unknown
): Result.Result<Approval.ApprovalDecision, string> => {
  if (typeof reply === "boolean") return Result.succeed(reply ? new Approval.Approved({}) : new Approval.Denied({}))
  if (!Posted.isAnswer(reply)) return Posted.decision(reply)
  const answer = Posted.answer(reply)
  if (Result.isFailure(answer)) return Result.fail(answer.failure.message)
  return answer.success.approvalId === request.approvalId
    ? Result.succeed(answer.success.decision)
    : Result.fail("it answers another request.")
}
