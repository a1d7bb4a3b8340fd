/** One turn of `streamText`, with approvals. */
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Model from "./model.ts"
import * as Results from "./results.ts"
import * as Settle from "./settle.ts"
import * as Turn from "./turn.ts"

type Part = Model.StreamPart
type Parts = Queue.Queue<Part, unknown | Cause.Done>

// Parts a slow reader has not taken yet; the provider waits behind them.
const capacity = 256

export const streamText = (
  model: Model.Model,
  turn: Turn.Turn,
  options: Model.Options
): Stream.Stream<Part, unknown> =>
  Stream.unwrap(Effect.gen(function*() {
    const queue: Parts = yield* Queue.bounded<Part, unknown | Cause.Done>(capacity)
    yield* produce(model, turn, options, queue).pipe(
      Effect.matchCauseEffect({
        onFailure: (cause) => Queue.failCause(queue, cause),
        onSuccess: () => Queue.end(queue)
      }),
      Effect.forkScoped
    )
    return Stream.fromQueue(queue)
  }))

const produce = Effect.fnUntraced(
  function*(
    model: Model.Model,
    turn: Turn.Turn,
    options: Model.Options,
    queue: Parts
  ): Effect.fn.Return<void, unknown, Scope.Scope> {
    const sink: Turn.Sink = {
      // A preliminary result that finds no room is superseded by the next one anyway.
      preliminary: (part) => void Queue.offerUnsafe(queue, part),
      result: (part) => Effect.asVoid(Queue.offer(queue, part))
    }
    const settled = yield* Turn.settleHistory(turn, sink)
    if (settled.failure !== undefined) return yield* Effect.failCause(settled.failure)
    if (settled.open.length > 0) {
      yield* Queue.offerAll(queue, [...settled.open.map(Results.requestPart), Results.pauseFinish()])
      return
    }
    if (!turn.resolvesCalls) {
      yield* Stream.runForEachArray(
        model.streamText({ ...options, prompt: settled.prompt }),
        (chunk) => Queue.offerAll(queue, chunk)
      )
      return
    }
    const calls = makeCalls(turn, settled.prompt.content, sink)
    const finish: Array<Response.FinishPart> = []
    const uniqueId = Turn.makeCallIds()
    yield* Stream.runForEachArray(
      model.streamText({ ...options, prompt: settled.prompt, ...Model.unresolved }),
      Effect.fnUntraced(function*(chunk) {
        const { found, passing } = scan(chunk, uniqueId, finish)
        if (passing.length > 0) yield* Queue.offerAll(queue, passing)
        // A truncating finish comes right behind the last call: a call starts once the stream has moved past it.
        if (Turn.finishOf(finish[finish.length - 1])?.complete !== false) yield* calls.start
        if (found !== undefined) yield* calls.observe(found)
      })
    )
    const end = Turn.finishOf(finish[finish.length - 1])
    if (end?.complete === false) {
      yield* calls.truncate(end.reason)
    } else {
      yield* calls.start
      const outcomes = yield* calls.finish(end !== undefined)
      const failure = Turn.firstFailure(outcomes)
      if (failure !== undefined) return yield* Effect.failCause(failure)
      for (const { request } of outcomes) {
        if (request !== undefined) yield* Queue.offer(queue, Results.requestPart(request))
      }
    }
    yield* Queue.offerAll(queue, finish)
  }
)

// The provider's own array where nothing in it concerns us.
const scan = (
  chunk: ReadonlyArray<Part>,
  uniqueId: ReturnType<typeof Turn.makeCallIds>,
  finish: Array<Response.FinishPart>
) => {
  let passing: Array<Part> | undefined
  let found: Array<LocalCall> | undefined
  for (let index = 0; index < chunk.length; index++) {
    const part = chunk[index]!
    if (part.type === "finish") {
      finish.push(part)
      passing ??= chunk.slice(0, index)
    } else if (part.type === "tool-call") {
      const unique = uniqueId(part)
      if (Turn.isLocalCall(unique)) (found ??= []).push(unique)
      if (unique !== part) passing ??= chunk.slice(0, index)
      passing?.push(unique)
    } else {
      passing?.push(part)
    }
  }
  return { passing: passing ?? chunk, found }
}

type LocalCall = Response.ToolCallPart<string, unknown>

type Started = Turn.Outcome | Extract<Settle.Judgement, { readonly _tag: "Ask" }>

// The local calls of a stream: seen, then started, then finished or truncated.
const makeCalls = (turn: Turn.Turn, messages: ReadonlyArray<Prompt.Message>, sink: Turn.Sink) => {
  const permits = Turn.directPermits(turn)
  const all: Array<LocalCall> = []
  const answered = new Set<string>()
  const fibers: Array<Fiber.Fiber<Started, unknown>> = []
  const noting: Turn.Sink = {
    preliminary: sink.preliminary,
    result: (part) => {
      answered.add(part.id)
      return sink.result(part)
    }
  }
  const startOne = (call: LocalCall): Effect.Effect<Started, unknown> =>
    Effect.flatMap(Turn.judge(turn, call, messages), (judgement): Effect.Effect<Started> => {
      switch (judgement._tag) {
        case "Direct":
          return Turn.runDirect(turn, call, permits, noting)
        case "Result":
          return Effect.as(noting.result(judgement.part), { part: judgement.part })
        case "Ask":
          return Effect.succeed(judgement)
      }
    })
  return {
    observe: (found: ReadonlyArray<LocalCall>) => {
      all.push(...found)
      // As upstream: a call of a tool that is not in the toolkit fails the stream where it stands.
      return Effect.forEach(found, (call) => Turn.declaredTool(turn, call), { discard: true })
    },
    start: Effect.suspend(() =>
      fibers.length === all.length ? Effect.void : Effect.forEach(
        all.slice(fibers.length),
        (call) => Effect.map(Effect.forkScoped(startOne(call)), (fiber) => void fibers.push(fiber)),
        { discard: true }
      )
    ),
    /** The response is complete: whoever is to be asked is asked now. */
    finish: (sawFinish: boolean) =>
      Turn.collect(
        fibers,
        (fiber) =>
          Effect.flatMap(Fiber.join(fiber), (started): Effect.Effect<Turn.Outcome, unknown> => {
            if (!("_tag" in started)) return Effect.succeed(started)
            if (!sawFinish) {
              const { toolCallId: id, toolName: name } = started.prepared
              const part = Results.interrupted({ id, name }, Results.unfinishedReason)
              return Effect.as(sink.result(part), { part })
            }
            return Effect.flatMap(
              Settle.ask(turn.environment, started.prepared, started.needs),
              (decision) => Turn.carryOut(turn, decision, sink)
            )
          })
      ),
    /** The response was cut: whatever has no result by now gets one that says so. */
    truncate: (reason: string) =>
      Effect.andThen(
        Fiber.interruptAll(fibers),
        Effect.forEach(
          all.filter((call) => !answered.has(call.id)),
          (call) => sink.result(Results.truncatedFinish(call, reason)),
          { discard: true }
        )
      )
  }
}
