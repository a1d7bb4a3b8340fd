import type { Store } from "@assent/ai"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Law, minute, named, nonces, plain, shown, waits } from "./support.ts"

export const waiting = (law: Law) => {
  const due = (store: Store.Store, now: number, limit = 100) => Effect.map(store.requests.due(now, limit), nonces)

  law("what a tool waits for is kept beside what became of the request, in any order", function*(store) {
    const suspended = waits("a", { tenant: "t", dueAt: 7, webhook: "h", expiresAt: minute })
    assert.strictEqual(yield* store.requests.suspend(suspended), "suspended")
    const row = { ...suspended, waits: "open" as const, state: "pending" as const, version: 0 }
    assert.deepStrictEqual(plain(yield* store.requests.get("a")), row)
    yield* store.requests.open([shown("a")])
    assert.deepStrictEqual(plain(yield* store.requests.get("a")), { ...row, request: shown("a").request })
    yield* store.requests.decide(named("a"), 0, { state: "running", entry: "runs" })
    const begun = yield* store.requests.get("a")
    assert.deepStrictEqual([begun?.waits, begun?.state, begun?.suspension], ["open", "running", row.suspension])
    yield* store.requests.open([shown("b")])
    assert.strictEqual(yield* store.requests.suspend(waits("b")), "suspended")
    const both = yield* store.requests.get("b")
    assert.deepStrictEqual([both?.waits, both?.request], ["open", shown("b").request])
  })

  law("a request waits once, and one open request has a webhook", function*(store) {
    const suspend = (nonce: string) => store.requests.suspend(waits(nonce, { webhook: "h", suspension: nonce }))
    assert.strictEqual(yield* suspend("a"), "suspended")
    assert.strictEqual(yield* store.requests.suspend(waits("a")), "known")
    assert.strictEqual(yield* suspend("b"), "webhook")
    assert.isUndefined(yield* store.requests.get("b"))
    yield* store.requests.advance("a", ["open"], "taken")
    assert.strictEqual(yield* suspend("b"), "suspended")
    assert.strictEqual(yield* suspend("a"), "known")
    assert.strictEqual((yield* store.requests.get("a"))?.suspension, "a")
  })

  law("it goes from open to taken to over, or from either to over, and never back", function*(store) {
    yield* store.requests.suspend(waits("a"))
    assert.isFalse(yield* store.requests.advance("a", ["taken"], "over"))
    assert.isFalse(yield* store.requests.advance("b", ["open", "taken"], "over"))
    assert.isTrue(yield* store.requests.advance("a", ["open"], "taken"))
    assert.strictEqual((yield* store.requests.get("a"))?.suspension, waits("a").suspension)
    assert.isFalse(yield* store.requests.advance("a", ["open"], "taken"))
    assert.isTrue(yield* store.requests.advance("a", ["open", "taken"], "over", "less"))
    assert.isFalse(yield* store.requests.advance("a", ["open", "taken"], "over"))
    const found = yield* store.requests.get("a")
    assert.deepStrictEqual([found?.waits, found?.suspension], ["over", "less"])
    yield* store.requests.decide(named("never"), 0, { state: "running", entry: "runs" })
    assert.isFalse(yield* store.requests.advance("never", ["open", "taken"], "over"))
  })

  law("an answer is taken once, while it is open; it is kept until it is over, and due at once", function*(store) {
    yield* store.requests.suspend(waits("a", { dueAt: 1_000 }))
    yield* store.requests.suspend(waits("b"))
    assert.isFalse(yield* store.requests.deliver("unknown", "0"))
    assert.isTrue(yield* store.requests.deliver("a", "1"))
    assert.isFalse(yield* store.requests.deliver("a", "2"))
    assert.strictEqual((yield* store.requests.get("a"))?.answer, "1")
    assert.deepStrictEqual(yield* due(store, 0), ["a"])
    yield* store.requests.advance("a", ["open"], "taken")
    assert.strictEqual((yield* store.requests.get("a"))?.answer, "1")
    assert.deepStrictEqual(yield* due(store, 2_000), [])
    yield* store.requests.advance("a", ["taken"], "over")
    assert.isUndefined((yield* store.requests.get("a"))?.answer)
    yield* store.requests.advance("b", ["open"], "taken")
    assert.isFalse(yield* store.requests.deliver("b", "1"))
  })

  law("due are those that are open and whose time has come: the answered first, then the earliest", function*(store) {
    for (const [nonce, dueAt] of [["c", 30], ["a", 10], ["b", 20], ["d", 40], ["e", undefined]] as const) {
      yield* store.requests.suspend(waits(nonce, { dueAt }))
    }
    assert.deepStrictEqual(yield* due(store, 9), [])
    assert.deepStrictEqual(yield* due(store, 30), ["a", "b", "c"])
    assert.deepStrictEqual(yield* due(store, 30, 2), ["a", "b"])
    assert.deepStrictEqual(yield* due(store, 1_000, Infinity), ["a", "b", "c", "d"])
    yield* store.requests.deliver("e", "1")
    assert.deepStrictEqual(yield* due(store, 10), ["e", "a"])
    yield* store.requests.advance("a", ["open"], "taken")
    assert.deepStrictEqual(yield* due(store, 1_000), ["e", "b", "c", "d"])
  })

  law("what is named to be left out is not among those that are due, and takes nobody's place", function*(store) {
    const all = Array.from({ length: 600 }, (_, index) => `n${String(index).padStart(3, "0")}`)
    for (const nonce of all) yield* store.requests.suspend(waits(nonce, { dueAt: 1 }))
    const without = (count: number, limit: number) =>
      Effect.map(store.requests.due(1, limit, new Set(all.slice(0, count))), nonces)
    assert.deepStrictEqual(yield* without(1, 2), ["n001", "n002"])
    assert.deepStrictEqual(yield* without(598, 3), ["n598", "n599"])
    assert.deepStrictEqual(yield* without(597, 2), ["n597", "n598"])
    assert.deepStrictEqual(yield* without(600, 1), [])
  })

  law("whoever was told is due no more, until there is an answer", function*(store) {
    yield* store.requests.suspend(waits("a", { dueAt: 10 }))
    yield* store.requests.told("a")
    yield* store.requests.told("unknown")
    assert.deepStrictEqual(yield* due(store, 1_000), [])
    yield* store.requests.deliver("a", "1")
    assert.deepStrictEqual(yield* due(store, 1_000), ["a"])
    yield* store.requests.told("a")
    assert.deepStrictEqual(yield* due(store, 1_000), [])
    assert.strictEqual((yield* store.requests.get("a"))?.waits, "open")
  })

  law("what is due stays so though it expired, for thirty days", function*(store) {
    yield* store.requests.suspend(waits("a", { dueAt: 10, expiresAt: minute }))
    yield* TestClock.adjust("30 days")
    assert.deepStrictEqual(yield* due(store, minute), ["a"])
    yield* TestClock.adjust(minute)
    assert.deepStrictEqual(yield* due(store, minute), [])
    assert.isFalse(yield* store.requests.deliver("a", "1"))
    assert.isFalse(yield* store.requests.advance("a", ["open"], "taken"))
    assert.strictEqual(yield* store.requests.suspend(waits("a")), "suspended")
  })

  law("a webhook leads to the request that waits for it, or else to the latest that did", function*(store) {
    const { advance, byWebhook, suspend } = store.requests
    assert.isUndefined(yield* byWebhook("h"))
    yield* suspend(waits("b", { webhook: "h", issuedAt: 2 }))
    assert.strictEqual((yield* byWebhook("h"))?.nonce, "b")
    yield* advance("b", ["open"], "over")
    assert.strictEqual((yield* byWebhook("h"))?.nonce, "b")
    yield* suspend(waits("a", { webhook: "h", issuedAt: 1 }))
    assert.strictEqual((yield* byWebhook("h"))?.nonce, "a")
    yield* advance("a", ["open"], "over")
    assert.strictEqual((yield* byWebhook("h"))?.nonce, "b")
    assert.isUndefined(yield* byWebhook("H"))
  })
}
