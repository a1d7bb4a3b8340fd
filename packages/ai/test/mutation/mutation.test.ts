import { assert, describe, it } from "@effect/vitest"
import { sample, wingOf } from "./mutants.ts"
import { type Judged, table } from "./report.ts"

describe("mutation", () => {
  it.each([
    ["packages/ai/src/internal/run/loop.ts", "ai run"],
    ["packages/ai/src/internal/text.ts", "ai ground"],
    ["packages/ai/src/Approval.ts", "ai public"],
    ["packages/ai/src/testing/ScriptedModel.ts", "ai testing"],
    ["packages/sql/src/internal/store/rows.ts", "sql"]
  ])("%s belongs to the wing %s", (path, wing) => assert.strictEqual(wingOf(path), wing))

  it("draws the same mutants for the same seed, others for another, and never more than asked for", async () => {
    const draw = (seed: number) => sample({ count: 5, seed, words: ["ai agent"] })
    const [first, again, other] = [await draw(1), await draw(1), await draw(2)]
    assert.lengthOf(first.mutants, 5)
    assert.deepStrictEqual(first.mutants, again.mutants)
    assert.notDeepEqual(first.mutants, other.mutants)
    for (const { id, path } of first.mutants) {
      assert.include(first.files.get(path), `stryMutAct_9fa48("${id}")`, "it can be switched on")
    }
  })

  it("leaves out of the score what only runs while a module loads, and counts what no test reached", () => {
    const judged = (["killed", "killed", "killed", "survived", "unreached", "loaded"] as const).map(
      (standing, index): Judged => ({
        standing,
        id: String(index),
        wing: "ai run",
        path: "packages/ai/src/internal/run/loop.ts",
        line: 1,
        mutator: "BooleanLiteral",
        original: "true",
        replacement: "false"
      })
    )
    assert.include(table(judged, new Map([["ai run", 60]])), "| ai run | 60 | 3 of 5 | 60.0 ± 33 | 1 | 1 | 1 |")
  })
})
