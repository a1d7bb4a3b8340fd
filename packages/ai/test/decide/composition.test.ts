/**
 * Inside × outside: what two levels say of a call, who is named at each, and what the tool says itself, in every way that
 * one can stand inside the other. `npm run laws -- --exhaustive` walks three levels.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Composition from "./composition.ts"
import { fold, wrong } from "./folds.ts"
import * as N from "./nestings.ts"
import * as Report from "./report.ts"

const named = "a turn in a handler"
const inTurns = { [named]: N.nestings[named]! }

describe("L11 inside × outside", () => {
  const walks: Readonly<Record<string, Composition.Options>> = {
    "one level": { depth: 1 },
    "two levels": { depth: 2, gates: ["ask"], words: ["none", "allow", "ask"] },
    "two levels, and what is forbidden": {
      depth: 2,
      gates: ["none"],
      words: ["none", "ask", "block", "fail"],
      whos: ["none", "yes", "strict"]
    },
    "two levels, and what is left to the tool": {
      depth: 2,
      gates: ["none", "block", "fail"],
      words: ["none", "toolGate", "silent", "allow", "ask"],
      whos: ["none", "yes"]
    },
    "two levels that ask": {
      depth: 2,
      gates: ["ask"],
      words: ["none", "ask", "askToEdit", "askAsIs"],
      whos: ["none", "yes", "no"]
    },
    "three levels, briefly": { depth: 3, gates: ["none"], words: ["none", "ask"], nestings: inTurns }
  }
  for (const [name, options] of Object.entries(walks)) {
    it.live(
      `nothing runs that one of them alone would not let run, and what all let run runs: ${name}`,
      () =>
        Effect.gen(function*() {
          const walked = yield* Composition.walk(fold, options)
          assert.deepStrictEqual(walked.breaches.map(Report.composed), [])
        }),
      30_000
    )
  }
})

describe("L11 a fold that is wrong in one place", () => {
  for (const { fold, name } of wrong) {
    it.live(`breaks a law: ${name}`, () =>
      Effect.gen(function*() {
        const { breaches } = yield* Composition.walk(fold, { depth: 2, untilBreach: true })
        assert.isNotEmpty(breaches)
      }), 30_000)
  }
})
