/** Runs that this process has, or waits for. */
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Activity from "./activity.ts"
import type { Power } from "./power.ts"

export interface Run<Settled, E> {
  readonly approvalId: string
  readonly power: Power
  readonly settled: Deferred.Deferred<Settled, E>
  readonly activity: Activity.Activity
  fiber: Fiber.Fiber<unknown, unknown> | undefined
  /** For the run of another process. */
  waits: boolean
  /** Recorded once the run was ours and did not come to its end. */
  stop: "none" | "asked" | "recorded"
}

export const make = <Settled, E>(
  options: Pick<Run<Settled, E>, "approvalId" | "power" | "settled">,
  around: Activity.Activity | undefined
): Run<Settled, E> => {
  const run: Run<Settled, E> = {
    ...options,
    activity: Activity.begin(around, {
      interrupt: () => {
        run.stop = "asked"
        run.fiber?.interruptUnsafe()
      }
    }),
    fiber: undefined,
    waits: false,
    stop: "none"
  }
  return run
}

/** What runs as it. It may be stopped from within before whoever began it knows its fiber. */
export const within = <Settled, Failure, A, E, R>(
  run: Run<Settled, Failure>,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    run.fiber = fiber
    return effect
  })

/** Waits for the end of all that this process has, so long. */
export const ended = (runs: Iterable<AnyRun>, patience: Duration.Duration): Effect.Effect<unknown> => {
  const own = Array.from(runs).filter(isOwn)
  return own.length === 0 ? Effect.void : Effect.timeoutOption(
    Effect.forEach(own, ({ activity }) => Deferred.await(activity.ended), { discard: true }),
    patience
  )
}

/** Ends it alone: what goes on within it comes to its own end. Nobody has stopped it, so it may be repeated. */
export const leave = <Settled, E>({ fiber, settled }: Run<Settled, E>): Effect.Effect<void> =>
  Effect.suspend(() => {
    fiber?.interruptUnsafe()
    return Effect.asVoid(Effect.exit(Deferred.await(settled)))
  })

/** Stops the one that was approved so, with all that goes on within it. False where there is none, or it has come to its end. */
export const interrupt = (runs: Iterable<AnyRun>, approvalId: string): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    const run = Array.from(runs).find((run) => run.approvalId === approvalId && isOwn(run))
    return run === undefined
      ? Effect.succeed(false)
      : Effect.map(Activity.stop(run.activity), () => run.stop === "recorded")
  })

type AnyRun = Omit<Run<unknown, unknown>, "settled">

/** What another process runs is neither stopped here nor waited for. */
export const isOwn = ({ fiber, waits }: Pick<AnyRun, "fiber" | "waits">): boolean => fiber !== undefined && !waits
