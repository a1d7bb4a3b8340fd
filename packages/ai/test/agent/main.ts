/**
 * Random trees of agents: `npm run agents -- --trees 1000 --seed 7`. The first that goes wrong ends it with code 1, made small,
 * as a line that `--plan` takes; with `--all` it goes on to the others. `--sqlite` keeps everything in a database. `--crowd 1000`
 * says what so many conversations cost that wait at once, and what the answers to one agent cost. `--deaths` lets a process die
 * before and after each write of a story; with `--every 5`, at each fifth of these, with `--part 1/3`, at a third.
 * `--stops` lets somebody press Stop at any write of a turn of so many trees, and before and after each write of one of them.
 */
import { Store } from "@assent/ai"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { parseArgs } from "node:util"
import * as Storage from "../search/storage.ts"
import * as Deaths from "./deaths.ts"
import * as Endings from "./endings.ts"
import * as Many from "./many.ts"
import * as Random from "./random.ts"
import * as Stops from "./stops.ts"
import * as Tree from "./tree.ts"

const { values } = parseArgs({
  options: {
    trees: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    plan: { type: "string" },
    all: { type: "boolean", default: false },
    crowd: { type: "string" },
    deaths: { type: "boolean", default: false },
    stops: { type: "boolean", default: false },
    every: { type: "string", default: "1" },
    part: { type: "string", default: "1/1" },
    sqlite: { type: "boolean", default: false }
  }
})

const trees = Number(values.trees)
const first = Number(values.seed)

const tell = Effect.fnUntraced(function*(plan: Random.Plan, fault: string, name: string) {
  console.log(`${name}: ${fault}`)
  const small = yield* within(Random.smallest(plan))
  console.log(`  ${yield* within(Random.faultOf(small))}`)
  console.log(`  --plan '${JSON.stringify(small)}'`)
  process.exitCode = 1
})

/** Each plan has a clock of its own. */
const within = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, TestClock.layer())

/** Every point of a story, and what is wrong at each. */
const tellAll = <Point, E>(
  what: string,
  all: Effect.Effect<{ readonly points: ReadonlyArray<Point>; readonly problems: ReadonlyArray<string> }, E>,
  problemsAt: (point: Point) => Effect.Effect<ReadonlyArray<string>, E>
) =>
  Effect.gen(function*() {
    const { points: found, problems } = yield* within(all)
    const [part = 1, parts = 1] = values.part.split("/").map(Number)
    const points = found.filter((_, index) => index % Number(values.every) === 0).filter((_, index) =>
      index % parts === part - 1
    )
    for (const problem of problems) console.log(problem)
    let failed = problems.length
    for (const point of points) {
      const problems = yield* within(problemsAt(point))
      for (const problem of problems) console.log(problem)
      if (problems.length > 0) failed++
    }
    console.log(`${points.length} points at which ${what}, ${failed} with problems`)
    if (failed > 0) process.exitCode = 1
  })

/** Every Stop of one tree, and one of each of many. */
const tellStops = Effect.gen(function*() {
  const all = yield* within(Stops.plansOf(Stops.tree, 3, 5))
  const [part = 1, parts = 1] = values.part.split("/").map(Number)
  const plans = all.filter((_, index) => index % (Number(values.every) * parts) === (part - 1) * Number(values.every))
  let random = 0
  for (let seed = first; seed < first + trees; seed++) {
    const plan = yield* within(Stops.planOf(seed))
    if (plan === undefined) continue
    plans.push(plan)
    random++
  }
  let failed = 0
  for (const plan of plans) {
    const problems = yield* within(Stops.problemsOf(plan))
    if (problems.length === 0) continue
    failed++
    console.log(`${problems.join("; ")}\n  --stops --plan '${JSON.stringify(plan)}'`)
    process.exitCode = 1
  }
  const where = `${plans.length - random} of the ${all.length} at every write of one tree, ${random} of random trees`
  console.log(`${plans.length} Stops, ${where}: ${failed} with problems`)
})

const program = Effect.gen(function*() {
  if (values.plan !== undefined && values.stops) {
    const problems = yield* within(Stops.problemsOf(JSON.parse(values.plan)))
    console.log(problems.join("\n") || "Nothing is wrong.")
    if (problems.length > 0) process.exitCode = 1
    return
  }
  if (values.plan !== undefined) {
    const plan: Random.Plan = JSON.parse(values.plan)
    const fault = yield* within(Random.faultOf(plan))
    console.log(fault ?? "Nothing is wrong.")
    if (fault !== undefined) process.exitCode = 1
    return
  }
  if (values.crowd !== undefined) {
    const { each, operations, problems } = yield* within(Many.crowd(Number(values.crowd)))
    console.log(
      `${values.crowd} wait: ${Math.round(each)} bytes each; waking one: ${operations.join(" and ")} operations`
    )
    for (const problem of problems) console.log(problem)
    const pays = Array.from({ length: 20 }, () => Tree.pay)
    const bytes = yield* within(Many.growthOf(Tree.agent([Tree.inner(pays)]), [0, 5, 10, 20]))
    console.log(`20 requests of one agent: ${bytes.join(", ")} bytes after 0, 5, 10 and 20 answers`)
    if (problems.length > 0 || each > 20_000) process.exitCode = 1
    return
  }
  if (values.stops) return yield* tellStops
  if (values.deaths) {
    yield* tellAll("a process dies", Deaths.points, Deaths.problemsAt)
    for (const kind of Endings.kinds) {
      const what = `a process dies while it ends everything (${kind})`
      yield* tellAll(what, Endings.points(kind), (point) => Endings.problemsAt(kind, point))
    }
    return
  }
  const depths = new Map<number, number>()
  const since = performance.now()
  for (let seed = first; seed < first + trees; seed++) {
    const plan = Random.planOf(seed)
    const depth = Tree.depthOf(plan.tree)
    depths.set(depth, (depths.get(depth) ?? 0) + 1)
    const fault = yield* within(Random.faultOf(plan))
    if (fault === undefined) continue
    yield* tell(plan, fault, `seed ${seed}`)
    if (!values.all) return
  }
  const levels = [...depths].toSorted(([one], [other]) => one - other).map(([depth, count]) =>
    `${count} of ${depth} levels`
  )
  console.log(`${trees} trees from seed ${first} in ${Math.round((performance.now() - since) / 1_000)} s:`)
  console.log(`  ${levels.join(", ")}.`)
  if (process.exitCode !== 1) {
    console.log("No request was swallowed, doubled or misrouted; nothing ran unasked or twice.")
  }
})

const makeStore = values.sqlite
  ? await Effect.runPromise((await import("../../../sql/test/search/store.ts")).make)
  : Store.makeMemory()

await Effect.runPromise(Effect.provideService(program, Storage.MakeStore, makeStore))
