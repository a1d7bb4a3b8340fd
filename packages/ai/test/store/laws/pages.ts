import type { Store } from "@assent/ai"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Law, minute, named, nonces, shown, texts, waits, written } from "./support.ts"

export const pages = (law: Law) => {
  const all = (store: Store.Store, filter: Store.RequestFilter, limit = 100) =>
    Effect.gen(function*() {
      const found: Array<string> = []
      let after: string | undefined
      do {
        const page: Store.RequestPage = yield* store.requests.page(filter, { after, limit })
        assert.isAtMost(page.requests.length, limit)
        found.push(...nonces(page.requests))
        after = page.next
      } while (after !== undefined)
      return found
    })

  law("a page has those that wait for a decision, the oldest first", function*(store) {
    assert.deepStrictEqual(yield* store.requests.page({}, { limit: 1 }), { requests: [], next: undefined })
    yield* store.requests.open([
      shown("b", { issuedAt: 1 }),
      shown("c", { issuedAt: 0 }),
      shown("a", { issuedAt: 1 }),
      shown("d", { issuedAt: 10 }),
      shown("e", { issuedAt: 9 })
    ])
    yield* store.requests.suspend(waits("w", { issuedAt: 5 }))
    yield* store.requests.decide(named("new", { issuedAt: 2 }), 0, { state: "pending", entry: "not shown" })
    for (const limit of [1, 2, 3, 6, 100]) {
      assert.deepStrictEqual(yield* all(store, {}, limit), ["c", "a", "b", "w", "e", "d"])
    }
    assert.isUndefined((yield* store.requests.page({}, { limit: 6 })).next)
    yield* store.requests.decide(named("a"), 0, { state: "pending", entry: "approval" })
    yield* store.requests.decide(named("b"), 0, { state: "denied", entry: "no" })
    yield* store.requests.deliver("w", "1")
    assert.deepStrictEqual(yield* all(store, {}), ["c", "a", "e", "d"])
  })

  law("a page has nothing that was asked in a conversation that has expired", function*(store) {
    yield* store.conversations.write("brief", undefined, written({ expiresAt: minute }))
    yield* store.conversations.write("long", undefined, written({ expiresAt: minute + 1 }))
    yield* store.requests.open([
      shown("a", { conversation: "brief" }),
      shown("b", { conversation: "long" }),
      shown("c", { conversation: "none" })
    ])
    yield* store.requests.suspend(waits("d", { conversation: "brief" }))
    yield* store.requests.suspend(waits("e"))
    assert.deepStrictEqual(yield* all(store, {}, 2), ["a", "b", "c", "d", "e"])
    yield* TestClock.adjust(minute)
    assert.deepStrictEqual(yield* all(store, {}, 2), ["b", "c", "e"])
    assert.deepStrictEqual(yield* all(store, { waiting: true }), ["e"])
    yield* store.sweep(100)
    assert.deepStrictEqual(yield* all(store, {}), ["b", "c", "e"])
  })

  law("a page has nothing that has expired, also the first that is filtered so", function*(store) {
    yield* store.requests.open([shown("a", { tenant: "t", expiresAt: minute }), shown("b", { tenant: "t" })])
    assert.deepStrictEqual(yield* all(store, {}), ["a", "b"])
    yield* TestClock.adjust(minute)
    assert.deepStrictEqual(yield* all(store, {}), ["b"])
    assert.deepStrictEqual(yield* all(store, { tenant: "t" }), ["b"])
  })

  law("a page has only those of which every field is as it was asked for", function*(store) {
    const requests = [
      shown("1", { tenant: "t", principal: "p", conversation: "c", root: "r", kind: "hosted", issuedAt: 1 }),
      shown("2", { tenant: "t", principal: "q", conversation: "c", toolName: "Pay", issuedAt: 2 }),
      shown("3", { tenant: "T", principal: "p", conversation: "d", root: "r", issuedAt: 3 }),
      shown("4", { tenant: "", toolName: "Pay", issuedAt: 4 }),
      shown("5", { toolName: "pay", issuedAt: 5 })
    ]
    yield* store.requests.open(requests)
    yield* store.requests.suspend(waits("6", { tenant: "t", toolName: "Pay", issuedAt: 6 }))
    const expected: ReadonlyArray<[Store.RequestFilter, string]> = [
      [{}, "123456"],
      [{ tenant: "t" }, "126"],
      [{ tenant: "" }, "4"],
      [{ tenant: undefined }, "123456"],
      [{ principal: "p" }, "13"],
      [{ conversation: "c" }, "12"],
      [{ root: "r" }, "13"],
      [{ toolName: "Pay" }, "246"],
      [{ kind: "hosted" }, "1"],
      [{ kind: "timer" }, "6"],
      [{ waiting: true }, "6"],
      [{ waiting: false }, "123456"],
      [{ issuedBefore: 4 }, "123"],
      [{ tenant: "t", toolName: "Pay" }, "26"],
      [{ tenant: "t", toolName: "Pay", waiting: true }, "6"],
      [{ conversation: "c", principal: "q", issuedBefore: 2 }, ""],
      [{ tenant: "unknown" }, ""]
    ]
    for (const [filter, found] of expected) {
      for (const limit of [1, 2, 100]) {
        assert.strictEqual((yield* all(store, filter, limit)).join(""), found, JSON.stringify(filter))
      }
    }
  })

  law("while others come and go, pages have each that stays once, and none that went before", function*(store) {
    const nonce = (index: number) => `n${String(index).padStart(3, "0")}`
    yield* store.requests.open(
      Array.from({ length: 60 }, (_, index) => shown(nonce(index), { issuedAt: index * 2 }))
    )
    const expected = Array.from({ length: 60 }, (_, index) => nonce(index))
    const found: Array<string> = []
    let after: string | undefined
    for (let round = 0;; round++) {
      const page: Store.RequestPage = yield* store.requests.page({}, { after, limit: 7 })
      found.push(...nonces(page.requests))
      after = page.next
      if (after === undefined) break
      // The one the page ended with, one that was seen, and one that will not be.
      yield* store.requests.close([page.requests[6]!.nonce])
      yield* store.requests.decide(named(page.requests[0]!.nonce), 0, { state: "denied", entry: "no" })
      const unseen = expected.filter((one) => one.startsWith("n") && !found.includes(one)).at(-1)
      if (unseen !== undefined) {
        expected.splice(expected.indexOf(unseen), 1)
        yield* store.requests.close([unseen])
      }
      expected.push(`after${round}`)
      yield* store.requests.open([
        shown(`before${round}`, { issuedAt: page.requests[0]!.issuedAt - 1 }),
        shown(`after${round}`, { issuedAt: 200 + round })
      ])
    }
    assert.deepStrictEqual(found, expected)
    assert.isAtLeast(expected.length, 60)
  })

  law("a place that no page gave is an error, not the first page", function*(store) {
    yield* store.requests.open([shown("a")])
    for (const after of ["", "a", "NaN.a", "'; --", "\u0000"]) {
      const error = yield* Effect.flip(store.requests.page({}, { after, limit: 1 }))
      assert.strictEqual(error.reason, "Unavailable")
    }
  })

  law("fields are any text, and are not taken for each other", function*(store) {
    yield* store.requests.open(
      texts.map((text, index) =>
        shown(String(index), { tenant: text, principal: text, toolName: text, toolCallId: text, conversation: text })
      )
    )
    for (const [index, text] of texts.entries()) {
      for (const filter of [{ tenant: text }, { principal: text, toolName: text }, { conversation: text }]) {
        const { requests } = yield* store.requests.page(filter, { limit: 10 })
        assert.deepStrictEqual(nonces(requests), [String(index)])
        assert.deepStrictEqual([requests[0]?.tenant, requests[0]?.toolCallId], [text, text])
      }
    }
  })
}
