/** Random trees of agents, a few: `npm run agents -- --trees 1000 --seed S` takes as many as one likes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Random from "./random.ts"

describe("over random trees of agents", () => {
  it.effect(
    "no request is swallowed, doubled or misrouted, nothing runs unasked or twice, and no provider refuses",
    () =>
      Effect.gen(function*() {
        for (let seed = 1; seed <= 4; seed++) {
          const plan = Random.planOf(seed)
          assert.isUndefined(yield* Random.faultOf(plan), `seed ${seed}: ${JSON.stringify(plan)}`)
        }
      }),
    60_000
  )
})
