/**
 * Which processes live. Each that runs something counts its beats in the store. Whoever has to know whether another one lives
 * looks at that number: where it has not changed for six beats of its own, by its own monotonic clock, the other is dead. So
 * two clocks are never compared, and one that is set to another time changes nothing.
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
  /**
   * Whether the owner of a claim lives, as far as this process has seen: who looks for the first time, or once, never takes
   * anybody for dead. A claim of our own that no live run has is one that never started.
   */
  readonly isAlive: (owner: string | undefined) => Effect.Effect<boolean, Store.StoreError>
}

/**
 * How often, where nothing else is said: where no other process can have a claim, nobody has to be heard. Where one can, it
 * cannot be switched off.
 */
export const heartbeatOf = (
  store: Store.Store,
  heartbeat: Duration.Input | undefined
): Duration.Duration | undefined => {
  const given = heartbeat === undefined ? undefined : Duration.fromInputUnsafe(heartbeat)
  if (given !== undefined && isBeat(Duration.toMillis(given))) return given
  return store.isShared ? Duration.seconds(1) : undefined
}

const isBeat = (millis: number): boolean => millis > 0 && millis <= longestBeat

// Whoever promised to be heard again later than that has promised nothing.
const longestBeat = 24 * 60 * 60 * 1_000

const longestStep = 4_000

/** How many beats of silence are death. */
const deadly = 6

// What nobody has looked at for that long is not being waited for any more.
const lookedFor = 60_000

/** What was seen of another process. */
interface Seen {
  readonly beat: number | undefined
  /** For how many beats it has not changed, and when the last of these was over. */
  silent: number
  since: number
  lookedAt: number
}

const monotonicMillis = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1_000_000)

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
  let count = 0
  let lastBeat = Number.NEGATIVE_INFINITY
  let beats: Fiber.Fiber<unknown> | undefined
  const beat = Effect.flatMap(
    monotonicMillis,
    (now) =>
      Effect.map(Effect.suspend(() => owners.beat({ id: owner, beat: ++count, every })), () => {
        lastBeat = now
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

  // In the order in which they were looked at, so that it has no more than what is being waited for.
  const seen = new Map<string, Seen>()
  const forgetOthers = (now: number) => {
    for (const [id, { lookedAt }] of seen) {
      if (now - lookedAt < lookedFor) return
      seen.delete(id)
    }
  }

  // One that cannot be read is none; a process that lives writes it anew.
  const lastBeatOf = (id: string): Effect.Effect<Store.OwnerRow | undefined, Store.StoreError> =>
    owners.get(id).pipe(
      Effect.catchIf(({ reason }) => reason === "Corrupt", () => Effect.undefined),
      Effect.map((row) => row !== undefined && isBeat(row.every) && Number.isFinite(row.beat) ? row : undefined)
    )

  const look = (id: string, row: Store.OwnerRow | undefined, now: number): boolean => {
    forgetOthers(now)
    const known = seen.get(id)
    seen.delete(id)
    if (known === undefined || known.beat !== row?.beat) {
      seen.set(id, { beat: row?.beat, silent: 0, since: now, lookedAt: now })
      return true
    }
    seen.set(id, known)
    known.lookedAt = now
    // As long as the process promised it to be, which may beat at another pace than ours.
    const length = row?.every ?? every
    if (now - known.since >= length) {
      known.silent++
      // Whoever was away itself, for however long, has heard nothing for one beat.
      known.since = now - known.since < 2 * length ? known.since + length : now
    }
    return known.silent < deadly
  }

  return {
    beating: Effect.gen(function*() {
      if ((yield* monotonicMillis) - lastBeat >= every) yield* beat
      beats ??= yield* Effect.forkIn(beatWhileBusy, scope)
    }),
    isAlive: (id) =>
      id === undefined || id === owner ? Effect.succeed(false) : Effect.flatMap(
        // The time before it is read: what the store takes for it is nobody's silence.
        monotonicMillis,
        (now) => Effect.map(lastBeatOf(id), (row) => look(id, row, now))
      )
  }
}
