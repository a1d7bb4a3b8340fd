/**
 * `npm run laws -- --exhaustive`: every standing of a call against the laws, and every table that is wrong in one place
 * against them. Two requests, and two answers under
 * policies that name people, are walked whole where little else differs, and else for some time. Then levels inside one
 * another.
 */
import { Console, Effect } from "effect"
import type { Standing } from "../../src/internal/decide/standing.ts"
import { decide, rows } from "../../src/internal/decide/table.ts"
import * as Composition from "./composition.ts"
import * as Configurations from "./configurations.ts"
import { fold, wrong } from "./folds.ts"
import { laws } from "./laws.ts"
import * as Mutants from "./mutants.ts"
import * as Report from "./report.ts"
import { walk } from "./walk.ts"

const whole: ReadonlyArray<Configurations.Make> = [
  Configurations.history([1]),
  Configurations.history([2], Configurations.unnamed),
  Configurations.twoNamed(),
  Configurations.answered,
  Configurations.waits,
  Configurations.received,
  Configurations.guarded,
  Configurations.hosted
]

const limited: ReadonlyArray<Configurations.Make> = [
  Configurations.history([2]),
  Configurations.history([1, 1]),
  Configurations.history([2, 2])
]

const limit = 20_000

/** Small enough to be walked for each change of the table, and together they meet every decision. */
export const brief: ReadonlyArray<Configurations.Make> = [
  Configurations.guarded,
  Configurations.received,
  Configurations.hosted,
  () => Configurations.someOfOne(),
  () => Configurations.someAnswered(),
  () => Configurations.someWaits(),
  () => Configurations.someOfTwo(),
  Configurations.someOfTwoNamed
]

/** For each run of the tests: fewer of each kind. */
export const short: ReadonlyArray<Configurations.Make> = [
  Configurations.guarded,
  Configurations.received,
  Configurations.hosted,
  () => Configurations.someOfOne(true),
  () => Configurations.someAnswered(true),
  () => Configurations.someWaits(true),
  () => Configurations.someOfTwo(true),
  Configurations.someOfTwoNamed
]

export const decideBy: Mutants.DecideBy = (table) => (standing: Standing) => decide(standing, table)

const walkAll = Effect.fnUntraced(function*(make: Configurations.Make, milliseconds = Infinity) {
  const startedAt = performance.now()
  const walked = walk(make(), { decide, laws, isOver: () => performance.now() - startedAt > milliseconds })
  yield* Console.log(Report.walked(walked, performance.now() - startedAt))
  return walked.breaches.length === 0 && (!walked.whole || walked.standings === walked.size)
})

const changeAll = Effect.gen(function*() {
  const startedAt = performance.now()
  const configurations = brief.map((make) => make())
  const { alike, mutants } = Mutants.mutants(rows, configurations, decideBy)
  const judged: Array<Mutants.Judged> = []
  for (const mutant of mutants) {
    judged.push(Mutants.judge(mutant, rows, configurations, laws, decideBy))
    // So that Ctrl-C is heard.
    yield* Effect.yieldNow
  }
  yield* Console.log(Report.judged(judged, alike))
  yield* Console.log(`${rows.length} rows, ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`)
  return judged.every(({ breach, differs }) => breach !== undefined || differs !== "decides")
})

const deep = ["none", "silent", "allow", "ask", "block", "fail"] as const

const levels: ReadonlyArray<readonly [string, Composition.Options]> = [
  ["one level", { depth: 1 }],
  ["inside × outside", { depth: 2 }],
  ["inside × between × outside", { depth: 3, gates: ["none", "ask", "block"], words: deep }]
]

const composeAll = Effect.gen(function*() {
  yield* Console.log(`${Composition.laws.length} laws of levels`)
  let holds = true
  for (const [name, options] of levels) {
    const startedAt = performance.now()
    const walked = yield* Composition.walk(fold, options)
    yield* Console.log(Report.composition(name, walked, performance.now() - startedAt))
    holds = walked.breaches.length === 0 && holds
  }
  const unnoticed: Array<string> = []
  for (const one of wrong) {
    const { breaches } = yield* Composition.walk(one.fold, { depth: 2, untilBreach: true })
    if (breaches.length === 0) unnoticed.push(one.name)
  }
  yield* Console.log(`${wrong.length} wrong folds, ${wrong.length - unnoticed.length} of them noticed`)
  for (const name of unnoticed) yield* Console.log(`  unnoticed: ${name}`)
  return holds && unnoticed.length === 0
})

/** Whether every law holds, and no change of the table, or of how levels become one, goes unnoticed. */
export const exhaustive: Effect.Effect<boolean> = Effect.gen(function*() {
  yield* Console.log(`${laws.length} laws, ${rows.length} rows`)
  let holds = true
  for (const make of whole) holds = (yield* walkAll(make)) && holds
  for (const make of limited) holds = (yield* walkAll(make, limit)) && holds
  holds = (yield* changeAll) && holds
  return (yield* composeAll) && holds
})
