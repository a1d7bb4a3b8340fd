/**
 * Each law over random plans in which readers leave, and processes die, stand still, and have clocks that differ. A test
 * per law names the law that is broken, with the smallest plan that breaks it. `npm run laws -- --theme leaving` searches
 * for longer.
 */
import { describeLaws } from "../describe.ts"
import * as Laws from "./laws.ts"
import * as Search from "./search.ts"

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

describeLaws("laws where somebody leaves", {
  search: Search,
  laws: Laws.laws,
  // Of sixteen seeds.
  few: [11, 13],
  plansOfSeed: 60,
  expected,
  timeout: 100_000
})
