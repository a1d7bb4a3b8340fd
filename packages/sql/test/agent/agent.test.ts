/**
 * Agents inside agents, and a process that dies at any level, in short: a few points, the same ones each time.
 * `npm run chaos:agents` takes them all.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Choose from "../chaos/choose.ts"
import * as Kill from "./kill.ts"

describe("a process of agents inside agents that is killed", () => {
  it.live("between any two writes of any level loses no request, and pays nothing twice", () =>
    Effect.gen(function*() {
      const points = yield* Kill.points
      assert.isAbove(points.length, 100)
      const problems = yield* Effect.forEach(Choose.some(points, 4, 1), Kill.problemsAt, { concurrency: 4 })
      assert.deepStrictEqual(problems.flat(), [])
    }), 60_000)
})
