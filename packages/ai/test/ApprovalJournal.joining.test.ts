/**
 * L2 over one store: who may begin a run, who may only join one, who may run a call again; and what stopping and closing
 * do to a run that is not ours, or that is only about to begin.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import { type ApprovalError, ApprovalJournal, Store } from "../src/index.ts"
import { claimOf, makeCounted, ranWith, startReader } from "./fixtures/journal.ts"
import { type Story, tell } from "./laws/story.ts"
import { makeHold } from "./laws/support.ts"
import { intercept } from "./store/intercept.ts"

const claim = claimOf("a")

type Operation = "get" | "decide"

/** Processes over one store. The next `operation` of one can be held, or fail. */
const begin = Effect.gen(function*() {
  const shared = yield* Store.makeMemory()
  const process = (scope: Scope.Scope) =>
    Effect.gen(function*() {
      const next: Partial<Record<Operation, Effect.Effect<void, Store.StoreError>>> = {}
      const once = (operation: Operation) =>
        Effect.suspend(() => {
          const before = next[operation] ?? Effect.void
          delete next[operation]
          return before
        })
      const journal = yield* ApprovalJournal.make({
        store: intercept(shared, (operation, _, run) =>
          operation === "requests.get"
            ? Effect.andThen(once("get"), run)
            : operation === "requests.decide"
            ? Effect.andThen(once("decide"), run)
            : run),
        heartbeat: "1 second"
      }).pipe(Effect.provideService(Scope.Scope, scope))
      const hold = (operation: Operation) =>
        Effect.map(makeHold, (hold) => {
          next[operation] = hold.wait
          return hold
        })
      const fail = (operation: Operation) => {
        next[operation] = Effect.fail(
          new Store.StoreError({ reason: "Unavailable", operation, description: "Not now." })
        )
      }
      return { journal, hold, fail }
    })
  const mine = yield* Effect.scope
  return { process, here: yield* process(mine), there: yield* process(mine) }
})

const story = (title: string, test: Story) => it.effect(title, () => Effect.scoped(tell(test)))

const unavailable = (exit: Exit.Exit<unknown, ApprovalError.ApprovalError>): string => {
  const reason = Exit.isFailure(exit) ? exit.cause.reasons.find((one) => one._tag === "Fail")?.error.reason : undefined
  return reason?._tag === "JournalUnavailable" ? reason.description : "none"
}

/** A run of another process that goes on until it is told to end. */
const elsewhere = Effect.fnUntraced(
  function*(journal: ApprovalJournal.Service, how: Effect.Effect<ApprovalJournal.Ran>) {
    const end = yield* Deferred.make<void>()
    const run = makeCounted(Effect.andThen(Deferred.await(end), how))
    const fiber = yield* startReader(journal.run(claim, run))
    yield* Effect.yieldNow
    assert.strictEqual((yield* journal.find(claim))?.state, "running")
    return Effect.andThen(Deferred.succeed(end, undefined), Fiber.join(fiber))
  }
)

describe("L2 who may only join a run", () => {
  story("L2 begins none: nothing runs and nothing is on record", function*() {
    const { here } = yield* begin
    const run = makeCounted()
    const exit = yield* Effect.exit(here.journal.run(claim, { ...run, joinOnly: true }))
    assert.match(unavailable(exit), /did not begin\. Nothing ran/)
    assert.isUndefined(yield* here.journal.find(claim))
    assert.strictEqual(run.runs, 0)
  })

  story("L2 is given what ended, and repeats nothing, even what may be repeated", function*() {
    const { here, there } = yield* begin
    const run = makeCounted()
    yield* there.journal.run(claim, makeCounted(Effect.interrupt))
    const joined = yield* here.journal.run(claim, { ...run, joinOnly: true, idempotent: true })
    assert.strictEqual(joined.entry.state, "unknown")
    assert.strictEqual(run.runs, 0)
  })

  story("L2 is given the run of another process when it ends", function*() {
    const { here, there } = yield* begin
    const end = yield* elsewhere(there.journal, Effect.succeed(ranWith("gone")))
    const reader = yield* startReader(here.journal.run(claim, { ...makeCounted(), joinOnly: true }))
    yield* end
    yield* TestClock.adjust("1 second")
    assert.strictEqual((yield* Fiber.join(reader)).entry.recorded?.encodedResult, "gone")
  })

  story("L2 keeps nobody from beginning who comes while it looks", function*() {
    const { here } = yield* begin
    const look = yield* here.hold("get")
    const run = makeCounted()
    const joining = yield* startReader(here.journal.run(claim, { ...run, joinOnly: true }))
    yield* look.entered
    const beginning = yield* startReader(here.journal.run(claim, run))
    yield* look.release
    assert.match(unavailable(yield* Fiber.await(joining)), /did not begin/)
    assert.strictEqual((yield* Fiber.join(beginning)).entry.state, "done")
    assert.strictEqual(run.runs, 1)
  })
})

describe("L2 who may run a call again", () => {
  story("L2 does so when whom it joined may not, and does not where it ended well", function*() {
    for (const [how, runs] of [[Effect.interrupt, 1], [Effect.succeed(ranWith("gone")), 0]] as const) {
      const { here, there } = yield* begin
      const end = yield* elsewhere(there.journal, how)
      const run = makeCounted()
      const first = yield* startReader(here.journal.run(claim, run))
      const second = yield* startReader(here.journal.run(claim, { ...run, idempotent: true }))
      yield* end
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(first)).entry.state, runs === 1 ? "unknown" : "done")
      assert.strictEqual((yield* Fiber.join(second)).entry.state, "done")
      assert.strictEqual(run.runs, runs)
    }
  })

  story("L2 fails with whom it joined where the journal could not be had", function*() {
    const { here } = yield* begin
    const run = makeCounted()
    const look = yield* here.hold("get")
    const first = yield* startReader(here.journal.run(claim, run))
    yield* look.entered
    here.fail("decide")
    const second = yield* startReader(here.journal.run(claim, { ...run, idempotent: true }))
    yield* look.release
    for (const fiber of [first, second]) assert.strictEqual(unavailable(yield* Fiber.await(fiber)), "Not now.")
    assert.strictEqual(run.runs, 0)
  })

  story("L2 only with the parameters that ran before", function*() {
    const { here } = yield* begin
    const edited = { ...claim, params: "one" }
    yield* here.journal.run(edited, makeCounted(Effect.interrupt))
    assert.strictEqual((yield* here.journal.find(edited))?.params, "one")
    const run = makeCounted()
    for (const other of [{ ...claim, params: "two" }, claim]) {
      assert.strictEqual((yield* here.journal.run(other, { ...run, idempotent: true })).entry.state, "unknown")
    }
    assert.strictEqual(run.runs, 0)
    assert.strictEqual((yield* here.journal.run(edited, { ...run, idempotent: true })).entry.state, "done")
    assert.strictEqual(run.runs, 1)
  })

  story("L2 not where somebody stopped it", function*() {
    const { here } = yield* begin
    const reader = yield* startReader(here.journal.run(claim, makeCounted(Effect.never)))
    yield* Effect.yieldNow
    assert.isTrue(yield* here.journal.interrupt(claim.approvalId))
    assert.strictEqual((yield* Fiber.join(reader)).entry.stopped, true)
    const run = makeCounted()
    assert.strictEqual((yield* here.journal.run(claim, { ...run, idempotent: true })).entry.state, "unknown")
    assert.strictEqual(run.runs, 0)
  })
})

describe("L2 a run that is about to begin", () => {
  story("L2 has begun, for everybody who asks", function*() {
    const { here, there } = yield* begin
    const claiming = yield* here.hold("decide")
    const reader = yield* startReader(here.journal.run(claim, makeCounted()))
    yield* claiming.entered
    const found = yield* here.journal.find(claim)
    assert.deepInclude(found, { state: "running", toolName: claim.toolName, toolCallId: claim.toolCallId })
    assert.isString(found?.owner)
    assert.isUndefined(yield* there.journal.find(claim))
    assert.isUndefined(yield* here.journal.find(claimOf("b")))
    yield* claiming.release
    assert.strictEqual((yield* Fiber.join(reader)).entry.state, "done")
  })

  story("L2 has its time to end when its process closes", function*() {
    const { process } = yield* begin
    const scope = yield* Scope.make()
    const { hold, journal } = yield* process(scope)
    const claiming = yield* hold("decide")
    const run = makeCounted(Effect.as(Effect.sleep("5 seconds"), ranWith("gone")))
    const reader = yield* startReader(journal.run(claim, run))
    yield* claiming.entered
    const closing = yield* startReader(Scope.close(scope, Exit.void))
    yield* TestClock.adjust("1 second")
    yield* claiming.release
    yield* TestClock.adjust("5 seconds")
    assert.strictEqual((yield* Fiber.join(reader)).entry.state, "done")
    yield* Fiber.join(closing)
  })
})

describe("L2 a run of another process", () => {
  story("L2 who waits for it is told when its own process closes, at once, and the run goes on", function*() {
    const { process, there } = yield* begin
    const end = yield* elsewhere(there.journal, Effect.succeed(ranWith("gone")))
    const scope = yield* Scope.make()
    const { journal } = yield* process(scope)
    const reader = yield* startReader(journal.run(claim, makeCounted()))
    yield* TestClock.adjust("1 second")
    yield* Scope.close(scope, Exit.void)
    assert.strictEqual(unavailable(yield* Fiber.await(reader)), "It is being closed.")
    assert.strictEqual((yield* end).entry.state, "done")
  })

  story("L2 who is stopped before it waits for it is told so, and no run was stopped", function*() {
    const { here, there } = yield* begin
    const end = yield* elsewhere(there.journal, Effect.succeed(ranWith("gone")))
    const look = yield* here.hold("get")
    const reader = yield* startReader(here.journal.run(claim, makeCounted()))
    yield* look.entered
    const stopping = yield* startReader(here.journal.interrupt(claim.approvalId))
    yield* look.release
    assert.isFalse(yield* Fiber.join(stopping))
    assert.match(unavailable(yield* Fiber.await(reader)), /stopped while it waited for another process/)
    assert.strictEqual((yield* end).entry.state, "done")
  })
})
