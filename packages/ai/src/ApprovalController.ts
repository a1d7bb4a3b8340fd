/**
 * Who answers: nobody here (the request goes out with the response, the answer comes back with a later turn), a
 * person asked inline, everybody's yes, or nobody ever.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as Approval from "./Approval.ts"

// =============================================================================
// Models
// =============================================================================

/**
 * What an interactive callback may return: a decision, an answer to this very request, or `true` and `false`. Anything
 * else, and any failure, leaves the request open.
 *
 * @category models
 * @since 0.1.0
 */
export type Reply = Approval.ApprovalDecision | Approval.ApprovalAnswer | boolean

/**
 * A controller. Without `ask`, requests are deferred. An `ask` that fails or gives nothing leaves the request open.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  readonly ask?:
    | ((request: Approval.ApprovalRequest) => Effect.Effect<Approval.ApprovalDecision | undefined, unknown>)
    | undefined
}

/**
 * The controller read when a call is decided. The default is {@link deferred}.
 *
 * @category references
 * @since 0.1.0
 */
export const ApprovalController = Context.Reference<Service>("@assent/ai/ApprovalController", {
  defaultValue: () => deferred
})

// =============================================================================
// Constructors
// =============================================================================

/**
 * The request is a part of the response; the answer comes with a later turn.
 *
 * @category constructors
 * @since 0.1.0
 */
export const deferred: Service = {}

/**
 * Approves whatever is asked: for tests, and for sandboxes in which nothing can be lost.
 *
 * @category constructors
 * @since 0.1.0
 */
export const approveAll: Service = { ask: () => Effect.succeed(new Approval.Approved({})) }

/**
 * Nobody is there to ask: whatever needs approval is denied, and the model is told so.
 *
 * @category constructors
 * @since 0.1.0
 */
export const strict: Service = {
  ask: () =>
    Effect.succeed(
      new Approval.Denied({
        note: "This call needs a person's approval, and nobody can be asked here. Do not retry it."
      })
    )
}

/**
 * Asks inline, one question at a time, and the turn goes on with the answer. The callback may return a value, a
 * Promise, or an Effect; which one is found out by itself.
 *
 * @example
 * import { Approval, ApprovalController } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const controller = ApprovalController.interactive(async (request) =>
 *   request.toolName === "ReadFile" || Approval.deny(request, "read only")
 * )
 *
 * const request = new Approval.ApprovalRequest({
 *   approvalId: "id-1",
 *   toolCallId: "call-1",
 *   toolName: "DeleteFile",
 *   params: { path: "/tmp/a" },
 *   description: "DeleteFile(path='/tmp/a')",
 *   interaction: "approval",
 *   providerExecuted: false
 * })
 *
 * await Effect.runPromise(controller.ask!(request)) // => new Approval.Denied({ note: "read only" })
 *
 * @category constructors
 * @since 0.1.0
 */
export const interactive = (
  callback: (request: Approval.ApprovalRequest) => Reply | PromiseLike<Reply> | Effect.Effect<Reply, unknown>
): Service => {
  const oneAtATime = Semaphore.makeUnsafe(1)
  return {
    ask: (request) =>
      Effect.suspend(() => {
        const reply = callback(request)
        if (Effect.isEffect(reply)) return reply
        return isPromiseLike(reply) ? Effect.tryPromise(() => reply) : Effect.succeed(reply)
      }).pipe(
        Effect.map((reply) => decisionOf(request, reply)),
        oneAtATime.withPermit
      )
  }
}

// =============================================================================
// Layers
// =============================================================================

/**
 * @category layers
 * @since 0.1.0
 */
export const layerDeferred: Layer.Layer<never> = Layer.succeed(ApprovalController, deferred)

/**
 * @category layers
 * @since 0.1.0
 */
export const layerApproveAll: Layer.Layer<never> = Layer.succeed(ApprovalController, approveAll)

/**
 * @category layers
 * @since 0.1.0
 */
export const layerStrict: Layer.Layer<never> = Layer.succeed(ApprovalController, strict)

/**
 * {@link interactive}, with a callback that may need services: they are captured when the layer is built.
 *
 * @category layers
 * @since 0.1.0
 */
export function layerInteractive(
  callback: (request: Approval.ApprovalRequest) => Reply | PromiseLike<Reply>
): Layer.Layer<never>
export function layerInteractive<E, R>(
  callback: (request: Approval.ApprovalRequest) => Reply | PromiseLike<Reply> | Effect.Effect<Reply, E, R>
): Layer.Layer<never, never, R>
export function layerInteractive<E, R>(
  callback: (request: Approval.ApprovalRequest) => Reply | PromiseLike<Reply> | Effect.Effect<Reply, E, R>
): Layer.Layer<never, never, R> {
  return Layer.effect(
    ApprovalController,
    Effect.map(Effect.context<R>(), (context) =>
      interactive((request) => {
        const reply = callback(request)
        return Effect.isEffect(reply)
          ? Effect.updateContext(reply, (current) => Context.merge(current, context))
          : reply
      }))
  )
}

// =============================================================================
// Internals
// =============================================================================

const isPromiseLike = (u: Reply | PromiseLike<Reply>): u is PromiseLike<Reply> =>
  typeof u === "object" && u !== null && "then" in u && typeof u.then === "function"

const isDecision = Schema.is(Approval.ApprovalDecision)

const decisionOf = (request: Approval.ApprovalRequest, reply: unknown): Approval.ApprovalDecision | undefined => {
  if (reply === true) return new Approval.Approved({})
  if (reply === false) return new Approval.Denied({})
  if (reply instanceof Approval.ApprovalAnswer) {
    return reply.approvalId === request.approvalId ? reply.decision : undefined
  }
  return isDecision(reply) ? reply : undefined
}
