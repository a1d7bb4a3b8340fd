/** L1 which call goes on without being asked about: the one that waited, and no other of its tool. */
import { assert, describe, it } from "@effect/vitest"
import * as Approver from "../../src/Approver.ts"
import * as Deferral from "../../src/internal/tool/deferral.ts"

describe("L1 a handler that goes on from where it waited", () => {
  it("L1 lets its own call go on, and no other that it makes of the same toolkit", () => {
    const resumption: Deferral.Resumption = {
      interaction: "text",
      state: null,
      kept: null,
      answer: "42",
      decidedBy: Approver.decidedBy(undefined, "message")
    }
    const run: Deferral.Run = {
      toolName: "Ask",
      toolCallId: "c1",
      resumption,
      began: undefined,
      agents: { began: false }
    }
    for (
      const [of, name, id, resumes] of [
        [run, "Ask", "c1", true],
        [run, "Ask", "c2", false],
        [run, "Ask", undefined, false],
        [run, "Other", "c1", false],
        [{ ...run, resumption: undefined }, "Ask", "c1", false],
        [undefined, "Ask", "c1", false]
      ] as const
    ) {
      assert.strictEqual(Deferral.resumes(of, name, id), resumes, `${name} ${id}`)
    }
  })
})
