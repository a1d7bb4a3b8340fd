/** Opens a store and never closes it; with "fail", on a disk that gets full while something runs. */
import * as ApprovalJournal from "@assent/ai/ApprovalJournal"
import * as Store from "@assent/ai/Store"
import { SqlApproval } from "@assent/sql"
import { Effect, Layer, Logger, ManagedRuntime } from "effect"
import { DatabaseSync } from "node:sqlite"

const filename = "approvals.db"
const runtime = ManagedRuntime.make(Layer.merge(SqlApproval.layer({ filename }), Logger.layer([])))

const claim = (nonce: string): ApprovalJournal.Claim => ({
  approvalId: `apr-${nonce}`,
  nonce,
  expiresAt: Infinity,
  toolName: "SendMail",
  toolCallId: "call-1"
})

const program = Effect.gen(function*() {
  const store = yield* Store.Store
  const journal = yield* ApprovalJournal.ApprovalJournal
  yield* store.requests.get("none")
  const recorded = new ApprovalJournal.Recorded({ isFailure: false, encodedResult: "x".repeat(1_000_000) })
  const ran = Effect.sync((): ApprovalJournal.Ran => {
    if (process.argv[2] === "fail") {
      // What a damaged file is to whoever reads it: the table is gone.
      const other = new DatabaseSync(filename)
      other.exec("DROP TABLE assent_request")
      other.close()
    }
    return { recorded, result: null, encodedResult: null }
  })
  yield* Effect.exit(journal.run(claim("n"), { effect: ran, idempotent: false }))
})

await runtime.runPromise(program)
console.log("done")
