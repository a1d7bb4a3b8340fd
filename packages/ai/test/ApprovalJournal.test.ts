/**
 * The state machine of law L2 by itself, in memory and over any store. What is bounded, forgotten or broken is in
 * `ApprovalJournalMemory.test.ts`, what processes do to each other in `ApprovalJournal.processes.test.ts`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import type * as Approval from "../src/Approval.ts"
import * as ApprovalJournal from "../src/ApprovalJournal.ts"
import * as Store from "../src/Store.ts"
import { claimOf, makeCounted, ranWith, startReader } from "./fixtures/journal.ts"

type Journal = ApprovalJournal.Service

/** A run that counts how often it started, says so, and ends when it is let go. */
const makeRun = Effect.fnUntraced(function*(value: Schema.Json = "gone") {
  const started = yield* Deferred.make<void>()
  const released = yield* Deferred.make<ApprovalJournal.Ran>()
  const run = {
    runs: 0,
    effect: Effect.suspend(() => {
      run.runs++
      return Effect.andThen(Deferred.succeed(started, undefined), Deferred.await(released))
    }),
    started: Deferred.await(started),
    release: Deferred.succeed(released, ranWith(value))
  }
  return run
})

const mustNotRun = { effect: Effect.die(new Error("It ran.")), idempotent: false }

// =============================================================================
// Laws of every journal
// =============================================================================

const endings = ["denied", "expired", "superseded", "cancelled", "void"] as const

type Open = (options?: { readonly grace?: Duration.Input }) => Effect.Effect<Journal, unknown, Scope.Scope>

/** `fresh` makes a place that nobody has written to, and gives what opens it. */
const laws = (name: string, fresh: Effect.Effect<Open, unknown, Scope.Scope>) =>
  describe(name, () => {
    const law = (title: string, test: (journal: Journal) => Effect.Effect<void, unknown>) =>
      it.effect(title, () => Effect.flatMap(Effect.flatMap(fresh, (open) => open()), test))

    law("L2 At most once: the first ending stands, later ones are told of it, and nothing runs after it", (journal) =>
      Effect.gen(function*() {
        assert.isTrue(journal.named)
        for (const state of endings) {
          const claim = claimOf(state)
          assert.isUndefined(yield* journal.find(claim))
          const first = yield* journal.end(claim, state, `first: ${state}`)
          assert.deepStrictEqual(
            { ...first },
            { state, reason: `first: ${state}`, toolName: claim.toolName, toolCallId: claim.toolCallId, at: 0 }
          )
          yield* TestClock.adjust("1 second")
          for (const late of endings) {
            assert.deepStrictEqual(yield* journal.end(claim, late, "late"), first)
          }
          for (const idempotent of [false, true]) {
            const settled = yield* journal.run(claim, { ...mustNotRun, idempotent })
            assert.deepStrictEqual(settled, { entry: first, ran: undefined })
          }
          assert.deepStrictEqual(yield* journal.find(claim), first)
          yield* TestClock.setTime(0)
        }
      }))

    law("L2 At most once: of 20 racing endings and runs one decides, and all are told the same", (journal) =>
      Effect.gen(function*() {
        const claim = claimOf("race")
        const quick = makeCounted(Effect.as(Effect.yieldNow, ranWith("gone")))
        const entries = yield* Effect.forEach(
          Array.from({ length: 20 }, (_, i) =>
            i),
          (i) =>
            i % 2 === 0
              ? journal.end(claim, "denied", String(i))
              : Effect.map(journal.run(claim, { ...quick, idempotent: false }), ({ entry }) =>
                entry),
          { concurrency: "unbounded" }
        )
        const standing = yield* journal.find(claim)
        assert.strictEqual(quick.runs, standing?.state === "denied" ? 0 : 1)
        for (const entry of entries) {
          // An ending that loses to a run is told of it while it goes on.
          if (entry.state === "running") {
            assert.strictEqual(standing?.state, "done")
          } else assert.deepStrictEqual(entry, standing)
        }
      }))

    law("L2 At most once: fibers that race for one claim run it once, and all get what it gave", (journal) =>
      Effect.gen(function*() {
        const run = yield* makeRun({ deleted: true })
        const racing = yield* Effect.forEach(
          Array.from({ length: 20 }, (_, i) =>
            i),
          () =>
            startReader(journal.run(claimOf("race"), { ...run, idempotent: false }))
        )
        yield* run.started
        yield* run.release
        const settled = yield* Effect.forEach(racing, Fiber.join)
        assert.strictEqual(run.runs, 1)
        for (const { entry, ran } of settled) {
          assert.strictEqual(entry.state, "done")
          assert.strictEqual(ran, settled[0]?.ran)
          assert.deepStrictEqual(ran?.result, { deleted: true })
        }
        assert.deepStrictEqual(yield* journal.find(claimOf("race")), settled[0]?.entry)
      }))

    law("L2 At most once: a run outlives its reader, and whoever asks later gets its record", (journal) =>
      Effect.gen(function*() {
        const claim = claimOf("left")
        const run = yield* makeRun(["a", { b: null }])
        const reader = yield* startReader(journal.run(claim, { ...run, idempotent: true }))
        yield* run.started
        yield* Fiber.interrupt(reader)
        assert.strictEqual((yield* journal.find(claim))?.state, "running")
        assert.strictEqual((yield* journal.end(claim, "denied", "too late")).state, "running")
        const joined = yield* startReader(journal.run(claim, mustNotRun))
        yield* run.release
        const { entry, ran } = yield* Fiber.join(joined)
        assert.deepStrictEqual(ran?.encodedResult, ["a", { b: null }])
        assert.deepStrictEqual({ ...entry.recorded }, { isFailure: false, encodedResult: ["a", { b: null }] })
        for (const idempotent of [false, true]) {
          const late = yield* journal.run(claim, { ...mustNotRun, idempotent })
          assert.deepStrictEqual(late, { entry, ran: undefined })
        }
        assert.strictEqual(run.runs, 1)
      }))

    law("L2 At most once: a run that interrupts its own reader still belongs to the journal", (journal) =>
      Effect.gen(function*() {
        const claim = claimOf("self")
        const run = yield* makeRun()
        const reader: Fiber.Fiber<unknown, unknown> = yield* Effect.forkChild(Effect.suspend(() =>
          journal.run(claim, {
            idempotent: false,
            effect: Effect.suspend(() => {
              reader.interruptUnsafe()
              return run.effect
            })
          })
        ))
        yield* run.started
        yield* Fiber.await(reader)
        assert.isTrue(yield* journal.interrupt(claim.approvalId), "it is still there to be stopped")
        assert.strictEqual((yield* journal.find(claim))?.state, "unknown")
      }))

    law("a run that is stopped is recorded as unknown", (journal) =>
      Effect.gen(function*() {
        const claim = claimOf("stopped")
        const run = yield* makeRun()
        yield* startReader(journal.run(claim, { ...run, idempotent: false }))
        yield* run.started
        assert.isFalse(yield* journal.interrupt(claim.nonce), "the nonce is not the id")
        assert.isTrue(yield* journal.interrupt(claim.approvalId))
        const entry = yield* journal.find(claim)
        assert.strictEqual(entry?.state, "unknown")
        assert.match(entry?.reason ?? "", /stopped before it finished.*unknown/)
        assert.isFalse(yield* journal.interrupt(claim.approvalId))
        assert.deepStrictEqual(yield* journal.end(claim, "denied", "too late"), entry)
      }))

    law("who waits for a run that is stopped is told that it is unknown, and is not interrupted with it", (journal) =>
      Effect.gen(function*() {
        const claim = claimOf("stopped")
        const run = yield* makeRun()
        const waiting = yield* Effect.forEach([1, 2], () =>
          startReader(journal.run(claim, { ...run, idempotent: false })))
        yield* run.started
        yield* journal.interrupt(claim.approvalId)
        const standing = yield* journal.find(claim)
        for (const fiber of waiting) {
          assert.deepStrictEqual(yield* Fiber.join(fiber), { entry: standing!, ran: undefined })
        }
      }))

    for (const [how, effect] of [["stopped", Effect.interrupt], ["crashed", Effect.die(new Error("Boom"))]] as const) {
      law(`L2 At most once: a run that ${how} runs again only when it is idempotent, and then once`, (journal) =>
        Effect.gen(function*() {
          const claim = claimOf("again")
          assert.strictEqual((yield* journal.run(claim, { effect, idempotent: true })).entry.state, "unknown")
          const unknown = yield* journal.run(claim, mustNotRun)
          assert.strictEqual(unknown.entry.state, "unknown")
          const quick = makeCounted(Effect.succeed(ranWith("second")))
          const settled = yield* Effect.forEach(
            [1, 2, 3],
            () =>
              journal.run(claim, { ...quick, idempotent: true }),
            { concurrency: "unbounded" }
          )
          assert.strictEqual(quick.runs, 1)
          for (const { entry } of settled) {
            assert.strictEqual(entry.recorded?.encodedResult, "second")
          }
          const late = yield* journal.run(claim, { ...mustNotRun, idempotent: true })
          assert.deepStrictEqual(late.entry, yield* journal.find(claim))
        }))
    }

    law("a handler that fails is recorded as failed, with what it said, and is not run again", (journal) =>
      Effect.gen(function*() {
        const claim = claimOf("failed")
        const quick = makeCounted(Effect.succeed(ranWith({ _tag: "NotFound" }, true)))
        const { entry } = yield* journal.run(claim, { ...quick, idempotent: true })
        assert.strictEqual(entry.state, "failed")
        const late = yield* journal.run(claim, { ...quick, idempotent: true })
        assert.strictEqual(quick.runs, 1)
        assert.deepStrictEqual({ ...late.entry.recorded }, { isFailure: true, encodedResult: { _tag: "NotFound" } })
      }))

    it.effect("a closed journal waits the grace for its runs, and what is not done by then is unknown", () =>
      Effect.gen(function*() {
        const open = yield* fresh
        const scope = yield* Scope.make()
        const journal = yield* Scope.provide(open({ grace: "10 seconds" }), scope)
        const [ends, stays] = [yield* makeRun("in time"), yield* makeRun()]
        const ending = yield* startReader(journal.run(claimOf("ends"), { ...ends, idempotent: false }))
        yield* startReader(journal.run(claimOf("stays"), { ...stays, idempotent: false }))
        yield* ends.started
        yield* stays.started
        const closing = yield* startReader(Scope.close(scope, Exit.void))
        yield* TestClock.adjust("9 seconds")
        yield* ends.release
        assert.strictEqual((yield* Fiber.join(ending)).entry.recorded?.encodedResult, "in time")
        assert.isUndefined(closing.pollUnsafe(), "it waits for the other")
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(closing)
        const entry = yield* journal.find(claimOf("stays"))
        assert.strictEqual(entry?.state, "unknown")
        assert.match(entry?.reason ?? "", /stopped before it finished/)
      }))

    it.effect("a closed journal claims nothing, and says so to whoever asks", () =>
      Effect.gen(function*() {
        const open = yield* fresh
        const scope = yield* Scope.make()
        const journal = yield* Scope.provide(open(), scope)
        yield* Scope.close(scope, Exit.void)
        const quick = makeCounted(Effect.succeed(ranWith("late")))
        const exit = yield* Effect.exit(journal.run(claimOf("late"), { ...quick, idempotent: false }))
        assert.strictEqual(quick.runs, 0)
        const error = yield* Effect.flip<unknown, unknown, never>(exit)
        assert.strictEqual((error as { reason?: { _tag?: string } }).reason?._tag, "JournalUnavailable")
      }))

    // =========================================================================
    // Random histories
    // =========================================================================

    const which = Schema.Literals(["a", "b", "c"])
    const Step = Schema.Union([
      Schema.Struct({ do: Schema.tag("end"), which, state: Schema.Literals(endings) }),
      Schema.Struct({
        do: Schema.tag("run"),
        which,
        outcome: Schema.Literals(["done", "failed", "unknown"]),
        idempotent: Schema.Boolean,
        readers: Schema.Literals([1, 3])
      }),
      Schema.Struct({ do: Schema.tag("find"), which })
    ])

    it.effect.prop("L2 At most once: any history of endings, runs and looks has the fates of the model", {
      steps: Schema.Array(Step)
    }, ({ steps }) =>
      Effect.gen(function*() {
        const open = yield* fresh
        const journal = yield* open({ grace: 0 })
        const fates = new Map<string, Approval.ApprovalState>()
        for (const step of steps) {
          const claim = claimOf(step.which)
          const before = fates.get(step.which)
          if (step.do === "end") {
            const entry = yield* journal.end(claim, step.state, "why")
            fates.set(step.which, before ?? step.state)
            assert.strictEqual(entry.state, fates.get(step.which))
          } else if (step.do === "run") {
            const quick = makeCounted(
              step.outcome === "unknown" ? Effect.interrupt : Effect.succeed(ranWith(1, step.outcome === "failed"))
            )
            const runs = before === undefined || (before === "unknown" && step.idempotent)
            const settled = yield* Effect.forEach(
              Array.from({ length: step.readers }),
              () =>
                journal.run(claim, { ...quick, idempotent: step.idempotent }),
              { concurrency: "unbounded" }
            )
            // An idempotent call whose run stopped may be taken up by the next reader, so there it may run more often.
            if (step.outcome === "unknown" && step.idempotent) {
              assert.isAtMost(quick.runs, runs ? step.readers : 0)
            } else assert.strictEqual(quick.runs, runs ? 1 : 0)
            if (runs) {
              fates.set(step.which, step.outcome)
            }
            for (const { entry } of settled) {
              assert.strictEqual(entry.state, fates.get(step.which))
            }
          }
          assert.strictEqual((yield* journal.find(claim))?.state, fates.get(step.which))
        }
      }).pipe(Effect.scoped), { arbitrary: { runs: 50 } })
  })

const openLayer = (layer: Layer.Layer<never, unknown>) =>
  Effect.flatMap(Layer.build(layer), (context) => Effect.provideContext(ApprovalJournal.ApprovalJournal, context))

laws("layerMemory", Effect.succeed((options) => openLayer(ApprovalJournal.layerMemory(options))))

laws(
  "layerStore",
  Effect.map(
    Store.makeMemory(),
    (store): Open => (options) =>
      openLayer(Layer.provide(ApprovalJournal.layerStore(options), Layer.succeed(Store.Store, store)))
  )
)
