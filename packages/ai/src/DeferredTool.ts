/**
 * Tools that wait: for an answer of the user, the consent of two managers, the call of a payment service, or Monday.
 *
 * The handler of a deferred tool begins with `start` and ends with its result or a suspension: it names one of the
 * interactions it has declared, says what is asked, and says what it must remember. The engine keeps that in
 * `SuspensionStore`, never with the client or the model, and asks in a `tool-approval-request` for the same call. When
 * the answer comes, in this process or another, `resume` goes on from there, once (law L2), to the result or to the
 * next suspension. Where nobody answers in time, `expired` does, if the handler has it.
 *
 * The handler stops where the effect of `suspend` is run, whether it returns what comes of it or not. If something in the
 * handler catches that, as `Effect.exit` or a forked fiber does, and the handler goes on, the call has a failed result that
 * says so, and there is a `SuspensionCaught` event. A `suspend` that is built and never run cannot be told from one that
 * was not chosen: write `yield*`, or return it.
 *
 * A deferred tool stands beside any other in a `Toolkit`. It needs the engine: under upstream's own `LanguageModel` its
 * handler does not begin, and the call fails with a `ToolConfigurationError` that says so.
 *
 * @since 0.1.0
 */
import * as AiError from "effect/ai/AiError"
import type * as Upstream from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type * as Types from "effect/Types"
import * as Approval from "./Approval.ts"
import * as ApprovalError from "./ApprovalError.ts"
import type * as Interaction from "./Interaction.ts"
import * as Deferral from "./internal/tool/deferral.ts"
import * as Schemas from "./internal/tool/schemas.ts"
import { type Any, type Handlers, TypeId } from "./internal/tool/waitingHandlers.ts"
import * as Interactions from "./internal/waiting/interaction.ts"
import * as Ways from "./internal/waiting/ways.ts"
import * as SuspensionStore from "./SuspensionStore.ts"
import * as Tool from "./Tool.ts"

// =============================================================================
// Models
// =============================================================================

/**
 * What a handler ends with when it is to wait. It is made with a tool's own `suspend`, which stops the handler where it
 * is run.
 *
 * @category models
 * @since 0.1.0
 */
export type Suspension<Name extends string> = Deferral.Suspension<Name>

/**
 * The tools that can be made to wait: any tool that was made.
 *
 * @category models
 * @since 0.1.0
 */
export type AnyTool = Upstream.Tool<
  string,
  {
    readonly parameters: Schema.Constraint
    readonly success: Schema.Constraint
    readonly failure: Schema.Constraint
    readonly failureMode: Upstream.FailureMode
  },
  unknown
>

/**
 * What a tool that may wait has beside what every tool has.
 *
 * @category models
 * @since 0.1.0
 */
export interface Deferred<out Name extends string, in out State, out Interactions extends Interaction.Record> {
  readonly [TypeId]: { readonly _State: Types.Invariant<State> }
  readonly interactions: Interactions
  /**
   * For each interaction, by its name: begins to wait for it, with what is asked and what is to be remembered. The
   * handler stops where this effect is run.
   */
  readonly suspend: Suspend<Name, State, Interactions>
}

/**
 * The functions that make suspensions, one for each interaction. Tools that declare no state remember nothing.
 *
 * @category models
 * @since 0.1.0
 */
export type Suspend<Name extends string, State, Interactions extends Interaction.Record> = {
  readonly [Key in keyof Interactions]: (
    ask: Interaction.Ask<Interactions[Key]>,
    ...state: undefined extends State ? [state?: State] : [state: State]
  ) => Effect.Effect<Suspension<Name>>
}

/**
 * A tool of upstream's that may wait.
 *
 * @category models
 * @since 0.1.0
 */
export type DeferredTool<T extends AnyTool, State, Interactions extends Interaction.Record> =
  & T
  & Deferred<T["name"], State, Interactions>

export type {
  Any,
  Ending,
  ExpiredContext,
  GoOnContext,
  Handlers,
  ResumeContext,
  State
} from "./internal/tool/waitingHandlers.ts"

/**
 * One thing a tool of a toolkit may wait for, and how it is answered.
 *
 * @category models
 * @since 0.1.0
 */
export interface Description {
  readonly tool: string
  readonly interaction: string
  readonly kind: Approval.InteractionKind
  readonly description: string | undefined
  /** `"message"`: by an answer in the message history, or by a controller. */
  readonly answeredBy: "message" | "webhook" | "clock" | "program"
  /** In words, for whoever writes the program. */
  readonly how: string
  /** The JSON Schema of the answer; of options, only that they are texts: each request names its own. */
  readonly answerSchema: Schema.Json
}

// =============================================================================
// Options
// =============================================================================

/**
 * What makes a tool one that may wait.
 *
 * `state` is the schema of what it remembers. That is kept as JSON until the answer comes, which may be after the next
 * release. So when the schema changes, raise `stateVersion` (default 1), and let `migrate` make this version's JSON of
 * an older one's. Without `migrate`, calls that wait with an older version end with a failed result that says so (law
 * L10).
 *
 * @category options
 * @since 0.1.0
 */
export interface Options<State extends Schema.Constraint, Interactions extends Interaction.Record> {
  readonly interactions: Interactions
  readonly state?: State | undefined
  readonly stateVersion?: number | undefined
  readonly migrate?:
    | ((state: Schema.Json, version: number) => Schema.Json | Effect.Effect<Schema.Json, unknown>)
    | undefined
}

// =============================================================================
// Constructors
// =============================================================================

/**
 * Makes a tool that may wait. The options are those of `Tool.make`, and what it waits for and remembers.
 *
 * @example
 * import { Approval, DeferredTool, Interaction, LanguageModel, Prompt, Response, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * const AddToCart = DeferredTool.make("AddToCart", {
 *   parameters: { items: Schema.Array(Schema.String) },
 *   success: Schema.String,
 *   state: Schema.Array(Schema.String),
 *   interactions: { another: Interaction.askUser }
 * })
 * const toolkit = Toolkit.make(AddToCart)
 * const Handlers = toolkit.toLayer({
 *   AddToCart: DeferredTool.handler(AddToCart, {
 *     start: ({ items }) => AddToCart.suspend.another({ prompt: "Anything else?" }, items),
 *     resume: { another: (item, items) => Effect.succeed([...items, item].join(", ")) }
 *   })
 * })
 *
 * const program = Effect.gen(function*() {
 *   const first = yield* LanguageModel.generateText({ prompt: "Buy shoes.", toolkit })
 *   const [request] = Response.approvalRequests(first)
 *   const history = Prompt.concat(Prompt.make("Buy shoes."), Prompt.fromResponseParts(first.content))
 *   const answers = Prompt.approvalResponses([Approval.answer(request!, "socks")])
 *   const second = yield* LanguageModel.generateText({ prompt: Prompt.concat(history, answers), toolkit })
 *   return [request!.awaited!.prompt, second.toolResults[0]!.result, second.text]
 * }).pipe(
 *   Effect.provide(Handlers),
 *   Effect.provide(ScriptedModel.layer({
 *     turns: [[ScriptedModel.toolCall({ id: "call-1", name: "AddToCart", params: { items: ["shoes"] } })], "Done."]
 *   }))
 * )
 *
 * await Effect.runPromise(program) // => ["Anything else?", "shoes, socks", "Done."]
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <
  const Name extends string,
  const Interactions extends Interaction.Record,
  State extends Schema.Constraint = typeof Schema.Undefined,
  Fields extends Schema.Struct.Fields | undefined = {},
  Parameters extends Tool.ParametersFrom<Fields> = Tool.ParametersFrom<Fields>,
  Success extends Schema.Constraint = typeof Schema.Void,
  Failure extends Schema.Constraint = typeof Schema.Never,
  Mode extends Upstream.FailureMode | undefined = undefined,
  Dependencies extends Array<Context.Key<unknown, unknown>> = []
>(
  name: Name,
  options: Options<State, Interactions> & Tool.Options<Fields, Parameters, Success, Failure, Mode, Dependencies>
): DeferredTool<
  Tool.Made<Name, Parameters, Success, Failure, Mode, Dependencies>,
  State["Type"],
  Interactions
> => {
  const { interactions: _, migrate: __, state: ___, stateVersion: ____, ...rest } = options
  return from(Tool.make(name, rest), options)
}

/**
 * Makes a tool that may wait of one that is there already: a `Tool.dynamic` whose parameters are a JSON Schema, or a
 * tool with annotations. The tool given is not changed.
 *
 * @example
 * import { DeferredTool, Interaction, Tool } from "@assent/ai"
 *
 * const Query = DeferredTool.from(
 *   Tool.dynamic("Query", { parameters: { type: "object", properties: { sql: { type: "string" } } } }),
 *   { interactions: { database: Interaction.selectOptions } }
 * )
 *
 * Object.keys(Query.suspend) // => ["database"]
 *
 * @category constructors
 * @since 0.1.0
 */
export const from = <
  T extends AnyTool,
  const Interactions extends Interaction.Record,
  State extends Schema.Constraint = typeof Schema.Undefined
>(tool: T, options: Options<State, Interactions>): DeferredTool<T, State["Type"], Interactions> => {
  Schemas.refuseInteractions(tool.name, options.interactions)
  const deferred: Deferred<T["name"], State["Type"], Interactions> = {
    [TypeId]: { _State: identity },
    interactions: options.interactions,
    suspend: Deferral.suspendFunctions<Suspend<T["name"], State["Type"], Interactions>>(tool.name, options.interactions)
  }
  return Object.assign(Deferral.set(tool, Deferral.make(options)), deferred)
}

/**
 * Makes the handler of a deferred tool for its place in a `Toolkit`.
 *
 * `start` is given the parameters, and each function of `resume` its interaction's answer and what was remembered. Both
 * end with the tool's success, with its failure, or with `suspend`, which ends them where it is run. A `suspend` that
 * is built and never run, such as one without `yield*` in a generator, waits for nothing: it cannot be told from one
 * that was not chosen. `context.toolCallId` is the same in all of them.
 *
 * Where nobody has answered within `expiresIn`, the function of `expired` goes on, once, as any other run (law L2), and
 * it may wait again: to remind whoever is asked, or to ask somebody else. Where there is none, the call ends, and the
 * model is told that what the tool did before stands. An answer that was given in time counts, however late anybody
 * looks. Somebody has to look: a turn does, and `SuspensionStore.watchTimers` wakes conversations in which nobody takes
 * one.
 *
 * @example
 * import { ApprovalJournal, DeferredTool, Interaction, LanguageModel, Prompt, Response } from "@assent/ai"
 * import { Store, SuspensionStore, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Layer, Schema } from "effect"
 * import { TestClock } from "effect/testing"
 *
 * const Refund = DeferredTool.make("Refund", {
 *   parameters: { amount: Schema.Number },
 *   success: Schema.String,
 *   state: Schema.Literals(["asked", "reminded"]),
 *   interactions: { manager: Interaction.getApproval }
 * })
 * const toolkit = Toolkit.make(Refund)
 * const Handlers = toolkit.toLayer({
 *   Refund: DeferredTool.handler(Refund, {
 *     start: ({ amount }) => Refund.suspend.manager({ prompt: `Refund ${amount}?`, expiresIn: "1 day" }, "asked"),
 *     resume: { manager: ({ approved }) => Effect.succeed(approved ? "refunded" : "refused") },
 *     expired: {
 *       manager: (state, { params }) =>
 *         state === "asked"
 *           ? Refund.suspend.manager({ prompt: `Still open: ${params.amount}`, expiresIn: "1 day" }, "reminded")
 *           : Effect.succeed("nobody decided")
 *     }
 *   })
 * })
 *
 * const program = Effect.gen(function*() {
 *   let history = Prompt.make("Refund 20.")
 *   const prompts: Array<string | undefined> = []
 *   while (true) {
 *     const turn = yield* LanguageModel.generateText({ prompt: history, toolkit })
 *     history = Prompt.concat(history, Prompt.fromResponseParts(turn.content))
 *     if (!Response.isWaiting(turn)) return [...prompts, turn.toolResults[0]!.result]
 *     prompts.push(Response.approvalRequests(turn)[0]!.awaited!.prompt)
 *     yield* TestClock.adjust("1 day")
 *   }
 * }).pipe(
 *   Effect.provide(Handlers),
 *   Effect.provide(ScriptedModel.layer({
 *     turns: [[ScriptedModel.toolCall({ id: "call-1", name: "Refund", params: { amount: 20 } })], "Nobody has time."]
 *   })),
 *   // The default store is of the whole process, whose clock is not the test's.
 *   Effect.provide(Layer.mergeAll(ApprovalJournal.layerStore(), SuspensionStore.layerStore)),
 *   Effect.provide(Store.layerMemory),
 *   Effect.provide(TestClock.layer())
 * )
 *
 * await Effect.runPromise(program) // => ["Refund 20?", "Still open: 20", "nobody decided"]
 *
 * @category constructors
 * @since 0.1.0
 */
export const handler = <T extends Any>(
  tool: T,
  handlers: Handlers<T>
): (params: Upstream.Parameters<T>, context: Toolkit.HandlerContext<T>) => Effect.Effect<
  Upstream.Success<T>,
  Upstream.Failure<T> | AiError.AiError | AiError.AiErrorReason,
  Upstream.HandlerServices<T>
> =>
(params, context) =>
  Deferral.handle({
    toolName: tool.name,
    toolCallId: context.toolCallId,
    start: () => handlers.start(params, context),
    resume: Deferral.resumeOf(handlers.resume, { ...context, params }),
    expired: Deferral.expiredOf(handlers.expired ?? {}, { ...context, params }),
    withoutEngine: () => withoutEngine(tool.name)
  })

// =============================================================================
// Answering for the program
// =============================================================================

/**
 * Answers what a tool waits for, from the program itself. It is the only way to answer an `Interaction.external`, and a
 * trusted one for all others. The answer is kept with what the tool remembers, and counts when the conversation takes
 * its next turn; the first one given here stands. `by` is who answers, for the handler to know (law L16).
 *
 * Fails with `UnknownApproval` where no tool waits with this request, where it waits for another interaction, or where
 * `Approval.Scope` names another tenant, principal or conversation; with `AlreadyDecided`; with `Expired`; with
 * `NotAnApprover`; and with `InvalidAnswer`. A failure changes nothing.
 *
 * @example
 * import { Conversation, DeferredTool, Interaction, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * const Build = DeferredTool.make("Build", {
 *   success: Schema.String,
 *   interactions: { ended: Interaction.external(Schema.Literals(["green", "red"])) }
 * })
 * const toolkit = Toolkit.make(Build)
 *
 * const program = Effect.gen(function*() {
 *   const conversation = yield* Conversation.make({ id: "release-1", toolkit })
 *   yield* conversation.send("Build it.")
 *   const [request] = yield* conversation.pending()
 *   // Whatever runs the build tells how it ended, and wakes the conversation.
 *   yield* DeferredTool.deliver(Build, "ended", request!, "green", { by: { id: "ci" } })
 *   return (yield* conversation.wake)?.text
 * }).pipe(
 *   Effect.provide(toolkit.toLayer({
 *     Build: DeferredTool.handler(Build, {
 *       start: () => Build.suspend.ended({ prompt: "The build" }),
 *       resume: { ended: (colour) => Effect.succeed(`The build is ${colour}.`) }
 *     })
 *   })),
 *   Effect.provide(ScriptedModel.layer({
 *     turns: [[ScriptedModel.toolCall({ id: "call-1", name: "Build", params: {} })], "It is green."]
 *   }))
 * )
 *
 * await Effect.runPromise(program) // => "It is green."
 *
 * @category answering
 * @since 0.1.0
 */
export const deliver = Effect.fnUntraced(function*<T extends Any, Name extends keyof T["interactions"] & string>(
  tool: T,
  name: Name,
  request: { readonly approvalId: string },
  answer: Interaction.Answer<T["interactions"][Name]>,
  options?: SuspensionStore.DeliverOptions
): Effect.fn.Return<void, ApprovalError.ApprovalError> {
  const { approvalId } = request
  const store = yield* SuspensionStore.SuspensionStore
  const found = yield* store.find(approvalId)
  if (
    found === undefined || found.suspension.toolName !== tool.name || found.suspension.awaited.name !== name ||
    !isWithin(yield* Approval.Scope, found.suspension.scope)
  ) {
    return yield* ApprovalError.make(new ApprovalError.UnknownApproval({ approvalId: approvalId.slice(0, 64) }))
  }
  const invalid = (description: string) =>
    ApprovalError.make(new ApprovalError.InvalidAnswer({ approvalId, description }))
  const interaction = tool.interactions[name]!
  const encoded = yield* Effect.mapError(Interactions.encodeAnswer(interaction, answer), invalid)
  yield* Effect.mapError(Interactions.decodeAnswer(interaction, found.suspension.awaited, encoded), invalid)
  yield* SuspensionStore.deliver(approvalId, encoded, options)
})

// =============================================================================
// Reading
// =============================================================================

/**
 * Whether a tool may wait.
 *
 * @example
 * import { DeferredTool, Interaction, Tool, Toolkit } from "@assent/ai"
 *
 * const Remind = DeferredTool.make("Remind", { interactions: { later: Interaction.timer } })
 * const toolkit = Toolkit.make(Remind, Tool.make("Search"))
 *
 * Object.values(toolkit.tools).filter(DeferredTool.isDeferred).map((tool) => tool.name) // => ["Remind"]
 *
 * @category guards
 * @since 0.1.0
 */
export const isDeferred = (tool: Upstream.Any): tool is Any =>
  Deferral.of(tool) !== undefined && Predicate.hasProperty(tool, TypeId)

/**
 * What the tools of a toolkit may wait for, and how each is answered: what a program that uses them has to do.
 *
 * @example
 * import { DeferredTool, Interaction, Toolkit } from "@assent/ai"
 *
 * const Remind = DeferredTool.make("Remind", { interactions: { later: Interaction.timer } })
 *
 * const described = DeferredTool.describe(Toolkit.make(Remind))
 *
 * described.map((one) => [one.tool, one.interaction, one.answeredBy]) // => [["Remind", "later", "clock"]]
 *
 * @category reading
 * @since 0.1.0
 */
export const describe = (
  toolkit: { readonly tools: { readonly [name: string]: Upstream.Any } }
): ReadonlyArray<Description> =>
  Object.values(toolkit.tools).flatMap((tool) =>
    Object.entries(Deferral.of(tool)?.interactions ?? {}).map(([interaction, declared]) => ({
      tool: tool.name,
      interaction,
      kind: declared.kind,
      description: declared.description,
      ...Ways.of(declared.kind),
      answerSchema: Interactions.jsonSchema(declared)
    }))
  )

// =============================================================================
// Internals
// =============================================================================

// A program that names nobody tells everybody.
const isWithin = (named: Approval.ApprovalScope, own: Approval.ApprovalScope): boolean =>
  (["tenant", "principal", "conversation"] as const).every((part) =>
    named[part] === undefined || named[part] === own[part]
  )

const withoutEngine = (toolName: string): AiError.AiErrorReason =>
  new AiError.ToolConfigurationError({
    toolName,
    description:
      "This tool may have to wait, which is not possible here. Call it through LanguageModel or Chat of @assent/ai, or" +
      " put LanguageModel.approval() around the model. Nothing ran."
  })
