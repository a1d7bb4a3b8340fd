/**
 * Agents inside agents, and a process that dies at any level, in short: two points, the same ones each time.
 * `npm run chaos:agents` takes them all.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Kill from "./kill.ts"

// Within the second level, and within the third.
const points: ReadonlyArray<Kill.Point> = [{ write: 170, side: "after" }, { write: 290, side: "before" }]

describe("a process of agents inside agents that is killed", () => {
  it.live("between any two writes of any level loses no request, and pays nothing twice", () =>
    Effect.gen(function*() {
      const problems = yield* Effect.forEach(points, Kill.problemsAt, { concurrency: 2 })
      assert.deepStrictEqual(problems, [[], []])
    }), 60_000)
})
