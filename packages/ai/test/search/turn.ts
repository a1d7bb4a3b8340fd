/** One turn of a plan, against the real engine: begun in a fiber of its own, and written down as it goes. */
import { Context, Effect, type Fiber, Schema, Stream } from "effect"
import { ResponseIdTracker } from "effect/ai"
import { type Approval, Chat, LanguageModel, Prompt, Response } from "../../src/index.ts"
import { ScriptedModel, type StrictProvider } from "../../src/testing/index.ts"
import * as Note from "./note.ts"
import type * as Plan from "./plan.ts"
import type * as Process from "./process.ts"
import type * as Record from "./record.ts"
import type * as Script from "./script.ts"
import * as Setting from "./setting.ts"
import * as State from "./state.ts"
import * as Tools from "./tools.ts"
import * as Waiting from "./waiting.ts"

/** What stands between the engine and a provider of ours: nothing, unless a bridge is searched as well. */
export const Between = Context.Reference<
  (params: StrictProvider.Params, context: Context.Context<never>) => StrictProvider.Params
>("assent/test/search/Between", { defaultValue: () => (params) => params })

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
  const turn = yield* Setting.openTurn(world, {
    plan: step,
    process: process.index,
    primary,
    prompt: Prompt.concat(world.history, added),
    added: added.content.length,
    sent,
    received: script.received
  })
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
    ? yield* LanguageModel.make((yield* Between)(scripted.params, yield* Effect.context<never>()), options)
    : LanguageModel.withApproval(scripted.model, options)
  let context = Context.add(
    yield* Setting.contextOf(world, turn, process),
    LanguageModel.LanguageModel,
    model
  )
  if (plan.options.incremental) context = Context.add(context, ResponseIdTracker.ResponseIdTracker, world.tracker)
  const fiber = yield* call(world, turn, chat, request).pipe(
    Effect.onExit((exit) => Effect.andThen(process.alive, Note.conclude(record, turn, exit))),
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
      if (shown.approvalId === part.approvalId) Note.note(record, turn, shown)
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
