/** One turn of `generateText` and `generateObject`, with approvals. */
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Telemetry from "effect/ai/Telemetry"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Semaphore from "effect/Semaphore"
import type * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import * as Approvals from "../../Response.ts"
import type { Decision } from "../decide/decision.ts"
import * as Model from "../environment/model.ts"
import * as Reply from "../gather/reply.ts"
import * as Ending from "../history/ending.ts"
import * as Results from "../history/results.ts"
import * as Hosted from "../hosted/hosted.ts"
import { advance, conclude } from "../run/loop.ts"
import * as Ours from "../run/ours.ts"
import type * as Outcome from "../run/outcome.ts"
import * as Parts from "../run/parts.ts"
import * as Batch from "./batch.ts"
import * as ReceivedCalls from "./receivedCalls.ts"
import * as Turn from "./turn.ts"

type Part = Model.Part
type Messages = ReadonlyArray<Prompt.Message>

// Nobody watches a generate call while it goes on.
const ignore = () => Effect.void
const sink: Outcome.Sink = { preliminary: ignore, approvedPreliminary: ignore, result: ignore }

type TextResponse = LanguageModel.GenerateTextResponse<Model.AnyTools, "opaque">

export const generateText: (
  model: Model.Model,
  turn: Turn.Turn,
  options: Model.Options
) => Effect.Effect<TextResponse, unknown> = Effect.fnUntraced(function*(
  model: Model.Model,
  turn: Turn.Turn,
  options: Model.Options
): Effect.fn.Return<TextResponse, unknown> {
  const settled = yield* Turn.settleHistory(turn, sink)
  if (settled.failure !== undefined) return yield* Effect.failCause(settled.failure)
  if (settled.open.length > 0) {
    return new LanguageModel.GenerateTextResponse<Model.AnyTools, "opaque">([
      ...settled.results,
      ...settled.open.map(Results.requestPart),
      Results.pauseFinish()
    ])
  }
  if (settled.answered !== undefined) {
    return new LanguageModel.GenerateTextResponse<Model.AnyTools, "opaque">([
      ...Turn.nothingNew(settled, settled.answered)
    ])
  }
  if (!turn.resolvesCalls) {
    const response = yield* model.generateText({ ...options, prompt: settled.prompt })
    const content = yield* Hosted.sealCalls(turn.environment, response.content)
    return new LanguageModel.GenerateTextResponse<Model.AnyTools, "opaque">([...settled.results, ...content])
  }
  const response = yield* model.generateText({ ...options, prompt: settled.prompt, ...Model.unresolved })
  const received = yield* receive(turn, response.content, settled.shown.content)
  const outcomes = yield* Turn.enclosed(turn, settled.shown.content, resolve(turn, received))
  const failure = ReceivedCalls.firstFailure(outcomes)
  if (failure !== undefined) return yield* ReceivedCalls.fail(turn, outcomes, failure)
  const said = [...received.content, ...resultsOf(outcomes)]
  const next = isComplete(received)
    ? yield* ReceivedCalls.goOn(turn, settled, received.asked, outcomes, said)
    : undefined
  if (next !== undefined) {
    const rest = yield* generateText(model, next.turn, options)
    return new LanguageModel.GenerateTextResponse<Model.AnyTools, "opaque">([
      ...settled.results,
      ...said,
      ...next.denials,
      ...Results.withUsageOf(received.finish, rest.content)
    ])
  }
  return new LanguageModel.GenerateTextResponse<Model.AnyTools, "opaque">([
    ...settled.results,
    ...said,
    ...outcomes.flatMap((outcome) => outcome.request === undefined ? [] : [Results.requestPart(outcome.request)]),
    ...received.asked.requests,
    ...received.finish
  ])
})

type ObjectResponse = LanguageModel.GenerateObjectResponse<Model.AnyTools, unknown, "opaque">

export const generateObject = (
  model: Model.Model,
  turn: Turn.Turn,
  options: Model.ObjectOptions
): Effect.Effect<ObjectResponse, unknown> => objectAfter([], model, turn, options)

/** `said` is what was said before, in this turn: with a value, or with requests, it is what a history is made of. */
const objectAfter: (
  said: ReadonlyArray<Part>,
  model: Model.Model,
  turn: Turn.Turn,
  options: Model.ObjectOptions
) => Effect.Effect<ObjectResponse, unknown> = Effect.fnUntraced(function*(
  said: ReadonlyArray<Part>,
  model: Model.Model,
  turn: Turn.Turn,
  options: Model.ObjectOptions
): Effect.fn.Return<ObjectResponse, unknown> {
  const settled = yield* Turn.settleHistory(turn, sink)
  if (settled.failure !== undefined) return yield* Effect.failCause(settled.failure)
  const before = [...said, ...settled.results]
  if (settled.open.length > 0) {
    return yield* approvalRequired(settled.open, [...before, ...settled.open.map(Results.requestPart)])
  }
  if (settled.answered !== undefined) return yield* nothingToAnswer(settled.answered)
  // A response with calls and no text fails to parse before we see it; upstream shows its content to this observer.
  const observed: { content: ReadonlyArray<Part> } = { content: [] }
  const outer = yield* Effect.serviceOption(Telemetry.CurrentSpanTransformer)
  const exit = yield* model.generateObject({
    ...options,
    prompt: settled.prompt,
    ...(turn.resolvesCalls ? Model.unresolved : undefined)
  }).pipe(
    Effect.provideService(Telemetry.CurrentSpanTransformer, (observation) => {
      observed.content = observation.response as ReadonlyArray<Part> // the parts of a whole response
      if (Option.isSome(outer)) outer.value(observation)
    }),
    Effect.exit
  )
  if (!turn.resolvesCalls) {
    const response = yield* exit
    const content = yield* Hosted.sealCalls(turn.environment, response.content)
    return new LanguageModel.GenerateObjectResponse(response.value, [...before, ...content])
  }
  const content = Exit.isSuccess(exit) ? exit.value.content : observed.content
  const received = yield* receive(turn, content, settled.shown.content)
  // With local calls beside them, the provider's requests wait: a finished value cannot (law L12).
  const alone = received.calls.length === 0 && isComplete(received)
  const next = alone ? yield* ReceivedCalls.goOn(turn, settled, received.asked, [], received.content) : undefined
  if (next !== undefined) {
    const rest = yield* objectAfter([...before, ...received.content, ...next.denials], model, next.turn, options)
    return new LanguageModel.GenerateObjectResponse(rest.value, [...Results.withUsageOf(received.finish, rest.content)])
  }
  const outcomes = yield* Turn.enclosed(turn, settled.shown.content, resolveAtOnce(turn, before, received))
  const failure = ReceivedCalls.firstFailure(outcomes)
  if (failure !== undefined) return yield* ReceivedCalls.fail(turn, outcomes, failure)
  // What tools wait for is known only when they have begun: their siblings' results are kept with the requests.
  const open = outcomes.flatMap(({ request }) => request === undefined ? [] : [request])
  if (open.length > 0) {
    return yield* approvalRequired(open, [
      ...before,
      ...received.content,
      ...resultsOf(outcomes),
      ...open.map(Results.requestPart)
    ])
  }
  if (Exit.isFailure(exit)) return yield* Effect.failCause(exit.cause)
  return new LanguageModel.GenerateObjectResponse(exit.value.value, [
    ...before,
    ...received.content,
    ...resultsOf(outcomes),
    ...received.finish
  ])
})

// There is no value without the model, and nothing for it to answer (law L7).
const nothingToAnswer = (answered: ReadonlyArray<Ending.Answered>) => {
  const [first] = answered
  return Effect.fail(ApprovalError.make(
    first === undefined
      ? new ApprovalError.InvalidPrompt({ description: "it ends with what the model said: say something to it." })
      : first.request === undefined
      ? new ApprovalError.UnknownApproval({ approvalId: first.approvalId.slice(0, 64) })
      : new ApprovalError.AlreadyDecided({ approvalId: first.approvalId, state: Ending.stateOf(first.request) })
  ))
}

// An error travels as JSON, so results are in it as they are sent.
const approvalRequired = (requests: ReadonlyArray<Approval.ApprovalRequest>, content: ReadonlyArray<Part>) =>
  Effect.fail(ApprovalError.make(
    new ApprovalError.ApprovalRequired({
      requests,
      content: content.map((part) =>
        part.type === "tool-result"
          ? { ...part, result: part.encodedResult === undefined ? null : part.encodedResult }
          : part
      )
    })
  ))

// =============================================================================
// Resolving the calls of a whole response
// =============================================================================

interface Received {
  readonly content: ReadonlyArray<Part>
  readonly calls: ReadonlyArray<ReceivedCalls.ReceivedCall>
  /** What the provider asks about. */
  readonly asked: ReceivedCalls.Asked
  readonly finish: ReadonlyArray<Response.FinishPart>
}

// Ids made unique, and the finish set aside so that it can come last.
const receive = Effect.fnUntraced(function*(
  turn: Turn.Turn,
  parts: ReadonlyArray<Part>,
  messages: Messages
): Effect.fn.Return<Received> {
  const read = ReceivedCalls.makeReader(turn, messages)
  const content: Array<Part> = []
  const calls: Array<ReceivedCalls.ReceivedCall> = []
  const requests: Array<Response.ToolApprovalRequestPart> = []
  const providerCalls: Map<string, Response.ToolCallPart<string, unknown>> = new Map()
  const finish: Array<Response.FinishPart> = []
  for (const part of yield* Hosted.sealCalls(turn.environment, parts)) {
    if (part.type === "finish") {
      finish.push(part)
      continue
    }
    const unique = turn.uniqueId(part)
    if (unique.type === "tool-call" && unique.providerExecuted === true) {
      providerCalls.set(unique.id, unique)
      content.push(unique)
    } else if (ReceivedCalls.isLocalCall(unique)) {
      const call = yield* read(unique)
      calls.push(call)
      content.push(call.call)
    } else if (unique.type === "tool-approval-request") {
      requests.push(ReceivedCalls.plainRequest(unique))
    } else {
      content.push(unique)
    }
  }
  // A request stands behind its call, or the next turn would not know what it asks about.
  const asked = requests.filter((part) => !ReceivedCalls.asksForLocalCall(part, calls))
  return { content, calls, asked: { requests: asked, calls: providerCalls }, finish }
})

const isComplete = ({ finish }: Received): boolean => ReceivedCalls.finishOf(finish)?.complete === true

// Decided side by side, then sealed in the order of the calls, so that people are asked in that order.
const resolve = Effect.fnUntraced(function*(
  turn: Turn.Turn,
  received: Received
): Effect.fn.Return<ReadonlyArray<Outcome.Outcome>, ApprovalError.ApprovalError> {
  if (received.calls.length === 0) return []
  const end = ReceivedCalls.finishOf(received.finish)
  if (end?.complete === false) return yield* cutAll(turn, received.calls, end.reason)
  const judged = yield* judge(received.calls, end)
  for (const one of judged) {
    if (one.advanced !== undefined && isAsked(one.advanced)) {
      one.advanced = yield* Batch.advanceOne(one.advanced.one, ["reply"])
    }
  }
  Batch.takePlaces(turn, judged.flatMap(({ advanced }) => advanced === undefined ? [] : [advanced]))
  const permits = ReceivedCalls.directPermits(turn)
  return yield* Batch.collect(
    judged,
    ({ advanced, call }): Effect.Effect<Outcome.Outcome, ApprovalError.ApprovalError> =>
      advanced === undefined || (Exit.isSuccess(advanced.said) && ReceivedCalls.isFree(advanced.said.value))
        ? runDirect(turn, call, end, permits)
        : Batch.carryOut(turn, advanced, sink)
  )
})

const isAsked = ({ said }: Batch.Advanced): boolean => Exit.isSuccess(said) && said.value._tag === "Need"

interface Judged {
  readonly call: ReceivedCalls.ReceivedCall
  /** `undefined` for a call that can need nobody. */
  advanced: Batch.Advanced | undefined
}

const judge = (
  calls: ReadonlyArray<ReceivedCalls.ReceivedCall>,
  end: End
): Effect.Effect<ReadonlyArray<Judged>> =>
  Effect.forEach(calls, (call): Effect.Effect<Judged> => {
    const { one } = call
    return one === undefined
      ? Effect.succeed({ call, advanced: undefined })
      : Effect.map(Batch.advanceOne(one, ["finish"]), (advanced) => {
        ReceivedCalls.finish(one, end === undefined ? "missing" : "complete")
        return { call, advanced }
      })
  }, Batch.sideBySide(calls))

type End = ReturnType<typeof ReceivedCalls.finishOf>

const runDirect = (
  turn: Turn.Turn,
  call: ReceivedCalls.ReceivedCall,
  end: End,
  permits: Semaphore.Semaphore | undefined
): Effect.Effect<Outcome.Outcome, ApprovalError.ApprovalError> =>
  Effect.flatMap(
    ReceivedCalls.runDirect(turn, call, permits, sink),
    (started) => ReceivedCalls.finishDirect(turn, started, end !== undefined, sink)
  )

// A finished value cannot wait: whoever is to be asked is asked before anything runs, and if one request stays open
// nothing does (law L12). What is open then, and what did not run, is in the content the error carries.
const resolveAtOnce = Effect.fnUntraced(function*(
  turn: Turn.Turn,
  before: ReadonlyArray<Part>,
  received: Received
): Effect.fn.Return<ReadonlyArray<Outcome.Outcome>, ApprovalError.ApprovalError> {
  const { calls } = received
  const asked = Approvals.approvalRequests([...received.content, ...received.asked.requests])
  if (calls.length === 0 && asked.length === 0) return []
  const end = ReceivedCalls.finishOf(received.finish)
  if (end?.complete === false) return yield* cutAll(turn, calls, end.reason)
  const judged = yield* judge(calls, end)
  const decisions: Array<
    { readonly decision: Decision | undefined; readonly request?: Approval.ApprovalRequest }
  > = []
  let waiting = asked.length > 0
  for (const { advanced } of judged) {
    if (advanced === undefined) {
      decisions.push({ decision: undefined })
      continue
    }
    const { one } = advanced
    const said = yield* advanced.said
    const ready = said._tag === "Need" ? yield* advance(Ours.hand, one, ["reply"]) : said
    const request = one.file.questions.length > 0 ? yield* Reply.requestOf(one.file, one.file.questions[0]!) : undefined
    const decision = ready._tag !== "Need" ? ready : waiting ? undefined : yield* conclude(Ours.hand, one)
    if (decision?._tag === "Open") waiting = true
    decisions.push(request === undefined ? { decision } : { decision, request })
  }
  if (waiting) {
    const requests: Array<Approval.ApprovalRequest> = []
    const siblings = decisions.map(({ decision, request }, index): Part => {
      if (decision?._tag === "Tell") return Parts.toldPart(calls[index]!.one!.file, decision)
      if (request === undefined) return Results.notRun(calls[index]!.call)
      // One that was approved inline is asked about again: its answer waits with the others.
      requests.push(request)
      return Results.requestPart(request)
    })
    return yield* approvalRequired([...asked, ...requests], [
      ...before,
      ...received.content,
      ...received.asked.requests,
      ...siblings
    ])
  }
  const permits = ReceivedCalls.directPermits(turn)
  return yield* Batch.collect(
    [...decisions.entries()],
    ([index, { decision }]) =>
      decision === undefined || ReceivedCalls.isFree(decision)
        ? runDirect(turn, calls[index]!, end, permits)
        : Batch.carryOut(turn, { one: calls[index]!.one!, said: Exit.succeed(decision) }, sink)
  )
})

const cutAll = (turn: Turn.Turn, calls: ReadonlyArray<ReceivedCalls.ReceivedCall>, reason: string) =>
  Effect.forEach(calls, (call) => ReceivedCalls.cut(turn, call, reason, sink))

const resultsOf = (outcomes: ReadonlyArray<Outcome.Outcome>): ReadonlyArray<Results.ResultPart> =>
  outcomes.flatMap((outcome) => outcome.part === undefined ? [] : [outcome.part])
