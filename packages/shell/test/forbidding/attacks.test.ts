/** Ways around a rule that forbids, each tried against it. */
import { assert, describe, it } from "@effect/vitest"
import { ApprovalMatcher } from "../../src/index.ts"
import * as First from "./attacks.ts"
import * as OfPrograms from "./attacksOfPrograms.ts"
import * as More from "./moreAttacks.ts"

const attacks = [...First.attacks, ...More.attacks]

const rm = ApprovalMatcher.shell(["rm *"], { param: "command" })

const passed = (lines: ReadonlyArray<string>) => lines.filter((command) => !rm.mayCover({ command }))

describe("no way around a rule that forbids `rm *`, by", () => {
  it.each(attacks)("%s", (_, lines) => {
    assert.isAtLeast(lines.length, 3)
    assert.deepStrictEqual(passed(lines), [])
  })

  it("programs that not every machine has", () => {
    assert.isAtLeast(OfPrograms.attacks.length, 100)
    assert.deepStrictEqual(passed(OfPrograms.attacks), [])
  })

  it("lines that stand there once", () => {
    const lines = [...attacks.flatMap(([, lines]) => lines), ...OfPrograms.attacks]
    assert.strictEqual(new Set(lines).size, lines.length)
  })
})
