/** Stop at any write of a running turn, a few: `npm run agents -- --stops --trees 1000 --seed S` takes as many as one likes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Stops from "./stops.ts"
import * as Tree from "./tree.ts"

describe("Stop at any write of a turn", () => {
  it.effect(
    "L2 ends everything at every level, as nobody's no, and nothing goes on; what comes late has no effect",
    () =>
      Effect.gen(function*() {
        for (let seed = 1; seed <= 6; seed++) {
          const plan = yield* Stops.planOf(seed)
          if (plan !== undefined) assert.deepStrictEqual(yield* Stops.problemsOf(plan), [], `seed ${seed}`)
        }
      }),
    60_000
  )

  it.effect("L2 ends what has begun to wait in a turn that was stopped before it could say so, with or without agents", () =>
    Effect.gen(function*() {
      for (
        const tree of [Tree.agent([Tree.ask, Tree.ask]), Tree.agent([Tree.inner([Tree.pay]), Tree.inner([Tree.pay])])]
      ) {
        const plans = yield* Stops.plansOf(tree, 1, 1)
        const send = plans.filter(({ way }) => way === "send")
        for (const plan of send.slice(-8)) assert.deepStrictEqual(yield* Stops.problemsOf(plan), [])
      }
    }))
})
