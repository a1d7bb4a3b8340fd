/**
 * Which processes live: each that runs something says so in the store, beat by beat. Six beats of silence are death.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type * as AtomicStore from "../../AtomicStore.ts"

export interface Liveness {
  /** Says that this process lives: now if it has been silent, and then for as long as it is busy. */
  readonly beating: Effect.Effect<void, AtomicStore.AtomicStoreError>
  /** Whether the owner of a claim lives. A claim of our own that no live run has is one that never started. */
  readonly isAlive: (owner: string | undefined) => Effect.Effect<boolean, AtomicStore.AtomicStoreError>
}

export const make = ({ heartbeat, isBusy, margin, owner, scope, store }: {
  readonly store: AtomicStore.AtomicStore
  readonly owner: string
  /** `undefined` where no other process can have a claim. */
  readonly heartbeat: Duration.Duration | undefined
  readonly margin: number
  readonly isBusy: () => boolean
  readonly scope: Scope.Scope
}): Liveness => {
  if (heartbeat === undefined) return { beating: Effect.void, isAlive: () => Effect.succeed(false) }
  const interval = Duration.toMillis(heartbeat)
  const key = (id: string): string => `owner/${id}`
  let lastBeat = Number.NEGATIVE_INFINITY
  let beats: Fiber.Fiber<unknown> | undefined
  const beat = Effect.flatMap(
    Clock.currentTimeMillis,
    (now) =>
      Effect.map(store.put(key(owner), `${now} ${interval}`, { expiresAt: now + margin }), () => {
        lastBeat = now
      })
  )
  return {
    beating: Effect.gen(function*() {
      if ((yield* Clock.currentTimeMillis) - lastBeat >= interval) yield* beat
      beats ??= yield* Effect.suspend(() => isBusy() ? Effect.ignore(beat) : Effect.void).pipe(
        Effect.delay(heartbeat),
        Effect.forever,
        Effect.forkIn(scope)
      )
    }),
    isAlive: (id) =>
      id === undefined || id === owner ? Effect.succeed(false) : Effect.zipWith(
        store.get(key(id)),
        Clock.currentTimeMillis,
        (stored, now) => {
          // By the beat of the process that promised it, which may be another than ours.
          const [at, promised] = (stored?.value ?? "").split(" ").map(Number)
          return at !== undefined && promised !== undefined && now - at < 6 * promised
        }
      )
  }
}
