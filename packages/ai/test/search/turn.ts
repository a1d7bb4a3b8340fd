/** One turn of a plan, against the real engine: begun in a fiber of its own, and written down as it goes. */
import { Cause, Clock, Context, Effect, Exit, type Fiber, Option, Schema, Stream, Tracer } from "effect"
import { ResponseIdTracker } from "effect/ai"
import {
  Approval,
  ApprovalController,
  ApprovalError,
  ApprovalJournal,
  ApprovalPolicy,
  ApprovalSeal,
  Chat,
  LanguageModel,
  Prompt,
  Response,
  SuspensionStore
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import type * as Plan from "./plan.ts"
import type * as Process from "./process.ts"
import * as Record from "./record.ts"
import type * as Script from "./script.ts"
import * as Stage from "./stage.ts"
import * as State from "./state.ts"
import * as Tools from "./tools.ts"
import * as Waiting from "./waiting.ts"

export interface Begun {
  readonly turn: Record.Turn
  readonly fiber: Fiber.Fiber<unknown, unknown>
  readonly chat: Chat.Chat | undefined
}

export const begin = Effect.fnUntraced(function*(world: State.World, { added, primary, process, script, step }: {
  readonly step: Plan.Turn
  readonly script: Script.Script
  readonly added: Prompt.Prompt
  readonly process: Process.Process
  readonly primary: boolean
}): Effect.fn.Return<Begun> {
  const { circumstances, plan, record } = world
  const sent: Array<{ readonly prompt: Prompt.Prompt; readonly incremental: Prompt.Prompt | undefined }> = []
  const turn: Record.Turn = {
    index: record.turns.length,
    step: world.step,
    plan: step,
    process: process.index,
    primary,
    tampered: world.tampered,
    startedAt: yield* Effect.clockWith((clock) => clock.currentTimeMillis),
    runsBefore: record.runs.length,
    circumstances,
    prompt: Prompt.concat(world.history, added),
    added: added.content.length,
    parts: [],
    sent,
    received: script.received,
    ending: "stuck",
    endedAt: 0,
    unfinished: 0,
    cause: undefined,
    required: undefined
  }
  record.turns.push(turn)
  const stage: Stage.Stage = {
    record,
    turn: turn.index,
    process: process.index,
    gate: circumstances.gate,
    revision: circumstances.revision,
    alive: process.alive,
    judged: world.judged
  }
  const scripted = yield* ScriptedModel.make({
    turns: [],
    afterLastTurn: ({ incrementalPrompt: incremental, prompt }) => {
      sent.push({ prompt, incremental })
      return script.play(turn, record, { prompt, round: sent.length - 1, alive: process.alive })
    },
    // What is refused is a finding, not an end: the law reads every prompt itself.
    strict: false,
    responseIds: plan.options.incremental
  })
  const chat = world.chat === undefined || primary ? world.chat : yield* Chat.fromPrompt(world.history)
  const toolkit = step.toolkit === "none"
    ? undefined
    : yield* step.toolkit === "empty"
      ? Tools.noTools
      : Tools.toolkitOf(Tools.namesOf(plan), circumstances.drift)
  const request = {
    prompt: chat === undefined ? turn.prompt : added,
    ...(toolkit === undefined ? undefined : { toolkit }),
    ...(step.resolve ? undefined : { disableToolCallResolution: true })
  }
  const options = optionsOf(plan.options)
  const model = plan.options.provider === "ours"
    ? yield* LanguageModel.make(scripted.params, options)
    : LanguageModel.withApproval(scripted.model, options)
  let context = Context.make(Stage.Stage, stage).pipe(
    Context.add(LanguageModel.LanguageModel, model),
    Context.add(ApprovalSeal.ApprovalSeal, yield* State.sealOf(world)),
    Context.add(ApprovalJournal.ApprovalJournal, process.journal),
    Context.add(SuspensionStore.SuspensionStore, process.suspensions),
    Context.add(Approval.Scope, State.scopes[circumstances.scope]!),
    Context.add(Tracer.Tracer, tracerOf(record)),
    Context.add(Clock.Clock, process.clock)
  ) as Context.Context<LanguageModel.LanguageModel>
  if (plan.options.incremental) context = Context.add(context, ResponseIdTracker.ResponseIdTracker, world.tracker)
  if (circumstances.policy !== "default") {
    context = Context.add(context, ApprovalPolicy.ApprovalPolicy, Stage.policyOf(circumstances.policy))
  }
  if (circumstances.controller !== "defer") {
    context = Context.add(
      context,
      ApprovalController.ApprovalController,
      Stage.controllerOf(circumstances.controller, (shown) => note(record, turn, shown))
    )
  }
  const fiber = yield* call(world, turn, chat, request).pipe(
    Effect.onExit((exit) => Effect.andThen(process.alive, conclude(record, turn, exit))),
    Effect.provideContext(context),
    Effect.forkDetach({ startImmediately: true })
  )
  return { turn, fiber, chat }
})

const optionsOf = (options: Plan.Options): LanguageModel.ApprovalOptions => ({
  onNewMessage: options.onNewMessage,
  onInvalid: options.onInvalid,
  concurrency: options.concurrency,
  expiresIn: options.expires === "in an hour" ? "1 hour" : undefined,
  policyTimeLimit: "5 seconds"
})

const Answer = Schema.Struct({ a: Schema.Number })

// The options are known when the plan is carried out, not to the types.
const call = (
  { plan, record }: State.World,
  turn: Record.Turn,
  chat: Chat.Chat | undefined,
  request: any
): Effect.Effect<void, unknown, LanguageModel.LanguageModel> => {
  const receive = (part: Response.AnyPart) => {
    turn.parts.push(part)
    if (part.type !== "tool-approval-request") return
    // The provider's own say nothing of themselves, but with their calls they do.
    for (const shown of Response.approvalRequests(turn.parts)) {
      if (shown.approvalId === part.approvalId) note(record, turn, shown)
    }
  }
  const takeAll = (response: { readonly content: ReadonlyArray<Response.AnyPart> }) => response.content.forEach(receive)
  if (turn.plan.object && !State.isStream(plan)) {
    const options = { ...request, schema: Answer }
    const made = chat === undefined ? LanguageModel.generateObject(options) : chat.generateObject(options)
    return Effect.map(made as Effect.Effect<any, unknown, LanguageModel.LanguageModel>, takeAll)
  }
  if (!State.isStream(plan)) {
    const made = chat === undefined ? LanguageModel.generateText(request) : chat.generateText(request)
    return Effect.map(made as Effect.Effect<any, unknown, LanguageModel.LanguageModel>, takeAll)
  }
  const stream = chat === undefined ? LanguageModel.streamText(request) : chat.streamText(request)
  return Stream.runForEach(
    stream as Stream.Stream<Response.AnyPart, unknown, LanguageModel.LanguageModel>,
    (part) => Effect.sync(() => receive(part))
  )
}

/** Writes down a request that was given out. */
const note = (record: Record.Record, turn: Record.Turn, shown: Approval.ApprovalRequest): void => {
  const hosted = record.hosted.find(({ approvalId }) => approvalId === shown.approvalId)
  if (hosted !== undefined) hosted.shown ??= shown
  if (shown.providerExecuted) return
  if (shown.awaited !== undefined) return noteAsking(record, turn, shown)
  if (record.requests.some((known) => known.approvalId === shown.approvalId)) return
  record.requests.push({
    approvalId: shown.approvalId,
    call: { id: shown.toolCallId, tool: shown.toolName, params: Record.canonical(shown.params) },
    turn: turn.index,
    scope: turn.circumstances.scope,
    key: turn.circumstances.key,
    expiresAt: shown.expiresAt ?? Infinity,
    shown
  })
}

/** Writes down a request for what a tool waits for. */
const noteAsking = (record: Record.Record, turn: Record.Turn, shown: Approval.ApprovalRequest): void => {
  const { approvalId } = shown
  if (record.askings.some((known) => known.approvalId === approvalId)) return
  const [, start, index] = /^wait (\d+)\/(\d+):/.exec(shown.awaited?.prompt ?? "") ?? []
  const suspension = record.suspensions.find((one) => one.start === Number(start) && one.index === Number(index))
  if (suspension !== undefined) record.askings.push({ approvalId, suspension, turn: turn.index, shown })
}

const conclude = (record: Record.Record, turn: Record.Turn, exit: Exit.Exit<unknown, unknown>) =>
  Effect.clockWith((clock) =>
    Effect.map(clock.currentTimeMillis, (now) => {
      turn.endedAt = now
      turn.unfinished = [...record.runs, ...record.resumptions].filter((run) =>
        run.turn === turn.index && run.outcome === "running"
      ).length
      if (turn.ending === "stuck") turn.ending = Exit.isSuccess(exit) ? "success" : "failure"
      if (Exit.isSuccess(exit)) return
      turn.cause = exit.cause
      const error = Cause.findErrorOption(exit.cause).pipe(Option.flatMap(approvalErrorOf))
      if (Option.isNone(error) || error.value.reason._tag !== "ApprovalRequired") return
      const { content, requests } = error.value.reason
      turn.required = { requests }
      for (const shown of requests) note(record, turn, shown)
      if (turn.plan.object) turn.parts.push(...content)
    })
  )

const approvalErrorOf = (error: unknown): Option.Option<ApprovalError.ApprovalError> =>
  ApprovalError.fromAiError(error as never)

const tracerOf = (record: Record.Record): Tracer.Tracer =>
  Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      const write = (text: unknown) => record.spans.push(typeof text === "string" ? text : Record.canonical(text) ?? "")
      write(options.name)
      const { attribute, event } = span
      span.attribute = (key, value) => {
        write(key)
        write(typeof value === "bigint" ? String(value) : value)
        attribute.call(span, key, value)
      }
      span.event = (name, startTime, attributes) => {
        write(name)
        write(attributes)
        event.call(span, name, startTime, attributes)
      }
      return span
    }
  })

/** Waits for turns; those that never end are stuck. */
export const finish = (begun: ReadonlyArray<Begun>) =>
  Effect.map(Waiting.wait(begun.map(({ fiber }) => fiber)), (isDone) => {
    if (isDone) return
    for (const { fiber, turn } of begun) {
      if (fiber.pollUnsafe() === undefined) turn.ending = "stuck"
    }
  })

export const requestsOf = (turn: Record.Turn): ReadonlyArray<Approval.ApprovalRequest> =>
  turn.required?.requests ?? Response.approvalRequests(turn.parts)
