/**
 * L2: whenever a reader leaves, no claim stays behind that nobody completes; what is on record can be had from a full
 * store; and processes that beat at different paces do not take each other for dead.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Scheduler } from "effect"
import { TestClock } from "effect/testing"
import { ApprovalJournal, Store } from "../../src/index.ts"
import * as Support from "./support.ts"

const claim: ApprovalJournal.Claim = {
  approvalId: "an approval",
  nonce: "n".repeat(22),
  expiresAt: 4e12,
  toolName: "DeleteFile",
  toolCallId: "c1"
}

const other: ApprovalJournal.Claim = { ...claim, approvalId: "another approval", nonce: "o".repeat(22) }

const held: ApprovalJournal.Claim = { ...claim, approvalId: "a held approval", nonce: "h".repeat(22) }

const ran = (value: string): ApprovalJournal.Ran => ({
  recorded: new ApprovalJournal.Recorded({ isFailure: false, encodedResult: value }),
  result: value,
  encodedResult: value
})

/** A run that counts. */
const counting = () => {
  const counted = {
    count: 0,
    effect: Effect.sync(() => {
      counted.count += 1
      return ran("ran")
    })
  }
  return counted
}

/** Waits for a reader that must not hang; the test fails with `why` when it does. */
const answerOf = <A, E>(reader: Effect.Effect<A, E>, why: string): Effect.Effect<A, E> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkDetach(reader, { startImmediately: true })
    // Digests are made on other threads: rounds of our own wait behind those of the engine.
    for (let i = 0; i < 50 && fiber.pollUnsafe() === undefined; i++) yield* Support.idle
    const settled = fiber.pollUnsafe() !== undefined
    if (!settled) yield* Effect.forkDetach(Fiber.interrupt(fiber))
    assert.isTrue(settled, why)
    return yield* Fiber.join(fiber)
  })

const yields = (times: number) =>
  Effect.forEach(Array.from({ length: times }), () => Effect.yieldNow, { discard: true })

// =============================================================================
// Readers that leave
// =============================================================================

describe("L2 a reader that leaves the journal at any step", () => {
  for (const heartbeat of [undefined, "5 seconds"] as const) {
    const store = heartbeat === undefined ? "a store of one process" : "a shared store"
    Support.single(
      `L2 leaves no claim that nobody completes; the next reader gets the one result, ${store}`,
      () =>
        Effect.gen(function*() {
          for (let operations = 3; operations < 40; operations++) {
            for (let steps = 0; steps < 24; steps++) {
              const at = `interrupted after ${steps} steps of ${operations} operations`
              const journal = yield* ApprovalJournal.make({
                store: yield* Store.makeMemory(),
                grace: 0,
                heartbeat
              })
              const run = counting()
              const options = { effect: run.effect, idempotent: false }
              const reader = yield* Effect.forkChild(
                Effect.andThen(Effect.void, Effect.andThen(Effect.void, journal.run(claim, options))).pipe(
                  Effect.provideService(Scheduler.MaxOpsBeforeYield, operations)
                )
              )
              yield* yields(steps)
              yield* Fiber.interrupt(reader)
              const { entry } = yield* answerOf(journal.run(claim, options), `the next reader hangs: ${at}`)
              assert.deepStrictEqual([entry.state, run.count], ["done", 1], at)
              assert.strictEqual((yield* journal.find(claim))?.state, "done", at)
              assert.isFalse(yield* journal.interrupt(claim.approvalId), at)
            }
          }
        }).pipe(Effect.scoped)
    )
  }

  Support.single(
    "L2 many readers, some of which leave: those who stay get the one result",
    () =>
      Effect.gen(function*() {
        for (let operations = 3; operations < 40; operations++) {
          const journal = yield* ApprovalJournal.make({ store: yield* Store.makeMemory(), grace: 0 })
          const run = counting()
          const read = journal.run(claim, { effect: run.effect, idempotent: false }).pipe(
            Effect.provideService(Scheduler.MaxOpsBeforeYield, operations)
          )
          const readers = yield* Effect.forEach([1, 2, 3, 4, 5], () => Effect.forkChild(read))
          for (const index of [0, 2, 4]) {
            yield* Effect.yieldNow
            yield* Fiber.interrupt(readers[index]!)
          }
          for (const index of [1, 3]) {
            const { entry } = yield* answerOf(Fiber.join(readers[index]!), `reader ${index} hangs at ${operations}`)
            assert.strictEqual(entry.state, "done")
          }
          assert.strictEqual(run.count, 1)
        }
      }).pipe(Effect.scoped)
  )

  Support.forEachMode(
    "L2 a turn that is left at any step runs its call once or not at all, and can be taken again",
    function*(mode) {
      const script = yield* Support.answering
      for (let rounds = 0; rounds < 24; rounds++) {
        const { asked, tools } = yield* Support.asking(mode, [
          Support.call("c1", "DeleteFile", { path: "a" }),
          Support.call("c2", "DeleteFile", { path: "b" })
        ])
        const turn = Support.approve(mode, { asked, model: script.model, tools })
        const reader = yield* Effect.forkChild(
          Effect.provideService(turn, Scheduler.MaxOpsBeforeYield, 3 + rounds % 7)
        )
        for (let i = 0; i < rounds; i++) yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        yield* Fiber.interrupt(reader)
        const again = yield* answerOf(turn, `the turn hangs after it was left at ${rounds}`)
        assert.deepStrictEqual(again.results.map((result) => [result.id, result.isFailure]).toSorted(), [
          ["c1", false],
          ["c2", false]
        ])
        assert.strictEqual(tools.runs.length, 2)
      }
    }
  )
})

// =============================================================================
// A full store
// =============================================================================

describe("L2 a full store", () => {
  Support.single(
    "L2 still gives what is on record to a process that never claimed anything",
    () =>
      Effect.gen(function*() {
        // Room for one owner and one request.
        const store = yield* Store.makeMemory({ capacity: 2 })
        const first = yield* ApprovalJournal.make({ store, heartbeat: "5 seconds", grace: 0 })
        const second = yield* ApprovalJournal.make({ store, heartbeat: "5 seconds", grace: 0 })
        const run = counting()
        yield* first.run(claim, { effect: run.effect, idempotent: false })
        yield* Effect.forkChild(first.run(held, { effect: Effect.never, idempotent: false }), {
          startImmediately: true
        })
        for (const journal of [second, first, second]) {
          const { entry } = yield* journal.run(claim, { effect: run.effect, idempotent: false })
          assert.deepStrictEqual([entry.state, entry.recorded?.encodedResult], ["done", "ran"])
        }
        assert.strictEqual(run.count, 1)
        // What would need room is refused, by both.
        for (const journal of [first, second]) {
          const error = yield* Effect.flip(journal.run(other, { effect: run.effect, idempotent: false }))
          assert.strictEqual(error.reason._tag, "JournalUnavailable")
        }
        assert.strictEqual(run.count, 1)
      }).pipe(Effect.scoped)
  )

  Support.forEachMode(
    "L2 a turn gets its recorded result through another process, though the store is full",
    function*(mode) {
      const store = yield* Store.makeMemory({ capacity: 2 })
      const { asked, tools } = yield* Support.asking(mode, [Support.call("c1", "DeleteFile", { path: "a" })])
      const script = yield* Support.answering
      for (let i = 0; i < 3; i++) {
        if (i === 1) {
          const open = ({ approvalId, nonce, toolCallId, toolName }: ApprovalJournal.Claim) =>
            store.requests.open([{
              approvalId,
              nonce,
              toolCallId,
              toolName,
              kind: "approval",
              issuedAt: 0,
              request: "{}"
            }])
          yield* open(held)
          assert.strictEqual((yield* Effect.flip(open(other))).reason, "Full")
        }
        const journal = yield* ApprovalJournal.make({ store, heartbeat: "5 seconds", grace: 0 })
        const turn = yield* Support.approve(mode, { asked, model: script.model, tools }).pipe(
          Effect.provideService(ApprovalJournal.ApprovalJournal, journal)
        )
        assert.deepStrictEqual(turn.results.map((result) => result.result), [{ deleted: true }])
      }
      assert.strictEqual(tools.runs.length, 1)
    }
  )
})

// =============================================================================
// Processes that beat at different paces
// =============================================================================

describe("L2 processes whose heartbeats differ", () => {
  const paces = {
    "a slow one and a quick one": ["1 minute", "1 second"],
    "a quick one and a slow one": [
      "1 second",
      "1 minute"
    ]
  } as const

  /** The first process runs a call, held; the second one asks for the same call. */
  const begin = Effect.fnUntraced(function*(paces: readonly ["1 minute" | "1 second", "1 minute" | "1 second"]) {
    const store = yield* Store.makeMemory()
    const make = (heartbeat: "1 minute" | "1 second") =>
      ApprovalJournal.make({ store: Store.make(store), heartbeat, grace: 0 })
    const [first, second] = [yield* make(paces[0]), yield* make(paces[1])]
    const hold = yield* Support.makeHold
    let count = 0
    const options = {
      effect: Effect.suspend(() => {
        count += 1
        return Effect.as(hold.wait, ran(`run ${count}`))
      }),
      idempotent: true
    }
    return { count: () => count, first, hold, options, second }
  })

  for (const [title, pair] of Object.entries(paces)) {
    for (const idle of [false, true]) {
      const before = idle ? ", though the owner had been idle for long" : ""
      Support.single(
        `L2 ${title}: neither gives up a claim of the other's that is alive${before}`,
        () =>
          Effect.gen(function*() {
            const { count, first, hold, options, second } = yield* begin(pair)
            if (idle) {
              yield* first.run(other, { effect: Effect.succeed(ran("before")), idempotent: false })
              yield* TestClock.adjust("1 hour")
            }
            const one = yield* Effect.forkChild(first.run(claim, options))
            yield* hold.entered
            const two = yield* Effect.forkChild(second.run(claim, options))
            // Longer than six beats of either.
            for (let i = 0; i < 80; i++) {
              yield* Support.idle
              yield* TestClock.adjust("5 seconds")
              assert.isUndefined(two.pollUnsafe(), `given up after ${i * 5} seconds`)
            }
            assert.strictEqual((yield* second.find(claim))?.state, "running")
            yield* hold.release
            const mine = yield* Fiber.join(one)
            assert.isTrue(yield* Support.advance(two, "1 second"))
            const theirs = yield* Fiber.join(two)
            assert.deepStrictEqual([mine.entry.state, theirs.entry.state, count()], ["done", "done", 1])
            assert.strictEqual(theirs.entry.recorded?.encodedResult, "run 1")
          }).pipe(Effect.scoped)
      )
    }
  }
})
