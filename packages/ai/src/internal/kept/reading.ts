/**
 * Reads what happens under a name: one process of several that share it, from where the one before it had come, each event as
 * often as it takes. Who reads raises a number in the store from time to time; whoever waits to read takes over when that has
 * not changed for as long as it takes to say that the other is gone, by its own clock, so that no two clocks are compared.
 */
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Store from "../../Store.ts"
import * as Logging from "../logging.ts"
import * as Cryptography from "../seal/cryptography.ts"
import * as Changes from "../store/changes.ts"
import type { Event, EventFilter, Service } from "./events.ts"

export interface Options {
  readonly filter: EventFilter
  readonly after: string | undefined
  /** Milliseconds, as all of these. */
  readonly every: number
  readonly lease: number
  readonly changes: Changes.Changes | undefined
}

export const pageSize = 100

/** What this process knows of the name, while it reads. */
interface Held {
  version: number
  cursor: string | undefined
  /** When it was last written, by the monotonic clock. */
  writtenAt: number
}

/** So often does whoever reads say that it does, in the time after which it would be gone. */
const beats = 3

export const follow = <E, E2, R>(
  service: Service<E>,
  name: string,
  handle: (event: Event) => Effect.Effect<unknown, E2, R>,
  options: Options
): Effect.Effect<never, never, R> =>
  Effect.gen(function*() {
    const holder = yield* Cryptography.randomToken(9)
    const { after, changes, every, filter, lease } = options

    const retried = <A, E, R>(what: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, never, R> =>
      Effect.gen(function*() {
        for (let failures = 0;; failures++) {
          const exit = yield* Effect.exit(effect)
          if (Exit.isSuccess(exit)) return exit.value
          if (failures % complainsEvery === 0) yield* complain(name, what, exit.cause)
          yield* Effect.sleep(Math.min(shortest * 2 ** failures, longest))
        }
      })

    /** Whether the name is ours still. What was written may have been, also where the store failed to say so. */
    const write = (held: Held, cursor: string | undefined) =>
      Effect.uninterruptible(Effect.gen(function*() {
        const writtenAt = yield* monotonicMillis
        const version = yield* service.move(name, held.version, { cursor, holder })
        if (version === undefined) {
          const found = yield* service.reader(name)
          if (found?.holder !== holder || found.cursor !== cursor) return false
          held.version = found.version
        } else held.version = version
        held.cursor = cursor
        held.writtenAt = writtenAt
        return true
      }))

    const leave = ({ cursor, version }: Held) => Effect.suspend(() => service.move(name, version, { cursor }))

    // Waits until nobody else reads under the name.
    const hold = Effect.gen(function*() {
      let seen: Store.ReaderRow | undefined
      let silent = 0
      let since = yield* monotonicMillis
      while (true) {
        const now = yield* monotonicMillis
        const found = yield* service.reader(name)
        if (found?.version !== seen?.version) {
          silent = 0
          since = now
        } else if (now - since >= lease / beats) {
          silent++
          since = now
        }
        seen = found
        if (found?.holder === undefined || found.holder === holder || silent >= beats) {
          const cursor = found === undefined ? after : found.cursor
          const version = yield* service.move(name, found?.version, { cursor, holder })
          if (version !== undefined) return { version, cursor, writtenAt: now } satisfies Held as Held
        } else {
          yield* Effect.sleep(Math.min(every, lease / beats))
        }
      }
    })

    // Ends, with the handler, when somebody else has taken over.
    const keepHeld = (held: Held) =>
      Effect.gen(function*() {
        while (true) {
          yield* Effect.sleep(lease / beats)
          if (!(yield* retried("say that it reads", write(held, held.cursor)))) return false
        }
      })

    const read = Effect.fnUntraced(function*(held: Held): Effect.fn.Return<void, never, R> {
      let place = held.cursor
      while (true) {
        const changed = Changes.watch(changes, "events")
        const page = yield* retried("read", service.page(filter, { after: place, limit: pageSize }))
        for (const event of page.events) {
          const handled = Effect.as(retried("handle an event", handle(event)), true)
          if (!(yield* Effect.raceFirst(handled, keepHeld(held)))) return
          if (!(yield* retried("keep its place", write(held, event.cursor)))) return
        }
        place = page.next
        if (page.isMore) continue
        const silence = (yield* monotonicMillis) - held.writtenAt
        if (silence >= lease / beats && !(yield* retried("keep its place", write(held, place)))) return
        yield* changed(every)
      }
    })

    while (true) {
      const held = yield* retried("begin", hold)
      yield* Effect.onExit(read(held), () => Effect.ignore(leave(held)))
    }
  })

const monotonicMillis = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1_000_000)

const shortest = 1_000
const longest = 60_000

/** The first time, and then every hour or so. */
const complainsEvery = 60

const complain = (name: string, what: string, cause: Cause.Cause<unknown>) =>
  Logging.warning(`Assent's reader of events "${name}" could not ${what}, and tries again.`, cause)
