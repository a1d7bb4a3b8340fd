/**
 * A journal's records in a store (law L2): each state is written once, and whoever wrote it publishes it, once.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, type Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { ApprovalError, ApprovalEvents, AtomicStore } from "../../src/index.ts"
import { type Claim, Entry } from "../../src/internal/journal/entry.ts"
import * as JournalRecords from "../../src/internal/journal/records.ts"

const claim: Claim = {
  approvalId: "apr_1",
  nonce: "n1",
  issuedAt: 1_000,
  expiresAt: 10_000,
  toolName: "DeleteFile",
  toolCallId: "c1"
}

const entry = (state: Entry["state"], reason?: string): Entry =>
  new Entry({ state, toolName: "DeleteFile", toolCallId: "c1", at: 0, ...(reason === undefined ? {} : { reason }) })

/** Records in a store of their own, at 5,000, and what is published meanwhile. */
const begin = Effect.gen(function*() {
  yield* TestClock.setTime(5_000)
  const store = yield* AtomicStore.makeMemory()
  const expiries: Array<number> = []
  const records = JournalRecords.make({
    ...store,
    putIfAbsent: (key, value, options) => {
      expiries.push(options.expiresAt)
      return store.putIfAbsent(key, value, options)
    }
  })
  const observed = yield* (yield* ApprovalEvents.ApprovalEvents).subscribe
  const events = (count: number) => Stream.runCollect(Stream.take(observed, count))
  return { events, expiries, records, store }
})

const story = (title: string, test: () => Effect.Effect<void, unknown, Scope.Scope>) =>
  it.effect(title, () => Effect.scoped(test()).pipe(Effect.provide(ApprovalEvents.layer())))

describe("L2 records of a journal", () => {
  story(
    "L2 each state is published by who wrote it; only of an answer is it known how long it took",
    () =>
      Effect.gen(function*() {
        const { events, records } = yield* begin
        assert.isTrue(yield* records.putIfAbsent(claim, entry("running")))
        assert.isFalse(yield* records.putIfAbsent(claim, entry("denied")))
        assert.isTrue(yield* records.replace(claim, 0, "running", entry("done", "it ran")))
        assert.isFalse(yield* records.replace(claim, 0, "running", entry("failed")))
        const other = { ...claim, nonce: "n2", issuedAt: undefined }
        assert.isTrue(yield* records.putIfAbsent(other, entry("denied", "no")))
        const about = {
          _tag: "Changed",
          at: 5_000,
          scope: {},
          approvalId: "apr_1",
          toolName: "DeleteFile",
          toolCallId: "c1"
        }
        assert.deepStrictEqual((yield* events(3)) as ReadonlyArray<unknown>, [
          { ...about, state: "running", reason: undefined, waited: 4_000, decidedBy: undefined },
          { ...about, state: "done", reason: "it ran", waited: undefined, decidedBy: undefined },
          { ...about, state: "denied", reason: "no", waited: undefined, decidedBy: undefined }
        ])
      })
  )

  story("L2 a step that is none fails, and writes and publishes nothing", () =>
    Effect.gen(function*() {
      const { records } = yield* begin
      yield* records.putIfAbsent(claim, entry("done"))
      const error = yield* Effect.flip(records.replace(claim, 0, "done", entry("running")))
      assert.deepStrictEqual(
        error.reason,
        new ApprovalError.IllegalStep({ approvalId: "apr_1", from: "done", to: "running" })
      )
      assert.strictEqual((yield* records.read(claim))?.entry.state, "done")
    }))

  story("L2 a record outlives its seal by a day, if that is a time at all", () =>
    Effect.gen(function*() {
      const { expiries, records } = yield* begin
      yield* records.putIfAbsent(claim, entry("running"))
      yield* records.putIfAbsent({ ...claim, nonce: "n2", expiresAt: Number.MAX_SAFE_INTEGER - 1 }, entry("running"))
      assert.deepStrictEqual(expiries, [10_000 + 86_400_000, Number.MAX_SAFE_INTEGER])
    }))

  story("L2 a record is there, is not there, or says that it cannot be read", () =>
    Effect.gen(function*() {
      const { records, store } = yield* begin
      assert.isUndefined(yield* records.read(claim))
      yield* records.putIfAbsent(claim, entry("running"))
      assert.deepStrictEqual(yield* records.read(claim), { version: 0, entry: entry("running") })
      yield* store.compareAndSet("approval/n1", 0, "{")
      assert.deepStrictEqual(
        yield* Effect.exit(records.read(claim)),
        Exit.fail(
          ApprovalError.make(
            new ApprovalError.JournalUnavailable({ description: "The record \"approval/n1\" cannot be read." })
          )
        )
      )
    }))
})
