/** A clock that knows how many fibers wait for it. */
import { Clock, Effect } from "effect"

export const makeClock = Effect.map(Clock.Clock, (time) => {
  let asleep = 0
  const clock: Clock.Clock = {
    ...time,
    sleep: (duration) =>
      Effect.suspend(() => {
        asleep++
        return Effect.ensuring(time.sleep(duration), Effect.sync(() => asleep--))
      })
  }
  return { asleep: () => asleep, clock }
})
