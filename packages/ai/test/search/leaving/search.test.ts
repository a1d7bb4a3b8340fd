/**
 * Each law over random plans in which readers leave, and processes die, stand still, and have clocks that differ. A test
 * per law names the law that is broken, with the smallest plan that breaks it. `npm run laws -- --theme leaving` searches
 * for longer.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Report from "../report.ts"
import * as Laws from "./laws.ts"
import * as Search from "./search.ts"

// Of sixteen seeds these are the fewest whose plans meet everything below, so that few plans will do.
const seed = [11, 13].map((index) => `few/${index}`)

const plansOfSeed = 60

const runs = seed.length * plansOfSeed

// One search for all tests of this file, begun by whichever comes first.
const found = Effect.runSync(Effect.cached(Search.search({ seed, runs: plansOfSeed })))

const timeout = 100_000

/** How many of 4,000 plans at least have to concern a law, for its test to mean something. */
const usually = 300

describe("laws where somebody leaves", () => {
  for (const law of Laws.laws) {
    it.effect(`${law.name} ${law.title}`, () =>
      Effect.gen(function*() {
        const { coverage, failures } = yield* found
        const failure = failures.find((failure) => failure.law === law.name)
        if (failure !== undefined) assert.fail(Report.failure(yield* Search.shrink(failure)))
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

const expected: ReadonlyArray<string> = [
  ...["Leave", "Die", "Block", "Cancel"].flatMap((step) =>
    ["inline", "deferred", "ungated"].map((kind) => `${step} in a run: ${kind}`)
  ),
  ...["Leave", "Die", "Block"].map((step) => `${step} in a run, under Chat`),
  "Cancel elsewhere than in a run: deferred",
  ...["succeeded", "failed", "died", "interrupted", "suspended"].map((outcome) => `run ${outcome}`),
  ...["running", "done", "failed", "denied", "superseded", "suspended", "unknown"].map((state) => `fate ${state}`),
  ...["success", "failure", "left"].map((how) => `turn ${how}`),
  "goes on after it waited",
  "an idempotent tool runs again",
  "a late end replaces what was unknown",
  "clocks that differ"
]
