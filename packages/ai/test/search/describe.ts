/** The tests of a search: one for each law over the same random plans, each carried out once; and one for each plan kept. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Report from "./report.ts"
import type * as Searching from "./searching.ts"

type Search<Plan, Case> = ReturnType<typeof Searching.make<Plan, Case>>

/** How many of 4,000 plans at least have to concern a law, for its test to mean something. */
const usually = 300

export const describeLaws = <Plan, Case>(name: string, { expected, few, laws, plansOfSeed, search, timeout }: {
  readonly search: Pick<Search<Plan, Case>, "search" | "shrink">
  readonly laws: ReadonlyArray<Searching.Law<Case>>
  /** The fewest seeds whose plans meet everything that is expected, so that few plans will do. */
  readonly few: ReadonlyArray<number>
  readonly plansOfSeed: number
  /** What the plans have to meet. */
  readonly expected: ReadonlyArray<string>
  readonly timeout: number
}): void => {
  const seed = few.map((index) => `few/${index}`)
  const runs = seed.length * plansOfSeed
  // One search for all tests, begun by whichever comes first.
  const found = Effect.runSync(Effect.cached(search.search({ seed, runs: plansOfSeed })))

  describe(name, () => {
    for (const law of laws) {
      it.effect(`${law.name} ${law.title}`, () =>
        Effect.gen(function*() {
          const { coverage, failures } = yield* found
          const failure = failures.find((failure) => failure.law === law.name)
          if (failure !== undefined) assert.fail(Report.failure(yield* search.shrink(failure)))
          const fewest = Math.ceil((law.fewest ?? usually) * runs / 4_000)
          assert.isAtLeast(coverage.get(`law ${law.name}`) ?? 0, fewest, `too few plans concern ${law.name}`)
        }), { timeout })
    }

    it.effect("every plan can be carried out", () =>
      Effect.gen(function*() {
        const { failures, tried } = yield* found
        assert.deepStrictEqual(failures.filter(({ law }) => law === "World"), [])
        assert.strictEqual(tried, runs)
      }), { timeout })

    it.effect("the plans meet what they are to meet", () =>
      Effect.gen(function*() {
        const { coverage } = yield* found
        assert.deepStrictEqual(expected.filter((name) => !coverage.has(name)), [])
      }), { timeout })
  })
}

/** Each file of a folder is what `npm run laws` printed of a plan that once broke a law, with a sentence that says why. */
export const describeCorpus = <Plan, Case>(
  name: string,
  directory: string,
  search: Pick<Search<Plan, Case>, "decodeKept" | "examine">
): void => {
  describe(name, () => {
    for (const file of Fs.readdirSync(directory).toSorted()) {
      const { law, plan, why } = search.decodeKept(Fs.readFileSync(Path.join(directory, file), "utf8"))
      it.effect(`${law} ${why} (${file})`, () =>
        Effect.gen(function*() {
          const { breaches } = yield* search.examine(plan)
          assert.deepStrictEqual(breaches, [])
        }))
    }
  })
}
