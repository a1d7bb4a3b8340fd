/**
 * What a claim and its record cost on SQLite with each commit on the disk, beside the two transactions of `node:sqlite` that
 * nobody who keeps both can do without. They stand in two files of one folder.
 */
import { ApprovalJournal } from "@assent/ai"
import { SqlApproval } from "@assent/sql"
import { NodeServices } from "@effect/platform-node"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import { DatabaseSync } from "node:sqlite"
import * as Harness from "./harness.ts"

const operations = 20

const ran: ApprovalJournal.Ran = {
  recorded: new ApprovalJournal.Recorded({ isFailure: false, encodedResult: { deleted: true } }),
  result: { deleted: true },
  encodedResult: { deleted: true }
}

let last = 0

const claimed = Effect.gen(function*() {
  const journal = yield* ApprovalJournal.ApprovalJournal
  return Harness.timed(Effect.gen(function*() {
    for (let i = 0; i < operations; i++) {
      const which = last++
      const { entry } = yield* journal.run({
        approvalId: `apr1.key.${which}`,
        nonce: `nonce-${which}`,
        expiresAt: Date.now() + 86_400_000,
        toolName: "DeleteFile",
        toolCallId: `call-${which}`
      }, { effect: Effect.succeed(ran), idempotent: false })
      if (entry.state !== "done") throw new Error(`It ended ${entry.state}.`)
    }
  }))
})

const bare = (filename: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const database = new DatabaseSync(filename)
        database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        database.exec("CREATE TABLE request (nonce TEXT PRIMARY KEY, state TEXT NOT NULL, entry TEXT NOT NULL) STRICT")
        return database
      }),
      (database) => Effect.sync(() => database.close())
    ),
    (database) => {
      const begin = database.prepare("BEGIN IMMEDIATE")
      const commit = database.prepare("COMMIT")
      const insert = database.prepare("INSERT INTO request VALUES (?, 'running', ?)")
      const update = database.prepare(
        "UPDATE request SET state = 'done', entry = ? WHERE nonce = ? AND state = 'running'"
      )
      const entry = JSON.stringify({ state: "running", toolName: "DeleteFile", toolCallId: "call-1", at: Date.now() })
      return Harness.timed(Effect.sync(() => {
        for (let i = 0; i < operations; i++) {
          const nonce = `nonce-${last++}`
          begin.run()
          insert.run(nonce, entry)
          commit.run()
          begin.run()
          update.run(entry, nonce)
          commit.run()
        }
      }))
    }
  )

export const sqlite = Effect.scoped(Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "assent-bench-" })
  const theirs = yield* bare(path.join(folder, "bare.db"))
  const compared = Effect.gen(function*() {
    yield* Harness.compare(
      { title: "h. A claim and its record on SQLite, each on the disk", rounds: 60, operations, bound: 4 },
      { name: "ours", measure: yield* claimed },
      { name: "two bare transactions", measure: theirs }
    )
  })
  yield* Effect.provide(compared, SqlApproval.layer({ filename: path.join(folder, "ours.db") }))
})).pipe(Effect.provide(NodeServices.layer))
