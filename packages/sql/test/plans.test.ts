/** That no operation of the store walks along a table: SQLite is asked how it would carry out each statement. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { CurrentTransformer } from "effect/sql/Statement"
import { answer, named, shown, waits, written } from "../../ai/test/store/laws/support.ts"
import { makeStore } from "./database.ts"

interface Said {
  readonly sql: string
  readonly params: ReadonlyArray<unknown>
}

const quota = 1_000_000

/** Every operation, with every filter of a page; what is written is there to be found. */
const operations = Effect.gen(function*() {
  const { sql, store } = yield* makeStore({ filename: ":memory:", tenantBytes: quota })
  const { conversations, owners, remembered, requests } = store
  const said = new Map<string, Said>()
  const mine = written({ append: ["a", "b"], tenant: "t" })
  const filters = [
    {},
    { tenant: "t" },
    { tenant: "t", toolName: "X" },
    { tenant: "t", principal: "p" },
    { principal: "p" },
    { conversation: "c" },
    { root: "c" },
    { toolName: "X" },
    { kind: "approval" },
    { waiting: true },
    { issuedBefore: 2_000_000_000_000 }
  ]
  const all = Effect.gen(function*() {
    const version = yield* conversations.write("c", undefined, mine)
    yield* conversations.write("c", version, { ...mine, keep: 1, append: ["c"] })
    yield* conversations.get("c")
    yield* conversations.read("c")
    yield* conversations.stop("c")
    yield* requests.open([{ ...shown("a"), conversation: "c", tenant: "t" }, shown("b"), shown("e")])
    yield* requests.get("a")
    for (const filter of filters) {
      const { next } = yield* requests.page(filter, { limit: 1 })
      yield* requests.page(filter, { limit: 1, after: next ?? "1.a" })
    }
    yield* requests.decide({ ...named("a"), conversation: "c", tenant: "t" }, 0, { state: "running", entry: "{}" })
    yield* requests.decide(named("a"), 1, { state: "done", entry: "{}", result: "1" })
    yield* requests.decide(named("a"), 0, { state: "denied", entry: "{}" })
    yield* requests.suspend({ ...waits("w"), webhook: "h", dueAt: 1 })
    yield* requests.suspend({ ...waits("v"), webhook: "h" })
    yield* requests.byWebhook("h")
    yield* requests.due(2, 10)
    yield* requests.told("w")
    yield* requests.deliver("w", "1")
    yield* requests.advance("w", ["open", "taken"], "over")
    yield* requests.close(["b", "e"])
    yield* remembered.insert(answer("r"))
    yield* remembered.candidates({ scope: "s", source: "local", toolName: "X", exact: "e" })
    yield* remembered.list("s", { limit: 10 })
    yield* remembered.list("s", { limit: 10, after: "a" })
    yield* remembered.take("r")
    yield* remembered.revoke("s", "r")
    yield* owners.beat({ id: "o", beat: 0, every: 1 })
    yield* owners.get("o")
    yield* store.sweep(10)
    yield* conversations.remove("c")
  })
  yield* Effect.provideService(all, CurrentTransformer, (statement) =>
    Effect.sync(() => {
      const [text, params] = statement.compile()
      said.set(text, { sql: text, params })
      return statement
    }))
  return { sql, said: [...said.values()].filter(({ sql }) => /^\s*(select|insert|update|delete)/i.test(sql)) }
})

// A page that asks for nothing in particular goes along the index of what is open, and stops when it is full.
const mayWalk = /^SCAN (CONSTANT ROW|\d+-ROW VALUES CLAUSE|.*USING INDEX assent_request_(open|waiting))$/
// Of the few that had one webhook, the best comes first.
const maySort = /WHERE webhook = \?/

describe("queries", () => {
  it.effect("look up what they want in an index, and sort nothing", () =>
    Effect.gen(function*() {
      const { said, sql } = yield* operations
      assert.isAbove(said.length, 50)
      const slow: Array<string> = []
      for (const one of said) {
        const plan = yield* sql.unsafe<{ readonly detail: string }>(`EXPLAIN QUERY PLAN ${one.sql}`, one.params)
        for (const { detail } of plan) {
          const walks = detail.startsWith("SCAN ") && !mayWalk.test(detail)
          const sorts = detail.includes("TEMP B-TREE") && !maySort.test(one.sql)
          if (walks || sorts) slow.push(`${detail}: ${one.sql}`)
        }
      }
      assert.deepStrictEqual(slow, [])
    }))
})
