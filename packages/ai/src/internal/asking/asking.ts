/**
 * Asking whoever answers for a person: one question at a time unless the controller says otherwise, and whatever is not
 * a decision leaves the request open (law L1).
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as Approval from "../../Approval.ts"
import * as ApprovalEvents from "../../ApprovalEvents.ts"

/** Of a controller, what asking needs. */
export interface Controller {
  readonly ask?:
    | ((request: Approval.ApprovalRequest) => Effect.Effect<Approval.ApprovalDecision | undefined, unknown>)
    | undefined
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
    )
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

// By controller, or by person where the controller says who that is.
const turns = new WeakMap<object, Semaphore.Semaphore>()

// Those whose turn it is in this fiber: who asks again from within a question must not wait for its end.
const Asking = Context.Reference<ReadonlyArray<object>>("@assent/ai/internal/Asking", { defaultValue: () => [] })

/** When it is this question's turn: a controller that asks one after the other is asked by all calls of all turns so. */
export const inTurn = <A, E>(controller: Controller, effect: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  if (controller.parallel === true || controller.ask === undefined) return effect
  return Effect.contextWith((context: Context.Context<never>) => {
    const asking = Context.get(context, Asking)
    const asked = controller.personOf === undefined ? controller : controller.personOf(context)
    if (asked === undefined || asking.includes(asked)) return effect
    const semaphore = turns.get(asked) ?? Semaphore.makeUnsafe(1)
    turns.set(asked, semaphore)
    return semaphore.withPermit(Effect.provideService(effect, Asking, [...asking, asked]))
  })
}

/** What the controller decides, if there is one; `undefined` while nobody has decided. */
export const ask = (
  controller: Controller,
  request: Approval.ApprovalRequest,
  { check = unchecked, remembers }: About
): Effect.Effect<Approval.ApprovalDecision | undefined> => {
  const { ask } = controller
  if (ask === undefined) return Effect.undefined
  return Effect.suspend(() => {
    const asked = ask(request)
    return Effect.isEffect(asked)
      ? asked.pipe(Effect.provideService(Check, check), Effect.provideService(Remembers, remembers))
      : Effect.undefined
  }).pipe(
    Effect.filterOrFail(
      (reply): reply is Approval.ApprovalDecision => isDecision(reply),
      () => new Error("The controller gave no decision.")
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
              " stays open."
          )
        ),
        undefined
      )
    )
  )
}

const isDecision = Schema.is(Approval.ApprovalDecision)
