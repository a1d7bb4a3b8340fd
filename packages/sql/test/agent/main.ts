/**
 * Kills a process before and after every write of a tree of agents: `npm run chaos:agents`. With `--at 120 --side after` at one
 * alone, with `--every 5` at each fifth; `--part 1/3` takes a third of them.
 */
import { Effect } from "effect"
import { parseArgs } from "node:util"
import * as Kill from "./kill.ts"

const { values } = parseArgs({
  options: {
    at: { type: "string" },
    side: { type: "string" },
    every: { type: "string", default: "1" },
    part: { type: "string", default: "1/1" }
  }
})

const program = Effect.gen(function*() {
  const [part = 1, parts = 1] = values.part.split("/").map(Number)
  const points = (yield* Kill.points).filter((point, index) =>
    values.at === undefined
      ? index % Number(values.every) === 0
      : point.statement === Number(values.at) && (values.side === undefined || values.side === point.side)
  ).filter((_, index) => index % parts === part - 1)
  const since = performance.now()
  let failed = 0
  let done = 0
  yield* Effect.forEach(points, (point) =>
    Effect.map(Kill.problemsAt(point), (problems = []) => {
      for (const problem of problems) console.log(problem)
      if (problems.length > 0) failed++
      if (++done % 50 === 0) console.log(`${done} of ${points.length}, ${failed} with problems`)
    }), { concurrency: 4 })
  console.log(
    `${points.length} points in ${Math.round((performance.now() - since) / 1_000)} s, ${failed} with problems`
  )
  if (failed > 0) process.exitCode = 1
})

await Effect.runPromise(program)
