/** One turn of `generateText` and `generateObject`, with approvals. */
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Telemetry from "effect/ai/Telemetry"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as ApprovalError from "../ApprovalError.ts"
import * as Model from "./model.ts"
import * as Results from "./results.ts"
import * as Settle from "./settle.ts"
import * as Turn from "./turn.ts"

type Part = Model.Part
type Messages = ReadonlyArray<Prompt.Message>

// Nobody watches a generate call while it goes on.
const sink: Turn.Sink = { preliminary: () => {}, result: () => Effect.void }

export const generateText = Effect.fnUntraced(function*(
  model: Model.Model,
  turn: Turn.Turn,
  options: Model.Options
): Effect.fn.Return<LanguageModel.GenerateTextResponse<Model.AnyTools, "opaque">, unknown> {
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
    return new LanguageModel.GenerateTextResponse<Model.AnyTools, "opaque">([...settled.results, ...response.content])
  }
  const response = yield* model.generateText({ ...options, prompt: settled.prompt, ...Model.unresolved })
  const received = receive(response.content)
  const outcomes = yield* resolve(turn, received, settled.prompt.content)
  const failure = Turn.firstFailure(outcomes)
  if (failure !== undefined) return yield* Effect.failCause(failure)
  return new LanguageModel.GenerateTextResponse<Model.AnyTools, "opaque">([
    ...settled.results,
    ...received.content,
    ...resultsOf(outcomes),
    ...outcomes.flatMap((outcome) => outcome.request === undefined ? [] : [Results.requestPart(outcome.request)]),
    ...received.finish
  ])
})

export const generateObject = Effect.fnUntraced(function*(
  model: Model.Model,
  turn: Turn.Turn,
  options: Model.ObjectOptions
): Effect.fn.Return<LanguageModel.GenerateObjectResponse<Model.AnyTools, unknown, "opaque">, unknown> {
  const settled = yield* Turn.settleHistory(turn, sink)
  if (settled.failure !== undefined) return yield* Effect.failCause(settled.failure)
  if (settled.open.length > 0) return yield* approvalRequired(settled.open)
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
    return new LanguageModel.GenerateObjectResponse(response.value, [...settled.results, ...observed.content])
  }
  const received = receive(observed.content)
  const outcomes = yield* resolveAtOnce(turn, received, settled.prompt.content)
  const failure = Turn.firstFailure(outcomes)
  if (failure !== undefined) return yield* Effect.failCause(failure)
  if (Exit.isFailure(exit)) return yield* Effect.failCause(exit.cause)
  return new LanguageModel.GenerateObjectResponse(exit.value.value, [
    ...settled.results,
    ...received.content,
    ...resultsOf(outcomes),
    ...received.finish
  ])
})

const approvalRequired = (requests: ReadonlyArray<ApprovalError.ApprovalRequired["requests"][number]>) =>
  Effect.fail(ApprovalError.make(new ApprovalError.ApprovalRequired({ requests })))

// =============================================================================
// Resolving the calls of a whole response
// =============================================================================

interface Received {
  readonly content: ReadonlyArray<Part>
  readonly calls: ReadonlyArray<Response.ToolCallPart<string, unknown>>
  readonly finish: ReadonlyArray<Response.FinishPart>
}

// Ids made unique, and the finish set aside so that it can come last.
const receive = (parts: ReadonlyArray<Part>): Received => {
  const uniqueId = Turn.makeCallIds()
  const received = {
    content: new Array<Part>(),
    calls: new Array<Received["calls"][number]>(),
    finish: new Array<Response.FinishPart>()
  }
  for (const part of parts) {
    if (part.type === "finish") {
      received.finish.push(part)
      continue
    }
    const unique = uniqueId(part)
    received.content.push(unique)
    if (Turn.isLocalCall(unique)) received.calls.push(unique)
  }
  return received
}

const resolve = Effect.fnUntraced(function*(turn: Turn.Turn, received: Received, messages: Messages) {
  const { calls } = received
  if (calls.length === 0) return []
  yield* Effect.forEach(calls, (call) => Turn.declaredTool(turn, call), { discard: true })
  const end = Turn.finishOf(received.finish[received.finish.length - 1])
  if (end !== undefined && !end.complete) return calls.map(truncated(end.reason))
  const permits = Turn.directPermits(turn)
  return yield* Turn.collect(calls, (call) =>
    Effect.flatMap(Turn.judge(turn, call, messages), (judgement) => {
      switch (judgement._tag) {
        case "Direct":
          return Turn.runDirect(turn, call, permits, sink)
        case "Result":
          return Effect.succeed({ part: judgement.part })
        case "Ask":
          return end === undefined
            ? Effect.succeed({ part: Results.interrupted(call, Results.unfinishedReason) })
            : Effect.flatMap(
              Settle.ask(turn.environment, judgement.prepared, judgement.needs),
              (decision) => Turn.carryOut(turn, decision, sink)
            )
      }
    }))
})

// A finished value cannot wait: whoever is to be asked is asked before anything runs, and if one request stays open
// nothing does (law L12).
const resolveAtOnce = Effect.fnUntraced(function*(turn: Turn.Turn, received: Received, messages: Messages) {
  const { calls } = received
  if (calls.length === 0) return []
  const end = Turn.finishOf(received.finish[received.finish.length - 1])
  if (end !== undefined && !end.complete) return calls.map(truncated(end.reason))
  const judgements = yield* Effect.forEach(calls, (call) => Turn.judge(turn, call, messages), {
    concurrency: "unbounded"
  })
  const decisions = yield* Effect.forEach(
    judgements,
    (judgement): AtOnce =>
      judgement._tag === "Ask"
        ? Settle.ask(turn.environment, judgement.prepared, judgement.needs)
        : Effect.succeed(judgement)
  )
  const open = decisions.flatMap((decision) => decision._tag === "Open" ? [decision.request] : [])
  if (open.length > 0) return yield* approvalRequired(open)
  const permits = Turn.directPermits(turn)
  return yield* Effect.forEach(decisions, (decision, index) =>
    decision._tag === "Direct"
      ? Turn.runDirect(turn, calls[index]!, permits, sink)
      : Turn.carryOut(turn, decision, sink), { concurrency: "unbounded" })
})

type AtOnce = Effect.Effect<
  Settle.Decision | Extract<Settle.Judgement, { readonly _tag: "Direct" }>,
  ApprovalError.ApprovalError
>

const truncated = (reason: string) => (call: Received["calls"][number]): Turn.Outcome => ({
  part: Results.truncatedFinish(call, reason)
})

const resultsOf = (outcomes: ReadonlyArray<Turn.Outcome>): ReadonlyArray<Results.ResultPart> =>
  outcomes.flatMap((outcome) => outcome.part === undefined ? [] : [outcome.part])
