import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Law, minute, named, nonces, plain, shown, texts, waits, written } from "./support.ts"

const bytesOf = (...bodies: ReadonlyArray<string>): number => new TextEncoder().encode(bodies.join("")).length

export const conversations = (law: Law) => {
  law("a conversation is what was written last: its first messages, and what was appended", function*(store) {
    const { get, read, write } = store.conversations
    assert.isUndefined(yield* get("c"))
    assert.isUndefined(yield* read("c"))
    const first = yield* write("c", undefined, written({ tenant: "t", principal: "p", append: ["1", "2"] }))
    assert.deepStrictEqual(plain(yield* get("c")), {
      id: "c",
      name: "talk",
      tenant: "t",
      principal: "p",
      version: first,
      state: "{}",
      stopped: 0,
      messages: 2,
      bytes: 4
    })
    const second = yield* write("c", first, written({ state: "[]", root: "r", keep: 2, append: ["3"] }))
    assert.isAbove(second!, first!)
    assert.deepStrictEqual(plain(yield* get("c")), {
      id: "c",
      name: "talk",
      root: "r",
      version: second,
      state: "[]",
      stopped: 0,
      messages: 3,
      bytes: 5
    })
    assert.deepStrictEqual((yield* read("c"))?.messages, ["1", "2", "3"])
    const third = yield* write("c", second, written({ keep: 1, append: ["4", "5"] }))
    assert.deepStrictEqual((yield* read("c"))?.messages, ["1", "4", "5"])
    yield* write("c", third, written({ keep: 3 }))
    const found = yield* read("c")
    assert.deepStrictEqual([found?.messages, found?.row.messages, found?.row.bytes], [["1", "4", "5"], 3, 5])
  })

  law("it is written over the version it stands at, and otherwise stays as it is", function*(store) {
    const { get, write } = store.conversations
    assert.isUndefined(yield* write("c", 1, written()))
    assert.isUndefined(yield* get("c"))
    const first = yield* write("c", undefined, written({ append: ["1"] }))
    const found = yield* get("c")
    assert.isUndefined(yield* write("c", undefined, written()))
    assert.isUndefined(yield* write("c", first! + 1, written()))
    const second = yield* write("c", first, written({ keep: 1 }))
    assert.isUndefined(yield* write("c", first, written()))
    assert.deepStrictEqual(plain(yield* get("c")), { ...plain(found), version: second })
  })

  law("what was read stays as it was read", function*(store) {
    const { read, write } = store.conversations
    const first = yield* write("c", undefined, written({ append: ["1"] }))
    const before = yield* read("c")
    yield* write("c", first, written({ keep: 1, append: ["2"] }))
    assert.deepStrictEqual(before?.messages, ["1"])
  })

  law("no version comes again, whatever became of the one that had it", function*(store) {
    const { remove, write } = store.conversations
    const seen = new Set<number | undefined>()
    for (let round = 0; round < 3; round++) {
      let version: number | undefined
      for (let writes = 0; writes < 3; writes++) {
        version = yield* write("c", version, written({ expiresAt: (round + 1) * minute }))
        assert.isFalse(seen.has(version))
        seen.add(version)
      }
      if (round === 0) yield* remove("c")
      yield* TestClock.adjust(minute)
      for (const old of seen) assert.isUndefined(yield* write("c", old, written()))
    }
    assert.strictEqual(seen.size, 9)
  })

  law("it expires when the last write says", function*(store) {
    const { get, read, write } = store.conversations
    const first = yield* write("c", undefined, written({ expiresAt: minute, append: ["1"] }))
    yield* TestClock.adjust(minute - 1)
    const second = yield* write("c", first, written({ keep: 1, expiresAt: 3 * minute }))
    yield* TestClock.adjust(minute)
    assert.deepStrictEqual((yield* read("c"))?.messages, ["1"])
    yield* TestClock.adjust(minute + 1)
    assert.isUndefined(yield* get("c"))
    assert.isUndefined(yield* read("c"))
    assert.isUndefined(yield* write("c", second, written()))
    yield* write("c", undefined, written({ append: ["new"] }))
    assert.deepStrictEqual((yield* read("c"))?.messages, ["new"])
    yield* TestClock.adjust("36500 days")
    assert.strictEqual((yield* get("c"))?.bytes, 5)
  })

  law("with a conversation goes what was asked in it and never decided, and nothing else", function*(store) {
    const inIt = { conversation: "c", expiresAt: 100 * 24 * 60 * minute }
    for (const how of ["removed", "expired"] as const) {
      yield* store.conversations.write("c", undefined, written({ append: ["1"], expiresAt: minute }))
      yield* store.requests.open([shown("asked", inIt), shown("approved", inIt), shown("decided", inIt)])
      yield* store.requests.open([shown("elsewhere", { conversation: "d" }), shown("nowhere")])
      yield* store.requests.suspend(waits("waiting", { ...inIt, webhook: "h", dueAt: 5 }))
      yield* store.requests.decide(named("approved"), 0, { state: "pending", entry: "one approval" })
      yield* store.requests.decide(named("decided"), 0, { state: "running", entry: "runs" })
      if (how === "removed") yield* store.conversations.remove("c")
      else {
        yield* TestClock.adjust(minute)
        while ((yield* store.sweep(100)) > 0) { /* again */ }
      }
      assert.isUndefined(yield* store.conversations.read("c"))
      for (const nonce of ["asked", "approved", "waiting"]) {
        assert.isUndefined(yield* store.requests.get(nonce), nonce)
      }
      assert.isUndefined(yield* store.requests.byWebhook("h"))
      assert.deepStrictEqual(yield* store.requests.due(10, 10), [])
      assert.strictEqual((yield* store.requests.get("decided"))?.entry, "runs")
      const { requests } = yield* store.requests.page({}, { limit: 10 })
      assert.deepStrictEqual(nonces(requests), ["elsewhere", "nowhere"])
    }
    yield* store.conversations.remove("unknown")
  })

  law(
    "that it was stopped is counted, whatever is written then, and nobody's version is another for it",
    function*(store) {
      const { get, read, remove, stop, write } = store.conversations
      assert.isFalse(yield* stop("c"))
      const first = yield* write("c", undefined, written({ append: ["1"], expiresAt: minute }))
      yield* write("other", undefined, written())
      const before = yield* get("c")
      assert.isTrue(yield* stop("c"))
      assert.isTrue(yield* stop("c"))
      assert.deepStrictEqual(plain(yield* get("c")), { ...plain(before), stopped: 2 })
      const second = yield* write("c", first, written({ keep: 1, append: ["2"], expiresAt: minute }))
      assert.deepStrictEqual((yield* read("c"))?.messages, ["1", "2"])
      assert.strictEqual((yield* read("c"))?.row.stopped, 2)
      assert.isUndefined(yield* write("c", first, written()))
      assert.strictEqual((yield* get("other"))?.stopped, 0)
      yield* Effect.ignore(store.atomically(Effect.andThen(stop("c"), Effect.fail("undone"))))
      assert.strictEqual((yield* get("c"))?.stopped, 2)
      yield* Effect.all([stop("c"), stop("c"), stop("c")], { concurrency: "unbounded" })
      assert.deepStrictEqual([(yield* get("c"))?.stopped, (yield* get("c"))?.version], [5, second])
      yield* TestClock.adjust(minute)
      assert.isFalse(yield* stop("c"))
      yield* write("c", undefined, written())
      assert.strictEqual((yield* get("c"))?.stopped, 0)
      yield* remove("c")
      assert.isFalse(yield* stop("c"))
    }
  )

  law("bodies are kept to the character, and counted in bytes of UTF-8", function*(store) {
    const strange = [...texts, "\u0000", "\ud800", "\udc00x", "\u2028", "x".repeat(1_000_000), "é日👩".repeat(10_000)]
    const bodies = strange.map((text) => JSON.stringify(text))
    const state = JSON.stringify("é")
    const version = yield* store.conversations.write("c", undefined, written({ state, append: bodies }))
    const found = (yield* store.conversations.read("c"))!
    assert.deepStrictEqual(found.messages, bodies)
    assert.strictEqual(found.row.bytes, bytesOf(state, ...bodies))
    assert.deepStrictEqual(found.messages.map((body) => JSON.parse(body)), strange)
    yield* store.conversations.write("c", version, written({ state: "{}", keep: 3, append: [state] }))
    assert.strictEqual((yield* store.conversations.get("c"))?.bytes, bytesOf("{}", ...bodies.slice(0, 3), state))
    const body = JSON.stringify(strange)
    yield* store.requests.open([{ ...named("a"), request: body }])
    yield* store.requests.suspend(waits("a", { suspension: body }))
    yield* store.requests.deliver("a", body)
    yield* store.requests.decide(named("a"), 0, { state: "running", entry: body, result: body })
    const row = yield* store.requests.get("a")
    for (const one of [row?.request, row?.suspension, row?.answer, row?.entry, row?.result]) {
      assert.strictEqual(one, body)
    }
  })

  law("ids and names are any text of up to 512 characters", function*(store) {
    const ids = [...texts.filter((text) => text !== ""), "a".repeat(512), "é".repeat(512)]
    yield* Effect.forEach(ids, (id) => store.conversations.write(id, undefined, written({ name: id, append: ["1"] })))
    for (const id of ids) {
      const row = yield* store.conversations.get(id)
      assert.deepStrictEqual([row?.id, row?.name, row?.messages], [id, id, 1])
    }
  })

  law("one of 2,000 messages gives them in their order", function*(store) {
    const messages = Array.from({ length: 2_000 }, (_, index) => String(index))
    const version = yield* store.conversations.write("c", undefined, written({ append: messages.slice(0, 1_000) }))
    yield* store.conversations.write("c", version, written({ keep: 1_000, append: messages.slice(1_000) }))
    assert.deepStrictEqual((yield* store.conversations.read("c"))?.messages, messages)
  })
}
