import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Choose from "../chaos/choose.ts"
import { makePrefix, url } from "./database.ts"
import * as Kill from "./kill.ts"

const where = () => ({ url, port: Number(new URL(url).port), prefix: makePrefix() })

describe("a process that is killed", () => {
  it.live(
    "before the server hears of something, or before it hears the answer, loses nothing and does nothing twice",
    () =>
      Effect.gen(function*() {
        const count = yield* Kill.pieces(where())
        assert.isAbove(count, 50)
        const points = Array.from({ length: count }, (_, index) => index + 1).flatMap((piece) => [
          { piece, side: "before" as const },
          { piece, side: "after" as const }
        ])
        const some = Choose.some(points, Number(process.env["KILLS"] ?? 12), 7)
        const problems = yield* Effect.forEach(some, (point) => Kill.problemsAt(point, where()), { concurrency: 4 })
        assert.deepStrictEqual(problems.flat(), [])
      }),
    300_000
  )
})
