/**
 * Takes turns: whole responses, or streams that end with their reader, or turns that belong to the process. They all go
 * through the same steps, and differ in who waits for them.
 */
import type * as Response from "effect/ai/Response"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as ApprovalError from "../../ApprovalError.ts"
import type * as ConversationStore from "../../ConversationStore.ts"
import * as Within from "../agent/within.ts"
import { KeepsHistory } from "../environment/keepsHistory.ts"
import type * as Model from "../environment/model.ts"
import * as Recorder from "../environment/recorder.ts"
import * as Trust from "../environment/trust.ts"
import * as Asked from "../held/asked.ts"
import * as Listed from "../held/listed.ts"
import * as Saying from "../held/saying.ts"
import * as Step from "../held/step.ts"
import * as Stopping from "../held/stopping.ts"
import * as ConversationTurn from "../held/turn.ts"
import * as Parts from "../history/parts.ts"
import type { TurnTaken } from "../kept/turns.ts"
import * as Logging from "../logging.ts"
import { InPassing } from "../seal/passing.ts"
import * as Wrap from "../turn/wrap.ts"
import * as Deciding from "./deciding.ts"
import * as Ending from "./ending.ts"
import * as Following from "./following.ts"
import * as Giving from "./giving.ts"
import type * as Conversation from "./model.ts"
import * as Reading from "./reading.ts"
import * as Surroundings from "./surroundings.ts"
import type * as Tools from "./tools.ts"

type Outcome = Conversation.Outcome<Model.AnyTools>

/** What a turn begins with: something that is said, decided or delivered. False if there is nothing to take a turn for. */
export type Beginning = (
  turn: ConversationTurn.Turn
) => Effect.Effect<boolean, ConversationStore.ConversationError | ApprovalError.ApprovalError>

export interface Settings {
  readonly place: ConversationTurn.Place
  readonly surroundings: Surroundings.Surroundings
  readonly taken: Taken
  readonly tools: Tools.Tools
  readonly limits: ConversationTurn.Limits & { readonly time: Duration.Input | undefined }
  readonly concurrency: Model.Options["concurrency"]
  /** What of an agent is told while it goes on. */
  readonly tell?: "nothing" | "steps" | "deltas" | undefined
  /** What is said before anything else. */
  readonly prepare: (turn: ConversationTurn.Turn) => void
}

/** What is known of the turns that are taken here, by whichever model. */
export interface Taken {
  outcome: Outcome | undefined
}

export interface Taking {
  /** How it ends; `undefined` where there was nothing to take a turn for, and nothing waits. */
  readonly take: (beginning: Beginning) => Effect.Effect<Outcome | undefined, unknown>
  /** Part by part; it ends with its reader. */
  readonly stream: (beginning: Beginning) => Stream.Stream<Response.AnyPart, unknown>
  /** It belongs to the process: it goes on when whoever has begun it leaves. */
  readonly start: (beginning: Beginning) => Effect.Effect<TurnTaken, unknown>
}

// The accessors as the engine sees them: tools, errors and services are in the type of the conversation.
const generateText = Wrap.generateText as unknown as (
  options: Model.Options
) => Effect.Effect<{ readonly content: ReadonlyArray<Response.AnyPart> }, unknown>
const streamText = Wrap.streamText as unknown as (options: Model.Options) => Stream.Stream<Response.AnyPart, unknown>

export const make = (
  { concurrency, limits, place, prepare, surroundings, taken, tell = "nothing", tools }: Settings
): Taking => {
  const inside = Surroundings.inside(surroundings)
  const time = limits.time === undefined ? undefined : Duration.fromInputUnsafe(limits.time)

  const requestOf = (turn: ConversationTurn.Turn): Model.Options => ({
    prompt: ConversationTurn.promptOf(turn),
    toolkit: tools.known(),
    concurrency
  })

  /** What agents may use that go on within it. */
  const leftOf = (turn: ConversationTurn.Turn): Within.Left => ({
    steps: () => limits.steps - turn.steps,
    tokens: () => limits.tokens - turn.tokens,
    until: turn.until,
    spend: (tokens) => {
      turn.tokens += tokens
    }
  })

  /** What the engine is to know of this turn's history. */
  const knowingOf = (turn: ConversationTurn.Turn, way: Step.Way): Context.Context<never> =>
    Context.make(KeepsHistory, !isBegun(turn)).pipe(
      Context.add(InPassing, place.store.inMemory === true),
      Context.add(Trust.Answering, (id) => {
        const by = Object.hasOwn(turn.deciders, id) ? turn.deciders[id] : undefined
        return by?.via === Trust.cancellation.via ? Trust.cancellation : by
      }),
      Context.add(Recorder.Recorder, ConversationTurn.record(place, turn, way === "stream")),
      Context.add(Trust.Refusals, Deciding.refusing(turn)),
      Context.add(Within.Left, leftOf(turn)),
      (knowing) =>
        place.within !== undefined ? knowing : Context.add(knowing, Within.Refusing, Giving.refusingWithin(turn)),
      (knowing) =>
        ConversationTurn.isFull(place, turn)
          ? Context.merge(knowing, Surroundings.refusing(surroundings, Ending.full))
          : knowing
    )

  const enter = Effect.fnUntraced(function*(beginning: Beginning) {
    const stoppable = yield* Stopping.begin(place)
    const { goesOn, turn } = yield* ConversationTurn.begin(place, (turn) => {
      prepare(turn)
      // An agent's turn has just found them.
      return place.within === undefined ? Effect.andThen(tools.find, beginning(turn)) : beginning(turn)
    })
    if (goesOn) taken.outcome = undefined
    // What was decided and is known to have settled nothing is open, whatever else has failed.
    yield* Effect.addFinalizer((exit) =>
      Exit.isFailure(exit) && Cause.hasFails(exit.cause) && turn.decided !== undefined
        ? Effect.ignore(Deciding.settle(turn, []))
        : Effect.void
    )
    // One that was cancelled before it could begin has said what it was to say, and does no more.
    if (stoppable.isStopped()) return yield* Stopping.cancelled
    return { turn, goesOn, stoppable }
  })

  // Before the first step, and when one is taken: where the turn ends, that is written with its last step.
  const limitedBy = (turn: ConversationTurn.Turn): Outcome | undefined => {
    const limit = ConversationTurn.limitOf(turn, limits)
    return limit === undefined ? undefined : Ending.limited(turn, limit)
  }

  // What was answered beside the turn, which did not wait for it.
  const hasMore = Effect.fnUntraced(function*(turn: ConversationTurn.Turn) {
    if (limitedBy(turn) !== undefined) return false
    if (yield* Giving.takeGiven(place, turn, tools.known())) return true
    return turn.open.some(Reading.isOfAgents) &&
      (yield* Deciding.hasNews({ ...turn, open: turn.open.filter(Reading.isOfAgents) }))
  })

  const telling = (text: string): Effect.Effect<void> =>
    text === "" || place.within === undefined ? Effect.void : Effect.flatMap(
      Within.Telling,
      (telling) => telling === undefined ? Effect.void : telling(place.within!.path, text)
    )

  /** What follows from a step: how the turn has ended, if it has. */
  const follow = Effect.fnUntraced(function*(turn: ConversationTurn.Turn, way: Step.Way) {
    const { step } = turn
    if (tell === "steps") yield* telling(Asked.toldOf(step, Parts.textOf(step)))
    const next = yield* Step.take(turn, way)
    yield* Deciding.settle(turn, step)
    const end = Ending.of(turn, next) ?? limitedBy(turn)
    if (end !== undefined && !(end._tag === "Waiting" && (yield* hasMore(turn)))) {
      yield* ConversationTurn.finish(place, turn)
      return end
    }
    yield* ConversationTurn.save(place, turn)
    return ConversationTurn.isFull(place, turn) ? yield* Ending.full : undefined
  })

  const generated = (turn: ConversationTurn.Turn) =>
    Effect.suspend(() =>
      Effect.map(Effect.provideContext(generateText(requestOf(turn)), knowingOf(turn, "whole")), ({ content }) => {
        add(turn, content)
      })
    )

  const streamed = (turn: ConversationTurn.Turn): Stream.Stream<Response.AnyPart, unknown> =>
    streamText(requestOf(turn)).pipe(
      Stream.provideContext(knowingOf(turn, "stream")),
      Stream.mapArray((chunk) => {
        add(turn, chunk)
        Saying.tell(turn.saying)
        return chunk
      }),
      Stream.filter((part) => !Asked.isHidden(part)),
      tell === "deltas"
        ? Stream.tap((part) => part.type === "text-delta" ? telling(Parts.textOf(turn.step)) : Effect.void)
        : identity
    )

  const steps = Effect.fnUntraced(function*(turn: ConversationTurn.Turn, way: "whole" | "stream") {
    let end = limitedBy(turn)
    while (end === undefined) {
      yield* way === "whole" ? generated(turn) : Stream.runDrain(streamed(turn))
      end = yield* follow(turn, way)
    }
    return end
  })

  const streamSteps = (
    turn: ConversationTurn.Turn,
    hasEnded: (outcome: Outcome) => void
  ): Stream.Stream<Response.AnyPart, unknown> =>
    Stream.suspend(() =>
      Stream.concat(
        streamed(turn),
        Stream.unwrap(Effect.map(follow(turn, "stream"), (end) => {
          if (end === undefined) return streamSteps(turn, hasEnded)
          hasEnded(end)
          return Stream.empty
        }))
      )
    )

  // A handler that ends while it waits would leave nobody to hear of that.
  const noteOpened = (outcome: Outcome) =>
    place.within !== undefined ? Effect.void : Effect.map(Within.Opened, (opened) => {
      if (outcome._tag === "Waiting") opened?.add(place.key.id)
      else opened?.delete(place.key.id)
    })

  // Of a turn for which there was nothing to do.
  const left = (turn: ConversationTurn.Turn) =>
    turn.open.length === 0 ? Effect.undefined : Effect.map(
      turn.open.some(Reading.isOfAgents) ? Listed.nested(place) : Effect.succeed(turn.nested),
      (nested): Outcome => {
        turn.nested = nested
        return Ending.waiting(turn)
      }
    )

  // Whoever follows it hears that it has ended when that is written.
  const takeAs = (
    way: "whole" | "stream",
    beginning: Beginning,
    hasBegun?: (turn: ConversationTurn.Turn) => void
  ): Effect.Effect<{ readonly turn: ConversationTurn.Turn; readonly outcome: Outcome | undefined }, unknown> =>
    Effect.suspend(() => {
      const followers = Following.make(place)
      return Effect.gen(function*() {
        const { goesOn, stoppable, turn } = yield* enter(beginning)
        if (!goesOn) return { turn, outcome: yield* left(turn) }
        if (way === "stream") turn.saying.step = turn.step
        followers.begin(turn)
        hasBegun?.(turn)
        if (time !== undefined) turn.until = (yield* Clock.currentTimeMillis) + Duration.toMillis(time)
        const ended = stoppable.run(steps(turn, way))
        const outcome = time === undefined
          ? yield* ended
          : Option.getOrElse(yield* Effect.timeoutOption(ended, time), () => Ending.limited(turn, "time"))
        taken.outcome = outcome
        yield* noteOpened(outcome)
        return { turn, outcome }
      }).pipe(
        Effect.scoped,
        Effect.onExit((exit) => Effect.sync(() => followers.end(Exit.map(exit, ({ outcome }) => outcome)))),
        Effect.updateContext(inside),
        Effect.withSpan("Conversation.turn")
      )
    })

  return {
    take: (beginning) =>
      Effect.map(takeAs(tell === "deltas" ? "stream" : "whole", beginning), ({ outcome }) => outcome),
    stream: (beginning) =>
      Stream.unwrap(Effect.gen(function*() {
        const followers = Following.make(place)
        // What its reader fails with is not how the turn has ended: it was left.
        let exit: Exit.Exit<Outcome, unknown> = Exit.interrupt()
        const hasEnded = (end: Outcome) => {
          taken.outcome = end
          exit = Exit.succeed(end)
        }
        yield* Effect.addFinalizer(() => Effect.sync(() => followers.end(exit)))
        const { goesOn, stoppable, turn } = yield* enter(beginning)
        if (!goesOn) {
          hasEnded((yield* left(turn)) ?? Ending.nothingToDo)
          return Stream.empty
        }
        turn.saying.step = turn.step
        followers.begin(turn)
        if (time !== undefined) turn.until = (yield* Clock.currentTimeMillis) + Duration.toMillis(time)
        const limit = limitedBy(turn)
        if (limit !== undefined) {
          hasEnded(limit)
          return Stream.empty
        }
        const parts = Stream.tapCause(
          stoppable.stream(streamSteps(turn, hasEnded)),
          (cause) => Effect.sync(() => (exit = Exit.failCause(cause)))
        )
        return time === undefined ? parts : Stream.interruptWhen(
          parts,
          Effect.andThen(Effect.sleep(time), Effect.sync(() => hasEnded(Ending.limited(turn, "time"))))
        )
      })).pipe(Stream.updateContext(inside)),
    start: (beginning) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          const begun = Deferred.makeUnsafe<TurnTaken, unknown>()
          const fiber = yield* place.store.turns.fork(
            Effect.interruptible(takeAs("stream", beginning, (turn) => {
              turn.isBrief = true
              Deferred.doneUnsafe(begun, Exit.succeed(Following.taken(turn)))
            })).pipe(
              Effect.tapCause((cause) =>
                Cause.hasDies(cause) ? Logging.error("A turn of a conversation died", cause) : Effect.void
              )
            )
          )
          fiber.addObserver((exit) => {
            Deferred.doneUnsafe(
              begun,
              Exit.isSuccess(exit)
                ? Exit.succeed(Following.ended(exit.value.turn, exit.value.outcome ?? Ending.nothingToDo))
                : Cause.hasInterruptsOnly(exit.cause)
                ? Exit.fail(Following.left)
                : Exit.failCause(exit.cause)
            )
          })
          return yield* Effect.onInterrupt(
            restore(Deferred.await(begun)),
            () => Deferred.isDoneUnsafe(begun) ? Effect.void : Fiber.interrupt(fiber)
          )
        })
      )
  }
}

// One by one: a response may have more parts than a function takes arguments.
const add = (turn: ConversationTurn.Turn, parts: ReadonlyArray<Response.AnyPart>): void => {
  for (const part of Asked.hide(turn, parts)) turn.step.push(part)
}

// The model goes on from what it has said itself: in an earlier step, or as somebody has begun it.
const isBegun = ({ isPrefilled, steps }: ConversationTurn.Turn): boolean => isPrefilled || steps > 0
