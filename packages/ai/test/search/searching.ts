/**
 * A search: random plans of one kind, each carried out once, all its laws checked on what happened. Used by the tests,
 * which search for a moment, and by `npm run laws`, which searches for as long as one likes.
 */
import { Array as Arr, Cause, Effect, Exit, Schema } from "effect"
import * as Shrink from "./shrink.ts"

/** A kind of plans, with what is searched for in them. */
export interface Subject<Plan, Case> {
  /** Its folder below `packages/ai/test`. */
  readonly folder: string
  readonly schema: Schema.Codec<Plan, unknown>
  readonly plans: (seed: string, count: number) => Effect.Effect<ReadonlyArray<Plan>>
  /** Carries a plan out against the real engine, and gives what happened. */
  readonly carryOut: (plan: Plan) => Effect.Effect<Case>
  readonly laws: ReadonlyArray<Law<Case>>
  /** What a plan met. */
  readonly thingsOf: (happened: Case) => Iterable<string>
  /** Plans that are a little smaller than one, the smallest first. */
  readonly smaller: (plan: Plan) => Iterable<Plan>
}

export interface Law<Case> {
  readonly name: string
  readonly title: string
  /** What breaks the law, each in a sentence. */
  readonly check: (happened: Case) => ReadonlyArray<string>
  /** Whether the law had anything to say here. */
  readonly concerns: (happened: Case) => boolean
  /** How many of 4,000 plans it has to concern at least, where it is of what is rare in them (default 300). */
  readonly fewest?: number
}

export interface Breach {
  readonly law: string
  readonly what: string
}

/** A plan that breaks a law. */
export interface Failure<Plan = unknown> extends Breach {
  readonly plan: Plan
  readonly title: string
  readonly folder: string
  /** How many plans had been tried by then, this one included. */
  readonly tried: number
}

/** How many plans met each thing. */
export type Coverage = Map<string, number>

export interface Progress<Plan> {
  readonly tried: number
  readonly coverage: Coverage
  readonly failures: ReadonlyArray<Failure<Plan>>
}

export interface Options<Plan> {
  /** One, or several that are searched one after the other. */
  readonly seed: string | number | ReadonlyArray<string>
  /** How many plans are drawn from each seed. */
  readonly runs: number
  /** What is made of each plan before it is carried out, for a search that is about some plans only. */
  readonly adapt?: ((plan: Plan) => Plan) | undefined
  /** Carried out after each batch of plans; the search ends when it gives false. */
  readonly onProgress?: ((progress: Progress<Plan>) => Effect.Effect<boolean>) | undefined
}

// A failure of the world itself, which no law foresees.
const broken = "World"

const batch = 100

export const make = <Plan, Case>(
  { carryOut, folder, laws, plans, schema, smaller, thingsOf }: Subject<Plan, Case>
) => {
  /** A plan as a file of the corpus keeps it, with why it is there. */
  const decodeKept = Schema.decodeSync(
    Schema.fromJsonString(Schema.Struct({ law: Schema.String, why: Schema.String, plan: schema }))
  )

  /** What happens when a plan is carried out, and the laws that are broken, the first breach of each. */
  const examine = (
    plan: Plan
  ): Effect.Effect<{ readonly happened: Case | undefined; readonly breaches: ReadonlyArray<Breach> }> =>
    Effect.map(Effect.exit(carryOut(plan)), (exit) => {
      if (Exit.isFailure(exit)) {
        return { happened: undefined, breaches: [{ law: broken, what: Cause.pretty(exit.cause) }] }
      }
      const happened = exit.value
      const breaches = laws.flatMap(({ check, name }) => {
        const [what] = check(happened)
        return what === undefined ? [] : [{ law: name, what }]
      })
      return { happened, breaches }
    })

  const count = (coverage: Coverage, happened: Case) => {
    const things = new Set(thingsOf(happened))
    for (const law of laws) if (law.concerns(happened)) things.add(`law ${law.name}`)
    for (const name of things) coverage.set(name, (coverage.get(name) ?? 0) + 1)
  }

  /** Tries plans and keeps the first failure of each law. */
  const search = Effect.fnUntraced(
    function*({ adapt, onProgress, runs, seed }: Options<Plan>): Effect.fn.Return<Progress<Plan>> {
      yield* warmUp
      const coverage: Coverage = new Map()
      const failures = new Map<string, Failure<Plan>>()
      let tried = 0
      const batches = Arr.ensure(seed).flatMap((seed) =>
        Arr.makeBy(Math.ceil(runs / batch), (index) => ({
          name: `${seed}/${index}`,
          size: Math.min(batch, runs - index * batch)
        }))
      )
      for (const { name, size } of batches) {
        for (const drawn of yield* plans(name, size)) {
          const plan = adapt?.(drawn) ?? drawn
          const { breaches, happened } = yield* examine(plan)
          tried++
          if (happened !== undefined) count(coverage, happened)
          for (const breach of breaches) {
            if (failures.has(breach.law)) continue
            const title = laws.find(({ name }) => name === breach.law)?.title ?? "nothing unforeseen happens"
            failures.set(breach.law, { ...breach, plan, title, folder, tried })
          }
        }
        const goesOn = onProgress?.({ tried, coverage, failures: Array.from(failures.values()) })
        if (goesOn !== undefined && !(yield* goesOn)) break
      }
      return { tried, coverage, failures: Array.from(failures.values()) }
    }
  )

  /**
   * What is made once for all plans is made here, so that the first plan takes the course it takes anywhere else: a
   * tool's codec, for example, is found in fewer steps than it is built.
   */
  const warmUp = Effect.flatMap(plans("warm up", 20), (plans) => Effect.forEach(plans, carryOut, { discard: true }))

  /** The smallest plan that breaks the same law as this one, and how. */
  const shrink = Effect.fnUntraced(function*(failure: Failure<Plan>): Effect.fn.Return<Failure<Plan>> {
    let what = failure.what
    const plan = yield* Shrink.shrink(failure.plan, smaller, (plan) =>
      Effect.map(examine(plan), ({ breaches }) => {
        const breach = breaches.find(({ law }) => law === failure.law)
        if (breach !== undefined) what = breach.what
        return breach !== undefined
      }))
    return { ...failure, plan, what }
  })

  return { decodeKept, examine, search, shrink }
}
