/** A process that dies at any level, in short: `npm run agents -- --deaths` takes every point, `npm run chaos:agents` kills. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Deaths from "./deaths.ts"
import * as Endings from "./endings.ts"

describe("a process that dies between any two writes of any level", () => {
  it.effect("L2 loses no request, pays nothing twice, and leaves no agent unknown", () =>
    Effect.gen(function*() {
      const { points, problems } = yield* Deaths.points
      assert.deepStrictEqual(problems, [])
      assert.isAbove(points.length, 60)
      // Others each day would be better than the same, but whoever is told of one has to find it again.
      for (let index = 120; index < points.length; index += 190) {
        assert.deepStrictEqual(yield* Deaths.problemsAt(points[index]!), [])
      }
    }), 60_000)

  it.effect(
    "L6 while it ends everything ends an agent's call with all that is asked within it, or nothing of it",
    () =>
      Effect.gen(function*() {
        for (const [index, kind] of Endings.kinds.entries()) {
          const { points, problems } = yield* Endings.points(kind)
          assert.deepStrictEqual(problems, [])
          assert.isAbove(points.length, 10)
          for (const point of points.slice(4 + index, 5 + index)) {
            assert.deepStrictEqual(yield* Endings.problemsAt(kind, point), [])
          }
        }
      }),
    60_000
  )
})
