/**
 * What the issue of the database promised: how large a file becomes, that neither many open requests nor many remembered
 * answers are felt, and that timers go on while many write.
 */
import { ApprovalMemory, Conversation, LanguageModel, Store, Toolkit } from "@assent/ai"
import { SqlApproval, SqliteClient, SqlStore } from "@assent/sql"
import { NodeServices } from "@effect/platform-node"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { DatabaseSync } from "node:sqlite"
import * as Harness from "./harness.ts"
import * as Provider from "./provider.ts"

/** A folder on the disk, or in memory where there is such a place: then what is compared is how much is done. */
const folder = Effect.fnUntraced(function*(where: "disk" | "memory") {
  const fs = yield* FileSystem.FileSystem
  const shared = "/dev/shm"
  const place = where === "memory" && (yield* fs.exists(shared)) ? { directory: shared } : {}
  return yield* fs.makeTempDirectoryScoped({ ...place, prefix: "assent-bench-" })
})

const openSqlite = Effect.gen(function*() {
  const client = SqliteClient.layer({ filename: `${yield* folder("memory")}/kept.db` })
  return Context.get(yield* Layer.build(Layer.provide(SqlStore.layer(), client)), Store.Store)
})

// =============================================================================
// Size
// =============================================================================

const turns = 1_000
const empty = Toolkit.make()
const answer = Provider.text(["A short answer."])

const size = Effect.gen(function*() {
  const filename = `${yield* folder("memory")}/kept.db`
  const model = yield* LanguageModel.make({
    generateText: () => Effect.succeed(answer.generated.slice()),
    streamText: () => Stream.empty
  })
  yield* Effect.gen(function*() {
    const conversation = yield* Conversation.make({ id: "long", toolkit: empty })
    for (let turn = 0; turn < turns; turn++) yield* conversation.send(`A short question, number ${turn}.`)
  }).pipe(
    Effect.provideService(LanguageModel.LanguageModel, model),
    Effect.provide(SqlApproval.layer({ filename }))
  )
  const database = new DatabaseSync(filename)
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)")
  database.close()
  const fs = yield* FileSystem.FileSystem
  let bytes = 0
  for (const name of [filename, `${filename}-wal`]) {
    if (yield* fs.exists(name)) bytes += Number((yield* fs.stat(name)).size)
  }
  Harness.atMost({ title: "i. The file of 1,000 short turns", unit: "MB", bound: 2 }, bytes / 1_000_000)
})

// =============================================================================
// Pages
// =============================================================================

const few = 1_000
const many = 100_000
const page = 100
const pagesAtOnce = 10
const base = Date.UTC(2026, 0, 1)

/** One in nine is of the tenant and the tool that are asked for. */
const fill = Effect.fnUntraced(function*(store: Store.Store, count: number) {
  for (let from = 0; from < count; from += 5_000) {
    yield* store.requests.open(Array.from({ length: Math.min(5_000, count - from) }, (_, index) => {
      const which = from + index
      return {
        nonce: `nonce-${which.toString().padStart(8, "0")}`,
        approvalId: `apr1.key.${which}`,
        toolName: `Tool${Math.trunc(which / 3) % 3}`,
        toolCallId: "call-1",
        kind: "approval",
        conversation: `conversation-${which}`,
        root: `conversation-${which}`,
        tenant: `tenant-${which % 3}`,
        issuedAt: base + which * 1_000,
        request: `{"toolName":"DeleteFile","params":{"path":"/tmp/${which}"},"text":"${"x".repeat(300)}"}`
      }
    }))
  }
})

const queries = {
  "a page of 100": () => ({ filter: {}, size: page }),
  "one 90 % deep": (count: number) => ({
    filter: {},
    size: page,
    after: `${base + count * 900}.nonce-${(count * 0.9 - 1).toString().padStart(8, "0")}`
  }),
  "one of a tenant and a tool": () => ({ filter: { tenant: "tenant-1", toolName: "Tool1" }, size: page })
} as const

const paging = (store: Store.Store, what: keyof typeof queries, count: number) =>
  Harness.timed(Effect.gen(function*() {
    const { filter, size, ...rest } = queries[what](count)
    for (let i = 0; i < pagesAtOnce; i++) {
      const found = yield* store.requests.page(filter, { ...rest, limit: size })
      if (found.requests.length !== size) throw new Error(`A page has ${found.requests.length}.`)
    }
  }))

const pages = Effect.gen(function*() {
  const theirs = yield* openSqlite
  const ours = yield* openSqlite
  yield* fill(theirs, few)
  yield* fill(ours, many)
  for (const what of ["a page of 100", "one 90 % deep", "one of a tenant and a tool"] as const) {
    yield* Harness.compare(
      {
        title: `i. ${what} of ${many.toLocaleString("en")} open requests on SQLite, beside ${few.toLocaleString("en")}`,
        rounds: 40,
        operations: pagesAtOnce,
        bound: 2
      },
      { name: many.toLocaleString("en"), measure: paging(ours, what, many) },
      { name: few.toLocaleString("en"), measure: paging(theirs, what, few) }
    )
  }
})

// =============================================================================
// Remembered answers
// =============================================================================

const remembering = Effect.fnUntraced(function*(store: Store.Store, count: number) {
  const memory = yield* ApprovalMemory.make({ store })
  const call = {
    scope: { tenant: "acme", principal: "somebody" },
    source: "local",
    toolName: "DeleteFile",
    version: "v1"
  }
  for (let which = 0; which < count; which++) {
    yield* memory.remember({
      id: `${which}`,
      approvalId: `apr1.key.${which}`,
      toolCallId: "call-1",
      ...call,
      params: { path: `/tmp/${which}` },
      decision: "approved",
      remember: "session"
    })
  }
  let next = 0
  return Harness.timed(Effect.gen(function*() {
    for (let i = 0; i < 20; i++) {
      const path = `/tmp/${(next += 7) % count}`
      const found = yield* memory.find({ ...call, params: { path } })
      if (found === undefined) throw new Error("It was forgotten.")
    }
  }))
})

const remembered = Effect.gen(function*() {
  const places = {
    "in memory": Store.makeMemory(),
    "on SQLite": openSqlite
  }
  for (const where of ["in memory", "on SQLite"] as const) {
    yield* Harness.compare(
      {
        title: `i. looking up one of 9,000 remembered answers ${where}, beside 100`,
        rounds: 40,
        operations: 20,
        bound: 2
      },
      { name: "9,000", measure: yield* remembering(yield* places[where], 9_000) },
      { name: "100", measure: yield* remembering(yield* places[where], 100) }
    )
  }
})

// =============================================================================
// Timers
// =============================================================================

const rounds = 16
const roundMillis = 400

/** How long a timer of 2 ms took, in 99 of 100 cases, while that went on. */
const p99Beside = (writing: Effect.Effect<unknown, unknown>) =>
  Effect.raceFirst(
    Effect.promise(async () => {
      const times: Array<number> = []
      const until = performance.now() + roundMillis
      while (performance.now() < until) {
        const begun = performance.now()
        await new Promise((resolve) => setTimeout(resolve, 2))
        times.push(performance.now() - begun)
      }
      return times.toSorted((a, b) => a - b)[Math.trunc(times.length * 0.99)]!
    }),
    Effect.andThen(writing, Effect.never)
  )

const request = (nonce: string): Store.RequestName & { readonly request: string } => ({
  nonce,
  approvalId: nonce,
  toolName: "DeleteFile",
  toolCallId: "call-1",
  kind: "approval",
  issuedAt: base,
  request: "{}"
})

/** One commit after the other, and the loop has its turn between them: nobody who writes here does it with less. */
const bareWriting = (filename: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const database = new DatabaseSync(filename)
        database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE request (body TEXT) STRICT")
        return database
      }),
      (database) => Effect.sync(() => database.close())
    ),
    (database) => {
      const insert = database.prepare("INSERT INTO request VALUES (?)")
      const body = JSON.stringify(request("nonce"))
      return Effect.forever(Effect.promise(() => {
        insert.run(body)
        return new Promise((resolve) => setImmediate(resolve))
      }))
    }
  )

/** Where the disk is busy with others, a commit takes what it takes: then a bare one says how much. */
const timers = Effect.gen(function*() {
  const place = yield* folder("disk")
  const bare = yield* bareWriting(`${place}/bare.db`)
  let written = 0
  const best = { ours: Infinity, bare: Infinity }
  yield* Effect.gen(function*() {
    const { requests } = yield* Store.Store
    const writing = Effect.forever(Effect.suspend(() => requests.open([request(`${written++}`)])))
    const fibers = Effect.all(Array.from({ length: 8 }, () => writing), { concurrency: "unbounded" })
    for (let round = 0; round < rounds; round++) {
      best.bare = Math.min(best.bare, yield* p99Beside(bare))
      best.ours = Math.min(best.ours, yield* p99Beside(fibers))
    }
  }).pipe(Effect.provide(SqlApproval.layer({ filename: `${place}/ours.db` })))
  if (written < rounds * 8 * 2) throw new Error("Hardly anybody wrote.")
  Harness.atMost({
    title: `i. a 2 ms timer's p99 while 8 fibers write to SQLite, each to the disk (${written} commits; beside bare` +
      ` ones ${best.bare.toFixed(1)} ms)`,
    unit: "ms",
    bound: Math.max(10, Math.ceil(best.bare * 1.5))
  }, best.ours)
})

export const database = Effect.scoped(Effect.all([size, pages, remembered, timers], { discard: true })).pipe(
  Effect.provide(NodeServices.layer)
)
