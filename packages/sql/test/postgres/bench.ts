/**
 * `npm run bench:databases`: both databases beside each other, on the disk of this machine. How many approvals processes carry
 * out in a second, how long a page of the inbox takes with a thousand and a million open requests, and how long it takes until
 * another process knows that something it waits for is due. Compare the two; the numbers are those of one machine.
 */
import type { Store } from "@assent/ai"
import { SqliteClient } from "@assent/sql"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import * as PgClient from "@effect/sql-pg/PgClient"
import { Console, Effect, Fiber, Redacted, type Scope } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import type * as SqlClient from "effect/sql/SqlClient"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { waits } from "../../../ai/test/store/laws/support.ts"
import * as Crowd from "../crowd/crowd.ts"
import { makeStoreOver } from "./database.ts"
import * as Binaries from "./server/binaries.ts"
import * as Server from "./server/server.ts"

interface Database {
  readonly name: string
  readonly url: string | undefined
  /** Another connection each time. */
  readonly connect: Effect.Effect<SqlClient.SqlClient, unknown, Scope.Scope>
}

const approvals = Number(process.env["APPROVALS"] ?? 400)
const most = Number(process.env["OPEN"] ?? 1_000_000)

const percentile = (sorted: ReadonlyArray<number>, part: number): string =>
  (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN).toFixed(2)

const between = (times: ReadonlyArray<number>): string => {
  const sorted = times.toSorted((left, right) => left - right)
  return `${percentile(sorted, 0.5)} / ${percentile(sorted, 0.99)}`
}

const timed = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<number, E, R> =>
  Effect.suspend(() => {
    const since = performance.now()
    return Effect.map(effect, () => performance.now() - since)
  })

const throughput = (database: Database, processes: number) =>
  Effect.flatMap(
    Crowd.race({ url: database.url, prefix: `p${processes}_`, processes, approvals, directory: Os.tmpdir() }),
    ({ problems, took }) =>
      problems.length > 0
        ? Effect.die(problems.join("\n"))
        : Effect.succeed(`${Math.round(approvals / (took / 1_000))}`)
  )

const columns = "nonce, approval_id, tenant, tool, call, kind, format, state, version, issued_at, request"

const values =
  "CAST(n AS text), 'id', 't' || n % 10, 'Pay', 'call', 'approval', 1, 'pending', 0, n, '{\"shown\":' || n || '}'"

const fill = (sql: SqlClient.SqlClient, prefix: string, from: number, to: number) =>
  sql.onDialectOrElse({
    pg: () =>
      sql.unsafe(
        `INSERT INTO ${prefix}request (${columns}) SELECT ${values} FROM generate_series(${from}, ${to}) AS n`
      ),
    orElse: () =>
      sql.unsafe(`INSERT INTO ${prefix}request (${columns})
        WITH RECURSIVE counted (n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM counted WHERE n < ${to})
        SELECT ${values} FROM counted`)
  })

const pages = ({ connect }: Database) =>
  Effect.scoped(Effect.gen(function*() {
    const sql = yield* connect
    const store = yield* makeStoreOver(sql, { prefix: "inbox_" })
    const all: Array<string> = []
    let filled = 0
    for (const count of [1_000, most]) {
      yield* fill(sql, "inbox_", filled + 1, count)
      filled = count
      yield* sql.unsafe("ANALYZE")
      const filters: ReadonlyArray<Store.RequestFilter> = [{}, { tenant: "t7" }]
      for (const filter of filters) {
        const page = store.requests.page(filter, { limit: 100 })
        yield* Effect.replicateEffect(page, 20)
        all.push(between(yield* Effect.replicateEffect(timed(page), 200)))
      }
    }
    return all
  }))

const wakes = ({ connect }: Database) =>
  Effect.scoped(Effect.gen(function*() {
    const store = yield* makeStoreOver(yield* connect, { prefix: "wake_" })
    const other = yield* makeStoreOver(yield* connect, { prefix: "wake_" })
    yield* Effect.sleep("500 millis")
    const times: Array<number> = []
    for (let index = 0; index < 100; index++) {
      yield* store.requests.suspend(waits(`w${index}`))
      yield* Effect.sleep("50 millis")
      const changes = other.changes!
      const fiber = yield* Effect.forkChild(changes.after(changes.mark(), "due"), { startImmediately: true })
      // Somebody waits for a while.
      yield* Effect.sleep(20 + (index * 37) % 400)
      const since = performance.now()
      yield* store.requests.deliver(`w${index}`, "1")
      yield* Effect.raceFirst(Fiber.join(fiber), Effect.sleep("5 seconds"))
      times.push(performance.now() - since)
    }
    return between(times)
  }))

const sqliteIn = (folder: string): Database => {
  const filename = Path.join(folder, "bench.db")
  return { name: "SQLite", url: undefined, connect: Effect.provide(SqliteClient.make({ filename }), Reactivity.layer) }
}

const postgresAt = (url: string): Database => ({
  name: "PostgreSQL",
  url,
  connect: Effect.provide(PgClient.make({ url: Redacted.make(url) }), Reactivity.layer)
})

const row = (what: string, cells: ReadonlyArray<string>): string =>
  `| ${what.padEnd(48)} | ${cells.map((cell) => cell.padStart(16)).join(" | ")} |`

const program = Effect.scoped(Effect.gen(function*() {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-bench-"))),
    (folder) => Effect.sync(() => Fs.rmSync(folder, { recursive: true, force: true }))
  )
  const bin = Binaries.find()
  if (bin === undefined) yield* Console.log("No PostgreSQL server was found, so it was NOT measured.")
  const server = bin === undefined ? undefined : yield* Effect.acquireRelease(
    Effect.promise(() => Server.start({ bin, isDurable: true })),
    (server) => Effect.promise(server.stop)
  )
  const databases = [sqliteIn(folder), ...(server === undefined ? [] : [postgresAt(server.url)])]
  yield* Console.log(row("", databases.map(({ name }) => name)))
  yield* Console.log(row("---", databases.map(() => "---:")))
  for (const processes of [1, 2, 4, 8]) {
    const cells = yield* Effect.forEach(databases, (database) => throughput(database, processes))
    yield* Console.log(row(`approvals/s, ${processes} ${processes === 1 ? "process" : "processes"}`, cells))
  }
  const measured = yield* Effect.forEach(databases, pages)
  for (const [index, what] of ["1,000 open", "1,000, of a tenant", `${most} open`, `${most}, of a tenant`].entries()) {
    yield* Console.log(row(`page of 100 of ${what}, ms p50 / p99`, measured.map((cells) => cells[index] ?? "")))
  }
  const woken = yield* Effect.forEach(databases, wakes)
  yield* Console.log(row("due until another process knows, ms p50 / p99", woken))
}))

NodeRuntime.runMain(Effect.provide(program, NodeServices.layer))
