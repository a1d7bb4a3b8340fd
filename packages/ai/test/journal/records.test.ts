/**
 * A journal's records in a store (law L2): each state is written once, and whoever wrote it publishes it, once.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalError, ApprovalEvents, ConversationStore, Store } from "../../src/index.ts"
import { type Claim, Entry, Recorded } from "../../src/internal/journal/entry.ts"
import * as JournalRecords from "../../src/internal/journal/records.ts"
import { type Story, tell } from "../laws/story.ts"

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

const done: JournalRecords.From = { version: 1, state: "done" }
const running: JournalRecords.From = { version: 1, state: "running" }

/** Records in a store of their own, at 5,000, and what is published meanwhile. */
const begin = Effect.gen(function*() {
  yield* TestClock.setTime(5_000)
  const memory = yield* Store.makeMemory()
  const names: Array<Store.RequestName> = []
  const store: Store.Store = {
    ...memory,
    requests: {
      ...memory.requests,
      decide: (name, version, decided) => {
        names.push(name)
        return memory.requests.decide(name, version, decided)
      }
    }
  }
  const records = JournalRecords.make(store)
  const observed = yield* (yield* ApprovalEvents.ApprovalEvents).subscribe
  const events = (count: number) => Stream.runCollect(Stream.take(observed, count))
  return { events, names, records, store }
})

const story = (title: string, test: Story) =>
  it.effect(title, () => Effect.scoped(tell(test)).pipe(Effect.provide(ApprovalEvents.layer())))

describe("L2 records of a journal", () => {
  story("L2 each state is published by who wrote it; only of an answer is it known how long it took", function*() {
    const { events, records } = yield* begin
    assert.isTrue(yield* records.write(claim, JournalRecords.nothing, entry("running")))
    assert.isFalse(yield* records.write(claim, JournalRecords.nothing, entry("denied")))
    assert.isTrue(yield* records.write(claim, running, entry("done", "it ran")))
    assert.isFalse(yield* records.write(claim, running, entry("failed")))
    const other = { ...claim, nonce: "n2", issuedAt: undefined }
    // Another approval is no other state.
    assert.isTrue(yield* records.write(other, JournalRecords.nothing, entry("pending")))
    assert.isTrue(yield* records.write(other, { version: 1, state: "pending" }, entry("pending")))
    assert.isTrue(yield* records.write(other, { version: 2, state: "pending" }, entry("denied", "no")))
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

  story("L2 a step that is none fails, and writes and publishes nothing", function*() {
    const { records } = yield* begin
    yield* records.write(claim, JournalRecords.nothing, entry("running"))
    yield* records.write(claim, running, entry("done"))
    for (const [from, to] of [[{ ...done, version: 2 }, "running"], [{ ...done, version: 2 }, "done"]] as const) {
      const error = yield* Effect.flip(records.write(claim, from, entry(to)))
      assert.deepStrictEqual(error.reason, new ApprovalError.IllegalStep({ approvalId: "apr_1", from: "done", to }))
    }
    const stands = yield* records.read(claim)
    assert.deepStrictEqual([stands?.entry.state, stands?.version], ["done", 2])
  })

  story(
    "L2 the store is told when the seal expires, if it does, in whose name it is and when it was made",
    function*() {
      const { names, records } = yield* begin
      const scope = { tenant: "t", principal: "p", conversation: "c" }
      yield* Effect.provideService(
        records.write(claim, JournalRecords.nothing, entry("running")),
        Approval.Scope,
        scope
      )
      yield* records.write(
        { ...claim, nonce: "n2", issuedAt: undefined, expiresAt: Infinity },
        JournalRecords.nothing,
        entry("running")
      )
      const about = { approvalId: "apr_1", toolName: "DeleteFile", toolCallId: "c1", kind: "approval" }
      const [one, other] = names
      assert.deepInclude(one, {
        ...about,
        nonce: "n1",
        issuedAt: 1_000,
        expiresAt: 10_000,
        tenant: "t",
        principal: "p"
      })
      assert.strictEqual(one?.conversation, (yield* ConversationStore.keyOf("c", scope)).id)
      assert.deepInclude(other, { ...about, nonce: "n2", issuedAt: 5_000, expiresAt: undefined, tenant: undefined })
    }
  )

  story("L2 what a run left behind is kept beside the entry, and belongs to it again when it is read", function*() {
    const { records, store } = yield* begin
    const recorded = new Recorded({ isFailure: false, encodedResult: { text: "a secret" } })
    const ended = new Entry({ ...entry("done"), recorded })
    yield* records.write(claim, JournalRecords.nothing, entry("running"))
    yield* records.write(claim, running, ended)
    const row = yield* store.requests.get("n1")
    assert.deepStrictEqual([row?.state, row?.version], ["done", 2])
    assert.notInclude(row?.entry, "secret")
    assert.include(row?.result, "secret")
    assert.deepStrictEqual((yield* records.read(claim))?.entry, ended)
  })

  story("L2 a request that is only kept to be shown, or to be waited for, was not decided", function*() {
    const { names, records, store } = yield* begin
    const name = { nonce: "n1", approvalId: "apr_1", toolName: "DeleteFile", toolCallId: "c1", issuedAt: 1_000 }
    yield* store.requests.open([{ ...name, kind: "approval", request: "{}" }])
    assert.isUndefined(yield* records.read(claim))
    assert.isTrue(yield* records.write(claim, JournalRecords.nothing, entry("running")))
    yield* store.requests.suspend({ ...name, nonce: "n2", kind: "timer", suspension: "{}" })
    const waits = { ...claim, nonce: "n2" }
    assert.isUndefined(yield* records.read(waits))
    assert.isTrue(yield* records.write(waits, JournalRecords.nothing, entry("running")))
    assert.strictEqual((yield* store.requests.get("n2"))?.waits, "open")
    assert.lengthOf(names, 2)
  })

  story("L2 a record is there, is not there, or says that it cannot be read", function*() {
    const { records, store } = yield* begin
    assert.isUndefined(yield* records.read(claim))
    yield* records.write(claim, JournalRecords.nothing, entry("running"))
    assert.deepStrictEqual(yield* records.read(claim), { version: 1, entry: entry("running") })
    const description = "What became of the request \"apr_1\" cannot be read."
    for (
      const damaged of [
        { entry: "{" },
        { entry: JSON.stringify({ ...entry("running"), state: "granted" }) },
        { entry: JSON.stringify(entry("done")), result: "{}" }
      ]
    ) {
      const { version } = (yield* store.requests.get("n1"))!
      yield* store.requests.decide((yield* store.requests.get("n1"))!, version, { state: "running", ...damaged })
      assert.deepStrictEqual(
        yield* Effect.exit(records.read(claim)),
        Exit.fail(ApprovalError.make(new ApprovalError.JournalUnavailable({ description })))
      )
    }
  })
})
