/** The laws of the engine over random histories, with the bridge between it and the model. `npm run laws -- --bridge`. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Report from "../../ai/test/search/report.ts"
import * as Search from "../../ai/test/search/search.ts"
import * as Bridge from "./search/bridge.ts"

const runs = 60

describe("laws over the bridge", () => {
  it.effect(`hold for ${runs} random histories`, () =>
    Effect.gen(function*() {
      const problems: Bridge.Problems = new Set()
      const found = yield* Bridge.within(problems)(
        Search.search({ seed: "bridge 1", runs, adapt: Bridge.adapt })
      )
      for (const failure of found.failures) {
        assert.fail(Report.failure(yield* Bridge.within(problems)(Search.shrink(failure))))
      }
      assert.deepStrictEqual([...problems].slice(0, 3), [])
      assert.strictEqual(found.tried, runs)
      for (const what of ["an approval reached the provider (ours)", "a denial reached the provider (ours)"]) {
        assert.isAbove(found.coverage.get(what) ?? 0, 0, what)
      }
    }), { timeout: 60_000 })
})
