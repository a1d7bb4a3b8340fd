/**
 * L2: death is observed, not computed. A run whose process seemed dead is given up as *unknown* or, where the tool may be
 * repeated, run again; what its process records after all replaces *unknown*. No clock of another machine counts.
 */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { ApprovalEvents, ApprovalJournal, Store } from "../../src/index.ts"
import * as Concluding from "../../src/internal/journal/concluding.ts"
import { Entry } from "../../src/internal/journal/entry.ts"
import * as JournalRecords from "../../src/internal/journal/records.ts"
import { claimOf, makeCounted, ranWith, startReader } from "../fixtures/journal.ts"
import { logged } from "../laws/logs.ts"
import { type Story, tell } from "../laws/story.ts"
import { advance } from "../laws/support.ts"
import { failure, intercept } from "../store/intercept.ts"

const claim = claimOf("a")

const ten = 10 * 60_000

/** A process over a store that others share: its clock shows so much more than theirs, and its heart can be stopped. */
const startProcess = (shared: Store.Store, ahead = 0) =>
  Effect.gen(function*() {
    let isFrozen = false
    const store = Store.make({
      ...intercept(
        shared,
        (operation, _, run) =>
          Effect.suspend(() => isFrozen && operation === "owners.beat" ? Effect.fail(failure(operation)) : run)
      ),
      isShared: true
    })
    const journal = yield* ApprovalJournal.make({ store, grace: 0 })
    const time = yield* Clock.Clock
    const millis = () => time.currentTimeMillisUnsafe() + ahead
    const clock: Clock.Clock = { ...time, currentTimeMillisUnsafe: millis, currentTimeMillis: Effect.sync(millis) }
    return {
      journal,
      freeze: () => void (isFrozen = true),
      wake: () => void (isFrozen = false),
      within: Effect.provideService(Clock.Clock, clock)
    }
  })

/** A run that goes on until it is let go. */
const makeHeld = (idempotent = false, given = "late") =>
  Effect.map(Deferred.make<ApprovalJournal.Ran | ApprovalJournal.Suspended>(), (end) => ({
    idempotent,
    effect: Deferred.await(end),
    end: (how: ApprovalJournal.Ran | ApprovalJournal.Suspended = ranWith(given)) => Deferred.succeed(end, how)
  }))

const story = (title: string, test: Story) => it.effect(title, () => Effect.scoped(tell(test)))

/** A run of one process, which another one is waiting for. */
const begin = Effect.fnUntraced(function*(ahead = 0, idempotent = false) {
  const shared = yield* Store.makeMemory()
  const owner = yield* startProcess(shared)
  const other = yield* startProcess(shared, ahead)
  const held = yield* makeHeld(idempotent)
  const running = yield* startReader(owner.within(owner.journal.run(claim, held)))
  yield* Effect.yieldNow
  const again = makeCounted(Effect.succeed(ranWith("again")))
  const waiting = yield* startReader(other.within(other.journal.run(claim, { ...again, idempotent })))
  return { again, held, other, owner, running, shared, waiting }
})

describe("L2 a process that lives", () => {
  for (const ahead of [-ten, ten]) {
    story(`L2 with a clock ${ahead / 60_000} minutes from the other's is waited for as long as it takes`, function*() {
      const { again, held, running, waiting } = yield* begin(ahead, true)
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(waiting.pollUnsafe())
      yield* held.end()
      yield* TestClock.adjust("1 second")
      const [mine, theirs] = [yield* Fiber.join(running), yield* Fiber.join(waiting)]
      assert.deepStrictEqual([mine.entry.state, theirs.entry.recorded?.encodedResult, again.runs], [
        "done",
        "late",
        0
      ])
    })
  }

  story("L2 is not given up by one who looks once, however long ago it beat", function*() {
    const shared = yield* Store.makeMemory()
    const owner = yield* startProcess(shared)
    yield* startReader(owner.journal.run(claim, yield* makeHeld()))
    yield* Effect.yieldNow
    owner.freeze()
    yield* TestClock.adjust("1 hour")
    const other = yield* startProcess(shared)
    assert.strictEqual((yield* other.journal.find(claim))?.state, "running")
    const asking = yield* startReader(other.journal.run(claim, makeCounted()))
    yield* TestClock.adjust("5 seconds")
    owner.wake()
    yield* TestClock.adjust("1 minute")
    assert.isUndefined(asking.pollUnsafe())
    assert.strictEqual((yield* other.journal.find(claim))?.state, "running")
  })
})

describe("L2 a process that is dead", () => {
  for (const ahead of [-ten, 0, ten]) {
    for (const idempotent of [false, true]) {
      const then = idempotent ? "its run is repeated" : "its run is unknown"
      story(
        `L2 is found dead in under 10 seconds, by a clock ${ahead / 60_000} minutes from its own: ${then}`,
        function*() {
          const { again, other, owner, waiting } = yield* begin(ahead, idempotent)
          yield* TestClock.adjust("3 seconds")
          owner.freeze()
          yield* TestClock.adjust("5 seconds")
          assert.isUndefined(waiting.pollUnsafe())
          assert.isTrue(yield* advance(waiting, "100 millis", 30))
          const { entry } = yield* Fiber.join(waiting)
          assert.strictEqual(entry.state, idempotent ? "done" : "unknown")
          assert.strictEqual(again.runs, idempotent ? 1 : 0)
          assert.strictEqual((yield* other.journal.find(claim))?.state, entry.state)
        }
      )
    }
  }
})

describe("L2 a process that was blocked for 60 seconds", () => {
  const blockedFor60 = Effect.fnUntraced(function*(idempotent = false) {
    const started = yield* begin(0, idempotent)
    started.owner.freeze()
    yield* TestClock.adjust("60 seconds")
    started.owner.wake()
    return { ...started, told: yield* Fiber.join(started.waiting) }
  })

  const ends = {
    done: ranWith("late"),
    failed: ranWith("late", true),
    suspended: { suspendedAs: "another request" }
  } as const

  for (const state of ["done", "failed", "suspended"] as const) {
    story(`L2 records how its run ended, ${state}, in the place of unknown`, () =>
      Effect.gen(function*() {
        const observed = yield* (yield* ApprovalEvents.ApprovalEvents).subscribe
        const { held, other, running, told } = yield* blockedFor60()
        assert.strictEqual(told.entry.state, "unknown")
        yield* held.end(ends[state])
        assert.strictEqual((yield* Fiber.join(running)).entry.state, state)
        const asked = yield* other.journal.run(claim, makeCounted())
        assert.strictEqual(asked.entry.state, state)
        if (state === "suspended") assert.strictEqual(asked.entry.suspendedAs, "another request")
        else assert.strictEqual(asked.entry.recorded?.encodedResult, "late")
        const events = yield* Stream.runCollect(Stream.take(observed, 3))
        assert.deepStrictEqual(
          Array.from(events, (event) => event._tag === "Changed" ? event.state : event._tag),
          ["running", "unknown", state]
        )
      }).pipe(Effect.provide(ApprovalEvents.layer())))
  }

  story("L2 keeps what its run waits for together with the word that it does", function*() {
    const { held, other } = yield* blockedFor60()
    const done: Array<string> = []
    const waiting = {
      keep: Effect.sync(() => void done.push("keep")),
      kept: Effect.sync(() => void done.push("kept")),
      otherwise: () => Effect.die(new Error("It could be kept."))
    }
    yield* held.end({ suspendedAs: "another request", waiting })
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(done, ["keep", "kept"])
    assert.strictEqual((yield* other.journal.find(claim))?.state, "suspended")
  })

  story("L2 begins nothing within the run that was given up, but what another store keeps", function*() {
    const shared = yield* Store.makeMemory()
    const owner = yield* startProcess(shared)
    const other = yield* startProcess(shared)
    const elsewhere = yield* startProcess(yield* Store.makeMemory())
    const [before, refused, kept] = [makeCounted(), makeCounted(), makeCounted()]
    const asleep = yield* Deferred.make<void>()
    const running = yield* startReader(owner.journal.run(claim, {
      idempotent: false,
      effect: Effect.gen(function*() {
        yield* owner.journal.run(claimOf("before"), before)
        yield* Deferred.await(asleep)
        yield* Effect.exit(owner.journal.run(claimOf("refused"), refused))
        yield* elsewhere.journal.run(claimOf("kept"), kept)
        return ranWith("late")
      }).pipe(Effect.orDie)
    }))
    yield* Effect.yieldNow
    yield* startReader(other.journal.run(claim, makeCounted()))
    owner.freeze()
    yield* TestClock.adjust("60 seconds")
    owner.wake()
    yield* Deferred.succeed(asleep, undefined)
    assert.strictEqual((yield* Fiber.join(running)).entry.state, "done")
    assert.deepStrictEqual([before.runs, refused.runs, kept.runs], [1, 0, 1])
  })

  story("L2 says that its run was stopped, if it was, so that it is not repeated", function*() {
    const { held, other, owner } = yield* blockedFor60()
    assert.isTrue(yield* owner.journal.interrupt(claim.approvalId))
    const again = makeCounted()
    const { entry } = yield* other.journal.run(claim, { ...again, idempotent: true })
    assert.deepStrictEqual([entry.state, entry.stopped, again.runs], ["unknown", true, 0])
    yield* held.end()
  })

  story("L2 finds its run repeated meanwhile, and what it did is dropped, which it says", function*() {
    const [, lines] = yield* logged(Effect.gen(function*() {
      const { again, held, other, running } = yield* blockedFor60(true)
      assert.strictEqual(again.runs, 1)
      yield* held.end()
      assert.strictEqual((yield* Fiber.join(running)).ran?.result, "late")
      assert.strictEqual((yield* other.journal.find(claim))?.recorded?.encodedResult, "again")
    }))
    assert.lengthOf(lines, 1)
    assert.include(lines[0]!.text, `"DeleteFile" ended after its claim had been given up`)
  })

  story("L2 finds its run taken up by one that goes on: that one is not disturbed", function*() {
    const shared = yield* Store.makeMemory()
    const owner = yield* startProcess(shared)
    const other = yield* startProcess(shared)
    const [first, second] = [yield* makeHeld(true), yield* makeHeld(true, "again")]
    const running = yield* startReader(owner.journal.run(claim, first))
    yield* Effect.yieldNow
    const repeating = yield* startReader(other.journal.run(claim, second))
    owner.freeze()
    yield* TestClock.adjust("60 seconds")
    owner.wake()
    yield* first.end()
    yield* Fiber.join(running)
    assert.strictEqual((yield* other.journal.find(claim))?.state, "running")
    yield* second.end()
    assert.strictEqual((yield* Fiber.join(repeating)).entry.recorded?.encodedResult, "again")
  })
})

describe("L2 an end in the place of unknown", () => {
  const records = Effect.map(Store.makeMemory(), JournalRecords.make)
  const entry = (state: "running" | "done" | "unknown", fields: Partial<typeof Entry.Type> = {}) =>
    new Entry({ state, toolName: "DeleteFile", toolCallId: "c1", at: 1, ...fields })
  const late = entry("done", { at: 5 })

  story("L2 is recorded by the process that had the claim, and by nobody else", function*() {
    const all = yield* records
    const running = entry("running", { owner: "one" })
    yield* all.write(claim, JournalRecords.nothing, running)
    const lost = Concluding.givenUp(running)
    assert.deepStrictEqual([lost.state, lost.owner], ["unknown", "one"])
    yield* all.write(claim, { version: 1, state: "running" }, lost)
    const held = { claim, version: 1 }
    for (const [owner, version] of [["two", 1], ["one", 0]] as const) {
      assert.isFalse(
        yield* Concluding.conclude(all, owner, { claim, version }, late, all.write),
        `${owner} ${version}`
      )
    }
    assert.isTrue(yield* Concluding.conclude(all, "one", held, late, all.write))
    assert.isTrue(yield* Concluding.conclude(all, "one", held, late, all.write), "it stands")
    assert.strictEqual((yield* all.read(claim))?.version, 3)
  })

  story("L2 is not recorded over what its process said itself: that it was stopped", function*() {
    const all = yield* records
    yield* all.write(claim, JournalRecords.nothing, entry("running", { owner: "one" }))
    yield* all.write(claim, { version: 1, state: "running" }, entry("unknown", { at: 2, stopped: true }))
    assert.isFalse(yield* Concluding.conclude(all, "one", { claim, version: 1 }, late, all.write))
    assert.strictEqual((yield* all.read(claim))?.entry.stopped, true)
  })
})
