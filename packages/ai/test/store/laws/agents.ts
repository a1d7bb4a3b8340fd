import type { Store } from "@assent/ai"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Law, minute, named, nonces, shown, waits, written } from "./support.ts"

/** What is asked in the agents of a call belongs to it. */
const within = (nonce: string, parent: string) => ({ ...shown(nonce), parent, root: "outermost" })

export const agents = (law: Law) => {
  const listed = (store: Store.Store) =>
    Effect.map(store.requests.page({}, { limit: 10 }), ({ requests }) => nonces(requests))

  law(
    "a decision that is given is kept once over what was kept before, and the request is listed no more",
    function*(store) {
      yield* store.requests.suspend(waits("call"))
      yield* store.requests.open([shown("a"), shown("b")])
      assert.isTrue(yield* store.requests.give("a", undefined, "yes", "call"))
      assert.isFalse(yield* store.requests.give("a", undefined, "no"))
      assert.isTrue(yield* store.requests.give("a", "yes", "yes and no"))
      assert.strictEqual((yield* store.requests.get("a"))?.given, "yes and no")
      assert.deepStrictEqual(yield* listed(store), ["b", "call"])
      assert.deepStrictEqual(nonces(yield* store.requests.due(0, 10)), ["call"])
      // It is asked again.
      assert.isTrue(yield* store.requests.give("a", "yes and no", undefined))
      assert.deepStrictEqual(yield* listed(store), ["a", "b", "call"])
    }
  )

  law("nothing is given to what was decided, and what was given is forgotten with it", function*(store) {
    yield* store.requests.open([shown("a"), shown("b")])
    yield* store.requests.give("a", undefined, "yes")
    yield* store.requests.decide(named("a"), 0, { state: "superseded", entry: "{}" })
    assert.isUndefined((yield* store.requests.get("a"))?.given)
    assert.isFalse(yield* store.requests.give("a", undefined, "yes"))
    assert.isFalse(yield* store.requests.give("never", undefined, "yes"))
    yield* store.requests.give("b", undefined, "yes")
    yield* store.requests.close(["b"])
    yield* store.requests.open([shown("b")])
    assert.isUndefined((yield* store.requests.get("b"))?.given)
  })

  law("nothing is given to what was asked in a conversation that has expired, or in an agent of one", function*(store) {
    for (const id of ["one", "outermost", "other"]) {
      yield* store.conversations.write(id, undefined, written({ expiresAt: id === "other" ? 3 * minute : minute }))
    }
    // More than are reclaimed by the way.
    for (let n = 0; n < 8; n++) yield* store.conversations.write(`${n}`, undefined, written({ expiresAt: n }))
    yield* store.conversations.write("agent", undefined, written({ parent: "call", root: "outermost" }))
    yield* store.requests.open([
      shown("a", { conversation: "one", root: "one" }),
      shown("b", { conversation: "agent", root: "outermost", parent: "call" }),
      shown("c", { conversation: "other", root: "other" })
    ])
    yield* TestClock.adjust(2 * minute)
    const given = yield* Effect.forEach(["a", "b", "c"], (nonce) => store.requests.give(nonce, undefined, "yes"))
    assert.deepStrictEqual(given, [false, false, true])
  })

  law(
    "what is asked within a call is found by it, until it is settled; that there was something, for longer",
    function*(store) {
      assert.isFalse(yield* store.requests.hasWithin("call"))
      yield* store.requests.open([within("a", "call"), within("b", "call"), within("c", "other")])
      yield* store.requests.decide(named("a"), 0, { state: "running", entry: "{}" })
      assert.deepStrictEqual(nonces(yield* store.requests.within("call")), ["a", "b"])
      yield* store.requests.decide(named("a"), 1, { state: "done", entry: "{}" })
      yield* store.requests.decide(named("b"), 0, { state: "denied", entry: "{}" })
      assert.deepStrictEqual(yield* store.requests.within("call"), [])
      assert.isTrue(yield* store.requests.hasWithin("call"))
    }
  )

  law("a run that goes on is held at its version alone", function*(store) {
    yield* store.requests.open([shown("a")])
    for (const nonce of ["a", "nobody's"]) assert.isFalse(yield* store.requests.holds(nonce, 0))
    yield* store.requests.decide(named("a"), 0, { state: "running", entry: "{}" })
    assert.isTrue(yield* store.requests.holds("a", 1))
    assert.isFalse(yield* store.requests.holds("a", 2))
    yield* store.requests.decide(named("a"), 1, { state: "done", entry: "{}" })
    assert.isFalse(yield* store.requests.holds("a", 2))
  })

  law("what was taken waits again", function*(store) {
    yield* store.requests.suspend(waits("a"))
    yield* store.requests.advance("a", ["open"], "taken")
    assert.isTrue(yield* store.requests.advance("a", ["taken"], "open"))
    assert.isTrue(yield* store.requests.advance("a", ["open"], "taken"))
  })

  law("the conversations of agents go with the outermost, with what waits in them", function*(store) {
    const talk = { name: "talk", state: "{}", keep: 0, append: [] }
    yield* store.conversations.write("outermost", undefined, { ...talk, root: "outermost" })
    yield* store.conversations.write("inner", undefined, { ...talk, parent: "call", root: "outermost" })
    yield* store.conversations.write("other", undefined, { ...talk, root: "other" })
    yield* store.requests.open([{ ...within("a", "call"), conversation: "inner" }])
    assert.isTrue(yield* store.requests.hasWithin("call"))
    yield* store.requests.close(["a"])
    assert.isTrue(yield* store.requests.hasWithin("call"))
    yield* store.requests.open([{ ...within("a", "call"), conversation: "inner" }])
    yield* store.conversations.remove("outermost")
    assert.isFalse(yield* store.requests.hasWithin("call"))
    assert.isUndefined(yield* store.conversations.get("inner"))
    assert.isDefined(yield* store.conversations.get("other"))
    assert.isUndefined(yield* store.requests.get("a"))
  })
}
