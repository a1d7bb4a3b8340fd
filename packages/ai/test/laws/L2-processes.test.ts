/**
 * L2 At most once: a claimed run belongs to the journal's scope. Shutting down waits a grace; after a crash, or after
 * Stop, what the run did is unknown: it runs again only if the tool is `Tool.Idempotent`.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalJournal, type LanguageModel, Store, Tool } from "../../src/index.ts"
import { failure, intercept } from "../store/intercept.ts"
import * as Support from "./support.ts"

/** A process: a journal of its own, in a scope of its own, over a store that others may share. */
const startProcess = (store: Store.Store, options?: { readonly heartbeat?: string }) =>
  Effect.gen(function*() {
    const scope = yield* Scope.fork(yield* Effect.scope)
    const journal = yield* Effect.provideService(
      ApprovalJournal.make({
        store: Store.make(store),
        ...(options?.heartbeat === undefined ? undefined : { heartbeat: "5 seconds" })
      }),
      Scope.Scope,
      scope
    )
    const within = Effect.provideService(ApprovalJournal.ApprovalJournal, journal)
    return { journal, shutDown: Scope.close(scope, Exit.void), within }
  })

/** A store whose process can be cut off from it, as by a crash: nothing it writes arrives any more. */
const cuttable = (store: Store.Store) => {
  let cut = false
  return {
    cut: Effect.sync(() => void (cut = true)),
    store: intercept(store, (operation, _, run) => Effect.suspend(() => cut ? Effect.fail(failure(operation)) : run))
  }
}

/** A held run of one approved call. The first run waits; a second one would not. */
const begin = (mode: Support.Mode, idempotent = false) =>
  Effect.gen(function*() {
    const hold = yield* Support.makeHold
    const tool = idempotent ? Support.DeleteFile.annotate(Tool.Idempotent, true) : Support.DeleteFile
    const tools: Support.Tools = yield* Support.makeTools([tool], {
      DeleteFile: () => Effect.as(tools.runs.length === 1 ? hold.wait : Effect.void, { deleted: true })
    })
    const store = yield* Store.makeMemory()
    const asked = yield* Support.ask(mode, {
      toolkit: tools.toolkit,
      calls: [Support.call("c1", "DeleteFile", { path: "a" })]
    })
    const script = yield* Support.answering
    const request = asked.requests[0]!
    const turn = Support.reply(
      mode,
      { asked, model: script.model satisfies LanguageModel.LanguageModel, tools },
      Support.answers(Approval.approve(request))
    )
    return { hold, request, script, store, tools, turn }
  })

const assertUnknown = (turn: Support.Turn) => {
  assert.deepStrictEqual([turn.requests.length, turn.results.length, turn.text], [0, 1, "done"])
  assert.match(Support.failureReason(turn.results[0]), /unknown/i)
}

const assertDeleted = (turn: Support.Turn) => {
  assert.deepStrictEqual(turn.results.map((result) => result.result), [{ deleted: true }])
  assert.strictEqual(turn.text, "done")
}

describe("L2 shutting down", () => {
  Support.forEachMode("L2 closing the journal waits a grace for live runs, which then are on record", function*(mode) {
    const { hold, store, tools, turn } = yield* begin(mode)
    const first = yield* startProcess(store)
    const reader = yield* Effect.forkChild(first.within(turn))
    yield* hold.entered
    const closing = yield* Effect.forkChild(first.shutDown)
    yield* Support.idle
    yield* TestClock.adjust("9 seconds")
    yield* Support.idle
    assert.isUndefined(closing.pollUnsafe())
    yield* hold.release
    yield* Fiber.join(closing)
    assertDeleted(yield* Fiber.join(reader))
    const second = yield* startProcess(store)
    assertDeleted(yield* second.within(turn))
    assert.strictEqual(tools.runs.length, 1)
  })

  for (const idempotent of [false, true]) {
    const then = idempotent ? "an idempotent tool runs again" : "the tool is not run again"
    Support.forEachMode(
      `L2 the journal closed while the tool runs: unknown after the grace, and ${then}`,
      function*(mode) {
        const { hold, script, store, tools, turn } = yield* begin(mode, idempotent)
        const first = yield* startProcess(store)
        const reader = yield* Effect.forkChild(first.within(turn))
        yield* hold.entered
        const closing = yield* Effect.forkChild(first.shutDown)
        assert.isTrue(yield* Support.advance(closing, "10 seconds", 2))
        assertUnknown(yield* Fiber.join(reader))
        assert.strictEqual(tools.runs.length, 1)

        const second = yield* startProcess(store)
        for (let i = 0; i < 2; i++) {
          const again = yield* second.within(turn)
          if (idempotent) assertDeleted(again)
          else assertUnknown(again)
          const sent = yield* Support.sentResults(script)
          assert.deepStrictEqual(sent.map((result) => result.isFailure), [!idempotent])
        }
        assert.strictEqual(tools.runs.length, idempotent ? 2 : 1)
      }
    )
  }

  Support.forEachMode("L2 Stop: an interrupted run is unknown, and is not run again", function*(mode) {
    const { hold, request, store, tools, turn } = yield* begin(mode)
    const first = yield* startProcess(store)
    const reader = yield* Effect.forkChild(first.within(turn))
    yield* hold.entered
    assert.isFalse(yield* first.journal.interrupt("another id"))
    assert.isTrue(yield* first.journal.interrupt(request.approvalId))
    assertUnknown(yield* Fiber.join(reader))
    assert.isFalse(yield* first.journal.interrupt(request.approvalId))
    yield* hold.release
    assertUnknown(yield* first.within(turn))
    assert.strictEqual(tools.runs.length, 1)
  })
})

describe("L2 several processes over one store", () => {
  Support.forEachMode("L2 of two processes one runs the call, and the other waits for its result", function*(mode) {
    const { hold, store, tools, turn } = yield* begin(mode)
    const first = yield* startProcess(store, { heartbeat: "5 seconds" })
    const second = yield* startProcess(store, { heartbeat: "5 seconds" })
    const one = yield* Effect.forkChild(first.within(turn))
    yield* hold.entered
    const other = yield* Effect.forkChild(second.within(turn))
    yield* Support.idle
    // However long it takes, as long as the first one lives.
    yield* TestClock.adjust("5 minutes")
    yield* Support.idle
    assert.isUndefined(other.pollUnsafe())
    yield* hold.release
    assertDeleted(yield* Fiber.join(one))
    yield* TestClock.adjust("1 seconds")
    assertDeleted(yield* Fiber.join(other))
    assert.strictEqual(tools.runs.length, 1)
  })

  for (const idempotent of [false, true]) {
    const then = idempotent ? "an idempotent tool runs again" : "the tool is not run again"
    Support.forEachMode(`L2 a process that crashed: unknown once it has been silent, and ${then}`, function*(mode) {
      const { hold, store, tools, turn } = yield* begin(mode, idempotent)
      const line = cuttable(store)
      const first = yield* startProcess(line.store, { heartbeat: "5 seconds" })
      const second = yield* startProcess(store, { heartbeat: "5 seconds" })
      const lost = yield* Effect.forkChild(first.within(turn))
      yield* hold.entered
      yield* line.cut
      const other = yield* Effect.forkChild(second.within(turn))
      yield* Support.idle
      yield* TestClock.adjust("20 seconds")
      yield* Support.idle
      assert.isUndefined(other.pollUnsafe(), "six beats of silence are not over yet")
      assert.isTrue(yield* Support.advance(other, "5 seconds"))
      const result = yield* Fiber.join(other)
      if (idempotent) assertDeleted(result)
      else assertUnknown(result)
      assert.strictEqual(tools.runs.length, idempotent ? 2 : 1)
      // Whatever the first one still does, it changes nothing.
      yield* hold.release
      assert.isTrue(yield* Support.advance(lost, "1 minute"))
      const later = yield* second.within(turn)
      if (idempotent) assertDeleted(later)
      else assertUnknown(later)
      assert.strictEqual(tools.runs.length, idempotent ? 2 : 1)
    })
  }

  Support.forEachMode("L2 many readers in two processes at once: one run", function*(mode) {
    const { hold, store, tools, turn } = yield* begin(mode)
    yield* hold.release
    const processes = yield* Effect.forEach([1, 2], () => startProcess(store, { heartbeat: "5 seconds" }))
    const readers = yield* Effect.forEach(
      [0, 1, 0, 1, 0, 1],
      (index) => Effect.forkChild(processes[index]!.within(turn))
    )
    yield* Support.idle
    yield* TestClock.adjust("2 seconds")
    for (const one of yield* Fiber.joinAll(readers)) {
      assertDeleted(one)
    }
    assert.strictEqual(tools.runs.length, 1)
  })
})
