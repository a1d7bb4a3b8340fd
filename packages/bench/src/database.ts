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
      remember: "always"
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

const lateness = async (for_: number): Promise<ReadonlyArray<number>> => {
  const late: Array<number> = []
  const until = performance.now() + for_
  while (performance.now() < until) {
    const begun = performance.now()
    await new Promise((resolve) => setTimeout(resolve, 2))
    late.push(performance.now() - begun)
  }
  return late.toSorted((a, b) => a - b)
}

const p99 = (sorted: ReadonlyArray<number>): number => sorted[Math.trunc(sorted.length * 0.99)]!

/** What else the machine does holds timers up too, so the quietest of a few times counts. */
const timers = Effect.gen(function*() {
  const filename = `${yield* folder("disk")}/kept.db`
  const measured = yield* Effect.gen(function*() {
    const store = yield* Store.Store
    let written = 0
    const write = (fiber: number) =>
      Effect.forever(Effect.suspend(() => {
        const nonce = `${fiber}-${written++}`
        return store.requests.open([{
          nonce,
          approvalId: nonce,
          toolName: "DeleteFile",
          toolCallId: "call-1",
          kind: "approval",
          issuedAt: Date.now(),
          request: "{}"
        }])
      }))
    let best = Infinity
    for (let time = 0; time < 5 && best > 5; time++) {
      const busy = yield* Effect.raceFirst(
        Effect.promise(() => lateness(2_000)),
        Effect.all(Array.from({ length: 8 }, (_, fiber) => write(fiber)), { concurrency: "unbounded" })
      )
      if (Array.isArray(busy)) best = Math.min(best, p99(busy))
    }
    return { best, written }
  }).pipe(Effect.provide(SqlApproval.layer({ filename, synchronous: "FULL" })))
  if (measured.written < 100) throw new Error("Nobody wrote.")
  Harness.atMost(
    { title: "i. A 2 ms timer's p99 while 8 fibers write to SQLite, each to the disk", unit: "ms", bound: 10 },
    measured.best
  )
})

export const database = Effect.scoped(Effect.all([size, pages, remembered, timers], { discard: true })).pipe(
  Effect.provide(NodeServices.layer)
)
