/** One turn of `streamText`, with approvals. */
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Channel from "effect/Channel"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Pull from "effect/Pull"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Environment from "../environment/environment.ts"
import * as Model from "../environment/model.ts"
import * as Recorder from "../environment/recorder.ts"
import * as Bounded from "../history/bounded.ts"
import * as Cut from "../history/cut.ts"
import * as Results from "../history/results.ts"
import * as Stopping from "../history/stopping.ts"
import * as Hosted from "../hosted/hosted.ts"
import * as HostedStream from "../hosted/stream.ts"
import { advance } from "../run/loop.ts"
import * as Ours from "../run/ours.ts"
import * as Outcome from "../run/outcome.ts"
import * as Batch from "./batch.ts"
import { type Chunk, type Chunks, offer, pass, type Passing, toStream, toStreamBehind } from "./chunks.ts"
import * as ModelCall from "./modelCall.ts"
import * as Preliminary from "./preliminary.ts"
import * as ReceivedCalls from "./receivedCalls.ts"
import * as Turn from "./turn.ts"

type Part = Model.StreamPart

export const streamText = (
  model: Model.Model,
  turn: Turn.Turn,
  options: Model.Options,
  toError: (error: unknown) => unknown
): Stream.Stream<Part, unknown> =>
  passes(turn) ? passingText(model, turn, options, toError) : toStream((queue) =>
    Effect.suspend(() => {
      const ending = makeEnding(turn)
      const turned = Effect.map(produce(model, turn, options, queue, []), ending.isWhole)
      return Effect.andThen(
        Effect.addFinalizer(() => Effect.sync(ending.note)),
        Effect.ensuring(Turn.within(turn, Effect.mapError(turned, toError)), Effect.sync(ending.note))
      )
    })
  )

// Whoever keeps what was said looks when the stream is at its end: before it is closed, where it came there, and behind
// that, where its reader left.
const makeEnding = ({ prompt }: Turn.Turn) => {
  let whole = false
  return {
    isWhole: (is: boolean): void => void (whole = is),
    note: () => whole ? undefined : Cut.note(prompt)
  }
}

// What the model says goes to its reader as it comes where there is nothing to settle before it, nobody to be told of it,
// and nobody here who may answer what the provider asks.
const passes = (turn: Turn.Turn): boolean =>
  turn.resolvesCalls && turn.isInOrder && !Stopping.isStopped(turn.transcript) && turn.recorder === Recorder.none &&
  Option.isNone(turn.environment.spanTransformer) && !Hosted.mayAnswer(turn.environment, turn.handlers?.tools)

// The most there is of most streams is text, for which nothing has to run beside its reader; that begins with the first
// part that concerns us, or with the end.
const passingText = (
  model: Model.Model,
  turn: Turn.Turn,
  options: Model.Options,
  toError: (error: unknown) => unknown
): Stream.Stream<Part, unknown> =>
  toStreamBehind(Effect.suspend(() => {
    const ending = makeEnding(turn)
    const finish: Array<Part> = []
    const settled = Turn.inOrder(turn)
    const maxResultBytes = Environment.maxResultBytes(turn.environment.options)
    const begun = Effect.gen(function*(): Effect.fn.Return<Passing<Part, unknown>, unknown, Scope.Scope> {
      const scope = yield* Effect.scope
      const { call, end } = yield* ModelCall.open(turn, { observe: false })
      yield* Scope.addFinalizerExit(scope, (exit) => Effect.map(end(exit), ending.note))
      const said = call.stream(model.streamText({ ...options, prompt: turn.prompt, ...Model.unresolved }))
      const pull = yield* call.reading(Channel.toPullScoped(Stream.toChannel(said), scope))
      return {
        // The call is made with it. Nothing is provided to each of those behind it, which every one would cost.
        first: Turn.within(turn, call.reading(pull)),
        pull,
        take: (chunk) => {
          if (!chunk.some(concernsUs)) return chunk
          // The finish comes last.
          if (!chunk.every((part) => part.type === "finish" || !concernsUs(part))) return undefined
          finish.push(...Bounded.parts(chunk, maxResultBytes).filter((part) => part.type === "finish"))
          return chunk.filter((part) => part.type !== "finish")
        },
        end: (cause) => {
          const isDone = Pull.isDoneCause(cause)
          ending.isWhole(isDone && finish.length > 0)
          ending.note()
          return isDone ? finish : []
        },
        rest: (left) => (queue) => {
          const turned = Effect.map(
            Effect.onExit(respond(call, before(finish, left), turn, settled, outOf(turn, queue), []), end),
            (next) => ending.isWhole(next === true)
          )
          return Effect.ensuring(Turn.within(turn, Effect.mapError(turned, toError)), Effect.sync(ending.note))
        }
      }
    })
    return Turn.within(turn, begun)
  }))

const before = (parts: ReadonlyArray<Part>, stream: Stream.Stream<Part, unknown>): Stream.Stream<Part, unknown> =>
  parts.length === 0 ? stream : Stream.concat(Stream.fromArray([...parts]), stream)

/** Whether the response came to its finish, or nothing was left for one to say. */
const produce: (
  model: Model.Model,
  turn: Turn.Turn,
  options: Model.Options,
  queue: Chunks<Part, unknown>,
  before: ReadonlyArray<Response.FinishPart>
) => Effect.Effect<boolean, unknown, Scope.Scope> = Effect.fnUntraced(
  function*(
    model: Model.Model,
    turn: Turn.Turn,
    options: Model.Options,
    queue: Chunks<Part, unknown>,
    before: ReadonlyArray<Response.FinishPart>
  ): Effect.fn.Return<boolean, unknown, Scope.Scope> {
    const out = outOf(turn, queue)
    const { sink, told } = out
    const settled = yield* Turn.settleHistory(turn, sink)
    if (settled.failure !== undefined) return yield* Effect.failCause(settled.failure)
    if (settled.open.length > 0) {
      yield* offer(queue, [...settled.open.map(Results.requestPart), Results.pauseFinish()])
      return true
    }
    if (settled.isStopped) {
      yield* offer(queue, [Results.stoppedFinish()])
      return true
    }
    if (settled.answered !== undefined) {
      const recorded = Turn.recordedOf(settled.answered)
      yield* offer(queue, [...recorded, Results.stopFinish()])
      return true
    }
    const said = (prompt: Prompt.Prompt) =>
      model.streamText({ ...options, prompt, ...(turn.resolvesCalls ? Model.unresolved : undefined) })
    const next = yield* ModelCall.use(turn, { observe: false }, (call) =>
      Effect.ensuring(
        respond(call, call.stream(said(settled.prompt)), turn, settled, out, before),
        Effect.suspend(() => call.tell(told ?? []))
      ))
    return typeof next === "boolean" ? next : yield* produce(model, next.turn, options, queue, next.before)
  }
)

/** Where what is said goes. */
interface Out {
  readonly queue: Chunks<Part, unknown>
  readonly sink: Outcome.Sink
  readonly say: (parts: ReadonlyArray<Part>) => Effect.Effect<void>
  readonly told: Array<Part> | undefined
}

const outOf = (turn: Turn.Turn, queue: Chunks<Part, unknown>): Out => {
  // Whoever is to be told of the response when it is over hears of what was offered of it.
  const told: Array<Part> | undefined = Option.isSome(turn.environment.spanTransformer) ? [] : undefined
  const say = (parts: ReadonlyArray<Part>): Effect.Effect<void> => {
    told?.push(...parts)
    return offer(queue, parts)
  }
  const preliminary = Preliminary.make(queue)
  const sink: Outcome.Sink = {
    preliminary: (part) => say([part]),
    approvedPreliminary: (part) =>
      Effect.sync(() => {
        const said = preliminary.say(part)
        if (said !== undefined) told?.push(said)
      }),
    result: (part) => {
      turn.recorder.note([part])
      return Effect.flatMap(preliminary.last(part), (last) => say([last]))
    }
  }
  return { queue, sink, say, told }
}

/** The turn goes on with another call of the model. */
interface Next {
  readonly turn: Turn.Turn
  readonly before: ReadonlyArray<Response.FinishPart>
}

/** What the turn goes on with, or else whether the response came to its finish. */
const respond = Effect.fnUntraced(
  function*(
    call: ModelCall.ModelCall,
    response: Stream.Stream<Part, unknown>,
    turn: Turn.Turn,
    settled: Turn.Settled,
    { queue, say, sink, told }: Out,
    before: ReadonlyArray<Response.FinishPart>
  ): Effect.fn.Return<Next | boolean, unknown, Scope.Scope> {
    if (!turn.resolvesCalls) {
      const seal = (parts: ReadonlyArray<Part>) => Effect.flatMap(Hosted.sealCalls(turn.environment, parts), say)
      const hosted = HostedStream.make(seal)
      yield* Stream.runForEachArray(
        response,
        (next) => hosted.isHolding() || next.some(concernsUs) ? hosted.take(next) : say(next)
      ).pipe(call.reading, Effect.tapError(() => hosted.end))
      yield* hosted.end
      return true
    }
    const calls = makeCalls(turn, settled.shown.content, sink)
    const finish: Array<Response.FinishPart> = []
    const held: Array<Response.ToolApprovalRequestPart> = []
    // The provider's requests are held where somebody here may answer them: then they need never be seen, and the turn
    // goes on from what was said.
    const mayGoOn = Hosted.mayAnswer(turn.environment, turn.handlers?.tools)
    const said = makeSaid()
    const maxResultBytes = Environment.maxResultBytes(turn.environment.options)
    const receive = Effect.fnUntraced(function*(
      chunk: ReadonlyArray<Part>
    ): Effect.fn.Return<void, unknown, Scope.Scope> {
      const passing: Array<Part> = []
      const received: Array<ReceivedCalls.ReceivedCall> = []
      const bounded = Bounded.parts(chunk, maxResultBytes)
      for (const part of yield* Hosted.sealCalls(turn.environment, bounded)) {
        if (part.type === "finish") {
          finish.push(part)
          turn.recorder.note([part])
          continue
        }
        const unique = turn.uniqueId(part)
        if (unique.type === "tool-call" && unique.providerExecuted === true) {
          calls.addProviders(unique)
          passing.push(unique)
        } else if (ReceivedCalls.isLocalCall(unique)) {
          const call = yield* calls.read(unique)
          received.push(call)
          passing.push(call.call)
        } else if (unique.type === "tool-approval-request" && (mayGoOn || !calls.isProviders(unique.toolCallId))) {
          // Its call was not seen yet, or is ours to ask about.
          held.push(unique)
        } else {
          passing.push(ReceivedCalls.addressed(turn, unique, calls.providers))
        }
      }
      if (mayGoOn) said.add(passing)
      turn.recorder.note(passing)
      yield* say(passing)
      // A truncating finish comes right behind the last call: a call starts once the stream has moved past it.
      if (ReceivedCalls.finishOf(finish)?.complete !== false) yield* calls.start
      calls.observe(received)
    })
    // Most chunks are text, and pass as they are.
    const passOn = (chunk: Chunk<Part>): Effect.Effect<void> => {
      if (mayGoOn) said.add(chunk)
      turn.recorder.note(chunk)
      told?.push(...chunk)
      return pass(queue, chunk)
    }
    const hosted = HostedStream.make(receive)
    yield* Stream.runForEachArray(
      response,
      (next) => hosted.isHolding() || calls.areWaiting() || next.some(concernsUs) ? hosted.take(next) : passOn(next)
    ).pipe(call.reading, Effect.tapError(() => Effect.andThen(hosted.end, calls.begun)))
    yield* hosted.end
    const asked = held.filter((part) => !calls.isAskedFor(part))
      .map((part) => ReceivedCalls.addressed(turn, part, calls.providers))
    const end = ReceivedCalls.finishOf(finish)
    let requests: ReadonlyArray<Part> = asked
    let ending: ReadonlyArray<Response.FinishPart> = finish
    if (end?.complete === false) {
      yield* calls.truncate(end.reason)
    } else {
      yield* calls.start
      const outcomes = yield* calls.finish(end !== undefined)
      const failure = ReceivedCalls.firstFailure(outcomes)
      if (failure !== undefined) return yield* ReceivedCalls.fail(turn, outcomes, failure)
      for (const { part } of outcomes) if (part !== undefined) said.add([part])
      const next = end === undefined
        ? undefined
        : yield* ReceivedCalls.goOn(turn, settled, { requests: asked, calls: calls.providers }, outcomes, said.parts)
      if (next !== undefined) {
        turn.recorder.note(next.denials)
        yield* say(next.denials)
        if (next.turn !== undefined) return { turn: next.turn, before: [...before, ...finish] }
        requests = next.requests
      }
      ending = ReceivedCalls.finishAfter(finish, [...outcomes.map(({ part }) => part), ...next?.denials ?? []])
      const open = outcomes.flatMap(Outcome.requestsOf(turn)).map(Results.requestPart)
      turn.recorder.note(open)
      yield* say(open)
    }
    turn.recorder.note(requests)
    yield* say([...requests, ...Results.withUsageOf(before, ending)])
    return end !== undefined
  }
)

const concernsUs = ({ type }: Part): boolean =>
  type === "tool-call" || type === "finish" || type === "tool-approval-request" || type === "tool-result"

// What was said, for the turn to go on from. Deltas become one as they come, so that it is not much longer than the text.
const makeSaid = () => {
  const parts: Array<Part> = []
  return {
    parts,
    add: (added: ReadonlyArray<Part>): void => {
      for (const part of added) {
        const last = parts[parts.length - 1]
        if (last !== undefined && isDelta(last) && isDelta(part) && last.type === part.type && last.id === part.id) {
          parts[parts.length - 1] = {
            ...last,
            delta: last.delta + part.delta,
            metadata: { ...last.metadata, ...part.metadata }
          }
        } else {
          parts.push(part)
        }
      }
    }
  }
}

const isDelta = (part: Part): part is Response.TextDeltaPart | Response.ReasoningDeltaPart =>
  part.type === "text-delta" || part.type === "reasoning-delta"

type Started = ReceivedCalls.Started | Batch.Advanced

const isAdvanced = (started: Started): started is Batch.Advanced => "said" in started

// The local calls of a stream: seen, then started, then finished or truncated.
const makeCalls = (turn: Turn.Turn, messages: ReadonlyArray<Prompt.Message>, sink: Outcome.Sink) => {
  const all: Array<ReceivedCalls.ReceivedCall> = []
  const providers: Map<string, Response.ToolCallPart<string, unknown>> = new Map()
  // Results of calls that have run, noted before they are offered: a reader's slowness must not undo them.
  const offered = new Set<string>()
  const finished = new Map<string, Results.ResultPart>()
  const fibers: Array<Fiber.Fiber<Started, unknown>> = []
  const noting: Outcome.Sink = {
    ...sink,
    result: (part) => {
      finished.set(part.id, part)
      return Effect.map(sink.result(part), () => void offered.add(part.id))
    }
  }
  const startOne = (call: ReceivedCalls.ReceivedCall): Effect.Effect<Started, unknown> => {
    const { one } = call
    const run = () => Effect.andThen(turn.recorder.keep, ReceivedCalls.runDirect(turn, call, noting))
    return one === undefined
      ? run()
      : Effect.flatMap(
        advance(Ours.hand, one, ["finish"]),
        (said): Effect.Effect<Started, unknown> =>
          said._tag === "Need"
            ? Effect.succeed({ one, said: Exit.succeed(said) })
            : ReceivedCalls.isFree(said)
            ? run()
            : Outcome.carryOut(turn, one, said, noting)
      )
  }
  return {
    read: ReceivedCalls.makeReader(turn, messages),
    isAskedFor: (part: Part): boolean => ReceivedCalls.asksForLocalCall(part, all),
    isProviders: (id: string): boolean => providers.has(id),
    addProviders: (call: Response.ToolCallPart<string, unknown>): void => void providers.set(call.id, call),
    providers,
    areWaiting: (): boolean => fibers.length < all.length,
    observe: (found: ReadonlyArray<ReceivedCalls.ReceivedCall>): void => void all.push(...found),
    start: Effect.suspend(() =>
      fibers.length === all.length ? Effect.void : Effect.forEach(
        all.slice(fibers.length),
        (call) =>
          Effect.map(
            Effect.forkScoped(Turn.enclosed(turn, messages, startOne(call))),
            (fiber) => void fibers.push(fiber)
          ),
        { discard: true }
      )
    ),
    /** What has begun comes to its end: it is told of, whatever becomes of the response (law L8). */
    begun: Effect.suspend(() => Effect.forEach(fibers, Fiber.await, { discard: true })),
    /** The response is complete: whoever is to be asked is asked now. */
    finish: Effect.fnUntraced(function*(sawFinish: boolean) {
      // Sealed in the order of the calls, so that people are asked in that order.
      const started = yield* Effect.forEach(
        fibers,
        (fiber) =>
          Effect.exit(Effect.flatMap(Fiber.join(fiber), (started): Effect.Effect<Started> => {
            if (!isAdvanced(started)) return Effect.succeed(started)
            const { one } = started
            ReceivedCalls.finish(one, sawFinish ? "complete" : "missing")
            return Batch.advanceOne(one, ["reply"])
          }))
      )
      const advanced = started.flatMap((exit) => Exit.isSuccess(exit) && isAdvanced(exit.value) ? [exit.value] : [])
      Batch.takePlaces(turn, advanced)
      yield* ReceivedCalls.record(turn, advanced)
      const outcomes = Batch.collect(
        started,
        (exit) =>
          Effect.flatMap(exit, (started): Effect.Effect<Outcome.Outcome, unknown> =>
            isAdvanced(started)
              ? Batch.carryOut(turn, started, sink)
              : ReceivedCalls.finishDirect(turn, started, sawFinish, sink))
      )
      return yield* Turn.enclosed(turn, messages, outcomes)
    }),
    /** The response was cut: whatever has no result by now gets one that says so. */
    truncate: (reason: string) =>
      Effect.andThen(
        Fiber.interruptAll(fibers),
        Effect.forEach(
          all.filter(({ call }) => !offered.has(call.id)),
          (received): Effect.Effect<unknown, unknown> => {
            const result = finished.get(received.call.id)
            return result === undefined ? ReceivedCalls.cut(turn, received, reason, sink) : sink.result(result)
          },
          { discard: true }
        )
      )
  }
}
