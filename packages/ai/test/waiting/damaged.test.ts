/** A row that cannot be read: whoever waits in another one is woken all the same, and nobody reads it again and again. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { ApprovalSeal, Store, SuspensionStore } from "../../src/index.ts"
import * as C from "../conversation/support.ts"
import { intercept } from "../store/intercept.ts"
import * as Timers from "./timers.ts"

const seal = ApprovalSeal.layer({ key: "the key of tests of damaged rows, 32 b" })

/** The store with timers that are due, one second after the other; the suspension of those named is no JSON. */
const begin = (count: number, damaged: (index: number) => boolean) =>
  Effect.gen(function*() {
    const memory = yield* Store.makeMemory()
    const reads: Array<number> = []
    const store = Store.make({
      ...memory,
      requests: {
        ...memory.requests,
        due: (...args) =>
          Effect.tap(memory.requests.due(...args), (rows) => Effect.sync(() => reads.push(rows.length))),
        suspend: (suspended) =>
          memory.requests.suspend(
            damaged(Number(suspended.toolCallId.slice(1))) ? { ...suspended, suspension: "{" } : suspended
          )
      }
    })
    const suspensions = SuspensionStore.make({ store })
    const ids = yield* Timers.fill(suspensions, "Menu", count, { expiresAt: Infinity })
    const logged: Array<string> = []
    const logger = Logger.make(({ message }) => void logged.push(String(message)))
    const observe = Effect.provide(Logger.layer([logger]))
    const woken: Array<string> = []
    const look = SuspensionStore.wakeDue(({ toolCallId }) => Effect.sync(() => woken.push(toolCallId))).pipe(
      Effect.provideService(SuspensionStore.SuspensionStore, suspensions),
      observe
    )
    return { ids, logged, look, memory, observe, reads, suspensions, woken }
  })

describe("a timer that cannot be read", () => {
  it.effect("is logged once and skipped, and those after it are woken", () =>
    Effect.gen(function*() {
      const { ids, logged, look, reads, woken } = yield* begin(5, (index) => index === 0 || index === 2)
      yield* TestClock.adjust("1 hour")
      yield* look
      assert.deepStrictEqual(woken, ["c1", "c3", "c4"])
      assert.deepStrictEqual(logged.map((line) => ids.findIndex((id) => line.includes(id.slice(0, 64)))), [0, 2])
      yield* look
      yield* look
      assert.lengthOf(woken, 3)
      // It is not read again with every look.
      assert.deepStrictEqual(reads, [5, 0, 0])
      assert.lengthOf(logged, 2)
    }).pipe(Effect.provide(seal)))

  it.effect("is looked for again an hour later, in case somebody has put it right", () =>
    Effect.gen(function*() {
      const { look, memory, reads, woken } = yield* begin(1, () => true)
      yield* TestClock.adjust("1 minute")
      yield* look
      yield* TestClock.adjust("59 minutes")
      yield* look
      assert.deepStrictEqual(reads, [1, 0])
      const [row] = yield* memory.requests.due(10_000, 1)
      assert.strictEqual(row?.suspension, "{")
      yield* TestClock.adjust("1 minute")
      yield* look
      assert.deepStrictEqual([reads, woken], [[1, 0, 1], []])
    }).pipe(Effect.provide(seal)))

  it.effect("takes nobody's place in a page, and keeps no other from being listed", () =>
    Effect.gen(function*() {
      const { observe, suspensions } = yield* begin(25, (index) => index < 20)
      const due = yield* observe(suspensions.due({ now: 300_000, limit: 3 }))
      assert.deepStrictEqual(due.map(({ toolCallId }) => toolCallId), ["c20", "c21", "c22"])
      const { next, suspensions: first } = yield* observe(suspensions.list({ limit: 22 }))
      const rest = yield* observe(suspensions.list({ after: next, limit: 22 }))
      assert.lengthOf([...first, ...rest.suspensions], 5)
    }).pipe(Effect.provide(seal)))

  it.effect("is told apart from a store that fails: then whoever looks is told so", () =>
    Effect.gen(function*() {
      const memory = yield* Store.makeMemory()
      const failing = intercept(memory, (operation) =>
        Effect.fail(new Store.StoreError({ operation, reason: "Unavailable", description: "It is gone." })))
      const error = yield* Effect.flip(SuspensionStore.make({ store: failing }).due({ now: 0 }))
      assert.strictEqual(error.reason._tag, "SuspensionsUnavailable")
    }))
})

describe("a tool whose memory cannot be read", () => {
  it.effect("L10 is told as one that is not known any more, and what waits beside it goes on", () =>
    Effect.gen(function*() {
      const memory = yield* Store.makeMemory()
      let isDamaged = false
      const shared = Store.make({
        ...memory,
        requests: {
          ...memory.requests,
          get: (nonce) =>
            Effect.map(
              memory.requests.get(nonce),
              (row) => isDamaged && row?.toolName === "Ask" ? { ...row, suspension: "{" } : row
            )
        }
      })
      const { conversation, script, steps } = yield* C.start({
        turns: [[C.ask("Which one?"), C.menu("timer")], "Time is up."],
        shared
      })
      assert.lengthOf(C.requestsOf(yield* conversation.send("Remind me.")), 2)
      isDamaged = true
      yield* TestClock.adjust("3 hours")
      assert.strictEqual(C.finished(yield* conversation.wake), "Time is up.")
      assert.deepStrictEqual(steps.map(([name]) => name), ["start", "start", "timer"])
      assert.include(JSON.stringify((yield* C.prompts(script)).at(-1)), "not known here any more")
    }).pipe(Effect.scoped))
})
