/** One turn of a plan: begun in a fiber of its own, with its model and whoever is asked in it, and written down as it goes. */
import { Cause, Context, Effect, Exit, type Fiber, Ref, Stream } from "effect"
import { LanguageModel as Upstream } from "effect/ai"
import type { Chat } from "../../../src/index.ts"
import { AiError, Approval, ApprovalController, Conversation, LanguageModel, Prompt } from "../../../src/index.ts"
import { ScriptedModel } from "../../../src/testing/index.ts"
import type * as Plan from "./plan.ts"
import * as Process from "./process.ts"
import type * as Record from "./record.ts"
import * as Stage from "./stage.ts"
import * as Tools from "./tools.ts"

export interface Begun {
  readonly op: Record.Op
  readonly process: Process.Process
  readonly fiber: Fiber.Fiber<unknown, unknown>
  readonly signs: ReadonlyMap<Plan.Sign, number>
}

// =============================================================================
// The model
// =============================================================================

const providerFailure = AiError.make({
  module: "Provider",
  method: "generate",
  reason: new AiError.InternalProviderError({ description: "The provider is down." })
})

const scripted = ({ op, process, record }: Stage.Stage, played: number) => {
  const { calls, fails } = op.plan
  if (played > 0) return fails ? providerFailure : "well"
  const made = calls.map((plan): Record.Call => ({
    id: `call-${op.index}-${plan.tool}-${record.calls.length}`,
    plan,
    op: op.index,
    made: record.now()
  })).map((call, index) => ({ ...call, id: `${call.id}-${index}` }))
  record.calls.push(...made)
  return [
    ScriptedModel.pause(process.gate),
    ScriptedModel.text("let me see"),
    ...made.map(({ id, plan }) => ScriptedModel.toolCall({ id, name: plan.tool, params: { how: plan.how } }))
  ]
}

const refusing = (stage: Stage.Stage) => (error: AiError.AiError) => {
  const { reason } = error
  if (error.module === "StrictProvider") {
    const what = "description" in reason ? String(reason.description) : reason._tag
    stage.record.refused.push({ ...stage.record.now(), op: stage.op.index, what })
  }
  return Effect.void
}

/** The model of every turn: it plays what the plan of the turn says. */
export const model: Effect.Effect<Upstream.LanguageModel> = Effect.suspend(() => {
  const called = (request: Upstream.ProviderOptions) =>
    Effect.gen(function*() {
      const stage = yield* Stage.Stage
      const { op, process, record } = stage
      yield* process.gate
      record.sent.push({ ...record.now(), op: op.index, process: process.known.index, prompt: request.prompt })
      yield* Stage.sign("said")
      const played = stage.modelCalls++
      const { params } = yield* ScriptedModel.make({ turns: [], afterLastTurn: () => scripted(stage, played) })
      return { stage, params }
    })
  return Upstream.make({
    generateText: (request) =>
      Effect.flatMap(
        called(request),
        ({ params, stage }) => Effect.tapError(params.generateText(request), refusing(stage))
      ),
    streamText: (request) =>
      Stream.unwrap(
        Effect.map(called(request), ({ params, stage }) => Stream.tapError(params.streamText(request), refusing(stage)))
      )
  })
})

// =============================================================================
// The person
// =============================================================================

export const noteAnswer = (
  record: Record.Record,
  { approvalId, toolCallId: callId }: Record.Open,
  isApproval: boolean
): void => {
  record.answers.push({ ...record.now(), approvalId, callId, isApproval })
}

const controllerOf = (person: Exclude<Plan.Turn["person"], "nobody">): ApprovalController.Service =>
  ApprovalController.interactive((request) =>
    Effect.gen(function*() {
      const { process, record } = yield* Stage.Stage
      yield* process.gate
      yield* Stage.sign("asked")
      if (person === "approve late") yield* Effect.sleep("5 seconds")
      const isApproval = person !== "deny"
      noteAnswer(record, request, isApproval)
      return isApproval ? Approval.approve(request) : Approval.deny(request, "No, thank you.")
    })
  )

// =============================================================================
// Turns
// =============================================================================

export interface Place {
  readonly record: Record.Record
  readonly process: Process.Process
  /** What the store has of the conversation, as text. */
  readonly kept: Effect.Effect<string>
  /** The chat that holds the conversation, where a chat does. */
  readonly chat: Effect.Effect<Chat.Chat> | undefined
}

const conversationOf = Effect.fnUntraced(function*({ process, record }: Place) {
  const { options } = record.plan
  return process.conversation ??= yield* Conversation.make({
    id: Process.scope.conversation!,
    toolkit: yield* Tools.toolkit,
    concurrency: options.concurrency,
    limits: options.limit === "none" ? undefined : { time: options.limit }
  }).pipe(
    Effect.provideService(
      LanguageModel.LanguageModel,
      LanguageModel.withApproval(yield* model, { onNewMessage: options.onNewMessage, concurrency: options.concurrency })
    ),
    Effect.provideContext(process.services)
  )
})

/** Everything that is done with the conversation is done in its process. */
export const inside = <A, E>(
  place: Place,
  use: (conversation: Conversation.Conversation<any>) => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.flatMap(conversationOf(place), (conversation) =>
    Effect.provideContext(
      Effect.tap(Effect.andThen(place.process.gate, use(conversation)), () => place.process.gate),
      place.process.services
    ))

export const begin = Effect.fnUntraced(function*(
  place: Place,
  plan: Plan.Turn,
  open: ReadonlyArray<Record.Open>,
  isLast: boolean
): Effect.fn.Return<Begun> {
  const { kept, process, record } = place
  const index = record.ops.length
  const op: Record.Op = {
    index,
    process: process.known.index,
    plan,
    began: record.now(),
    text: plan.via === "send" || plan.via === "stream" ? `words ${index};` : "",
    isLast,
    left: undefined,
    ended: undefined
  }
  record.ops.push(op)
  const signs = new Map<Plan.Sign, number>()
  const stage: Stage.Stage = { record, process, op, signs, kept, modelCalls: 0 }
  let context = Context.add(process.services, Stage.Stage, stage).pipe(
    Context.add(Process.OnWrite, Effect.provideService(Stage.sign("write"), Stage.Stage, stage)),
    Context.add(Approval.Scope, Process.scope)
  ) as Context.Context<never>
  if (plan.person !== "nobody") {
    context = Context.add(context, ApprovalController.ApprovalController, controllerOf(plan.person))
  }
  const taken = Effect.gen(function*() {
    yield* process.gate
    return place.chat === undefined
      ? yield* inConversation(yield* conversationOf(place), op, open, record)
      : yield* inChat(place, yield* place.chat, op, open)
  })
  const fiber = yield* taken.pipe(
    Effect.onExit((exit) =>
      Effect.andThen(
        process.gate,
        Effect.sync(() => {
          const how = Exit.isSuccess(exit) ? "success" : op.left === undefined ? "failure" : "left"
          op.ended = { ...record.now(), how, outcome: Exit.isSuccess(exit) ? exit.value : errorOf(exit.cause) }
        })
      )
    ),
    Effect.provideContext(context),
    Effect.forkDetach({ startImmediately: true })
  )
  return { op, process, fiber, signs }
})

const errorOf = (cause: Cause.Cause<unknown>): string => Cause.pretty(cause).split("\n    at ")[0]!

const receive = Effect.andThen(Stage.sign("part"), Effect.flatMap(Stage.Stage, ({ process }) => process.gate))

const answered = (op: Record.Op, open: ReadonlyArray<Record.Open>, record: Record.Record) =>
  open.map((request) => {
    const isApproval = op.plan.answers === "approve"
    noteAnswer(record, request, isApproval)
    return isApproval ? Approval.approve(request) : Approval.deny(request, "No, thank you.")
  })

const inConversation = (
  conversation: Conversation.Conversation<any>,
  op: Record.Op,
  open: ReadonlyArray<Record.Open>,
  record: Record.Record
): Effect.Effect<string, unknown> => {
  const tagOf = (outcome: Conversation.Outcome<any>) => outcome._tag
  switch (op.plan.via) {
    case "send":
      return Effect.map(conversation.send(op.text), tagOf)
    case "continue":
      return Effect.map(conversation.send([]), tagOf)
    case "decide":
      return Effect.map(conversation.decide(answered(op, open, record)), tagOf)
    case "stream":
      return Stream.runForEach(conversation.stream(op.text), () => receive).pipe(
        Effect.andThen(conversation.outcome),
        Effect.map((outcome) => outcome?._tag ?? "None")
      )
  }
}

const inChat = (
  { process, record }: Place,
  chat: Chat.Chat,
  op: Record.Op,
  open: ReadonlyArray<Record.Open>
): Effect.Effect<string, unknown> =>
  Effect.gen(function*() {
    const { concurrency, onNewMessage } = record.plan.options
    const { via } = op.plan
    // After a word of the model somebody has to say something: a chat does not end turns by itself.
    const isModels = (yield* Ref.get(chat.history)).content.at(-1)?.role === "assistant"
    const prompt = via === "decide"
      ? Prompt.approvalResponses(answered(op, open, record))
      : op.text === "" && !isModels
      ? Prompt.empty
      : Prompt.make(op.text === "" ? "go on" : op.text)
    const request = { prompt, toolkit: yield* Tools.toolkit, concurrency }
    const approving = LanguageModel.withApproval(yield* model, { onNewMessage, concurrency })
    const turn = via === "stream"
      ? Effect.as(Stream.runForEach(chat.streamText(request), () => receive), "streamed")
      : Effect.as(chat.generateText(request), "generated")
    return yield* Effect.provideService(turn, LanguageModel.LanguageModel, approving)
  }).pipe(Effect.tap(process.gate))
