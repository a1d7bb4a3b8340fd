/**
 * Time that passes with the event loop, so that a story takes the same course however fast the machine is: a process that
 * died is missed after as many rounds of the loop each time.
 */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

export interface Time {
  readonly clock: Clock.Clock
  readonly stop: () => void
}

const millisOfARound = 50

export const make = (): Time => {
  let now = 0
  let isStopped = false
  let sleeping: ReadonlyArray<{ readonly at: number; readonly wake: () => void }> = []
  const nanos = () => BigInt(now) * 1_000_000n
  const round = () => {
    if (isStopped) return
    now += millisOfARound
    const due = sleeping.filter(({ at }) => at <= now)
    if (due.length > 0) sleeping = sleeping.filter(({ at }) => at > now)
    for (const { wake } of due.toSorted((one, other) => one.at - other.at)) wake()
    setImmediate(round)
  }
  setImmediate(round)
  return {
    stop: () => void (isStopped = true),
    clock: {
      currentTimeMillisUnsafe: () => now,
      currentTimeMillis: Effect.sync(() => now),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: nanos,
      monotonicTimeNanos: Effect.sync(nanos),
      sleep: (duration) =>
        Effect.callback<void>((resume) => {
          const sleeper = { at: now + Duration.toMillis(duration), wake: () => resume(Effect.void) }
          sleeping = [...sleeping, sleeper]
          return Effect.sync(() => sleeping = sleeping.filter((one) => one !== sleeper))
        })
    }
  }
}
