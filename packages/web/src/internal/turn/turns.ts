/** What goes on on this server's own time: turns that wait to begin, and which conversations had one a moment ago. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as Logging from "../logging.ts"
import * as Sentences from "../wire/sentences.ts"
import type { Turn } from "./conversation.ts"
import * as Stopped from "./stopped.ts"
import type { Taken } from "./taking.ts"

export interface Turns {
  /** Takes a turn, and goes on when whoever waits for it leaves. */
  readonly take: (key: string, take: Effect.Effect<Taken, string>) => Effect.Effect<Taking>
  /** Carries out a Stop: until it is done, nobody can say what became of what is stopped. */
  readonly stop: <A, E, R>(key: string, stop: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Waits until nothing is being stopped; `undefined` where nothing is. */
  readonly stopping: (key: string) => Effect.Effect<void> | undefined
  /** One that waits to begin. */
  readonly waiting: (key: string) => Taking | undefined
  /** Somebody has loaded the conversation in the middle of a turn, and will ask for the rest. */
  readonly isLoaded: (key: string) => Effect.Effect<void>
  /** How a turn is over whose end somebody may not have. */
  readonly ended: (key: string) => Effect.Effect<"ended" | "stopped" | undefined>
}

/** It fails with a sentence. */
export type Taking = Effect.Effect<Taken, string>

/** How long a turn that has ended can still be read by a page that has just read the history before its end. */
const lingering = Duration.seconds(5)

const loading = Duration.seconds(30)

/** Each of them has somebody who waits for an answer: more are not people. */
const maxWaiting = 16

const maxRecent = 10_000

// Whoever reads it is told in a sentence.
const told = ({ outcome }: Turn): Effect.Effect<void> =>
  outcome.pipe(
    Effect.tapCause((cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.void : Logging.error("Assent: a turn of a page failed.", cause)
    ),
    Effect.exit,
    Effect.asVoid
  )

export const make: Effect.Effect<Turns, never, Scope.Scope> = Effect.gen(function*() {
  const scope = yield* Effect.scope
  // A turn goes on when its request is over, so it has nothing of it.
  const context = yield* Effect.context<never>()
  const waiting = new Map<string, ReadonlyArray<Taking>>()
  const recent = new Map<string, { readonly until: number; readonly how: "ended" | "stopped" }>()
  const stopping = new Map<string, ReadonlyArray<Effect.Effect<void>>>()

  const note = (key: string, duration: Duration.Duration, how: "ended" | "stopped" = "ended") =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      recent.delete(key)
      recent.set(key, { until: now + Duration.toMillis(duration), how })
      for (const [oldest, { until }] of recent) {
        if (until > now && recent.size <= maxRecent) break
        recent.delete(oldest)
      }
    })

  // Known to whoever has read it to its end.
  const noting = (key: string) => (taken: Taken): Taken => {
    const { turn } = taken
    if (turn === undefined) return taken
    const outcome = Effect.flatMap(
      Effect.exit(turn.outcome),
      (exit) =>
        Effect.andThen(
          note(key, lingering, Exit.isFailure(exit) && Stopped.isStop(exit.cause) ? "stopped" : "ended"),
          exit
        )
    )
    return { ...taken, turn: { ...turn, outcome } }
  }

  const leave = (key: string, taking: Taking) => {
    const others = waiting.get(key)?.filter((one) => one !== taking) ?? []
    if (others.length === 0) waiting.delete(key)
    else waiting.set(key, others)
  }

  return {
    stop: (key, stop) =>
      Effect.suspend(() => {
        const stopped = Deferred.makeUnsafe<void>()
        const one = Deferred.await(stopped)
        stopping.set(key, [...stopping.get(key) ?? [], one])
        return Effect.onExit(stop, () =>
          Effect.sync(() => {
            const others = stopping.get(key)?.filter((other) => other !== one) ?? []
            if (others.length === 0) stopping.delete(key)
            else stopping.set(key, others)
            Deferred.doneUnsafe(stopped, Exit.void)
          }))
      }),
    stopping: (key) => {
      const all = stopping.get(key)
      return all === undefined ? undefined : Effect.all(all, { discard: true })
    },
    waiting: (key) => waiting.get(key)?.[0],
    take: (key, take) =>
      Effect.suspend(() => {
        const others = waiting.get(key) ?? []
        if (others.length >= maxWaiting) return Effect.succeed(Effect.fail(Sentences.tooMany))
        const begun = Deferred.makeUnsafe<Taken, string>()
        const taking = Deferred.await(begun)
        waiting.set(key, [...others, taking])
        const turn = Effect.onExit(Effect.map(take, noting(key)), (exit) =>
          Effect.sync(() => {
            leave(key, taking)
            if (!Exit.hasInterrupts(exit)) Deferred.doneUnsafe(begun, exit)
          }))
        const taken = Effect.flatMap(turn, ({ turn }) => turn === undefined ? Effect.void : told(turn))
        const alone = Effect.updateContext(Effect.exit(taken), (_: Context.Context<never>) => context)
        return Effect.map(Effect.forkIn(alone, scope), (fiber) => {
          // Where the server stops, it may not even have begun to wait.
          fiber.addObserver(() => {
            leave(key, taking)
            Deferred.doneUnsafe(begun, Exit.fail(Sentences.stopping))
          })
          return taking
        })
      }),
    isLoaded: (key) => note(key, loading),
    ended: (key) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const one = recent.get(key)
        return one !== undefined && now < one.until ? one.how : undefined
      })
  }
})
