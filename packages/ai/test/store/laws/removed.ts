import { Store } from "@assent/ai"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { read, sweepAll } from "./events.ts"
import { type Law, minute, named, shown, written } from "./support.ts"

export const removed = (law: Law) => {
  law("what was asked in a conversation that is removed is told by its names, and no more of it", function*(store) {
    const asked = (nonce: string) =>
      JSON.stringify({ approvalId: nonce, toolName: "SendMail", params: { to: "a secret" }, reason: "a secret" })
    const ids = ["removed", "expired", "kept"]
    for (const conversation of ids) {
      const expiresAt = conversation === "expired" ? minute : undefined
      yield* store.conversations.write(conversation, undefined, written({ expiresAt }))
      const nonces = [`${conversation} open`, `${conversation} denied`]
      yield* store.requests.open(nonces.map((nonce) => shown(nonce, { conversation }, asked(nonce))))
      yield* store.requests.decide(named(nonces[1]!), 0, { state: "denied", entry: "a secret" })
    }
    const before = (yield* read(store)).events
    const undone = Effect.andThen(store.conversations.remove("removed"), Effect.fail("no"))
    yield* Effect.flip(store.atomically(undone))
    assert.deepStrictEqual((yield* read(store)).events, before)
    yield* store.conversations.remove("removed")
    yield* TestClock.adjust(minute)
    yield* sweepAll(store)
    const after = (yield* read(store)).events
    const of = (events: ReadonlyArray<Store.EventRow>, id: string) => events.filter((row) => row.conversation === id)
    assert.deepStrictEqual(of(after, "kept"), of(before, "kept"))
    for (const id of ["removed", "expired"]) {
      const told = of(after, id)
      assert.strictEqual(told.length, 4)
      assert.notInclude(JSON.stringify(told), "a secret")
      for (const { nonce, request } of told) assert.strictEqual(request, Store.requestOfRemoved(asked(nonce)))
      const names = JSON.parse(told.find(({ nonce }) => nonce === `${id} open`)!.request)
      assert.deepInclude(names, { approvalId: `${id} open`, toolName: "SendMail", params: null })
    }
  })
}
