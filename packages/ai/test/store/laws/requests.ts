import { Store } from "@assent/ai"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Law, minute, named, nonces, plain, shown, waits } from "./support.ts"

export const requests = (law: Law) => {
  law("a request that was opened is there as it was given, and nothing was decided", function*(store) {
    assert.isUndefined(yield* store.requests.get("a"))
    const full = shown("a", {
      tenant: "t",
      principal: "p",
      parent: "c0",
      root: "c00",
      conversation: "c",
      issuedAt: 5,
      expiresAt: 50_000
    })
    yield* store.requests.open([full, shown("b", { tenant: "" })])
    assert.deepStrictEqual(plain(yield* store.requests.get("a")), { ...full, state: "pending", version: 0 })
    assert.deepStrictEqual(plain(yield* store.requests.get("b")), {
      ...shown("b", { tenant: "" }),
      state: "pending",
      version: 0
    })
  })

  law("to open one again changes what is shown, and nothing else", function*(store) {
    yield* store.requests.open([shown("a", { tenant: "t", issuedAt: 1 })])
    yield* store.requests.decide(named("a"), 0, { state: "pending", entry: "one approval" })
    yield* store.requests.open([shown("a", { tenant: "other", issuedAt: 2 }, "new"), shown("a", {}, "newer")])
    assert.deepStrictEqual(plain(yield* store.requests.get("a")), {
      ...shown("a", { tenant: "t", issuedAt: 1 }, "newer"),
      state: "pending",
      version: 1,
      entry: "one approval"
    })
  })

  law("to open one that was decided does not ask again", function*(store) {
    yield* store.requests.decide(named("a"), 0, { state: "denied", entry: "no" })
    yield* store.requests.open([shown("a")])
    assert.deepStrictEqual((yield* store.requests.page({}, { limit: 10 })).requests, [])
    const found = yield* store.requests.get("a")
    assert.deepStrictEqual([found?.state, found?.version, found?.entry], ["denied", 1, "no"])
  })

  law(
    "to close forgets what was never decided and no tool waits for, and shows no more what some approved",
    function*(store) {
      yield* store.requests.open(["asked", "approved", "running", "waiting"].map((nonce) => shown(nonce)))
      yield* store.requests.decide(named("approved"), 0, { state: "pending", entry: "one approval" })
      yield* store.requests.decide(named("running"), 0, { state: "running", entry: "runs" })
      yield* store.requests.suspend(waits("waiting"))
      yield* store.requests.close(["asked", "approved", "running", "waiting", "unknown"])
      assert.isUndefined(yield* store.requests.get("asked"))
      assert.strictEqual((yield* store.requests.get("approved"))?.entry, "one approval")
      assert.strictEqual((yield* store.requests.get("running"))?.entry, "runs")
      const { requests } = yield* store.requests.page({}, { limit: 10 })
      assert.deepStrictEqual(requests.map(({ nonce, request }) => [nonce, request]), [["waiting", undefined]])
      yield* store.requests.open([shown("approved")])
      assert.deepStrictEqual(nonces((yield* store.requests.page({}, { limit: 10 })).requests), [
        "approved",
        "waiting"
      ])
    }
  )

  law("a decision is one step over the version that it names, whether the request was opened or not", function*(store) {
    for (const nonce of ["opened", "not"]) {
      const name = named(nonce, { tenant: "t", expiresAt: minute })
      if (nonce === "opened") yield* store.requests.open([{ ...name, request: "shown" }])
      const decide = (version: number, decided: Store.Decided) => store.requests.decide(name, version, decided)
      assert.isFalse(yield* decide(1, { state: "running", entry: "late" }))
      assert.isTrue(yield* decide(0, { state: "pending", entry: "approval" }))
      assert.isFalse(yield* decide(0, { state: "denied", entry: "late" }))
      assert.isTrue(yield* decide(1, { state: "running", entry: "runs", owner: "o" }))
      assert.isTrue(yield* decide(2, { state: "done", entry: "ran", result: "42" }))
      assert.isFalse(yield* decide(2, { state: "unknown", entry: "late" }))
      const { request: _, ...found } = (yield* store.requests.get(nonce))!
      assert.deepStrictEqual(plain(found), { ...name, state: "done", version: 3, entry: "ran", result: "42" })
    }
  })

  law("each decision has a result of its own, or none", function*(store) {
    yield* store.requests.decide(named("a"), 0, { state: "unknown", entry: "lost", result: "1" })
    yield* store.requests.decide(named("a"), 1, { state: "running", entry: "again" })
    const found = yield* store.requests.get("a")
    assert.deepStrictEqual([found?.entry, found?.result], ["again", undefined])
  })

  law("exactly one of several who decide, go on, end or answer gets true", function*(store) {
    const winners = <A>(one: (index: number) => Effect.Effect<A, Store.StoreError>, wins: A) =>
      Effect.map(
        Effect.all(Array.from({ length: 8 }, (_, index) => one(index)), { concurrency: "unbounded" }),
        (all) => all.filter((result) => result === wins).length
      )
    const decide = (nonce: string, version: number) => (index: number) =>
      store.requests.decide(named(nonce), version, { state: "running", entry: String(index) })
    yield* store.requests.open([shown("opened")])
    assert.strictEqual(yield* winners(decide("opened", 0), true), 1)
    assert.strictEqual(yield* winners(decide("new", 0), true), 1)
    assert.strictEqual(yield* winners(decide("new", 1), true), 1)
    assert.strictEqual(yield* winners(() => store.requests.suspend(waits("w")), "suspended"), 1)
    assert.strictEqual(yield* winners((index) => store.requests.deliver("w", String(index)), true), 1)
    assert.strictEqual(yield* winners(() => store.requests.advance("w", ["open"], "taken"), true), 1)
    assert.strictEqual(yield* winners(() => store.requests.advance("w", ["open", "taken"], "over"), true), 1)
    assert.strictEqual(
      yield* winners((index) => store.requests.suspend(waits(`h${index}`, { webhook: "h" })), "suspended"),
      1
    )
    yield* store.remembered.insert({
      id: "r",
      scope: "s",
      source: "l",
      toolName: "t",
      denies: false,
      uses: 1,
      body: "{}"
    })
    assert.strictEqual(yield* winners(() => store.remembered.take("r"), 0), 1)
    assert.strictEqual(yield* winners(() => store.conversations.write("c", undefined, conversation), undefined), 7)
  })

  law("a request that expired is on no page, and what became of it is known for a day more", function*(store) {
    yield* store.requests.open([shown("asked", { expiresAt: minute }), shown("always")])
    yield* store.requests.decide(named("decided", { expiresAt: minute }), 0, { state: "denied", entry: "no" })
    yield* store.requests.decide(named("for ever"), 0, { state: "denied", entry: "no" })
    yield* TestClock.adjust(minute - 1)
    assert.lengthOf((yield* store.requests.page({}, { limit: 10 })).requests, 2)
    yield* TestClock.adjust(1)
    assert.deepStrictEqual(nonces((yield* store.requests.page({}, { limit: 10 })).requests), ["always"])
    yield* TestClock.adjust(Store.margin - 1)
    assert.strictEqual((yield* store.requests.get("asked"))?.state, "pending")
    assert.isFalse(yield* store.requests.decide(named("decided"), 0, { state: "running", entry: "again" }))
    yield* TestClock.adjust(1)
    assert.isUndefined(yield* store.requests.get("asked"))
    assert.isUndefined(yield* store.requests.get("decided"))
    yield* TestClock.adjust("36500 days")
    assert.strictEqual((yield* store.requests.get("for ever"))?.state, "denied")
    assert.strictEqual((yield* store.requests.get("always"))?.state, "pending")
  })
}

const conversation = { name: "c", state: "{}", keep: 0, append: [] }
