/** L16 what those who let a run begin are worth, by what the journal has of them. */
import { assert, describe, it } from "@effect/vitest"
import * as ApprovalJournal from "../../src/ApprovalJournal.ts"
import * as Approvers from "../../src/internal/gather/approvers.ts"

describe("L16 what has begun", () => {
  it("L16 counts as allowed only by people on record, for these parameters", () => {
    const rule: Approvers.Rule = { lists: [["ada"]], requester: undefined }
    const ada = { id: "ada", via: "conversation" }
    for (
      const [more, counts] of [
        [{ decidedBy: ada }, true],
        [{ decidedBy: { ...ada, id: "eve" } }, false],
        [{ decidedBy: ada, params: "other" }, false],
        [{ approvals: [{ decidedBy: ada }] }, true],
        // Of a run that needed nobody, or is of a journal that keeps no names.
        [{}, false]
      ] as const
    ) {
      const entry = new ApprovalJournal.Entry({ state: "done", toolName: "Pay", toolCallId: "c1", at: 0, ...more })
      assert.strictEqual(Approvers.haveBegun(rule, entry, undefined), counts)
    }
  })
})
