/** One turn of `generateText` and `generateObject`, with approvals. */
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import * as Approvals from "../../Response.ts"
import type { Decision } from "../decide/decision.ts"
import * as Environment from "../environment/environment.ts"
import * as Model from "../environment/model.ts"
import * as Reply from "../gather/reply.ts"
import * as Bounded from "../history/bounded.ts"
import * as Ending from "../history/ending.ts"
import * as Results from "../history/results.ts"
import * as Hosted from "../hosted/hosted.ts"
import { advance, conclude } from "../run/loop.ts"
import * as Ours from "../run/ours.ts"
import * as Outcome from "../run/outcome.ts"
import * as Parts from "../run/parts.ts"
import * as Batch from "./batch.ts"
import * as ModelCall from "./modelCall.ts"
import * as ReceivedCalls from "./receivedCalls.ts"
import * as Turn from "./turn.ts"

type Part = Model.Part
type Messages = ReadonlyArray<Prompt.Message>

// Nobody watches a generate call while it goes on.
const ignore = () => Effect.void
const sinkOf = ({ recorder }: Turn.Turn): Outcome.Sink => ({
  preliminary: ignore,
  approvedPreliminary: ignore,
  result: (part) => Effect.sync(() => recorder.note([part]))
})

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
  const settled = yield* Turn.settleHistory(turn, sinkOf(turn))
  if (settled.failure !== undefined) return yield* Effect.failCause(settled.failure)
  if (settled.open.length > 0) {
    return new LanguageModel.GenerateTextResponse<Model.AnyTools, "opaque">([
      ...settled.results,
      ...settled.open.map(Results.requestPart),
      Results.pauseFinish()
    ])
  }
  if (settled.isStopped) {
    return new LanguageModel.GenerateTextResponse<Model.AnyTools, "opaque">([
      ...settled.results,
      Results.stoppedFinish()
    ])
  }
  if (settled.answered !== undefined) {
    return new LanguageModel.GenerateTextResponse<Model.AnyTools, "opaque">([
      ...Turn.nothingNew(settled, settled.answered)
    ])
  }
  const { content, finish, next } = yield* ModelCall.use(
    turn,
    { observe: false },
    (call) => Effect.tap(respond(call, model, turn, options, settled), ({ content }) => call.tell(content))
  )
  if (next === undefined) return new LanguageModel.GenerateTextResponse<Model.AnyTools, "opaque">([...content])
  const rest = yield* generateText(model, next, options)
  return new LanguageModel.GenerateTextResponse<Model.AnyTools, "opaque">([
    ...content,
    ...Results.withUsageOf(finish, rest.content)
  ])
})

/** What one call of the model comes to. */
interface Responded {
  readonly content: ReadonlyArray<Part>
  /** Not in the content where the turn goes on. */
  readonly finish: ReadonlyArray<Response.FinishPart>
  readonly next: Turn.Turn | undefined
}

const respond = Effect.fnUntraced(function*(
  call: ModelCall.ModelCall,
  model: Model.Model,
  turn: Turn.Turn,
  options: Model.Options,
  settled: Turn.Settled
): Effect.fn.Return<Responded, unknown> {
  const { prompt, shown } = settled
  if (!turn.resolvesCalls) {
    const response = yield* call.make(model.generateText({ ...options, prompt }))
    const content = yield* Hosted.sealCalls(turn.environment, response.content)
    return { content: [...settled.results, ...content], finish: [], next: undefined }
  }
  const response = yield* call.make(model.generateText({ ...options, prompt, ...Model.unresolved }))
  const received = yield* call.within(receive(turn, response.content, shown.content))
  const outcomes = yield* call.within(Turn.enclosed(turn, shown.content, resolve(turn, received)))
  const failure = ReceivedCalls.firstFailure(outcomes)
  if (failure !== undefined) return yield* ReceivedCalls.fail(turn, outcomes, failure)
  const said = [...received.content, ...resultsOf(outcomes)]
  const next = cutOf(received) === undefined
    ? yield* ReceivedCalls.goOn(turn, settled, received.asked, outcomes, said)
    : undefined
  const denials = next?.denials ?? []
  turn.recorder.note(denials)
  const finish = ReceivedCalls.finishAfter(received.finish, [...outcomes.map(({ part }) => part), ...denials])
  if (next?.turn !== undefined) {
    return { content: [...settled.results, ...said, ...next.denials], finish, next: next.turn }
  }
  const open = outcomes.flatMap(Outcome.requestsOf(turn)).map(Results.requestPart)
  const requests = [...open, ...next?.requests ?? received.asked.requests]
  turn.recorder.note(requests)
  return {
    content: [...settled.results, ...said, ...denials, ...requests, ...finish],
    finish,
    next: undefined
  }
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
  const settled = yield* Turn.settleHistory(turn, sinkOf(turn))
  if (settled.failure !== undefined) return yield* Effect.failCause(settled.failure)
  const before = [...said, ...settled.results]
  if (settled.open.length > 0) {
    return yield* approvalRequired(turn, settled.open, [...before, ...settled.open.map(Results.requestPart)])
  }
  if (settled.isStopped) return yield* stopped
  if (settled.answered !== undefined) return yield* nothingToAnswer(settled.answered)
  // A response with calls and no text fails to parse before we see it; upstream shows its content to an observer.
  const { content, finish, next, value } = yield* ModelCall.use(
    turn,
    { observe: true },
    (call) => respondWithObject(call, before, model, turn, options, settled)
  )
  if (next === undefined) return new LanguageModel.GenerateObjectResponse(value, [...content])
  const rest = yield* objectAfter(content, model, next, options)
  return new LanguageModel.GenerateObjectResponse(rest.value, [...Results.withUsageOf(finish, rest.content)])
})

const respondWithObject = Effect.fnUntraced(function*(
  call: ModelCall.ModelCall,
  before: ReadonlyArray<Part>,
  model: Model.Model,
  turn: Turn.Turn,
  options: Model.ObjectOptions,
  settled: Turn.Settled
): Effect.fn.Return<Responded & { readonly value?: unknown }, unknown> {
  const { prompt, shown } = settled
  const exit = yield* Effect.exit(call.make(model.generateObject({
    ...options,
    prompt,
    ...(turn.resolvesCalls ? Model.unresolved : undefined)
  })))
  const said = Exit.isSuccess(exit) ? exit.value.content : call.said() as ReadonlyArray<Part> // of a whole response
  if (!turn.resolvesCalls) {
    const content = [...before, ...yield* Hosted.sealCalls(turn.environment, said)]
    yield* call.tell(content)
    return { value: (yield* exit).value, content, finish: [], next: undefined }
  }
  const received = yield* call.within(receive(turn, said, shown.content))
  // With local calls beside them, the provider's requests wait: a finished value cannot (law L12).
  const alone = received.calls.length === 0 && cutOf(received) === undefined
  const next = alone ? yield* ReceivedCalls.goOn(turn, settled, received.asked, [], received.content) : undefined
  if (next?.turn !== undefined) {
    const content = [...before, ...received.content, ...next.denials]
    yield* call.tell(content)
    return { content, finish: received.finish, next: next.turn }
  }
  const denials = next?.denials ?? []
  const asked = { ...received.asked, requests: next?.requests ?? received.asked.requests }
  const left = { ...received, content: [...received.content, ...denials], asked }
  const outcomes = yield* call.within(Turn.enclosed(turn, shown.content, resolveAtOnce(call, turn, before, left)))
  const failure = ReceivedCalls.firstFailure(outcomes)
  if (failure !== undefined) return yield* ReceivedCalls.fail(turn, outcomes, failure)
  // What tools wait for is known only when they have begun: their siblings' results are kept with the requests.
  const open = outcomes.flatMap(Outcome.requestsOf(turn))
  const resolved = [...before, ...left.content, ...resultsOf(outcomes)]
  const finish = ReceivedCalls.finishAfter(received.finish, [...outcomes.map(({ part }) => part), ...denials])
  if (open.length > 0) return yield* waits(call, turn, open, [...resolved, ...open.map(Results.requestPart)])
  const content = [...resolved, ...finish]
  yield* call.tell(content)
  return { value: (yield* exit).value, content, finish, next: undefined }
})

/** The response is told of as it is; the value is not there, and cannot come. */
const waits = (
  call: ModelCall.ModelCall,
  turn: Turn.Turn,
  requests: ReadonlyArray<Approval.ApprovalRequest>,
  content: ReadonlyArray<Part>
) => Effect.andThen(call.tell(content), approvalRequired(turn, requests, content))

const stopped = Effect.fail(ApprovalError.make(
  new ApprovalError.InvalidPrompt({
    description: "a denial of one of its calls stopped the turn. Approved calls ran. Add a user message to go on."
  })
))

// There is no value without the model, and nothing for it to answer (law L7).
const nothingToAnswer = (answered: ReadonlyArray<Ending.Answered>) => {
  const [first] = answered
  return Effect.fail(ApprovalError.make(
    first === undefined
      ? new ApprovalError.InvalidPrompt({ description: "it ends with a message of the model. Add a user message." })
      : first.request === undefined
      ? new ApprovalError.UnknownApproval({ approvalId: first.approvalId.slice(0, 64) })
      : new ApprovalError.AlreadyDecided({ approvalId: first.approvalId, state: Ending.stateOf(first.request) })
  ))
}

// An error travels as JSON, so results are in it as they are sent.
const approvalRequired = (
  { recorder }: Turn.Turn,
  requests: ReadonlyArray<Approval.ApprovalRequest>,
  content: ReadonlyArray<Part>
) =>
  Effect.suspend(() => {
    recorder.failsWithAll()
    return Effect.fail(ApprovalError.make(
      new ApprovalError.ApprovalRequired({
        requests,
        content: content.map((part) =>
          part.type === "tool-result"
            ? { ...part, result: part.encodedResult === undefined ? null : part.encodedResult }
            : part
        )
      })
    ))
  })

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
  const bounded = Bounded.parts(parts, Environment.maxResultBytes(turn.environment.options))
  for (const part of yield* Hosted.sealCalls(turn.environment, bounded)) {
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
      requests.push(unique)
    } else {
      content.push(unique)
    }
  }
  // A request stands behind its call, or the next turn would not know what it asks about.
  const asked = requests.filter((part) => !ReceivedCalls.asksForLocalCall(part, calls))
    .map((part) => ReceivedCalls.addressed(turn, part, providerCalls))
  turn.recorder.note([...content, ...finish])
  return { content, calls, asked: { requests: asked, calls: providerCalls }, finish }
})

// A whole response that does not say how it ended came to its end: only a stream can break off (law L1).
const cutOf = ({ finish }: Received): string | undefined => {
  const end = ReceivedCalls.finishOf(finish)
  return end?.complete === false ? end.reason : undefined
}

// Decided side by side, then sealed in the order of the calls, so that people are asked in that order.
const resolve = Effect.fnUntraced(function*(
  turn: Turn.Turn,
  received: Received
): Effect.fn.Return<ReadonlyArray<Outcome.Outcome>, unknown> {
  if (received.calls.length === 0) return []
  const cut = cutOf(received)
  if (cut !== undefined) return yield* cutAll(turn, received.calls, cut)
  const judged = yield* judge(received.calls)
  for (const one of judged) {
    if (one.advanced !== undefined && isAsked(one.advanced)) {
      one.advanced = yield* Batch.advanceOne(one.advanced.one, ["reply"])
    }
  }
  const advanced = judged.flatMap(({ advanced }) => advanced === undefined ? [] : [advanced])
  Batch.takePlaces(turn, advanced)
  yield* ReceivedCalls.record(turn, advanced, advanced.length < judged.length)
  return yield* Batch.collect(
    judged,
    ({ advanced, call }): Effect.Effect<Outcome.Outcome, ApprovalError.ApprovalError> =>
      advanced === undefined || (Exit.isSuccess(advanced.said) && ReceivedCalls.isFree(advanced.said.value))
        ? runDirect(turn, call)
        : Batch.carryOut(turn, advanced, sinkOf(turn))
  )
})

const isAsked = ({ said }: Batch.Advanced): boolean => Exit.isSuccess(said) && said.value._tag === "Need"

interface Judged {
  readonly call: ReceivedCalls.ReceivedCall
  /** `undefined` for a call that can need nobody. */
  advanced: Batch.Advanced | undefined
}

const judge = (
  calls: ReadonlyArray<ReceivedCalls.ReceivedCall>
): Effect.Effect<ReadonlyArray<Judged>> =>
  Effect.forEach(calls, (call): Effect.Effect<Judged> => {
    const { one } = call
    return one === undefined
      ? Effect.succeed({ call, advanced: undefined })
      : Effect.map(Batch.advanceOne(one, ["finish"]), (advanced) => {
        ReceivedCalls.finish(one, "complete")
        return { call, advanced }
      })
  }, Batch.sideBySide(calls))

const runDirect = (
  turn: Turn.Turn,
  call: ReceivedCalls.ReceivedCall
): Effect.Effect<Outcome.Outcome, ApprovalError.ApprovalError> => {
  const sink = sinkOf(turn)
  return Effect.flatMap(
    ReceivedCalls.runDirect(turn, call, sink),
    (started) => ReceivedCalls.finishDirect(turn, started, true, sink)
  )
}

// A finished value cannot wait: whoever is to be asked is asked before anything runs, and if one request stays open
// nothing does (law L12). What is open then, and what did not run, is in the content the error carries.
const resolveAtOnce = Effect.fnUntraced(function*(
  call: ModelCall.ModelCall,
  turn: Turn.Turn,
  before: ReadonlyArray<Part>,
  received: Received
): Effect.fn.Return<ReadonlyArray<Outcome.Outcome>, unknown> {
  const { calls } = received
  const asked = Approvals.approvalRequests([...received.content, ...received.asked.requests])
  if (calls.length === 0 && asked.length === 0) return []
  const cut = cutOf(received)
  if (cut !== undefined) return yield* cutAll(turn, calls, cut)
  const judged = yield* judge(calls)
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
    if (ready._tag === "Need" && !waiting) yield* ReceivedCalls.record(turn, [{ one, said: Exit.succeed(ready) }])
    const decision = ready._tag !== "Need" ? ready : waiting ? undefined : yield* conclude(Ours.hand, one)
    if (decision?._tag === "Open") waiting = true
    decisions.push(request === undefined ? { decision } : { decision, request })
  }
  if (waiting) {
    const requests: Array<Approval.ApprovalRequest> = []
    const siblings = decisions.map(({ decision, request }, index): Part => {
      if (decision?._tag === "Tell") {
        const { file } = calls[index]!.one!
        return Parts.marked(file, Parts.toldPart(file, decision))
      }
      if (request === undefined) return Results.notRun(calls[index]!.call)
      // One that was approved inline is asked about again: its answer waits with the others.
      requests.push(request)
      return Results.requestPart(request)
    })
    return yield* waits(call, turn, [...asked, ...requests], [
      ...before,
      ...received.content,
      ...received.asked.requests,
      ...siblings
    ])
  }
  yield* turn.recorder.keep
  return yield* Batch.collect(
    [...decisions.entries()],
    ([index, { decision }]) =>
      decision === undefined || ReceivedCalls.isFree(decision)
        ? runDirect(turn, calls[index]!)
        : Batch.carryOut(turn, { one: calls[index]!.one!, said: Exit.succeed(decision) }, sinkOf(turn))
  )
})

const cutAll = (turn: Turn.Turn, calls: ReadonlyArray<ReceivedCalls.ReceivedCall>, reason: string) =>
  Effect.forEach(calls, (call) => ReceivedCalls.cut(turn, call, reason, sinkOf(turn)))

const resultsOf = (outcomes: ReadonlyArray<Outcome.Outcome>): ReadonlyArray<Results.ResultPart> =>
  outcomes.flatMap((outcome) => outcome.part === undefined ? [] : [outcome.part])
