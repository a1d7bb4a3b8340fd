/**
 * One call of the model within a turn, observed as upstream's own. Upstream resolves a response within the call, and the
 * engine after it; so the span of the call stays open until the engine has, what runs for the response runs in it, and a
 * `CurrentSpanTransformer` is told of the response once, with the results of its calls.
 */
import type * as Response from "effect/ai/Response"
import * as Telemetry from "effect/ai/Telemetry"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as Tracer from "effect/Tracer"
import { Tracer as CurrentTracer } from "effect/Tracer"
import * as ApprovalError from "../../ApprovalError.ts"
import * as Spans from "../run/spans.ts"
import type * as Turn from "./turn.ts"

type Parts = ReadonlyArray<Response.AnyPart>

export interface ModelCall {
  /** The call itself. */
  readonly make: <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Reads the stream of a call, which `stream` gave: what is provided here once costs nothing for each chunk. */
  readonly reading: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly stream: <A, E, R>(call: Stream.Stream<A, E, R>) => Stream.Stream<A, E, R>
  /** What is done with the response of one that is no stream. Upstream runs the handlers of a stream outside its span. */
  readonly within: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** What the provider said, also where upstream could not read the object in it; for an observed call alone. */
  readonly said: () => Parts
  /** Tells of the response, with whatever was resolved. */
  readonly tell: (response: Parts) => Effect.Effect<void>
}

interface Ended {
  readonly at: bigint
  readonly exit: Exit.Exit<unknown, unknown>
}

interface Options {
  readonly observe: boolean
}

/** Calls the model, and does with its response what is to be done within the call. */
export const use = <A, E, R>(
  turn: Turn.Turn,
  options: Options,
  body: (call: ModelCall) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => Effect.flatMap(open(turn, options), ({ call, end }) => Effect.onExit(body(call), end))

/** A call of which somebody else says when it is at its end; they may say so more than once. */
export const open = Effect.fnUntraced(function*(
  { environment, method }: Turn.Turn,
  options: Options
): Effect.fn.Return<{
  readonly call: ModelCall
  readonly end: (exit: Exit.Exit<unknown, unknown>) => Effect.Effect<void>
}> {
  const tracer = yield* CurrentTracer
  const transformer = environment.spanTransformer
  let span: Tracer.Span | undefined
  let ended: Ended | undefined
  let isOver = false
  let observed: Parameters<Telemetry.SpanTransformer>[0] | undefined
  const holding: Tracer.Tracer = {
    span: (begun) => {
      const made = tracer.span(begun)
      if (span !== undefined || begun.name !== `LanguageModel.${method}`) return made
      span = made
      return Spans.instead(made, {
        end: (at, exit) => isOver ? made.end(at, exit) : void (ended ??= { at, exit })
      })
    },
    context: tracer.context === undefined ? undefined : (primitive, fiber) => tracer.context!(primitive, fiber)
  }
  const observer: Telemetry.SpanTransformer = (observation) => {
    observed = observation
  }
  // Without anybody to tell, whoever upstream knows of is told by upstream.
  const isObserved = options.observe || Option.isSome(transformer)
  const call: ModelCall = {
    make: (call) => {
      const held = Effect.provideService(call, CurrentTracer, holding)
      return isObserved ? Effect.provideService(held, Telemetry.CurrentSpanTransformer, observer) : held
    },
    reading: (effect) => Effect.provideService(effect, CurrentTracer, holding),
    stream: (call) => isObserved ? Stream.provideService(call, Telemetry.CurrentSpanTransformer, observer) : call,
    within: (effect) =>
      Effect.suspend(() =>
        span === undefined ? effect : Effect.withParentSpan(effect, span, { captureStackTrace: false })
      ),
    said: () => observed === undefined ? [] : observed.response,
    tell: (response) =>
      Effect.sync(() => {
        // Upstream's observers read whatever parts a response has.
        if (observed !== undefined && Option.isSome(transformer)) {
          transformer.value({ ...observed, response: response as typeof observed.response })
        }
      })
  }
  const end = (exit: Exit.Exit<unknown, unknown>) =>
    isOver ? Effect.void : Effect.map(Clock.currentTimeNanos, (now) => {
      isOver = true
      // Spans without times are told so by upstream.
      if (ended !== undefined) span!.end(ended.at === 0n ? 0n : now, exitOf(ended, exit))
    })
  return { call, end }
})

// What the engine says of a call is no failure of the model, and its requests are not for a span to hold (law L15).
const exitOf = (ended: Ended, exit: Exit.Exit<unknown, unknown>): Exit.Exit<unknown, unknown> =>
  Exit.isFailure(ended.exit) || Exit.isSuccess(exit) || isOurs(exit.cause) ? ended.exit : exit

const isOurs = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => Cause.isFailReason(reason) && reason.error instanceof ApprovalError.ApprovalError)
