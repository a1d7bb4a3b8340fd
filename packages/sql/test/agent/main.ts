/**
 * Kills a process before and after every write of a tree of agents: `npm run chaos:agents`. With `--at 120 --side after` at one
 * alone, with `--every 5` at each fifth.
 */
import { Effect } from "effect"
import { parseArgs } from "node:util"
import * as Kill from "./kill.ts"

const { values } = parseArgs({
  options: { at: { type: "string" }, side: { type: "string" }, every: { type: "string", default: "1" } }
})

const program = Effect.gen(function*() {
  const points = (yield* Kill.points).filter((point, index) =>
    values.at === undefined
      ? index % Number(values.every) === 0
      : point.statement === Number(values.at) && (values.side === undefined || values.side === point.side)
  )
  const since = performance.now()
  let failed = 0
  yield* Effect.forEach(points, (point) =>
    Effect.map(Kill.problemsAt(point), (problems = []) => {
      for (const problem of problems) console.log(problem)
      if (problems.length > 0) failed++
    }), { concurrency: 4 })
  console.log(
    `${points.length} points in ${Math.round((performance.now() - since) / 1_000)} s, ${failed} with problems`
  )
  if (failed > 0) process.exitCode = 1
})

await Effect.runPromise(program)
