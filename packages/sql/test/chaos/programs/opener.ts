/** Opens the file of each folder that it is told, with the other at the same moment, and says what it seals there. */
import * as ApprovalSeal from "@assent/ai/ApprovalSeal"
import { SqlApproval } from "@assent/sql"
import { Effect } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Readline from "node:readline"
import { binding } from "../../database.ts"

const seal = Effect.flatMap(ApprovalSeal.ApprovalSeal, ({ seal }) => seal(binding))

Fs.writeSync(1, "ready\n")
for await (const folder of Readline.createInterface({ input: process.stdin })) {
  const { approvalId } = await Effect.runPromise(
    Effect.provide(seal, SqlApproval.layer({ filename: Path.join(folder, "approvals.db") }))
  )
  // Its second part is the id of the key.
  Fs.writeSync(1, `key ${approvalId.split(".")[1]}\n`)
}
