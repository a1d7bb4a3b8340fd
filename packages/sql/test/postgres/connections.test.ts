/** Connections whose other end is gone without a word: each is given up, and another takes its place. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schedule } from "effect"
import { shown, written } from "../../../ai/test/store/laws/support.ts"
import { makePrefix, makeStore, url } from "./database.ts"
import * as Proxy from "./proxy.ts"

const maxConnections = 6

/** With so many connections, of which one listens and one says that the process lives. */
const makeBehind = (proxy: Proxy.Proxy) =>
  makeStore({ url: Redacted.make(proxy.url), prefix: makePrefix(), maxConnections, timeout: "500 millis" })

const indexes = Array.from({ length: maxConnections - 2 }, (_, index) => index)

describe("a connection that is half open", () => {
  it.live(
    "fails what is asked of it in time, also a transaction that would begin, and does not keep its place",
    () =>
      Effect.gen(function*() {
        const proxy = yield* Effect.acquireRelease(
          Effect.promise(() => Proxy.start(Number(new URL(url).port))),
          (proxy) => Effect.promise(proxy.close)
        )
        const { sql, store } = yield* makeBehind(proxy)
        // The client says to the one that listens that it does not any more, and waits for the answer without an end.
        yield* Effect.addFinalizer(() => Effect.sync(proxy.reset))
        yield* store.owners.beat({ id: "o", beat: 1, every: 1_000 })
        let name = 0
        // All at one moment, so that each needs a connection of its own.
        const together = Effect.suspend(() =>
          Effect.forEach(
            indexes,
            () =>
              store.atomically(Effect.gen(function*() {
                yield* store.conversations.write(`c${++name}`, undefined, written())
                yield* sql`SELECT pg_sleep(0.1)::text`
              })),
            { concurrency: "unbounded", discard: true }
          )
        )
        yield* together
        proxy.forget()
        const began = performance.now()
        const exits = yield* Effect.forEach(
          indexes,
          (index) => Effect.flip(store.conversations.write(`late${index}`, undefined, written())),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(exits.map(({ reason }) => reason), indexes.map(() => "Unavailable"))
        assert.isBelow(performance.now() - began, 3_000)
        // The client gives each up for good five seconds after nobody waits for it any more.
        const again = { schedule: Schedule.spaced("100 millis") }
        yield* Effect.timeout(Effect.retry(together, again), "20 seconds")
        yield* Effect.timeout(Effect.retry(store.owners.beat({ id: "o", beat: 2, every: 1_000 }), again), "20 seconds")
        yield* store.requests.open([shown("n")])
        assert.isDefined(yield* store.requests.get("n"))
      }).pipe(Effect.scoped),
    60_000
  )
})

describe("a connection of a transaction", () => {
  it.live("is there again for what happens after its commit", () =>
    Effect.gen(function*() {
      const { sql, store } = yield* makeStore({ maxConnections: 4 })
      let after = 0
      const asked = Effect.map(Effect.orDie(sql`SELECT 1 AS one`), () => void after++)
      const one = (index: number) =>
        store.atomically(Effect.andThen(
          store.conversations.write(`c${index}`, undefined, written()),
          Effect.andThen(sql`SELECT pg_sleep(0.05)::text`, sql.afterCommit(asked))
        ))
      yield* Effect.forEach(Array.from({ length: 12 }, (_, index) => index), one, { concurrency: "unbounded" })
      assert.strictEqual(after, 12)
    }).pipe(Effect.scoped))
})
