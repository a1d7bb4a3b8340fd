/**
 * The search: random plans, each carried out once, all laws checked on what happened. Used by the tests, which search
 * for a moment, and by `npm run laws`, which searches for as long as one likes.
 */
import { Cause, Effect, Exit } from "effect"
import * as Arbitrary from "./arbitrary.ts"
import * as Coverage from "./coverage.ts"
import * as Laws from "./laws.ts"
import type * as Plan from "./plan.ts"
import * as Shrink from "./shrink.ts"
import * as World from "./world.ts"

/** A plan that breaks a law. */
export interface Failure extends Laws.Breach {
  readonly plan: Plan.Plan
  /** How many plans had been tried by then, this one included. */
  readonly tried: number
}

export interface Progress {
  readonly tried: number
  readonly coverage: Coverage.Coverage
  readonly failures: ReadonlyArray<Failure>
}

export interface Options {
  readonly seed: string | number
  readonly runs: number
  /** What is made of each plan before it is carried out, for a search that is about some plans only. */
  readonly adapt?: ((plan: Plan.Plan) => Plan.Plan) | undefined
  /** Carried out after each batch of plans; the search ends when it gives false. */
  readonly onProgress?: ((progress: Progress) => Effect.Effect<boolean>) | undefined
}

// A failure of the world itself, which no law foresees.
const broken = "World"

/** What happens when a plan is carried out, and the laws that are broken. */
export const examine = (
  plan: Plan.Plan
): Effect.Effect<{ readonly happened: Laws.Case | undefined; readonly breaches: ReadonlyArray<Laws.Breach> }> =>
  Effect.map(Effect.exit(World.carryOut(plan)), (exit) => {
    if (Exit.isFailure(exit)) {
      return { happened: undefined, breaches: [{ law: broken, what: Cause.pretty(exit.cause) }] }
    }
    const happened = Laws.makeCase(exit.value)
    return { happened, breaches: Laws.check(happened) }
  })

const batch = 100

/** Tries plans and keeps the first failure of each law. */
export const search = Effect.fnUntraced(
  function*({ adapt, onProgress, runs, seed }: Options): Effect.fn.Return<Progress> {
    yield* warmUp
    const coverage = Coverage.make()
    const failures = new Map<string, Failure>()
    let tried = 0
    for (let start = 0; start < runs; start += batch) {
      for (const drawn of yield* Arbitrary.plans(`${seed}/${start / batch}`, Math.min(batch, runs - start))) {
        const plan = adapt?.(drawn) ?? drawn
        const { breaches, happened } = yield* examine(plan)
        tried++
        if (happened !== undefined) Coverage.count(coverage, happened)
        for (const breach of breaches) {
          if (!failures.has(breach.law)) failures.set(breach.law, { ...breach, plan, tried })
        }
      }
      const goesOn = onProgress?.({ tried, coverage, failures: Array.from(failures.values()) })
      if (goesOn !== undefined && !(yield* goesOn)) break
    }
    return { tried, coverage, failures: Array.from(failures.values()) }
  }
)

/**
 * What is made once for all plans is made here, so that the first plan takes the course it takes anywhere else: a tool's
 * codec, for example, is found in fewer steps than it is built.
 */
const warmUp: Effect.Effect<void> = Effect.flatMap(
  Arbitrary.plans("warm up", 20),
  (plans) => Effect.forEach(plans, World.carryOut, { discard: true })
)

/** The smallest plan that breaks the same law as this one, and how. */
export const shrink = Effect.fnUntraced(function*(failure: Failure): Effect.fn.Return<Failure> {
  let what = failure.what
  const plan = yield* Shrink.shrink(failure.plan, (plan) =>
    Effect.map(examine(plan), ({ breaches }) => {
      const breach = breaches.find(({ law }) => law === failure.law)
      if (breach !== undefined) what = breach.what
      return breach !== undefined
    }))
  return { ...failure, plan, what }
})
