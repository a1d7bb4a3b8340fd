/**
 * What it costs that much is remembered: a look-up among 9,000 answers of one tool, of which every other one is a no, beside
 * one among 100; in memory, and on SQLite. Its files are in memory too, where there is such a place.
 */
import { ApprovalMatcher, ApprovalMemory, Store } from "@assent/ai"
import { SqliteClient, SqlStore } from "@assent/sql"
import { NodeServices } from "@effect/platform-node"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Harness from "./harness.ts"

const few = 100
const many = 9_000
const lookups = 20

const call = (file: number): ApprovalMemory.MemoryCall => ({
  scope: { conversation: "talk" },
  source: "local",
  toolName: "WriteFile",
  version: "v1",
  params: { path: `src/file-${file}.ts`, content: "export const answer = 42\n".repeat(8) }
})

/** A memory with so many answers, and what it costs to look some calls up: known and unknown ones, in no order. */
const world = Effect.fnUntraced(function*(store: Store.Store, count: number) {
  const memory = yield* ApprovalMemory.make({ store })
  const remember = (file: number, more?: Partial<ApprovalMemory.Answered>) => {
    const decision = file % 2 === 0 ? "approved" : "denied"
    const ids = { id: `${file}`, approvalId: `${file}`, toolCallId: `${file}` }
    return memory.remember({ ...call(file), ...ids, decision, remember: "session", ...more })
  }
  yield* store.atomically(Effect.forEach(Array.from({ length: count }).keys(), (file) => remember(file), {
    discard: true
  }))
  // Some are always of more than one call.
  const covers = ApprovalMatcher.path(["docs/**"], { param: "path" }).description
  const params = { path: "docs/a.md", content: "" }
  for (let more = 0; more < 3; more++) yield* remember(count + more, { params, remember: { covers } })
  let next = 0
  return Harness.timed(Effect.gen(function*() {
    for (let lookup = 0; lookup < lookups; lookup++) {
      const file = (next += 7_919) % (count + 1)
      const found = yield* memory.find(call(file))
      if ((found === undefined) !== (file === count)) throw new Error(`What is known of ${file} is not what was said.`)
    }
  }))
})

const compare = (where: string, store: Store.Store, other: Store.Store) =>
  Effect.gen(function*() {
    const theirs = yield* world(other, few)
    const ours = yield* world(store, many)
    yield* Harness.compare(
      {
        title: `i. looking up among ${many.toLocaleString("en")} remembered answers ${where}, beside ${few}`,
        rounds: 40,
        operations: lookups,
        bound: 2
      },
      { name: "9,000", measure: ours },
      { name: "100", measure: theirs }
    )
  })

const inMemory = Effect.gen(function*() {
  yield* compare("in memory", yield* Store.makeMemory(), yield* Store.makeMemory())
})

const onSqlite = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const shared = "/dev/shm"
  const place = (yield* fs.exists(shared)) ? { directory: shared } : {}
  const open = Effect.gen(function*() {
    const directory = yield* fs.makeTempDirectoryScoped({ ...place, prefix: "assent-bench-" })
    const client = SqliteClient.layer({ filename: `${directory}/kept.db` })
    const context = yield* Layer.build(Layer.provide(SqlStore.layer(), client))
    return Context.get(context, Store.Store)
  })
  yield* compare("on SQLite", yield* open, yield* open)
}).pipe(Effect.provide(NodeServices.layer))

export const remembered = Effect.scoped(Effect.andThen(inMemory, onSqlite))
