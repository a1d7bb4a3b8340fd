/** One turn of `generateText` and `generateObject`, with approvals. */
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Telemetry from "effect/ai/Telemetry"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Approval from "../Approval.ts"
import * as ApprovalError from "../ApprovalError.ts"
import * as Approvals from "../Response.ts"
import * as Consult from "./consult.ts"
import * as Decision from "./decision.ts"
import * as Hosted from "./hosted.ts"
import * as Model from "./model.ts"
import * as ReceivedCalls from "./receivedCalls.ts"
import * as Results from "./results.ts"
import * as Turn from "./turn.ts"

type Part = Model.Part
type Messages = ReadonlyArray<Prompt.Message>

// Nobody watches a generate call while it goes on.
const ignore = () => Effect.void
const sink: Turn.Sink = { preliminary: ignore, approvedPreliminary: ignore, result: ignore }

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
  if (!turn.resolvesCalls) {
    const response = yield* model.generateText({ ...options, prompt: settled.prompt })
    const content = yield* Hosted.sealCalls(turn.environment, response.content)
    return new LanguageModel.GenerateTextResponse<Model.AnyTools, "opaque">([...settled.results, ...content])
  }
  const response = yield* model.generateText({ ...options, prompt: settled.prompt, ...Model.unresolved })
  const received = yield* receive(turn, response.content)
  const outcomes = yield* resolve(turn, received, settled.prompt.content)
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
  const received = yield* receive(turn, Exit.isSuccess(exit) ? exit.value.content : observed.content)
  // With local calls beside them, the provider's requests wait: a finished value cannot (law L12).
  const alone = received.calls.length === 0 && isComplete(received)
  const next = alone ? yield* ReceivedCalls.goOn(turn, settled, received.asked, [], received.content) : undefined
  if (next !== undefined) {
    const rest = yield* objectAfter([...before, ...received.content, ...next.denials], model, next.turn, options)
    return new LanguageModel.GenerateObjectResponse(rest.value, [...Results.withUsageOf(received.finish, rest.content)])
  }
  const outcomes = yield* resolveAtOnce(turn, before, received, settled.prompt.content)
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
const receive = Effect.fnUntraced(function*(turn: Turn.Turn, parts: ReadonlyArray<Part>): Effect.fn.Return<Received> {
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
      const call = yield* ReceivedCalls.receiveCall(turn, unique)
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

const resolve = Effect.fnUntraced(function*(turn: Turn.Turn, received: Received, messages: Messages) {
  const { calls } = received
  if (calls.length === 0) return []
  yield* Effect.forEach(calls, (call) => ReceivedCalls.declaredTool(turn, call), { discard: true })
  const end = ReceivedCalls.finishOf(received.finish)
  if (end !== undefined && !end.complete) return calls.map(truncated(end.reason))
  const judgements = yield* Effect.forEach(calls, (call) => ReceivedCalls.judge(turn, call, messages), {
    concurrency: "unbounded"
  })
  // Sealed in the order of the calls, so that people are asked in that order.
  const decisions = yield* Effect.forEach(
    judgements,
    (judgement) =>
      Effect.exit<Decision.Decision | Direct, ApprovalError.ApprovalError, never>(
        judgement._tag === "Ask" ? ReceivedCalls.seal(turn, judgement, end !== undefined) : Effect.succeed(judgement)
      )
  )
  const permits = ReceivedCalls.directPermits(turn)
  return yield* Turn.collect(
    decisions.entries(),
    ([index, decision]) =>
      Effect.flatMap(decision, (decision) =>
        decision._tag === "Direct"
          ? Effect.flatMap(
            ReceivedCalls.runDirect(turn, calls[index]!, permits, sink),
            (started) => ReceivedCalls.finishDirect(turn, started, end !== undefined, sink)
          )
          : Turn.carryOut(turn, decision, sink))
  )
})

// A finished value cannot wait: whoever is to be asked is asked before anything runs, and if one request stays open
// nothing does (law L12). What is open then, and what did not run, is in the content the error carries.
const resolveAtOnce = Effect.fnUntraced(function*(
  turn: Turn.Turn,
  before: ReadonlyArray<Part>,
  received: Received,
  messages: Messages
) {
  const { calls } = received
  const asked = Approvals.approvalRequests([...received.content, ...received.asked.requests])
  if (calls.length === 0 && asked.length === 0) return []
  yield* Effect.forEach(calls, (call) => ReceivedCalls.declaredTool(turn, call), { discard: true })
  const end = ReceivedCalls.finishOf(received.finish)
  if (end !== undefined && !end.complete) return calls.map(truncated(end.reason))
  const judgements = yield* Effect.forEach(calls, (call) => ReceivedCalls.judge(turn, call, messages), {
    concurrency: "unbounded"
  })
  const requests: Array<Approval.ApprovalRequest> = []
  const decisions: Array<
    { readonly decision: Decision.Concluded | Direct; readonly request?: Approval.ApprovalRequest }
  > = []
  let waiting = asked.length > 0
  for (const judgement of judgements) {
    const decision = judgement._tag === "Ask"
      ? yield* ReceivedCalls.seal(turn, judgement, end !== undefined)
      : judgement
    if (decision._tag !== "Consult") {
      decisions.push({ decision })
      continue
    }
    const request = Decision.makeRequest(decision.sealed, decision.prepared, decision.needs)
    const concluded: Decision.Concluded = waiting
      ? { _tag: "Open", request }
      : yield* Consult.consult(turn.environment, decision, messages)
    if (concluded._tag === "Open") waiting = true
    decisions.push({ decision: concluded, request })
  }
  if (waiting) {
    const siblings = decisions.flatMap(({ decision, request }, index): ReadonlyArray<Part> => {
      if (decision._tag === "Result") return [decision.part]
      if (request === undefined) return [Results.notRun(calls[index]!.call)]
      // One that was approved inline is asked about again: its answer waits with the others.
      requests.push(request)
      return [Results.requestPart(request)]
    })
    return yield* approvalRequired([...asked, ...requests], [
      ...before,
      ...received.content,
      ...received.asked.requests,
      ...siblings
    ])
  }
  const permits = ReceivedCalls.directPermits(turn)
  return yield* Effect.forEach(decisions, ({ decision }, index) =>
    decision._tag === "Direct"
      ? Effect.flatMap(
        ReceivedCalls.runDirect(turn, calls[index]!, permits, sink),
        (started) => ReceivedCalls.finishDirect(turn, started, end !== undefined, sink)
      )
      : Turn.carryOut(turn, decision, sink), { concurrency: "unbounded" })
})

type Direct = Extract<Decision.Judgement, { readonly _tag: "Direct" }>

const truncated = (reason: string) => ({ call }: ReceivedCalls.ReceivedCall): Turn.Outcome => ({
  part: Results.truncatedFinish(call, reason)
})

const resultsOf = (outcomes: ReadonlyArray<Turn.Outcome>): ReadonlyArray<Results.ResultPart> =>
  outcomes.flatMap((outcome) => outcome.part === undefined ? [] : [outcome.part])
