/**
 * What generate, stream and object have in common: the calls of the history are settled, then the provider's requests, and
 * then it is known whether the model may be called, and with what.
 */
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Approval from "../../Approval.ts"
import type * as ApprovalError from "../../ApprovalError.ts"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import { EnclosingTurn } from "../environment/enclosingTurn.ts"
import type * as Recorder from "../environment/recorder.ts"
import * as Agents from "../gather/agents.ts"
import type { Case } from "../gather/file.ts"
import * as History from "../gather/history.ts"
import * as Order from "../gather/order.ts"
import * as Ending from "../history/ending.ts"
import * as ProviderPrompt from "../history/providerPrompt.ts"
import * as RepeatedIds from "../history/repeatedIds.ts"
import * as Results from "../history/results.ts"
import * as Stopping from "../history/stopping.ts"
import * as Transcript from "../history/transcript.ts"
import * as HostedCase from "../hosted/case.ts"
import * as Hosted from "../hosted/hosted.ts"
import * as Permits from "../permits.ts"
import * as Late from "../run/late.ts"
import * as Outcome from "../run/outcome.ts"
import * as Spans from "../run/spans.ts"
import * as Batch from "./batch.ts"

export interface Turn extends Outcome.Runner {
  readonly method: string
  readonly prompt: Prompt.Prompt
  readonly transcript: Transcript.Transcript
  /** There is nothing to settle in the history, and nothing to be written otherwise than it stands. */
  readonly isInOrder: boolean
  /** That the prompt ends with the assistant is not for the model to go on with. */
  readonly keepsHistory: boolean
  /** False when the caller resolves tool calls itself: then nothing runs here. */
  readonly resolvesCalls: boolean
  readonly concurrency: LanguageModel.GenerateTextOptions<{}>["concurrency"]
  /** Who is told of what is said, and keeps it before anything of it runs. */
  readonly recorder: Recorder.Recorder
  /** Gives the second use of a local call's id within one turn an id of its own (law L13). */
  readonly uniqueId: <Part extends Response.AnyPart>(part: Part) => Part
  /** How often the model was called again because its own requests were answered at once. */
  readonly round: number
  /** Those that were approved so, and that the model was not told of yet: the program's history does not hold them. */
  readonly approvedAtOnce: ReadonlyArray<Approval.ApprovalRequest>
}

export const make = (
  options: Omit<Turn, "approvedPermits" | "shown" | "uniqueId" | "round" | "approvedAtOnce">
): Turn => ({
  ...options,
  environment: {
    ...options.environment,
    permits: typeof options.concurrency === "number"
      ? Permits.make(permitsOf(options.concurrency))
      : undefined
  },
  uniqueId: makeCallIds(),
  round: 0,
  approvedAtOnce: [],
  shown: { line: Order.make(), hasRun: false },
  approvedPermits: Permits.make(
    permitsOf(options.concurrency ?? options.environment.options.concurrency)
  )
})

/** With what is around everything that runs in the turn: a toolkit may ask from within it. */
export const within = <A, E, R>(turn: Turn, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const enclosing = enclosingOf(turn, turn.prompt.content)
  return Effect.updateContext(effect, (context: Context.Context<R>) =>
    Context.add(
      Context.add(context, EnclosingTurn, enclosing),
      ApprovalEvents.ApprovalEvents,
      turn.environment.events
    ))
}

/** With what the turn's own calls are judged by: of a response, what the model was shown. */
export const enclosed = <A, E, R>(
  turn: Turn,
  messages: ReadonlyArray<Prompt.Message>,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => Effect.provideService(effect, EnclosingTurn, enclosingOf(turn, messages))

const enclosingOf = (
  { environment: { memory, memoryScope, options, within } }: Turn,
  messages: ReadonlyArray<Prompt.Message>
): Context.Service.Shape<typeof EnclosingTurn> =>
  memory.remembers
    ? { messages, options, memories: [...within?.memories ?? [], memoryScope] }
    : { messages, options }

// At least one, so that nothing waits for ever for a permit that is not there.
export const permitsOf = (concurrency: Exclude<Turn["concurrency"], undefined>): number =>
  concurrency === "unbounded" ? Number.MAX_SAFE_INTEGER : concurrency >= 1 ? Math.floor(concurrency) : 1

const makeCallIds = () => {
  const unique = RepeatedIds.makeUniqueIds()
  return <Part extends Response.AnyPart>(part: Part): Part => {
    if (part.type !== "tool-call") return part
    const id = unique(part.id)
    return id === part.id || part.providerExecuted === true ? part : { ...part, id }
  }
}

// =============================================================================
// The history
// =============================================================================

export interface Settled {
  /** Results of settled calls, in the order of their calls. */
  readonly results: ReadonlyArray<Results.ResultPart>
  /** Requests that are open; while there is one, the model is not called (law L5). */
  readonly open: ReadonlyArray<Approval.ApprovalRequest>
  /** The history, with answers that the policy or the controller gave to the provider's requests. */
  readonly history: Prompt.Prompt
  /** What the provider is to see. */
  readonly prompt: Prompt.Prompt
  /** What policies are to see of it. */
  readonly shown: Prompt.Prompt
  /** A person stopped the turn: the model is not called before somebody says something new. */
  readonly isStopped: boolean
  /** What is known of what was answered, where nothing came of it and the model has nothing to answer (law L7). */
  readonly answered?: ReadonlyArray<Ending.Answered> | undefined
  readonly failure: Cause.Cause<unknown> | undefined
}

/** What is settled of a history that stays as it is. */
export const inOrder = ({ prompt }: Turn): Settled => ({
  results: [],
  open: [],
  history: prompt,
  prompt,
  shown: prompt,
  isStopped: false,
  failure: undefined
})

/** Settles every call of the history that has no result; results are emitted as soon as they are known. */
export const settleHistory = (
  turn: Turn,
  sink: Outcome.Sink
): Effect.Effect<Settled, ApprovalError.ApprovalError> => {
  const pending = unsettled(turn.transcript)
  if (pending.length === 0) return settleCalls(turn, pending, sink)
  const settled = Effect.flatMap(
    Agents.withWaits(turn.environment, turn.transcript, pending),
    (transcript) => settleCalls({ ...turn, transcript }, pending, sink)
  )
  return Spans.settle(settled, pending.length)
}

const settleCalls = Effect.fnUntraced(function*(
  turn: Turn,
  pending: ReadonlyArray<Transcript.TranscriptCall>,
  sink: Outcome.Sink
): Effect.fn.Return<Settled, ApprovalError.ApprovalError> {
  const { environment, transcript } = turn
  const subject = subjectOf(turn)
  yield* Effect.forEach(transcript.lateDenials, (late) => Late.deny(subject, late), { discard: true })
  const late = yield* Effect.forEach(
    unknown(transcript),
    (call) => Effect.tap(Late.tell(subject, call), (part) => part === undefined ? Effect.void : sink.result(part)),
    { concurrency: "unbounded" }
  )
  const outcomes = pending.length === 0
    ? []
    : yield* Batch.settle(turn, readCalls(turn, subject, pending), sink)
  const results: Array<Results.ResultPart> = late.filter((part) => part !== undefined)
  const open: Array<Approval.ApprovalRequest> = []
  // For each call that had none, in order.
  const written: Array<Prompt.ToolResultPart | undefined> = []
  let failure: Cause.Cause<unknown> | undefined
  for (const outcome of outcomes) {
    failure ??= outcome.failure
    open.push(...Outcome.requestsOf(turn)(outcome))
    if (outcome.part !== undefined) results.push(outcome.part)
    written.push(promptPartOf(outcome.part ?? outcome.waiting))
  }
  const stoppedHere = Stopping.isStopped(transcript) || results.some(Results.isStopping)
  // Nobody is asked about more of a turn that is over; and what the provider asks about waits for those before it.
  const undecided = open.length === 0 && failure === undefined && !stoppedHere
  const hosted = yield* Hosted.settle(
    { environment, tools: subject.tools, messages: transcript.messages },
    transcript,
    !undecided ? "reads" : turn.resolvesCalls ? "asks" : "judges"
  )
  open.push(...hosted.open)
  yield* Effect.forEach(hosted.superseded, sink.result, { discard: true })
  results.push(...hosted.superseded)
  if (open.length > 0 || failure !== undefined) {
    // If the model is not called, nobody has been told of them: they are asked about again rather than lost.
    open.push(...turn.approvedAtOnce.filter((one) => !open.some(({ approvalId }) => approvalId === one.approvalId)))
    return { ...inOrder(turn), results, open, failure, isStopped: stoppedHere }
  }
  results.push(...yield* denyHosted(transcript, hosted.answers, sink))
  if (stoppedHere || hosted.answers.some(Hosted.isStopping)) {
    // The provider is not told of these: they are asked about again rather than lost.
    const approved = hosted.answers.flatMap(({ approvalId, decision }) => {
      const call = Transcript.requestOf(transcript, approvalId)?.toolCall
      return call === undefined || decision._tag === "Denied"
        ? []
        : [HostedCase.requestOf(environment, approvalId, call)]
    })
    return { ...inOrder(turn), results, open: approved, failure, isStopped: true }
  }
  const answered = hosted.answers.length === 0 ? turn : continued(turn, Hosted.withAnswers(turn.prompt, hosted.answers))
  const writtenFor = new Map([
    ...unsettled(answered.transcript).map((call, index) => [call, written[index]] as const),
    ...unknown(answered.transcript).map((call, index) => [call, promptPartOf(late[index])] as const)
  ])
  const prompt = ProviderPrompt.write(answered.prompt, answered.transcript, {
    resultOf: (call) => writtenFor.get(call),
    supersedes: environment.options.onNewMessage === "supersede",
    isRefused: (response) => hosted.refused.has(response),
    isOurs: (approvalId) => hosted.bogus.has(approvalId) || Result.isSuccess(environment.seal.parse(approvalId))
  })
  const isNothing = Ending.endsWithAssistant(prompt.content)
    ? turn.keepsHistory || !Ending.isPrefilled(turn.prompt.content)
    // What the provider ran is there to go on from; but whoever only answered, and changed nothing, did not ask for that.
    : prompt.content.at(-1)?.role === "assistant" && Ending.endsWithAnswers(turn.prompt.content)
  return {
    results,
    open,
    history: answered.prompt,
    prompt,
    shown: ProviderPrompt.shown(prompt),
    failure,
    isStopped: false,
    answered: isNothing ? Ending.answered(turn.prompt.content) : undefined
  }
})

const promptPartOf = (part: Results.ResultPart | undefined): Prompt.ToolResultPart | undefined =>
  part === undefined ? undefined : Results.toPromptPart(part)

/** The parts of a turn for which the model is not called. */
export const nothingNew = (
  { results }: Settled,
  answered: ReadonlyArray<Ending.Answered>
): ReadonlyArray<Results.ResultPart | Response.FinishPart> => [
  ...results,
  ...recordedOf(answered),
  Results.stopFinish()
]

/** What stands in the history of what was answered. */
export const recordedOf = (answered: ReadonlyArray<Ending.Answered>): ReadonlyArray<Results.ResultPart> =>
  answered.flatMap(({ result }) => result === undefined ? [] : [result])

// Where answers are remembered, calls that were answered are looked up first: their answers may cover the others too.
const readCalls = (
  { environment, shown }: Turn,
  subject: History.Subject,
  pending: ReadonlyArray<Transcript.TranscriptCall>
): ReadonlyArray<Effect.Effect<Case>> => {
  const line = Order.make()
  const turns = new Map<Transcript.TranscriptCall, Order.Turn>()
  if (environment.memory.remembers) {
    for (const call of [...pending.filter(isAnswered), ...pending]) {
      if (!turns.has(call)) turns.set(call, line.join())
    }
  }
  return pending.map((call) =>
    History.read(subject, call, { recalling: turns.get(call) ?? Order.none, runs: shown.line })
  )
}

const subjectOf = ({ environment, handlers, resolvesCalls, transcript }: Turn): History.Subject => ({
  environment,
  transcript,
  tools: handlers?.tools,
  resolvesCalls
})

const isAnswered = ({ requests }: Transcript.TranscriptCall): boolean =>
  requests.some(({ responses }) => responses.length > 0)

const unsettled = ({ calls }: Transcript.Transcript): ReadonlyArray<Transcript.TranscriptCall> =>
  calls.filter((call) => call.result === undefined)

// Nobody knew what became of them when the model was told.
const unknown = ({ calls }: Transcript.Transcript): ReadonlyArray<Transcript.TranscriptCall> =>
  calls.filter(({ result }) => Transcript.isUnknown(result?.options?.assent))

export const continued = (turn: Turn, prompt: Prompt.Prompt): Turn => ({
  ...turn,
  prompt,
  transcript: Transcript.read(prompt.content)
})

const denyHosted = (
  transcript: Transcript.Transcript,
  answers: ReadonlyArray<Approval.ApprovalAnswer>,
  sink: Outcome.Sink
) =>
  Effect.forEach(
    answers.flatMap(({ approvalId, decision }) => {
      const call = Transcript.requestOf(transcript, approvalId)?.toolCall
      return call === undefined || decision._tag !== "Denied"
        ? []
        : [Results.hostedDenial(call, decision, approvalId)]
    }),
    (part) => Effect.as(sink.result(part), part)
  )
