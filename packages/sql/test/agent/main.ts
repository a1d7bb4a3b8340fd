/**
 * Kills a process before and after every write of a tree of agents: `npm run chaos:agents`. With `--at 120 --side after` at one
 * alone, with `--every 5` at each fifth; `--part 1/3` takes a third of them.
 * `--restarts 20` plays it so many times instead, each step in a process of its own, with answers in any order.
 */
import { Effect } from "effect"
import * as Path from "node:path"
import { parseArgs } from "node:util"
import * as Child from "../chaos/process.ts"
import * as World from "../chaos/world.ts"
import * as Kill from "./kill.ts"
import * as Restarts from "./restarts.ts"

const { values } = parseArgs({
  options: {
    at: { type: "string" },
    side: { type: "string" },
    every: { type: "string", default: "1" },
    part: { type: "string", default: "1/1" },
    restarts: { type: "string" },
    seed: { type: "string", default: "1" }
  }
})

/** One step, in a process of its own. */
const inProcess: typeof Restarts.take = (folder, filename, step) =>
  Effect.scoped(Effect.gen(function*() {
    const child = yield* Child.start(path, folder, filename, step === undefined ? "" : JSON.stringify(step))
    const standing = yield* child.said("stands")
    yield* child.ended
    return JSON.parse(standing)
  }))

const path = Path.join("..", "..", "agent", "programs", "step.ts")

const restarts = Effect.fnUntraced(function*(count: number) {
  const first = Number(values.seed)
  const seeds = Array.from({ length: count }, (_, index) => first + index)
  const played = yield* Effect.forEach(seeds, (seed) =>
    Effect.scoped(Effect.gen(function*() {
      const { filename, folder } = yield* World.make
      const { problems, steps } = yield* Restarts.problemsOf(folder, filename, seed, inProcess)
      for (const problem of problems) console.log(`seed ${seed}: ${problem}`)
      return { problems, steps }
    })), { concurrency: 2 })
  const failed = played.filter(({ problems }) => problems.length > 0).length
  const steps = played.reduce((sum, { steps }) => sum + steps, 0)
  console.log(`${count} stories in ${steps} processes, one for each step; ${failed} with problems`)
  if (failed > 0) process.exitCode = 1
})

const program = Effect.gen(function*() {
  if (values.restarts !== undefined) return yield* restarts(Number(values.restarts))
  const [part = 1, parts = 1] = values.part.split("/").map(Number)
  const points = (yield* Kill.points).filter((point, index) =>
    values.at === undefined
      ? index % Number(values.every) === 0
      : point.write === Number(values.at) && (values.side === undefined || values.side === point.side)
  ).filter((_, index) => index % parts === part - 1)
  const since = performance.now()
  let failed = 0
  let done = 0
  yield* Effect.forEach(points, (point) =>
    Effect.map(Kill.problemsAt(point), (problems) => {
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
