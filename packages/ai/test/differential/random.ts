/**
 * The differential test of one method: random cases, each called as upstream's service and through ours. A case that
 * fails is shrunk and printed with the token that replays it; the seed is fixed.
 */
import { describe, it } from "@effect/vitest"
import * as Compare from "./compare.ts"
import * as Observe from "./observe.ts"
import { Scenario } from "./scenario.ts"

const seed = "A2"

const runs = 100

export const differential = (method: Observe.Method): void => {
  describe(`${method} as upstream's, over random histories and responses (seed "${seed}")`, () => {
    for (const path of Observe.paths) {
      it.effect.prop(
        `L7 L8 DESIGN §4 the same parts, errors, runs and requests [${path}]`,
        [Scenario],
        ([scenario]) => Compare.check(method, path, scenario),
        { timeout: 60_000, arbitrary: { runs, seed, size: 40, maxShrinks: 500 } }
      )
    }
  })
}
