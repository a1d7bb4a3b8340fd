/**
 * Three levels of agents and a restart after every single step, in short: layers of its own for each step, over one file.
 * `npm run chaos:agents -- --restarts 20` does so with processes.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as World from "../chaos/world.ts"
import * as Restarts from "./restarts.ts"

describe("three levels of agents, each of which asks", () => {
  it.live(
    "L7 go on after a restart at every step, and no provider refuses what any of them is sent",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const { filename, folder } = yield* World.make
        const { problems, steps } = yield* Restarts.problemsOf(folder, filename, 1, Restarts.take)
        assert.deepStrictEqual(problems, [])
        assert.isAbove(steps, 8)
      })),
    30_000
  )
})
