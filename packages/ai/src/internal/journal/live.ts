/** Runs that this process has, or waits for. */
import type * as Deferred from "effect/Deferred"
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
    return Effect.provideService(effect, Activity.Current, run.activity)
  })

/** What another process runs is neither stopped here nor waited for. */
export const isOwn = ({ fiber, waits }: Pick<Run<unknown, unknown>, "fiber" | "waits">): boolean =>
  fiber !== undefined && !waits
