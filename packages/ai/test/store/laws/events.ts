import { Store } from "@assent/ai"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Law, minute, named, nonces, shown, waits, written } from "./support.ts"

const said = ({ ended, event, nonce }: Store.EventRow): string =>
  `${nonce} ${event}${ended === undefined ? "" : ` ${ended.state}`}`

/** All that comes after a place, page by page, and the place after it. */
export const read = Effect.fnUntraced(function*(
  store: Store.Store,
  filter: Store.EventFilter = {},
  after?: string,
  limit = 100
) {
  const events: Array<Store.EventRow> = []
  let place = after
  let isMissed = false
  while (true) {
    const page: Store.EventPage = yield* store.events.page(filter, { after: place, limit })
    assert.isAtMost(page.events.length, limit)
    events.push(...page.events)
    isMissed ||= page.isMissed
    place = page.next
    if (!page.isMore) return { events, said: events.map(said), place, isMissed }
  }
})

export const sweepAll = (store: Store.Store) =>
  Effect.gen(function*() {
    while ((yield* store.sweep(100)) > 0) { /* again */ }
  })

export const events = (law: Law) => {
  law(
    "each request that is opened and decided is told of, in that order, with what it was and how it was decided",
    function*(store) {
      const scope = { tenant: "t", principal: "p", conversation: "c" }
      yield* TestClock.setTime(minute)
      yield* store.requests.open([shown("a", { ...scope, kind: "askUser" }), shown("b")])
      yield* TestClock.adjust(minute)
      yield* store.requests.decide(named("a"), 0, { state: "denied", entry: `{"reason":"no"}` })
      const { events, said } = yield* read(store)
      assert.deepStrictEqual(said, ["a opened", "b opened", "a decided denied"])
      const request = `{"shown":"a"}`
      const about = { nonce: "a", toolName: "SendMail", kind: "askUser", ...scope, request }
      const [opened, , decided] = events.map(({ cursor: _, ...event }) => event)
      assert.deepStrictEqual(opened, { event: "opened", at: minute, ...about })
      const ended = { state: "denied", entry: `{"reason":"no"}` } as const
      assert.deepStrictEqual(decided, { event: "decided", at: 2 * minute, ...about, ended })
    }
  )

  law("one step of a decision is told, and nothing that comes after it", function*(store) {
    yield* store.requests.open([shown("a"), shown("b")])
    yield* store.requests.decide(named("a"), 0, { state: "pending", entry: "one of two" })
    assert.deepStrictEqual((yield* read(store)).said, ["a opened", "b opened"])
    yield* store.requests.decide(named("a"), 1, { state: "running", entry: "runs" })
    yield* store.requests.decide(named("a"), 2, { state: "unknown", entry: "lost" })
    yield* store.requests.decide(named("a"), 3, { state: "running", entry: "again" })
    yield* store.requests.decide(named("a"), 4, { state: "done", entry: "ran", result: "1" })
    yield* store.requests.decide(named("b"), 0, { state: "expired", entry: "late" })
    assert.isFalse(yield* store.requests.decide(named("b"), 0, { state: "denied", entry: "no" }))
    const { events, said } = yield* read(store)
    assert.deepStrictEqual(said, ["a opened", "b opened", "a decided running", "b expired"])
    assert.strictEqual(events[2]?.ended?.entry, "runs")
  })

  law("what was asked where nothing lists it is not told, however it ends", function*(store) {
    yield* store.requests.decide(named("a"), 0, { state: "running", entry: "{}" })
    yield* store.requests.decide(named("a"), 1, { state: "done", entry: "{}" })
    yield* store.requests.suspend(waits("w"))
    yield* store.requests.deliver("w", "1")
    yield* store.requests.close(["unknown"], { state: "withdrawn" })
    yield* store.conversations.remove("unknown")
    assert.deepStrictEqual((yield* read(store)).said, [])
  })

  law("what is closed because it was answered is told when it is decided, and what was not, at once", function*(store) {
    yield* store.requests.open(["a", "b", "c"].map((nonce) => shown(nonce)))
    yield* store.requests.close(["a"])
    yield* store.requests.close(["b", "b"], { state: "withdrawn" })
    yield* store.requests.close(["b"], { state: "withdrawn" })
    assert.deepStrictEqual((yield* read(store)).said.slice(3), ["b decided withdrawn"])
    // Its approval was not enough: it is asked as before.
    yield* store.requests.open([shown("a", {}, "one of two")])
    yield* store.requests.close(["a", "c"])
    yield* store.requests.decide(named("a"), 0, { state: "running", entry: "{}" })
    yield* store.requests.close(["c"], { state: "approved", entry: "{}" })
    const { events, said } = yield* read(store)
    assert.deepStrictEqual(said.slice(4), ["a decided running", "c decided approved"])
    assert.strictEqual(events[4]?.request, "one of two")
  })

  law("what was opened again is told again, once it had been decided", function*(store) {
    yield* store.requests.open([shown("a")])
    yield* store.requests.open([shown("a", {}, "new")])
    yield* store.requests.decide(named("a"), 0, { state: "running", entry: "{}" })
    yield* store.requests.decide(named("a"), 1, { state: "pending", entry: "{}" })
    yield* store.requests.open([shown("a", {}, "newer")])
    yield* store.requests.decide(named("a"), 2, { state: "denied", entry: "{}" })
    const { events, said } = yield* read(store)
    assert.deepStrictEqual(said, ["a opened", "a decided running", "a opened", "a decided denied"])
    assert.deepStrictEqual(events.map(({ request }) => request), ["new", "new", "newer", "newer"])
  })

  law(
    "a tool that waits is told of when it is shown, and when it is answered or goes on without an answer",
    function*(store) {
      const all = ["delivered", "taken", "over"]
      for (const nonce of all) yield* store.requests.suspend(waits(nonce))
      assert.deepStrictEqual((yield* read(store)).said, [])
      yield* store.requests.open(all.map((nonce) => shown(nonce)))
      const { place } = yield* read(store)
      yield* store.requests.deliver("delivered", `{"answer":"secret"}`, `{"by":1}`)
      yield* store.requests.deliver("delivered", `{"answer":"late"}`, `{"by":2}`)
      yield* store.requests.decide(named("delivered"), 0, { state: "running", entry: "{}" })
      yield* store.requests.advance("taken", ["open"], "taken")
      yield* store.requests.advance("over", ["open"], "over")
      const { events, said } = yield* read(store, {}, place)
      assert.deepStrictEqual(said, ["delivered decided answered", "taken decided answered", "over decided withdrawn"])
      assert.deepStrictEqual(events[0]?.ended, { state: "answered", entry: `{"by":1}` })
    }
  )

  law("what expires is told once, by whoever reads or sweeps first", function*(store) {
    yield* store.requests.open([
      shown("a", { expiresAt: minute }),
      shown("b", { expiresAt: minute + 1 }),
      shown("c", { expiresAt: 2 * minute }),
      shown("always")
    ])
    const { place } = yield* read(store)
    yield* TestClock.adjust(minute)
    const readers = yield* Effect.all(Array.from({ length: 8 }, () => read(store, {}, place)), {
      concurrency: "unbounded"
    })
    for (const { said } of readers) assert.deepStrictEqual(said, ["a expired"])
    yield* TestClock.adjust(1)
    yield* store.sweep(100)
    yield* store.requests.close(["a", "b"], { state: "withdrawn" })
    yield* store.requests.decide(named("a"), 0, { state: "expired", entry: "{}" })
    yield* store.requests.decide(named("b"), 0, { state: "superseded", entry: "{}" })
    yield* TestClock.adjust("40 days")
    yield* sweepAll(store)
    yield* store.requests.open([shown("c", { expiresAt: 2 * minute })])
    const { events, said } = yield* read(store, {}, place)
    assert.deepStrictEqual(said, ["c expired"])
    assert.strictEqual(events[0]?.at, minute + 1 + 40 * 24 * 60 * minute)
  })

  law("who decides what another clock had let expire is told all the same", function*(store) {
    yield* store.requests.open(["a", "b"].map((nonce) => shown(nonce, { expiresAt: minute })))
    yield* TestClock.setTime(minute)
    yield* read(store)
    yield* TestClock.setTime(0)
    yield* store.requests.open(["a", "b"].map((nonce) => shown(nonce, { expiresAt: minute })))
    yield* store.requests.decide(named("a"), 0, { state: "running", entry: "{}" })
    yield* store.requests.decide(named("b"), 0, { state: "void", entry: "{}" })
    const { said } = yield* read(store)
    assert.deepStrictEqual(said.toSorted(), ["a decided running", "a expired", "a opened", "b expired", "b opened"])
  })

  law("what was opened is there as long as the last that is told of it", function*(store) {
    yield* TestClock.setTime(2 * minute)
    yield* store.requests.open([shown("a", { expiresAt: 3 * minute })])
    yield* TestClock.setTime(3 * minute)
    yield* read(store)
    yield* TestClock.setTime(4 * minute)
    // By a clock that is behind.
    yield* TestClock.setTime(minute)
    yield* store.requests.open([shown("b")])
    yield* TestClock.setTime(5 * minute)
    yield* store.requests.decide(named("a"), 0, { state: "denied", entry: "{}" })
    yield* TestClock.setTime(4 * minute + Store.eventLife)
    yield* sweepAll(store)
    const { events, said } = yield* read(store)
    assert.deepStrictEqual(said, ["a decided denied"])
    assert.strictEqual(events[0]?.request, `{"shown":"a"}`)
  })

  law(
    "a clock that ran ahead and came back holds up what is given up, and nobody misses what was not",
    function*(store) {
      yield* TestClock.setTime(20 * Store.eventLife)
      yield* store.requests.open([shown("ahead")])
      yield* TestClock.setTime(minute)
      const { place } = yield* read(store)
      yield* store.requests.open([shown("now")])
      yield* store.requests.decide(named("now"), 0, { state: "denied", entry: "{}" })
      yield* TestClock.adjust(2 * Store.eventLife)
      yield* sweepAll(store)
      assert.deepStrictEqual((yield* read(store)).said, ["ahead opened", "now opened", "now decided denied"])
      assert.isFalse((yield* read(store, {}, place)).isMissed)
      // One by whose clock everything is old.
      yield* TestClock.setTime(40 * Store.eventLife)
      yield* sweepAll(store)
      yield* TestClock.setTime(3 * minute)
      assert.isTrue((yield* read(store, {}, place)).isMissed)
      yield* store.requests.open([shown("later")])
      assert.deepStrictEqual((yield* read(store)).said, ["later opened"])
    }
  )

  law("what goes with its conversation is told: withdrawn, or expired with it", function*(store) {
    for (const id of ["removed", "swept", "begun anew"]) {
      const expiresAt = id === "removed" ? undefined : minute
      yield* store.conversations.write(id, undefined, written({ expiresAt }))
      yield* store.requests.open([
        shown(`of ${id}`, { conversation: id }),
        shown(`${id} decided`, { conversation: id })
      ])
      yield* store.requests.decide(named(`${id} decided`), 0, { state: "denied", entry: "{}" })
    }
    const { place } = yield* read(store)
    yield* store.conversations.remove("removed")
    yield* TestClock.adjust(minute)
    yield* store.conversations.write("begun anew", undefined, written())
    yield* sweepAll(store)
    assert.deepStrictEqual((yield* read(store, {}, place)).said, [
      "of removed decided withdrawn",
      "of begun anew expired",
      "of swept expired"
    ])
  })

  law("what is undone was not told", function*(store) {
    yield* store.requests.open([shown("a"), shown("late", { expiresAt: minute }), shown("kept")])
    const { events, place } = yield* read(store)
    const failing = Effect.gen(function*() {
      yield* store.requests.open([shown("b")])
      yield* store.requests.decide(named("a"), 0, { state: "denied", entry: "{}" })
      yield* TestClock.adjust(minute)
      assert.lengthOf((yield* read(store, {}, place)).said, 3)
      yield* store.readers.move("r", undefined, { cursor: place })
      yield* store.requests.open([shown("kept", {}, "another")])
      return yield* Effect.fail("no")
    })
    yield* Effect.flip(store.atomically(failing))
    assert.isUndefined(yield* store.readers.get("r"))
    assert.deepStrictEqual((yield* read(store)).events.slice(0, 3), events)
    assert.deepStrictEqual((yield* read(store, {}, place)).said, ["late expired"])
    yield* store.requests.decide(named("a"), 0, { state: "running", entry: "{}" })
    assert.deepStrictEqual((yield* read(store, {}, place)).said, ["late expired", "a decided running"])
  })

  law("a filter names the events of those requests alone, and every page leads on", function*(store) {
    const requests = Array.from({ length: 30 }, (_, n) =>
      shown(`n${String(n).padStart(2, "0")}`, {
        tenant: ["t", "", undefined][n % 3],
        principal: n % 2 === 0 ? "p" : "q",
        conversation: n < 10 ? "c" : undefined,
        toolName: n % 5 === 0 ? "Pay" : "pay",
        kind: n % 4 === 0 ? "hosted" : "approval"
      }))
    for (const request of requests) yield* store.requests.open([request])
    for (const { nonce } of requests) yield* store.requests.decide(named(nonce), 0, { state: "denied", entry: "{}" })
    const filters: ReadonlyArray<readonly [Store.EventFilter, (request: Store.RequestName) => boolean]> = [
      [{}, () => true],
      [{ tenant: "t" }, ({ tenant }) => tenant === "t"],
      [{ tenant: "" }, ({ tenant }) => tenant === ""],
      [{ tenant: undefined }, () => true],
      [{ principal: "q", toolName: "Pay" }, ({ principal, toolName }) => principal === "q" && toolName === "Pay"],
      [{ conversation: "c", kind: "hosted" }, ({ conversation, kind }) => conversation === "c" && kind === "hosted"],
      [{ tenant: "nobody" }, () => false]
    ]
    const { place } = yield* read(store)
    for (const [filter, isNamed] of filters) {
      const named = nonces(requests.filter(isNamed) as any)
      for (const limit of [1, 7, 100]) {
        const all = yield* read(store, filter, undefined, limit)
        assert.deepStrictEqual(all.events.map(({ nonce }) => nonce), [...named, ...named], JSON.stringify(filter))
        assert.strictEqual(all.place, place)
      }
    }
  })

  law("a reader goes on from any place, and is told whatever came after it", function*(store) {
    const nothing = yield* read(store)
    assert.strictEqual(nothing.place, yield* store.events.latest)
    for (let n = 0; n < 5; n++) yield* store.requests.open([shown(String(n))])
    const { events, place } = yield* read(store, {}, nothing.place)
    assert.lengthOf(events, 5)
    for (const [index, { cursor }] of events.entries()) {
      assert.deepStrictEqual((yield* read(store, {}, cursor)).events, events.slice(index + 1))
    }
    assert.strictEqual(place, events[4]?.cursor)
    assert.strictEqual(yield* store.events.latest, place)
    for (const after of ["", "a", "-1", "1.5", "'; --", "9".repeat(40), "\0"]) {
      const error = yield* Effect.flip(store.events.page({}, { after, limit: 1 }))
      assert.strictEqual(error.reason, "Unavailable")
    }
  })

  law("events are given up after a week, and whoever was not told of them is told that", function*(store) {
    const { place } = yield* read(store)
    yield* store.requests.open([shown("a"), shown("open", { tenant: "t" })])
    yield* store.requests.decide(named("a"), 0, { state: "denied", entry: "{}" })
    const first = yield* read(store)
    yield* TestClock.adjust(Store.eventLife - 1)
    yield* store.requests.open([shown("b")])
    yield* sweepAll(store)
    assert.deepStrictEqual((yield* read(store, {}, place)).isMissed, false)
    yield* TestClock.adjust(1)
    yield* sweepAll(store)
    for (const after of [place, first.events[1]!.cursor]) {
      const { isMissed, said } = yield* read(store, {}, after)
      assert.deepStrictEqual([isMissed, said], [true, ["b opened"]])
    }
    for (const after of [undefined, first.place]) {
      const { isMissed, said } = yield* read(store, {}, after)
      assert.deepStrictEqual([isMissed, said], [false, ["b opened"]])
    }
    // Nothing of anybody else's, and that there was something.
    assert.deepStrictEqual(yield* store.events.page({ tenant: "t" }, { after: place, limit: 10 }), {
      events: [],
      from: first.place,
      next: yield* store.events.latest,
      isMore: false,
      isMissed: true
    })
    // What is told later has its request all the same.
    yield* store.requests.decide(named("open"), 0, { state: "denied", entry: "{}" })
    const { events } = yield* read(store, { tenant: "t" })
    assert.deepStrictEqual(events.map(({ request }) => request), [`{"shown":"open"}`])
    yield* TestClock.adjust(Store.eventLife)
    yield* sweepAll(store)
    const all = yield* read(store)
    assert.deepStrictEqual([all.said, all.isMissed], [[], false])
    assert.isTrue((yield* read(store, {}, place)).isMissed)
    assert.isFalse((yield* read(store, {}, all.place)).isMissed)
    yield* store.requests.open([shown("c")])
    assert.deepStrictEqual((yield* read(store, {}, all.place)).said, ["c opened"])
  })

  law("a place that was never reached is one at which something is missing", function*(store) {
    yield* store.requests.open([shown("a")])
    const { isMissed, place, said } = yield* read(store, {}, "1000000")
    assert.deepStrictEqual([isMissed, said], [true, ["a opened"]])
    assert.strictEqual(place, yield* store.events.latest)
  })

  law("a reader's place is written by one of several who know the same version", function*(store) {
    const { readers } = store
    assert.isUndefined(yield* readers.get("r"))
    const race = (version: number | undefined) =>
      Effect.map(
        Effect.all(
          Array.from({ length: 5 }, (_, n) => readers.move("r", version, { cursor: "1", holder: `h${n}` })),
          {
            concurrency: "unbounded"
          }
        ),
        (all) => all.filter((next) => next !== undefined)
      )
    const [first] = yield* race(undefined)
    assert.lengthOf(yield* race(undefined), 0)
    assert.lengthOf(yield* race(first), 1)
    assert.lengthOf(yield* race(first), 0)
    const found = yield* readers.get("r")
    const last = (yield* readers.move("r", found?.version, { cursor: "2" })) ?? NaN
    const { holder, ...rest } = (yield* readers.get("r"))!
    assert.isUndefined(holder)
    assert.deepStrictEqual(rest, { version: last, cursor: "2" })
    assert.isUndefined(yield* readers.get("R"))
  })
}
