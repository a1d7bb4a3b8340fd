/** What nobody answered, in a database: whoever opens it next finds it, days later and in another process. */
import { SuspensionStore } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Ticket from "../../ai/test/conversation/ticket.ts"
import { makeFilename, makeStore } from "./database.ts"

describe("an expiry", () => {
  it.effect("wakes the run in the process that opens the database after a restart, once", () =>
    Effect.gen(function*() {
      const filename = yield* makeFilename
      const open = Effect.map(makeStore({ filename, synchronous: "NORMAL" }), ({ store }) => store)
      yield* Effect.scoped(Effect.gen(function*() {
        const { conversation } = yield* Ticket.start({ turns: [[Ticket.call]], shared: yield* open, id: "c7" })
        yield* conversation.send("Help.")
      }))
      yield* TestClock.adjust("3 days")
      const steps = yield* Effect.scoped(Effect.gen(function*() {
        const shared = yield* open
        const { conversation, steps } = yield* Ticket.start({ turns: [], shared, id: "c7" })
        const found: Array<string | undefined> = []
        const look = SuspensionStore.wakeDue(({ scope }) => {
          found.push(scope.conversation)
          return conversation.wake
        }).pipe(Effect.provideService(SuspensionStore.SuspensionStore, SuspensionStore.make({ store: shared })))
        yield* look
        yield* look
        assert.deepStrictEqual(found, ["c7"])
        assert.deepStrictEqual((yield* conversation.pending()).map(({ awaited }) => awaited?.prompt), [
          "Really nobody?"
        ])
        return steps
      }))
      assert.deepStrictEqual(steps, ["asked 1 times"])
    }).pipe(Effect.scoped))

  it.effect("of a row that somebody has damaged keeps no other from being woken", () =>
    Effect.gen(function*() {
      const { sql, store } = yield* makeStore()
      for (const id of ["c1", "c2"]) {
        const { conversation } = yield* Ticket.start({ turns: [[Ticket.call]], shared: store, id })
        yield* conversation.send("Help.")
        yield* TestClock.adjust("1 second")
      }
      yield* sql`UPDATE assent_request SET suspension = '{' WHERE nonce = (
        SELECT nonce FROM assent_request WHERE waits = 'open' ORDER BY due_at LIMIT 1)`
      yield* TestClock.adjust("1 hour")
      const found: Array<string | undefined> = []
      yield* SuspensionStore.wakeDue(({ scope }) => Effect.sync(() => found.push(scope.conversation))).pipe(
        Effect.provideService(SuspensionStore.SuspensionStore, SuspensionStore.make({ store }))
      )
      assert.deepStrictEqual(found, ["c2"])
    }).pipe(Effect.scoped))
})
