/**
 * Which processes live. Each that runs something counts its beats in the store. Whoever has to know whether another one lives
 * looks at that number: where it has not changed for six beats of its own, by its own monotonic clock, the other is dead. So
 * two clocks are never compared, and one that is set to another time changes nothing.
 *
 * All that is in one process and uses one store has one heart, and shares what it has seen: whoever has waited for the turn
 * of a dead process does not wait once more for what ran in it.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type * as Store from "../../Store.ts"
import * as Cryptography from "../seal/cryptography.ts"

export interface Liveness {
  /** Names this process and, in it, whoever made this. */
  readonly owner: string
  /** Says that this process lives: now if it has been silent, and then for as long as it is busy. */
  readonly beating: Effect.Effect<void, Store.StoreError>
  /**
   * Whether the owner of a claim lives, as far as this process has seen: who looks for the first time, or once, never takes
   * anybody for dead. A claim of our own that no live run has is one that never started; so is one of somebody else in this
   * process who does nothing.
   */
  readonly isAlive: (owner: string | undefined) => Effect.Effect<boolean, Store.StoreError>
}

/**
 * How often, where nothing else is said: where no other process can have a claim, nobody has to be heard. Where one can, it
 * cannot be switched off.
 */
export const heartbeatOf = (
  store: Store.RequestOperations,
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

/** How many beats of silence are death; and where it has lost its connection too, which it would have made again by then. */
const deadly = 6
const deadlyIfGone = 2

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

/** What all that uses a store has in common in this process. */
interface Process {
  readonly id: string
  /** Whether each of those who may own something is busy, by its name. */
  readonly owners: Map<string, () => boolean>
  every: number
  count: number
  lastBeat: number
  /** In the order in which they were looked at, so that it has no more than what is being waited for. */
  readonly seen: Map<string, Seen>
}

const processes = new WeakMap<Store.RequestOperations, Process>()

const processOf = (store: Store.RequestOperations, every: number): Effect.Effect<Process> =>
  Effect.map(Cryptography.randomToken(16), (id) => {
    let process = processes.get(store)
    if (process === undefined) {
      process = { id, owners: new Map(), every, count: 0, lastBeat: Number.NEGATIVE_INFINITY, seen: new Map() }
      processes.set(store, process)
    }
    // Whoever beats more often than it promised does no harm.
    process.every = Math.max(process.every, every)
    return process
  })

const separator = "/"

const monotonicMillis = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1_000_000)

export const make = Effect.fnUntraced(function*({ heartbeat, isBusy, scope, store }: {
  readonly store: Store.RequestOperations
  /** `undefined` where no other process can have a claim. */
  readonly heartbeat: Duration.Duration | undefined
  readonly isBusy: () => boolean
  readonly scope: Scope.Scope
}): Effect.fn.Return<Liveness> {
  const name = yield* Cryptography.randomToken(9)
  if (heartbeat === undefined) return { owner: name, beating: Effect.void, isAlive: () => Effect.succeed(false) }
  const process = yield* processOf(store, Duration.toMillis(heartbeat))
  const owner = process.id + separator + name
  process.owners.set(owner, isBusy)
  yield* Scope.addFinalizer(scope, Effect.sync(() => process.owners.delete(owner)))

  let beats: Fiber.Fiber<unknown> | undefined
  const beatAfter = (silence: number) =>
    Effect.flatMap(monotonicMillis, (now) => {
      const { every, id, lastBeat } = process
      return now - lastBeat < silence
        ? Effect.void
        : Effect.map(Effect.suspend(() => store.owners.beat({ id, beat: ++process.count, every })), () => {
          process.lastBeat = now
        })
    })
  // A program that does nothing more is not kept alive by its heart for long; whoever claims next starts it again.
  const beatWhileBusy = Effect.gen(function*() {
    let waited = 0
    while (true) {
      const { every } = process
      const step = Math.min(every - waited, longestStep)
      yield* Effect.sleep(step)
      if (!isBusy()) break
      waited += step
      if (waited < every) continue
      waited = 0
      // Somebody else in this process may just have done it. Timers are not exact.
      yield* Effect.ignore(beatAfter(every * 0.75))
    }
    beats = undefined
  })

  return {
    owner,
    beating: Effect.gen(function*() {
      yield* beatAfter(process.every)
      beats ??= yield* Effect.forkIn(beatWhileBusy, scope)
    }),
    isAlive: (other) => {
      if (other === undefined || other === owner) return Effect.succeed(false)
      const [id = other] = other.split(separator)
      if (id === process.id) return Effect.sync(() => process.owners.get(other)?.() === true)
      // The time before it is read: what the store takes for it is nobody's silence.
      return Effect.flatMap(
        monotonicMillis,
        (now) => Effect.map(lastBeatOf(store, id), (row) => look(process, id, row, now))
      )
    }
  }
})

// One that cannot be read is none; a process that lives writes it anew.
const lastBeatOf = (
  { owners }: Store.RequestOperations,
  id: string
): Effect.Effect<Store.OwnerRow | undefined, Store.StoreError> =>
  owners.get(id).pipe(
    Effect.catchIf(({ reason }) => reason === "Corrupt", () => Effect.undefined),
    Effect.map((row) => row !== undefined && isBeat(row.every) && Number.isFinite(row.beat) ? row : undefined)
  )

const look = ({ every, seen }: Process, id: string, row: Store.OwnerRow | undefined, now: number): boolean => {
  for (const [other, { lookedAt }] of seen) {
    if (now - lookedAt < lookedFor) break
    seen.delete(other)
  }
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
  return known.silent < (row?.isGone === true ? deadlyIfGone : deadly)
}
