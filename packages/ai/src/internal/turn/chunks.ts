/**
 * The chunks between the producer of a streamed turn and its reader: each as it was said, there for the reader at once,
 * and only so many ahead of one who is slow.
 */
import * as Arr from "effect/Array"
import type * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

export type Chunk<A> = Arr.NonEmptyReadonlyArray<A>

export interface Chunks<A, E> {
  /** What the reader has not taken yet. */
  readonly queue: Queue.Queue<Chunk<A>, E | Cause.Done>
  /** What had no room there, in the order in which it came. */
  readonly waiting: Set<Waiting<A>>
}

interface Waiting<A> {
  readonly chunk: Chunk<A>
  /** It has a place in the queue now, or the stream is at its end. */
  readonly resume: (effect: Effect.Effect<void>) => void
}

/** Chunks that a slow reader has not taken yet; the producer waits behind them. */
const capacity = 64

// Of what is left, before the producer goes on. If it did at each free place, it and the reader would take turns for
// every chunk, which costs more than most chunks do.
const refillAt = capacity / 4

/** What is produced, as it comes. A failure comes behind what was said; a reader who leaves interrupts the producer. */
export const toStream = <A, E>(produce: Produce<A, E>): Stream.Stream<A, E> =>
  // Not `Stream.unwrap`, which would be passed through again for each chunk.
  Stream.fromChannel(Channel.fromTransform((_upstream, scope) => queued(scope, produce)))

/** As `Stream.unwrap`, but made when its reader begins, so that it is not passed through again for each chunk. */
export const unwrap = <A, E, R, E2, R2>(
  made: Effect.Effect<Stream.Stream<A, E, R>, E2, R2>
): Stream.Stream<A, E | E2, R | Exclude<R2, Scope.Scope>> =>
  Stream.fromChannel(
    Channel.fromTransform((upstream, scope) =>
      Effect.flatMap(
        Scope.provide(made, scope),
        (stream) => Channel.toTransform(Stream.toChannel(stream))(upstream, scope)
      )
    )
  )

/** What passes to the reader as it is pulled, until there is something that only a producer can say. */
export interface Passing<A, E> {
  /** Gives the first chunk; `pull` those behind it. */
  readonly first: Pull<A, E>
  readonly pull: Pull<A, E>
  /** What passes of a chunk, which may be nothing for now; `undefined` where a producer is to take over. */
  readonly take: (chunk: Chunk<A>) => ReadonlyArray<A> | undefined
  /** What is left to say when it ends so. */
  readonly end: (cause: Cause.Cause<E | Cause.Done>) => ReadonlyArray<A>
  /** What is produced from the chunk that did not pass, and those behind it. */
  readonly rest: (left: Stream.Stream<A, E>) => Produce<A, E>
}

/** As {@link toStream}, but nothing stands between what passes and its reader. */
export const toStreamBehind = <A, E>(begin: Effect.Effect<Passing<A, E>, E, Scope.Scope>): Stream.Stream<A, E> =>
  Stream.fromChannel(
    Channel.fromTransform((_upstream, scope) =>
      Effect.map(Scope.provide(begin, scope), ({ end, first, pull, rest, take }) => {
        const produced = (chunk: Chunk<A>): Pull<A, E> => {
          let next: Pull<A, E> = Effect.succeed(chunk)
          const left = Effect.suspend(() => {
            const one = next
            next = pull
            return one
          })
          return Effect.flatMap(queued(scope, rest(Stream.fromPull(Effect.succeed(left)))), (pull) => now = pull)
        }
        // One step for each chunk: it is felt.
        const passing: (pull: Pull<A, E>) => Pull<A, E> = Effect.matchCauseEffect({
          onFailure: (cause: Cause.Cause<E | Cause.Done>) => {
            now = Effect.failCause(cause)
            const last = end(cause)
            return Arr.isReadonlyArrayNonEmpty(last) ? Effect.succeed(last) : now
          },
          onSuccess: (chunk: Chunk<A>) => {
            const passed = take(chunk)
            return passed === undefined
              ? produced(chunk)
              : Arr.isReadonlyArrayNonEmpty(passed)
              ? Effect.succeed(passed)
              : others
          }
        })
        const others = passing(pull)
        let now: Pull<A, E> = Effect.suspend(() => {
          now = others
          return passing(first)
        })
        return Effect.suspend(() => now)
      })
    )
  )

type Produce<A, E> = (chunks: Chunks<A, E>) => Effect.Effect<void, E, Scope.Scope>

type Pull<A, E> = Effect.Effect<Chunk<A>, E | Cause.Done>

const queued = <A, E>(scope: Scope.Scope, produce: Produce<A, E>): Effect.Effect<Pull<A, E>> =>
  Effect.gen(function*() {
    const queue = yield* Queue.unbounded<Chunk<A>, E | Cause.Done>()
    const chunks: Chunks<A, E> = { queue, waiting: new Set() }
    yield* produce(chunks).pipe(
      Effect.matchCause({
        onFailure: (cause) => end(chunks, () => Queue.failCauseUnsafe(queue, cause)),
        onSuccess: () => end(chunks, () => Queue.endUnsafe(queue))
      }),
      Scope.provide(scope),
      Effect.forkIn(scope, { startImmediately: true })
    )
    const refilling = <T>(taken: T): T => {
      if (chunks.waiting.size > 0 && Queue.sizeUnsafe(queue) <= refillAt) refill(chunks)
      return taken
    }
    const next = Effect.map(Queue.take(queue), refilling)
    return Effect.suspend((): Pull<A, E> => {
      const taken = Queue.takeUnsafe(queue)
      return taken === undefined ? next : refilling(taken)
    })
  })

/** Says something, as soon as there is room for it. */
export const offer = <A, E>(self: Chunks<A, E>, parts: ReadonlyArray<A>): Effect.Effect<void> =>
  Arr.isReadonlyArrayNonEmpty(parts) ? Effect.suspend(() => pass(self, parts)) : Effect.void

/** As {@link offer}, but what has room is said right here, and the effect is only to wait. */
export const pass = <A, E>(self: Chunks<A, E>, chunk: Chunk<A>): Effect.Effect<void> =>
  offerUnsafe(self, chunk) ? Effect.void : Effect.callback<void>((resume) => {
    const ended = self.queue.state._tag !== "Open"
    if (ended || offerUnsafe(self, chunk)) return resume(Effect.void)
    const waiting = { chunk, resume }
    self.waiting.add(waiting)
    return Effect.sync(() => self.waiting.delete(waiting))
  })

/** Says something if there is room for it now; whether there was. */
export const offerUnsafe = <A, E>(self: Chunks<A, E>, chunk: Chunk<A>): boolean =>
  self.waiting.size === 0 && Queue.sizeUnsafe(self.queue) < capacity && Queue.offerUnsafe(self.queue, chunk)

/**
 * Says something and waits for nothing: it is there behind all that was said before, as soon as there is room, which
 * `onRoom` is told of. False where nobody reads any more.
 */
export const append = <A, E>(self: Chunks<A, E>, chunk: Chunk<A>, onRoom: () => void): boolean => {
  if (self.queue.state._tag !== "Open") return false
  if (offerUnsafe(self, chunk)) onRoom()
  else self.waiting.add({ chunk, resume: onRoom })
  return true
}

// =============================================================================
// Internals
// =============================================================================

// Whoever goes on may say more, behind what waits.
const refill = <A, E>({ queue, waiting }: Chunks<A, E>): void => {
  for (const entry of waiting) {
    if (Queue.sizeUnsafe(queue) >= capacity) return
    waiting.delete(entry)
    Queue.offerUnsafe(queue, entry.chunk)
    entry.resume(Effect.void)
  }
}

// What waits was said before the end, and what comes after it is not heard.
const end = <A, E>({ queue, waiting }: Chunks<A, E>, close: () => void): void => {
  const last = [...waiting]
  waiting.clear()
  for (const { chunk } of last) Queue.offerUnsafe(queue, chunk)
  close()
  for (const { resume } of last) resume(Effect.void)
}
