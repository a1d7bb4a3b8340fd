/**
 * Who answers: nobody here (the request goes out with the response, the answer comes back with a later turn), a
 * person asked inline, everybody's yes, or nobody ever. Where several are named, one around the other, the innermost is
 * asked; {@link strict} at any level denies, and {@link approveAll} answers where it is the only one (law L11).
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Approval from "./Approval.ts"
import * as ApprovalError from "./ApprovalError.ts"
import * as ApprovalEvents from "./ApprovalEvents.ts"
import * as ApprovalMemory from "./ApprovalMemory.ts"
import type * as Approver from "./Approver.ts"
import * as Answering from "./internal/asking/answered.ts"
import * as Asking from "./internal/asking/asking.ts"
import * as Batch from "./internal/asking/batch.ts"
import * as Enclosing from "./internal/asking/enclosing.ts"
import * as Levels from "./internal/asking/levels.ts"
import * as MemoryGuard from "./internal/asking/memoryGuard.ts"
import * as Replies from "./internal/asking/replies.ts"
import { definedFields } from "./internal/fields.ts"
import * as Canonical from "./internal/seal/canonical.ts"
import * as Cryptography from "./internal/seal/cryptography.ts"
import * as Presentation from "./internal/tool/presentation.ts"

// =============================================================================
// Models
// =============================================================================

/**
 * A decision with the person who made it, from {@link decided}. It is made in this process and cannot be posted: who
 * decided, the channel says that took the decision, and never a message (law L16).
 *
 * @category models
 * @since 0.1.0
 */
export type Decided = Asking.Decided

export type { Answered } from "./internal/asking/answered.ts"

/**
 * What an interactive callback may return: a decision, an answer to this very request, both also as plain JSON, `true` or
 * `false`, or one of these with the person whose it is ({@link decided}). Anything else, and any failure, leaves the
 * request open.
 *
 * @category models
 * @since 0.1.0
 */
export type Reply = Approval.DecisionInput | Approval.AnswerInput | boolean | Decided

/**
 * What a callback may return it in: itself, a Promise, or an Effect; which one is found out by itself.
 *
 * @category models
 * @since 0.1.0
 */
export type Awaitable<A> = A | PromiseLike<A> | Effect.Effect<A, unknown>

/**
 * What a callback is told beside the question. `signal` is aborted when nobody waits for the answer any more: the turn was
 * interrupted, cancelled or ran out of time, or its reader left.
 *
 * @category models
 * @since 0.1.0
 */
export interface AskOptions {
  readonly signal: AbortSignal
}

/**
 * Who answers: one person, or whoever a request is put to; a reply may say it better ({@link decided}). Default: nobody
 * known, whose decisions settle nothing where `approvers` are named (law L16).
 *
 * @category options
 * @since 0.1.0
 */
export type By = Replies.By

/**
 * `parallel`: several questions may be asked at once. Default: those of one conversation one after the other, in the order
 * they come, and those of different conversations (`Approval.Scope`) beside each other. `by`: who answers.
 *
 * @category options
 * @since 0.1.0
 */
export interface InteractiveOptions {
  readonly parallel?: boolean | undefined
  readonly by?: By | undefined
}

/**
 * A controller. Without `ask`, requests are deferred. An `ask` that fails or gives nothing leaves the request open.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  readonly ask?:
    | ((request: Approval.ApprovalRequest) => Effect.Effect<Approval.ApprovalDecision | Decided | undefined, unknown>)
    | undefined
  /** The channel it is, as `decidedBy.via` says it. Default: `"controller"`. */
  readonly via?: string | undefined
  /**
   * Whether it may be asked several things at once. Default: in each conversation (`Approval.Scope`) it is asked one after
   * the other, by all who share it; what has no named conversation is one.
   */
  readonly parallel?: boolean | undefined
  /**
   * Whom it asks in this context, by identity: each person is asked one thing after the other, whichever conversations ask,
   * and none waits for another. Default: somebody for each conversation. `undefined`: nobody, who is waited for by nobody.
   */
  readonly personOf?: ((context: Context.Context<never>) => object | undefined) | undefined
}

/**
 * The controller read when a call is decided. The default is {@link deferred}.
 *
 * @example
 * import { ApprovalController } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const program = ApprovalController.request({ name: "deploy", params: { to: "staging" } }).pipe(
 *   Effect.map((decision) => decision._tag),
 *   Effect.provideService(
 *     ApprovalController.ApprovalController,
 *     ApprovalController.interactive(({ description }) => description === "deploy(to='staging')")
 *   )
 * )
 *
 * await Effect.runPromise(program) // => "Approved"
 *
 * @category references
 * @since 0.1.0
 */
export const ApprovalController = Context.Reference<Service>(Levels.controllerKey, {
  defaultValue: () => deferred
})

/**
 * For controllers that let a person change parameters or give an answer: while one is asked, it says why these
 * parameters (or this answer, of what a tool waits for) could not be taken, as a sentence for that person, and nothing if
 * they could. It only looks: what is decided is checked again before it runs (laws L4, L11). By default nothing is known
 * to be wrong.
 *
 * @example
 * import { Approval, ApprovalController, Tool, Toolkit } from "@assent/ai"
 * import { Effect, Schema, Stream } from "effect"
 *
 * const tools = Toolkit.make(
 *   Tool.make("ReadFile", { parameters: { path: Schema.String }, success: Schema.String, needsApproval: true })
 * )
 * // What a person types, until it fits.
 * const typed = [{ paht: "b.txt" }, { path: "b.txt" }]
 *
 * const program = Effect.gen(function*() {
 *   const guarded = yield* Toolkit.guard(tools)
 *   const [result] = yield* Stream.runCollect(yield* guarded.handle("ReadFile", { path: "a.txt" }))
 *   return result?.result
 * }).pipe(
 *   Effect.provide(tools.toLayer({ ReadFile: ({ path }) => Effect.succeed(`read ${path}`) })),
 *   Effect.provide(ApprovalController.layerInteractive(() =>
 *     Effect.gen(function*() {
 *       const check = yield* ApprovalController.Check
 *       for (const params of typed) {
 *         if ((yield* check(params)) === undefined) return new Approval.Approved({ params })
 *       }
 *       return false
 *     })
 *   ))
 * )
 *
 * await Effect.runPromise(program) // => "read b.txt"
 *
 * @category references
 * @since 0.1.0
 */
export const Check: Context.Reference<(json: Schema.Json) => Effect.Effect<string | undefined>> = Asking.Check

/**
 * For controllers that offer to remember an answer: while one is asked, it says for how long that would be. In a named
 * conversation (`Approval.Scope`) for that `conversation`; else for as long as the guarded `toolkit` lives, or for this
 * `turn`, one call of the model, which is nothing that a person should be promised. `undefined`: nothing is remembered.
 *
 * @example
 * import { Approval, ApprovalController, ApprovalMemory } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * let asked = 0
 * const controller = ApprovalController.interactive(() =>
 *   Effect.map(ApprovalController.Remembers, (remembers) => {
 *     asked++
 *     return new Approval.Approved(remembers === "conversation" ? { remember: "session" } : {})
 *   })
 * )
 *
 * const deploy = ApprovalController.request({ name: "deploy" }).pipe(
 *   Effect.provideService(ApprovalController.ApprovalController, controller),
 *   Effect.provideService(Approval.Scope, { conversation: "chat-7" })
 * )
 * await Effect.runPromise(Effect.provide(Effect.andThen(deploy, deploy), ApprovalMemory.layerSession()))
 *
 * asked // => 1
 *
 * @category references
 * @since 0.1.0
 */
export const Remembers: Context.Reference<"turn" | "toolkit" | "conversation" | undefined> = Asking.Remembers

// =============================================================================
// Constructors
// =============================================================================

/**
 * The request is a part of the response; the answer comes with a later turn.
 *
 * @example
 * import { ApprovalController, ApprovalError } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const program = ApprovalController.request({ name: "deploy" }).pipe(
 *   Effect.map((decision) => decision._tag),
 *   Effect.provideService(ApprovalController.ApprovalController, ApprovalController.deferred),
 *   ApprovalError.catchReason("ApprovalRequired", ({ requests }) => Effect.succeed(requests[0]?.description))
 * )
 *
 * await Effect.runPromise(program) // => "deploy()"
 *
 * @category constructors
 * @since 0.1.0
 */
export const deferred: Service = {}

/**
 * Approves whatever is asked: for tests, and for sandboxes in which nothing can be lost. Nothing of it is remembered. It is
 * nobody known: where a policy names `approvers`, it settles nothing (law L16).
 *
 * It is nobody's yes: where another controller is named too, further in or further out, that one is asked (law L11). A
 * program in which nothing further in is to be approved so names {@link deferred}, which is else its default without a
 * word. A sandbox whose calls are to run whoever is named around it has a policy that lets them run.
 *
 * @example
 * import { ApprovalController, Tool, Toolkit } from "@assent/ai"
 * import { Effect, Schema, Stream } from "effect"
 *
 * const tools = Toolkit.make(Tool.make("DeleteAll", { success: Schema.String, needsApproval: true }))
 *
 * const program = Effect.gen(function*() {
 *   const guarded = yield* Toolkit.guard(tools)
 *   const [result] = yield* Stream.runCollect(yield* guarded.handle("DeleteAll", {}))
 *   return result?.result
 * }).pipe(
 *   Effect.provide(tools.toLayer({ DeleteAll: () => Effect.succeed("3 files") })),
 *   Effect.provideService(ApprovalController.ApprovalController, ApprovalController.approveAll)
 * )
 *
 * await Effect.runPromise(program) // => "3 files"
 *
 * @category constructors
 * @since 0.1.0
 */
export const approveAll: Service = Asking.approveAll

/**
 * A decision with the person who made it: for a callback that learns with the answer whose it is.
 *
 * @example
 * import { Approval, ApprovalController } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const controller = ApprovalController.interactive((request) =>
 *   ApprovalController.decided(Approval.deny(request, "not today"), { id: "ada", name: "Ada" })
 * )
 *
 * const program = ApprovalController.request({ name: "deploy" }).pipe(
 *   Effect.map(({ decidedBy, note }) => `${decidedBy?.name}: ${note}`),
 *   Effect.provideService(ApprovalController.ApprovalController, controller)
 * )
 *
 * await Effect.runPromise(program) // => "Ada: not today"
 *
 * @category constructors
 * @since 0.1.0
 */
export const decided = (
  decision: Approval.ApprovalDecision | Approval.ApprovalAnswer | boolean,
  by: Approver.Person
): Decided => Asking.decided(decision, by)

/**
 * Nobody is there to ask: whatever needs approval is denied, and the model is told so. This is what the program says, as a
 * policy does, and no person: so it denies whoever the `approvers` are (laws L11, L16).
 *
 * @example
 * import { ApprovalController, Tool, Toolkit } from "@assent/ai"
 * import { Effect, Stream } from "effect"
 *
 * const tools = Toolkit.make(Tool.make("DeleteAll", { needsApproval: true }))
 *
 * // At night, nobody is there.
 * const program = Effect.gen(function*() {
 *   const guarded = yield* Toolkit.guard(tools)
 *   const [result] = yield* Stream.runCollect(yield* guarded.handle("DeleteAll", {}))
 *   return result?.isFailure
 * }).pipe(
 *   Effect.provide(tools.toLayer({ DeleteAll: () => Effect.void })),
 *   Effect.provideService(ApprovalController.ApprovalController, ApprovalController.strict)
 * )
 *
 * await Effect.runPromise(program) // => true
 *
 * @category constructors
 * @since 0.1.0
 */
export const strict: Service = Asking.strict

/**
 * Asks inline, in each conversation one question at a time, and the turn goes on with the answer. The callback may return a
 * value, a Promise, or an Effect; which one is found out by itself. Its `signal` is aborted when nobody waits any more: a
 * dialog that is open can be closed.
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
  callback: (request: Approval.ApprovalRequest, options: AskOptions) => Awaitable<Reply>,
  options?: InteractiveOptions
): Service => {
  const ask = Replies.callback("ApprovalController.interactive", callback)
  return {
    ask: (request) =>
      Effect.map(
        Replies.awaited((options) => ask(request, options)),
        (reply) => Replies.readReply(request, reply, options?.by)
      ),
    parallel: options?.parallel
  }
}

/**
 * Asks inline about all calls of a conversation that come within a moment together, such as those of one response: a list
 * to tick. The callback gets them in order and returns a reply for each in its place, or answers in any order (of two to one
 * request a denial counts, law L3); one without a reply stays open.
 *
 * `window` (default 10 milliseconds) is how long others are waited for, and `by` is who answers. The callback is
 * interrupted, and its `signal` is aborted, when nobody waits for its replies any more.
 *
 * @example
 * import { Approval, ApprovalController } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const controller = ApprovalController.batch((requests) =>
 *   requests.map((request) => request.toolName === "ReadFile" || Approval.deny(request, "read only"))
 * )
 *
 * const asked = ["ReadFile", "DeleteFile"].map((toolName) =>
 *   controller.ask!(
 *     new Approval.ApprovalRequest({
 *       approvalId: toolName,
 *       toolCallId: "call-1",
 *       toolName,
 *       params: {},
 *       description: toolName,
 *       interaction: "approval",
 *       providerExecuted: false
 *     })
 *   )
 * )
 * const decisions = Effect.all(asked, { concurrency: "unbounded" })
 *
 * await Effect.runPromise(decisions) // => [new Approval.Approved({}), new Approval.Denied({ note: "read only" })]
 *
 * @category constructors
 * @since 0.1.0
 */
export const batch = (
  callback: (
    requests: ReadonlyArray<Approval.ApprovalRequest>,
    options: AskOptions
  ) => Awaitable<ReadonlyArray<Reply | undefined>>,
  options?: { readonly window?: Duration.Input | undefined; readonly by?: By | undefined }
): Service => ({ parallel: true, ask: Batch.ask(callback, options?.window ?? "10 millis", options?.by) })

// =============================================================================
// Asking
// =============================================================================

/**
 * Asks about something that is no tool call: a program's own step, or something a handler wants to do on the way. What
 * is remembered of the answer counts for the same `name` and `params`, in a named conversation.
 *
 * Fails with `ApprovalRequired` where nobody answers inline, and with `InvalidParameters` for what is no JSON. A denial is
 * a decision, not a failure. It says by whom, where that is known (law L16).
 *
 * @example
 * import { ApprovalController } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const program = ApprovalController.request({ name: "deploy", params: { to: "production" } }).pipe(
 *   Effect.map((decision) => decision._tag),
 *   Effect.provideService(ApprovalController.ApprovalController, ApprovalController.strict)
 * )
 *
 * await Effect.runPromise(program) // => "Denied"
 *
 * @category asking
 * @since 0.1.0
 */
export const request = Effect.fn("ApprovalController.request")(function*(question: {
  readonly name: string
  readonly params?: Schema.Json | undefined
  readonly description?: string | undefined
  readonly reason?: string | undefined
  readonly presentation?: Approval.ApprovalPresentation | undefined
}): Effect.fn.Return<Answering.Answered, ApprovalError.ApprovalError> {
  const context = yield* Enclosing.context
  const services = yield* Effect.context<never>()
  const controller = Levels.innermost(Context.get(services, Enclosing.Enclosing), services) ?? deferred
  const memory = Context.get(context, ApprovalMemory.ApprovalMemory)
  const scope = yield* Approval.Scope
  const approvalId = yield* Cryptography.randomToken(16)
  const { description, name, presentation, reason } = question
  const canonical = Canonical.canonicalize(question.params ?? {})
  if (Result.isFailure(canonical)) {
    return yield* ApprovalError.make(
      new ApprovalError.InvalidParameters({ toolName: name, description: canonical.failure })
    )
  }
  const params: Schema.Json = question.params === null ? null : JSON.parse(canonical.success)
  const asked = new Approval.ApprovalRequest({
    approvalId,
    toolCallId: approvalId,
    toolName: name,
    params,
    description: description === undefined
      ? Approval.describe(name, params)
      : Approval.escapeText(description, { maxLength: 500 }),
    interaction: "approval",
    providerExecuted: false,
    source: "program",
    ...definedFields({
      conversation: scope.conversation,
      principal: scope.principal,
      presentation: Presentation.sanitized(new Approval.NeedsApproval(definedFields({ presentation }))).presentation,
      reason: reason === undefined ? undefined : Approval.escapeText(reason, { maxLength: 1_000 })
    })
  })
  const call = { scope, source: "program", toolName: name, version: "program", params }
  const remembers = memory.remembers && scope.conversation !== undefined ? "conversation" : undefined
  return yield* Asking.inTurn(
    controller,
    Effect.gen(function*() {
      // A memory that goes wrong says nothing: it is asked, and what is answered counts (law L1).
      const known = remembers !== undefined
        ? yield* Effect.orElseSucceed(
          MemoryGuard.find(memory, call, { peek: false, timeLimit: memoryTimeLimit, toolCallId: approvalId }),
          () => undefined
        )
        : undefined
      if (known !== undefined) return Answering.remembered(known)
      const reply = yield* Asking.ask(controller, asked, { remembers })
      const decision = reply?.decision
      if (reply === undefined || decision === undefined || decision._tag === "Info") {
        return yield* ApprovalError.make(new ApprovalError.ApprovalRequired({ requests: [asked], content: [] }))
      }
      const remember = Schema.decodeUnknownOption(ApprovalMemory.Remember)(decision.remember)
      if (remembers !== undefined && Option.isSome(remember)) {
        const answered: ApprovalMemory.Answered = {
          ...call,
          id: approvalId,
          approvalId,
          toolCallId: approvalId,
          decision: decision._tag === "Approved" ? "approved" : "denied",
          remember: remember.value,
          note: decision.note,
          decidedBy: reply.decidedBy
        }
        yield* Effect.catch(
          MemoryGuard.remember(memory, answered, memoryTimeLimit),
          (error) => Effect.logWarning(`Assent: an answer about "${name}" is not remembered. ${error.message}`)
        )
      }
      return Answering.answered(decision, reply.decidedBy)
    })
  ).pipe(Effect.provideService(ApprovalEvents.ApprovalEvents, Context.get(context, ApprovalEvents.ApprovalEvents)))
})

// =============================================================================
// Layers
// =============================================================================

/**
 * {@link deferred} as a layer: nobody answers here, and requests go out with the response.
 *
 * @example
 * import { ApprovalController, LanguageModel, Response, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 *
 * const toolkit = Toolkit.make(Tool.make("DeleteAll", { needsApproval: true }))
 *
 * // Whatever runs this program may approve all; what stands here is asked all the same.
 * const program = LanguageModel.generateText({ prompt: "Clean up.", toolkit }).pipe(
 *   Effect.map(Response.isWaiting),
 *   Effect.provide(ApprovalController.layerDeferred),
 *   Effect.provide(ApprovalController.layerApproveAll),
 *   Effect.provide(toolkit.toLayer({ DeleteAll: () => Effect.void })),
 *   Effect.provide(
 *     ScriptedModel.layer({ turns: [[ScriptedModel.toolCall({ id: "call-1", name: "DeleteAll", params: {} })]] })
 *   )
 * )
 *
 * await Effect.runPromise(program) // => true
 *
 * @category layers
 * @since 0.1.0
 */
export const layerDeferred: Layer.Layer<never> = Layer.succeed(ApprovalController, deferred)

/**
 * {@link approveAll} as a layer, with the same warning: for tests, and for sandboxes in which nothing can be lost.
 *
 * @example
 * import { ApprovalController, LanguageModel, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * const toolkit = Toolkit.make(Tool.make("DeleteAll", { success: Schema.String, needsApproval: true }))
 *
 * const program = LanguageModel.generateText({ prompt: "Clean up.", toolkit }).pipe(
 *   Effect.map(({ toolResults }) => toolResults[0]?.result),
 *   Effect.provide(ApprovalController.layerApproveAll),
 *   Effect.provide(toolkit.toLayer({ DeleteAll: () => Effect.succeed("3 files") })),
 *   Effect.provide(
 *     ScriptedModel.layer({ turns: [[ScriptedModel.toolCall({ id: "call-1", name: "DeleteAll", params: {} })]] })
 *   )
 * )
 *
 * await Effect.runPromise(program) // => "3 files"
 *
 * @category layers
 * @since 0.1.0
 */
export const layerApproveAll: Layer.Layer<never> = Layer.succeed(ApprovalController, approveAll)

/**
 * {@link strict} as a layer: nobody is there to ask, and whatever needs approval is denied.
 *
 * @example
 * import { ApprovalController } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const deploy = ApprovalController.request({ name: "deploy" }).pipe(
 *   Effect.map((decision) => decision._tag === "Approved" ? "deployed" : "left as it is")
 * )
 *
 * await Effect.runPromise(Effect.provide(deploy, ApprovalController.layerStrict)) // => "left as it is"
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStrict: Layer.Layer<never> = Layer.succeed(ApprovalController, strict)

/**
 * {@link interactive}, with a callback that may need services: they are captured when the layer is built.
 *
 * @example
 * import { ApprovalController } from "@assent/ai"
 * import { Context, Effect } from "effect"
 *
 * class Desk extends Context.Service<Desk, { readonly ask: (text: string) => Effect.Effect<boolean> }>()("Desk") {}
 *
 * const Asked = ApprovalController.layerInteractive((request) =>
 *   Effect.flatMap(Desk, (desk) => desk.ask(`May it ${request.description}?`))
 * )
 *
 * const texts: Array<string> = []
 * const desk = { ask: (text: string) => Effect.sync(() => texts.push(text) > 0) }
 * const program = ApprovalController.request({ name: "deploy", params: { to: "staging" } }).pipe(
 *   Effect.map((decision) => decision._tag),
 *   Effect.provide(Asked),
 *   Effect.provideService(Desk, desk)
 * )
 *
 * await Effect.runPromise(program) // => "Approved"
 * texts // => ["May it deploy(to='staging')?"]
 *
 * @category layers
 * @since 0.1.0
 */
export function layerInteractive(
  callback: (request: Approval.ApprovalRequest, options: AskOptions) => Reply | PromiseLike<Reply>,
  options?: InteractiveOptions
): Layer.Layer<never>
export function layerInteractive<E, R>(
  callback: (
    request: Approval.ApprovalRequest,
    options: AskOptions
  ) => Reply | PromiseLike<Reply> | Effect.Effect<Reply, E, R>,
  options?: InteractiveOptions
): Layer.Layer<never, never, R>
export function layerInteractive<E, R>(
  callback: (
    request: Approval.ApprovalRequest,
    options: AskOptions
  ) => Reply | PromiseLike<Reply> | Effect.Effect<Reply, E, R>,
  options?: InteractiveOptions
): Layer.Layer<never, never, R> {
  const ask = Replies.callback("ApprovalController.layerInteractive", callback)
  return Layer.effect(
    ApprovalController,
    Effect.map(Effect.context<R>(), (context) =>
      interactive((request, options) => {
        const reply = ask(request, options)
        return Effect.isEffect(reply)
          ? Effect.updateContext(reply, (current) => Context.merge(current, context))
          : reply
      }, options))
  )
}

// =============================================================================
// Internals
// =============================================================================

const memoryTimeLimit: Duration.Input = "30 seconds"
