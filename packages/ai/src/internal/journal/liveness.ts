/**
 * Which processes live: each that runs something says so in the store, beat by beat. Six beats of silence are death.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type * as Store from "../../Store.ts"

export interface Liveness {
  /** Says that this process lives: now if it has been silent, and then for as long as it is busy. */
  readonly beating: Effect.Effect<void, Store.StoreError>
  /** Whether the owner of a claim lives. A claim of our own that no live run has is one that never started. */
  readonly isAlive: (owner: string | undefined) => Effect.Effect<boolean, Store.StoreError>
}

/** How often, where nothing else is said: where no other process can have a claim, nobody has to be heard. */
export const heartbeatOf = (store: Store.Store, heartbeat: Duration.Input | undefined): Duration.Duration | undefined =>
  heartbeat !== undefined
    ? Duration.fromInputUnsafe(heartbeat)
    : store.isShared
    ? Duration.seconds(5)
    : undefined

const longestStep = 4_000

export const make = ({ heartbeat, isBusy, owner, owners, scope }: {
  readonly owners: Store.Owners
  readonly owner: string
  /** `undefined` where no other process can have a claim. */
  readonly heartbeat: Duration.Duration | undefined
  readonly isBusy: () => boolean
  readonly scope: Scope.Scope
}): Liveness => {
  if (heartbeat === undefined) return { beating: Effect.void, isAlive: () => Effect.succeed(false) }
  const every = Duration.toMillis(heartbeat)
  let lastBeat = Number.NEGATIVE_INFINITY
  let beats: Fiber.Fiber<unknown> | undefined
  const beat = Effect.flatMap(
    Clock.currentTimeMillis,
    (at) =>
      Effect.map(owners.beat({ id: owner, at, every }), () => {
        lastBeat = at
      })
  )
  // A program that does nothing more is not kept alive by its heart for long; whoever claims next starts it again.
  const beatWhileBusy = Effect.gen(function*() {
    let waited = 0
    while (true) {
      const step = Math.min(every - waited, longestStep)
      yield* Effect.sleep(step)
      if (!isBusy()) break
      waited = (waited + step) % every
      if (waited === 0) yield* Effect.ignore(beat)
    }
    beats = undefined
  })
  return {
    beating: Effect.gen(function*() {
      if ((yield* Clock.currentTimeMillis) - lastBeat >= every) yield* beat
      beats ??= yield* Effect.forkIn(beatWhileBusy, scope)
    }),
    isAlive: (id) =>
      id === undefined || id === owner ? Effect.succeed(false) : Effect.zipWith(
        owners.get(id),
        Clock.currentTimeMillis,
        // By the beat of the process that promised it, which may be another than ours.
        (last, now) => last !== undefined && now - last.at < 6 * last.every
      )
  }
}
