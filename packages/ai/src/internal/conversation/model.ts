/** What a conversation is, what it is made from, and how its turns end. */
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type * as Approval from "../../Approval.ts"
import type * as ApprovalError from "../../ApprovalError.ts"
import type * as Approver from "../../Approver.ts"
import type * as ConversationStore from "../../ConversationStore.ts"
import type * as DeferredTool from "../../DeferredTool.ts"
import type * as Interaction from "../../Interaction.ts"
import type { RefusedAnswer } from "../posted.ts"

export type { RefusedAnswer } from "../posted.ts"

// =============================================================================
// Models
// =============================================================================

type AnyTools = Record<string, Tool.Any>

interface Ended<Tools extends AnyTools> {
  /** What the model said last. */
  readonly text: string
  /** Everything that was said in the turn, over all of its steps. */
  readonly content: ReadonlyArray<Response.Part<Tools> | Response.StreamPart<Tools>>
  /** How often the engine was called. */
  readonly steps: number
  /** Tokens in and out, as the provider counts them. */
  readonly tokens: number
  /** The answers with which the turn began that have no effect, and why; every other one counts. */
  readonly refused: ReadonlyArray<RefusedAnswer>
}

/**
 * The model has said what it had to say. Requests that were open all the same, because the model went on beside them,
 * are still open: see `pending`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Completed<Tools extends AnyTools> extends Ended<Tools> {
  readonly _tag: "Completed"
}

/**
 * Somebody is waited for. `requests` are all that are open; the model is not called before they are answered.
 *
 * @category models
 * @since 0.1.0
 */
export interface Waiting<Tools extends AnyTools> extends Ended<Tools> {
  readonly _tag: "Waiting"
  readonly requests: ReadonlyArray<Approval.ApprovalRequest>
}

/**
 * A limit ended the turn. Everything it did is in the history, and `send([])` goes on.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limited<Tools extends AnyTools> extends Ended<Tools> {
  readonly _tag: "Limited"
  readonly limit: "steps" | "tokens" | "time"
}

/**
 * Whoever denied a call stopped the turn with it (`stop`). What was approved has run, and is in the history. The model
 * is not called before somebody says something new: `send([])` does not go on.
 *
 * @category models
 * @since 0.1.0
 */
export interface Stopped<Tools extends AnyTools> extends Ended<Tools> {
  readonly _tag: "Stopped"
}

/**
 * How a turn ended.
 *
 * @category models
 * @since 0.1.0
 */
export type Outcome<Tools extends AnyTools> = Completed<Tools> | Waiting<Tools> | Limited<Tools> | Stopped<Tools>

/**
 * What a turn may fail with. Whatever it did before stays in the history: `send([])` tries again.
 *
 * @category errors
 * @since 0.1.0
 */
export type TurnError<Tools extends AnyTools> =
  | LanguageModel.ExtractError<{ readonly toolkit: Toolkit.WithHandler<Tools> }>
  | ConversationStore.ConversationError
  | ApprovalError.ApprovalError

/**
 * A conversation as it stands at one moment.
 *
 * The id of a message is the `messageId` it was said with, or else comes from its place (`m0`, `m1`, …). The messages
 * of people and of the assistant have the same ids in every process, while their turn is taken and after later ones. A
 * turn that has not ended may still add to what it has said. `isTurnTaken`: somebody takes a turn, here or in another
 * process, or took one in a process that died and is not known to be dead yet.
 *
 * @example
 * import { Conversation, LanguageModel, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const conversation = yield* Conversation.make({ id: "reading", toolkit: Toolkit.empty })
 *   yield* conversation.send("Hello.", { messageId: "msg-7Fq" })
 *   // The page did not hear that it had arrived, and sends it once more.
 *   yield* conversation.send("Hello.", { messageId: "msg-7Fq" })
 *   const { messages } = yield* conversation.read
 *   return messages.map(({ id, message }) => `${id}: ${message.role}`)
 * }).pipe(
 *   Effect.provideServiceEffect(
 *     LanguageModel.LanguageModel,
 *     Effect.map(ScriptedModel.make({ turns: ["Hello to you."] }), ({ model }) => model)
 *   )
 * )
 *
 * await Effect.runPromise(program) // => ["msg-7Fq: user", "m1: assistant"]
 *
 * @category models
 * @since 0.1.0
 */
export interface Reading {
  readonly messages: ReadonlyArray<{ readonly id: string; readonly message: Prompt.Message }>
  /**
   * The requests that are open: all, or those of one kind, such as `"approval"` or `"askUser"`. A request that was
   * answered is not among them, even where its turn failed: `send([])` goes on with the answer. Nor is one that has
   * expired: `wake` goes on with it.
   */
  readonly pending: ReadonlyArray<Approval.ApprovalRequest>
  readonly isTurnTaken: boolean
}

/**
 * What became of a request.
 *
 * - `open`: it waits for an answer, or for more of them where several have to approve; `request` says who has.
 * - `answered`: it has its answer, and nothing came of that yet; a turn goes on with it.
 * - `running`: what was approved runs, here or in another process, or it has begun and waits for something else.
 * - `done`, `failed`: it ran, with the `result` that the history has; or it could not run, and `reason` says why.
 * - `denied`: somebody, or a policy, said no.
 * - `expired`: nobody answered in time. `superseded`: a new message came before an answer. `cancelled`: it was taken back, or
 *   could not be carried out as it was asked. Nobody said no, and nothing ran for it.
 * - `unknown`: it began, and nobody knows what it did.
 *
 * @example
 * import { Approval, Conversation, LanguageModel, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * const Refund = Tool.make("Refund", { parameters: { amount: Schema.Number }, success: Schema.String, needsApproval: true })
 * const toolkit = Toolkit.make(Refund)
 *
 * const program = Effect.gen(function*() {
 *   const conversation = yield* Conversation.make({ id: "states", toolkit })
 *   yield* conversation.send("I want my money back.")
 *   const [request] = yield* conversation.pending()
 *   yield* conversation.decide(Approval.deny(request!, "It was used."), { by: { id: "ada", name: "Ada" } })
 *   // Somebody else clicks late.
 *   const state = yield* conversation.stateOf(request!.approvalId)
 *   return `${state?.state} by ${state?.decidedBy?.name}: ${state?.reason}`
 * }).pipe(
 *   Effect.provide(toolkit.toLayer({ Refund: ({ amount }) => Effect.succeed(`paid ${amount}`) })),
 *   Effect.provideServiceEffect(
 *     LanguageModel.LanguageModel,
 *     Effect.map(
 *       ScriptedModel.make({
 *         turns: [[ScriptedModel.toolCall({ id: "call-1", name: "Refund", params: { amount: 500 } })], "I am sorry."]
 *       }),
 *       ({ model }) => model
 *     )
 *   )
 * )
 *
 * await Effect.runPromise(program) // => "denied by Ada: It was used."
 *
 * @category models
 * @since 0.1.0
 */
export interface RequestState {
  readonly state:
    | "open"
    | "answered"
    | "running"
    | "done"
    | "failed"
    | "denied"
    | "expired"
    | "cancelled"
    | "superseded"
    | "unknown"
  /** As it was shown, where it is still known. */
  readonly request?: Approval.ApprovalRequest
  /** Whose decision it was, where that is known (law L16). */
  readonly decidedBy?: Approver.DecidedBy
  /** As the history has it, or will have it: it is missing where there is none, or it is no longer kept. */
  readonly result?: unknown
  readonly isFailure?: boolean
  /** A sentence: why it was denied, or what happened. */
  readonly reason?: string
}

/**
 * A turn that is being taken. Any number of readers may read it; they may come late, be slow and leave.
 *
 * @category models
 * @since 0.1.0
 */
export interface Turn<Tools extends AnyTools> {
  /**
   * The id of the first message that the turn adds after what was said in it: a message of the assistant, or one before
   * that with the results of calls that were waiting.
   */
  readonly messageId: string
  /**
   * Everything that the turn says: from its beginning, then live, to its end. Whoever comes late or is slow gets
   * neighbouring deltas as one. Fails as the turn does, and with `Cancelled` where whoever took it left. What is said
   * in one piece, as by `send`, comes as soon as it is known. Of a turn in another process, that is when it is on
   * record, and results are encoded, as they are there.
   */
  readonly parts: Stream.Stream<Response.StreamPart<Tools>, TurnError<Tools>>
  /** How it ends: waits for it. Of a turn in another process, how the conversation stands then. */
  readonly outcome: Effect.Effect<Outcome<Tools>, TurnError<Tools>>
}

/**
 * A conversation.
 *
 * @category models
 * @since 0.1.0
 */
export interface Conversation<Tools extends AnyTools> {
  readonly id: string
  /**
   * Says something, and takes a turn. A plain text goes to the question that `routeText` names, if there is one. `[]`
   * says nothing: what was begun goes on, and the model is not called where nothing has begun, where it had the last
   * word, or where the last thing was a denial.
   *
   * With `answers` it decides first, as `decide` does, in the same turn: what is approved runs, and the model is called
   * once, with the results and with what is said. What is said counts whatever becomes of the answers. For requests
   * that they leave open it is a new message like any other (law L6).
   */
  readonly send: (
    prompt: Prompt.RawInput,
    options?: TurnOptions
  ) => Effect.Effect<Outcome<Tools>, TurnError<Tools>>
  /**
   * As `send`, part by part as they come; {@link Conversation.outcome} says how it ended. The turn ends with its
   * reader.
   */
  readonly stream: (
    prompt: Prompt.RawInput,
    options?: TurnOptions
  ) => Stream.Stream<Response.StreamPart<Tools>, TurnError<Tools>>
  /**
   * As `stream`, but the turn belongs to the process: it goes on when whoever began it or reads it leaves, and ends
   * with the `ConversationStore` at the latest. Succeeds once it is written that the turn has begun, with what was said
   * and decided, and fails where that cannot be written.
   */
  readonly start: (prompt: Prompt.RawInput, options?: TurnOptions) => Effect.Effect<Turn<Tools>, TurnError<Tools>>
  /**
   * The turn that is being taken, by whoever began it, also in another process that shares the store; `undefined` if none is.
   */
  readonly turn: Effect.Effect<Turn<Tools> | undefined, ConversationStore.ConversationError>
  /** How the last turn that was taken here ended; `undefined` before the first has, and after one that failed. */
  readonly outcome: Effect.Effect<Outcome<Tools> | undefined>
  /**
   * The requests that are open, all or those for a kind of interaction: `"approval"`, `"askUser"`, … One that was answered
   * is not, also where its turn failed: `send([])` goes on with the answer. One that has expired is not: `wake` tells.
   */
  readonly pending: (
    kind?: "approval" | Approval.InteractionKind
  ) => Effect.Effect<ReadonlyArray<Approval.ApprovalRequest>, ConversationStore.ConversationError>
  /**
   * Decides open requests, and takes a turn. This is the program's own word: edited parameters, and what is to be
   * remembered, count (law L4). `by` is who decided (law L16). An `Info` is shown with its request, which stays open.
   * An approval that is not the last one needed is kept; the request stays open, and says who else is to decide. `[]`
   * takes no turn: the outcome is how the conversation stands.
   *
   * Every answer stands alone. One that has no effect is in `refused` of the outcome, with its error, and the others
   * count: `UnknownApproval` for what was never asked, `AlreadyDecided` for what is not open any more, `Expired`,
   * `NotAnApprover` where `by` may not decide, `InvalidAnswer` for what cannot be read as an answer or does not fit
   * what a tool waits for, and `InvalidEdit`. Where none counts, it fails with the error of the first, and changes
   * nothing. Some things only the engine can tell: that parameters or an answer do not fit, or came too late. Those are
   * always in `refused`.
   */
  readonly decide: (
    answers: ReadonlyArray<Approval.AnswerInput> | Approval.AnswerInput,
    options?: DecideOptions
  ) => Effect.Effect<Outcome<Tools>, TurnError<Tools>>
  /**
   * Answers what a tool waits for, and takes a turn. Where several calls of the tool wait for the same, `request` says
   * which. Fails, and changes nothing, with `UnknownApproval` where none does, or several do and none is named, with
   * `Expired`, with `NotAnApprover`, and with `InvalidAnswer`.
   */
  readonly resume: <T extends DeferredTool.Any, Name extends keyof T["interactions"] & string>(
    tool: T,
    interaction: Name,
    answer: Interaction.Answer<T["interactions"][Name]>,
    options?: ResumeOptions
  ) => Effect.Effect<Outcome<Tools>, TurnError<Tools>>
  /**
   * Takes a turn if something that is waited for has come: the time of a timer, the answer of a webhook or of the
   * program, or the end of a request's time. Otherwise it only says what is waited for, or gives `undefined` where
   * nothing is.
   */
  readonly wake: Effect.Effect<Outcome<Tools> | undefined, TurnError<Tools>>
  /**
   * Stops what goes on in the conversation, whichever object began it, and in every process that shares the store: the
   * turns that are being taken, whatever runs in them, however it was approved, and what these have begun. A run that
   * is stopped is recorded as unknown. Whatever is open is cancelled, with the reason: nobody said no, so nothing is
   * remembered and no tool goes on with it. A turn that waits for another one still says what it was to say, and no
   * more. The model is not called; it reads of it in the next turn.
   *
   * It waits until what it stops has ended, and fails with `Busy` where that takes too long. Another process sees it
   * when it looks next, every half second (or every `heartbeat` of the store, where that is set).
   */
  readonly cancel: (
    reason?: string
  ) => Effect.Effect<void, ConversationStore.ConversationError | ApprovalError.ApprovalError>
  /**
   * Takes back what waits: all of it, or what the options name, approvals included. It is a cancellation and nobody's
   * "no": nothing is remembered, no tool goes on with it, and the model reads in the next turn that it was cancelled
   * and may be asked again. No turn is taken. Gives the requests that were taken back, without those that somebody else
   * has settled meanwhile.
   */
  readonly clear: (
    options?: ClearOptions
  ) => Effect.Effect<
    ReadonlyArray<Approval.ApprovalRequest>,
    ConversationStore.ConversationError | ApprovalError.ApprovalError
  >
  /** All that was said, as a prompt. */
  readonly history: Effect.Effect<Prompt.Prompt, ConversationStore.ConversationError>
  /** History with ids, what is open, and whether a turn is being taken, as they stand at one moment. */
  readonly read: Effect.Effect<Reading, ConversationStore.ConversationError>
  /**
   * What became of a request of this conversation; `undefined` for one that was never asked in it, whosever it is. It
   * only reads: nothing is decided, run or written.
   */
  readonly stateOf: (
    approvalId: string
  ) => Effect.Effect<RequestState | undefined, ConversationStore.ConversationError | ApprovalError.ApprovalError>
  /**
   * The same conversation with another model for the turns that are taken through the object it gives. Who decides does
   * not change with it; policies and controllers that come with the other model may only be stricter (law L11).
   */
  readonly withModel: (model: LanguageModel.LanguageModel) => Conversation<Tools>
}

// =============================================================================
// Options
// =============================================================================

/**
 * How a conversation is made.
 *
 * - `id` names it in its store, and in seals, journal and memory; another id is another conversation.
 * - `toolkit` is a toolkit, or an effect that gives one. The effect is run anew for each turn, so that the tools of a
 *   server (`McpApproval.guard`) are up to date. Where it fails then, the turn has the tools that it gave last.
 * - `instructions` is the system message that it begins with.
 * - `limits` are those of one turn: `steps`, how often the model is called (default 20); `tokens`, in and out, after
 *   which it is not called again; and `time`.
 * - `routeText` finds the question that a plain text answers. By default that is the first of the open questions for a
 *   text, and of the choices that have an option of these words; the others stay open. It is never an approval, nor a
 *   question for named people (`approvers`): such a one gets no answer, even if `routeText` names it.
 * - `busyFor` is how long a turn waits for another one to end (default 30 seconds).
 * - `concurrency` is how many calls of one response run at once, as in `LanguageModel.generateText`.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options<Tools extends AnyTools, E = never, R = never> {
  readonly id: string
  readonly toolkit: Toolkit.WithHandler<Tools> | Effect.Effect<Toolkit.WithHandler<Tools>, E, R>
  readonly instructions?: string | undefined
  readonly limits?: {
    readonly steps?: number | undefined
    readonly tokens?: number | undefined
    readonly time?: Duration.Input | undefined
  } | undefined
  readonly routeText?: RouteText | undefined
  readonly busyFor?: Duration.Input | undefined
  readonly concurrency?: LanguageModel.GenerateTextOptions<{}>["concurrency"]
}

/**
 * Which open requests are taken back: those that fit every field that is given. `tool` and `interaction` are names,
 * `kind` is as `pending` takes it, and `reason` is told to the model.
 *
 * @category options
 * @since 0.1.0
 */
export interface ClearOptions {
  readonly tool?: string | { readonly name: string } | undefined
  readonly interaction?: string | undefined
  readonly kind?: "approval" | Approval.InteractionKind | undefined
  readonly reason?: string | undefined
}

/**
 * Who decides, as the program knows them: whoever is logged in, and never what a message says (law L16).
 *
 * @category options
 * @since 0.1.0
 */
export interface DecideOptions {
  readonly by?: Approver.Person | undefined
}

/**
 * What is said of a turn beside what is said in it.
 *
 * `messageId` is the sender's name for the message: with it, what is sent twice is said once. It is 1 to 256 characters
 * long, and none of the ids that messages have by their place, unless it is that message. A repeat says nothing, and
 * the turn goes on from there. Fails with `InvalidPrompt`, and does nothing, where another message has the id: what was
 * said stays.
 *
 * @category options
 * @since 0.1.0
 */
export interface TurnOptions extends DecideOptions {
  /** What is decided first in the turn, before anything is said. Each has its own fate: `refused` of the outcome. */
  readonly answers?: ReadonlyArray<Approval.AnswerInput> | Approval.AnswerInput | undefined
  /**
   * The sender's own id of the message (a text, at most 256 characters): what the history has under it is not said again; the
   * turn goes on from there.
   */
  readonly messageId?: string | undefined
}

/**
 * Who answers; and `request`, which of several requests is answered.
 *
 * @category options
 * @since 0.1.0
 */
export interface ResumeOptions extends DecideOptions {
  readonly request?: { readonly approvalId: string } | undefined
}

/**
 * Finds the open request that a text answers; `undefined` for a new message.
 *
 * @category options
 * @since 0.1.0
 */
export type RouteText = (
  text: string,
  open: ReadonlyArray<Approval.ApprovalRequest>
) => Approval.ApprovalRequest | undefined
