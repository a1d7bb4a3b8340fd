/** Databases for tests: in memory, or a file that is removed with the scope. */
import { SqliteClient, SqlStore } from "@assent/sql"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem, Path } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as SqlClient from "effect/sql/SqlClient"

/**
 * A folder that is removed with the scope: in memory, where there is such a place, because no test cuts the power, and half of
 * the time was waiting for the disk.
 */
export const makeFolder = (prefix: string) =>
  Effect.flatMap(
    FileSystem.FileSystem,
    (fs) =>
      Effect.flatMap(fs.exists(memory), (isThere) =>
        fs.makeTempDirectoryScoped({ prefix, ...(isThere ? { directory: memory } : undefined) }))
  )

const memory = "/dev/shm"

/** The path of a file that is not there yet. */
export const makeFilename = Effect.gen(function*() {
  const path = yield* Path.Path
  return path.join(yield* makeFolder("assent-sql-"), "approvals.db")
}).pipe(Effect.provide(NodeServices.layer))

export const makeClient = (options: SqliteClient.Options) =>
  Effect.provide(SqliteClient.make(options), Reactivity.layer)

export const makeStoreOver = (sql: SqlClient.SqlClient, options?: SqlStore.Options) =>
  Effect.provideService(SqlStore.make(options), SqlClient.SqlClient, sql)

/** A store, and its client. Nothing waits in it, so that a test may move the clock. */
export const makeStore = Effect.fnUntraced(function*(
  options: SqliteClient.Options & SqlStore.Options = { filename: ":memory:" }
) {
  const sql = yield* makeClient({ yieldAfterWrite: false, ...options })
  return { sql, store: yield* makeStoreOver(sql, options) }
})

/** Without waiting for the disk: what a test says of the file does not depend on a loss of power. */
export const storeInFile = Effect.flatMap(makeFilename, (filename) => makeStore({ filename, synchronous: "NORMAL" }))

/** A call that is sealed. */
export const binding = {
  source: "local",
  toolName: "SendMail",
  toolCallId: "call-1",
  schemaFingerprint: "v1",
  params: "{}",
  scope: {}
}
