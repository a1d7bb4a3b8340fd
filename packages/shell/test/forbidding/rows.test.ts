/** What a rule that forbids sees, a test for each line. */
import { assert, describe, it } from "@effect/vitest"
import { ApprovalMatcher } from "../../src/index.ts"
import * as Others from "./others.ts"
import * as Removing from "./removing.ts"
import type { Rows } from "./table.ts"

const all: ReadonlyArray<Rows> = [{ pattern: "rm *", refused: Removing.refused, let: Removing.others }, ...Others.rows]

describe.each(all)("a rule that forbids `$pattern`", ({ let: others, pattern, refused }) => {
  const matcher = ApprovalMatcher.shell([pattern], { param: "command" })
  it.each(refused)("refuses %j: %s", (command) => {
    assert.isTrue(matcher.mayCover({ command }))
  })
  it.each(others)("says nothing of %j: %s", (command) => {
    assert.isFalse(matcher.mayCover({ command }))
  })
})

describe("the rows", () => {
  it("are enough, and none stands there twice", () => {
    assert.isAtLeast(Removing.refused.length, 150)
    assert.isAtLeast(all.flatMap(({ refused }) => refused).length, 300)
    assert.isAtLeast(all.flatMap((rows) => rows.let).length, 100)
    for (const { let: others, pattern, refused } of all) {
      const lines = [...refused, ...others].map(([line]) => line)
      assert.strictEqual(new Set(lines).size, lines.length, pattern)
    }
  })
})
