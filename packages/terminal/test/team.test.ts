/** `scratchpad/team.ts` at a terminal: two people are asked, one after the other, for what an agent of the lead wants to pay. */
import { assert, describe, it } from "@effect/vitest"
import * as Path from "node:path"
import { type Program, withProgram } from "./pty.ts"

const file = Path.join(import.meta.dirname, "../../../scratchpad/team.ts")

/** The question that is asked last, to its last row. */
const asked = (program: Program): string => program.rows("━━ May this run?")

/** What the program says of what was paid. */
const paid = (program: Program): string | undefined => /^paid +(.+)$/m.exec(program.text)?.[1]

describe.concurrent("a team of agents at a terminal", () => {
  it(
    "pays when both have agreed, says which agent asks, and a yes that comes too late pays nothing",
    () =>
      withProgram(file, { columns: 100, rows: 40 }, async (program) => {
        await program.ready("d details")
        assert.match(asked(program), /Asked by +main › Treasurer, in team\n/)
        assert.match(asked(program), /Approvers +grace, and kim\n/)
        await program.press("y", "starts again")
        await program.ready("d details")
        assert.match(asked(program), /Still needed: kim\./)
        assert.include(asked(program), "amount = 120")
        assert.isUndefined(paid(program))
        await program.press("y", "The lamp: paid 120")
        await program.see("Buy the chair.")
        await program.ready("d details")
        assert.include(asked(program), "amount = 300")
        program.type("y")
        assert.strictEqual(await program.ended(), 0)
        assert.match(program.text.replace(/\s+/g, " "), /approves, too late .* its state is "superseded"/)
        assert.strictEqual(paid(program), "120 to Lamps & Chairs Ltd")
      }),
    60_000
  )

  it(
    "pays nothing where one of them declines, and Ctrl-C at the next question ends with 130",
    () =>
      withProgram(file, { columns: 60, rows: 40 }, async (program) => {
        await program.ready("d details")
        program.type("n")
        await program.ready("goes back")
        await program.press("not now", "not now")
        // Of one read with a text, Enter would be a line of a paste.
        await program.press("\r", "The lamp: it was not done.")
        await program.ready("d details")
        assert.include(asked(program), "amount = 300")
        program.type("\x03")
        assert.strictEqual(await program.ended(), 130)
        assert.notMatch(program.text, /Error|\.ts:\d/)
      }),
    60_000
  )
})
