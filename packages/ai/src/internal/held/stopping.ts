/**
 * Stop: a turn of a conversation can be stopped by whoever has the conversation, in whichever process, and with it whatever
 * runs in it, however it was approved (law L2).
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as ConversationStore from "../../ConversationStore.ts"
import * as Activity from "../journal/activity.ts"
import * as ConversationTurn from "./turn.ts"

/** A turn that is taken here, or waits for another one to end. */
export interface Stoppable {
  readonly isStopped: () => boolean
  /** What is done in the turn; it fails with `Cancelled` where the turn is stopped. */
  readonly run: <A, E, R>(
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | ConversationStore.ConversationError, R>
  readonly stream: <A, E, R>(
    stream: Stream.Stream<A, E, R>
  ) => Stream.Stream<A, E | ConversationStore.ConversationError, R>
}

/** From here on it is stopped with the conversation; what was begun in it and outlives it, too. */
export const begin = Effect.fnUntraced(function*(
  { key, store }: ConversationTurn.Place
): Effect.fn.Return<Stoppable, ConversationStore.ConversationError, Scope.Scope> {
  const stopped = Deferred.makeUnsafe<never, ConversationStore.ConversationError>()
  const around = yield* Activity.Current
  let forget = () => {}
  const activity = Activity.begin(around, {
    interrupt: () => void Deferred.doneUnsafe(stopped, Exit.fail(cancellation)),
    gone: () => forget()
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => Activity.end(activity)))
  yield* Effect.uninterruptible(
    Effect.tap(store.onStop(key, Activity.stop(activity)), (ended) => Effect.sync(() => (forget = ended)))
  )
  return {
    isStopped: () => activity.isStopped,
    run: (effect) =>
      Effect.raceFirst(Deferred.await(stopped), Effect.provideService(effect, Activity.Current, activity)),
    stream: (stream) =>
      Stream.interruptWhen(Stream.provideService(stream, Activity.Current, activity), Deferred.await(stopped))
  }
})

/**
 * Stops whatever goes on in the conversation, and waits until what goes on in this process has ended. An agent's own stops with
 * the outermost one alone.
 */
export const stop = (place: ConversationTurn.Place): Effect.Effect<void, ConversationStore.ConversationError> =>
  Effect.andThen(ConversationTurn.checkOutermost(place), inTime(place, place.store.stop(place.key)))

/**
 * Stops again and again whoever begins a turn, until what it gives is carried out: who had answered before the Stop, and was
 * about to take a turn with it, would otherwise take it in between.
 */
export const keepStopping = (
  { key, store }: ConversationTurn.Place
): Effect.Effect<Effect.Effect<void>, never, Scope.Scope> =>
  Effect.map(
    Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep("100 millis"), Effect.exit(store.stop(key))))),
    (stopping) => Effect.asVoid(Fiber.interrupt(stopping))
  )

/** What waits for others no longer than a turn does. */
export const inTime = <A, E, R>({ busyFor }: ConversationTurn.Place, effect: Effect.Effect<A, E, R>) =>
  Effect.timeoutOrElse(effect, { duration: busyFor, orElse: () => Effect.fail(ConversationTurn.busy) })

const cancellation = new ConversationStore.ConversationError({
  reason: "Cancelled",
  description: "Somebody stopped it. What it did before is in the history."
})

export const cancelled = Effect.fail(cancellation)
