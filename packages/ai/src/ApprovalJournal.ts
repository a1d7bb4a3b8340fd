/**
 * What became of every request, once (law L2).
 *
 * The journal is a state machine over a {@link Store.Store}: each request's fate — denied, superseded, cancelled,
 * expired, void, running, done, failed, suspended as another request — is one step of its record, under the nonce of its seal, written
 * before the model is called. A history can be sent again, edited or replayed; the journal cannot be argued with.
 *
 * A run belongs to the journal's scope, not to the reader who caused it: a reader who leaves does not stop it, and
 * whoever asks again joins it or gets its recorded result.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import type * as ApprovalError from "./ApprovalError.ts"
import { definedFields } from "./internal/fields.ts"
import * as Above from "./internal/journal/above.ts"
import * as Activity from "./internal/journal/activity.ts"
import * as Claiming from "./internal/journal/claiming.ts"
import * as Concluding from "./internal/journal/concluding.ts"
import { type Claim, Entry, withApproval } from "./internal/journal/entry.ts"
import * as Live from "./internal/journal/live.ts"
import * as Liveness from "./internal/journal/liveness.ts"
import { type Held, Power, powerOf } from "./internal/journal/power.ts"
import type { Again, Ran, Suspended } from "./internal/journal/ran.ts"
import * as JournalRecords from "./internal/journal/records.ts"
import { nobodys, type Unbegun } from "./internal/journal/unbegun.ts"
import * as Unrecorded from "./internal/journal/unrecorded.ts"
import * as Words from "./internal/journal/words.ts"
import * as Shutdown from "./internal/shutdown.ts"
import * as MemoryCore from "./internal/store/memoryCore.ts"
import * as Store from "./Store.ts"

// =============================================================================
// Models
// =============================================================================

export { type Claim, Entry, Kept, Recorded } from "./internal/journal/entry.ts"
export type { Again, Ran, Suspended } from "./internal/journal/ran.ts"
export type { Unbegun } from "./internal/journal/unbegun.ts"

/**
 * How a run ended: its entry and, when it ran to its end in this process just now, what it gave.
 *
 * @category models
 * @since 0.1.0
 */
export interface Settled {
  readonly entry: Entry
  readonly ran: Ran | undefined
}

/**
 * What to run under a claim: an effect that cannot fail, and whether a run that ended *unknown* may be run again
 * (`Tool.Idempotent`). With `joinOnly` nothing may begin or be run again: a run that goes on is joined, one that ended is
 * given, and a request that is pending after all is `JournalUnavailable`.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunOptions<R> {
  readonly effect: Effect.Effect<Ran | Suspended | Unbegun | Again, never, R>
  readonly idempotent: boolean
  readonly joinOnly?: boolean | undefined
  /** Nothing was on record of it a moment ago: it is not looked up once more before it is claimed. */
  readonly isNew?: boolean | undefined
  /** It ends with whoever began it and waits for it, as *unknown*, and may be begun again where it may be repeated. */
  readonly endsWithReader?: boolean | undefined
  /** Asked when it has ended: the nonce of its call's first claim, where it has begun agents. */
  readonly within?: (() => string | undefined) | undefined
}

/**
 * A fate that ends a request without running it.
 *
 * @category models
 * @since 0.1.0
 */
export type Ending = "denied" | "expired" | "superseded" | "cancelled" | "void"

/**
 * The operations of a journal.
 *
 * @category services
 * @since 0.1.0
 */
export interface Service {
  /**
   * Whether the program named this journal. The default, in-process journal is not named: with a configured key it
   * is refused, because approvals would outlive the memory of what ran.
   */
  readonly named: boolean
  /** The entry of a request, or `undefined` while it is pending and nobody has approved it. */
  readonly find: (claim: Claim) => Effect.Effect<Entry | undefined, ApprovalError.ApprovalError>
  /** Ends a pending request. Gives the entry that stands: this ending, or what was decided before. */
  readonly end: (claim: Claim, state: Ending, reason: string) => Effect.Effect<Entry, ApprovalError.ApprovalError>
  /**
   * Records the claim's approval of a pending request that needs others too, and claims nothing. Each person counts
   * once, and only approvals of the same parameters count together. Gives the entry that stands.
   */
  readonly approve: (claim: Claim) => Effect.Effect<Entry, ApprovalError.ApprovalError>
  /**
   * Claims the request and runs `effect` once; or joins the run that has the claim; or gives the entry that stands. A
   * run that ended as `unknown` is run again only when `idempotent`, with the same parameters, and never when it was
   * stopped (law L2).
   */
  readonly run: <R>(
    claim: Claim,
    options: RunOptions<R>
  ) => Effect.Effect<Settled, ApprovalError.ApprovalError, R>
  /** Whether the run of an entry that is running goes on, here or in a process that is not known to be dead. */
  readonly isRunning?:
    | ((claim: Claim, entry: Entry) => Effect.Effect<boolean, ApprovalError.ApprovalError>)
    | undefined
  /** Stops a live run of this process; its outcome is recorded as unknown. False when there is none. */
  readonly interrupt: (approvalId: string) => Effect.Effect<boolean>
}

/**
 * The journal of a program. The default is in memory, bounded, one per process.
 *
 * @example
 * import { ApprovalJournal } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const claim = { approvalId: "id-1", nonce: "n-1", expiresAt: Infinity, toolName: "Pay", toolCallId: "call-1" }
 *
 * const program = Effect.gen(function*() {
 *   const journal = yield* ApprovalJournal.ApprovalJournal
 *   yield* journal.end(claim, "cancelled", "The user has left.")
 *   // What is on record stands.
 *   const entry = yield* journal.end(claim, "denied", "no")
 *   return [entry.state, entry.reason]
 * }).pipe(Effect.provide(ApprovalJournal.layerMemory()))
 *
 * await Effect.runPromise(program) // => ["cancelled", "The user has left."]
 *
 * @category references
 * @since 0.1.0
 */
export const ApprovalJournal = Context.Reference<Service>("@assent/ai/ApprovalJournal", {
  defaultValue: () => processJournal()
})

// =============================================================================
// Constructors
// =============================================================================

/**
 * Makes a journal over a store.
 *
 * - `grace` (default 10 seconds) is how long closing the scope waits for live runs before it interrupts them; where the
 *   program is interrupted, as by a signal, it waits 2 seconds at most.
 * - `heartbeat` is how often a process with live runs says that it lives: by default each second where processes share
 *   the store, and never where the store is of this process alone.
 *
 * A claim is given up as *unknown* when whoever waits for it has heard nothing of its owner for six beats, by its own
 * monotonic clock. What the owner records after that replaces *unknown*, unless the run was repeated meanwhile (law
 * L2).
 *
 * @example
 * import { ApprovalJournal, Store } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const claim = { approvalId: "id-1", nonce: "n-1", expiresAt: Infinity, toolName: "Pay", toolCallId: "call-1" }
 * let payments = 0
 * const effect = Effect.sync(() => {
 *   payments++
 *   const recorded = new ApprovalJournal.Recorded({ isFailure: false, encodedResult: "paid" })
 *   return { recorded, result: "paid", encodedResult: "paid" }
 * })
 *
 * const program = Effect.gen(function*() {
 *   const journal = yield* ApprovalJournal.make({ store: yield* Store.makeMemory() })
 *   yield* journal.run(claim, { effect, idempotent: false })
 *   const { entry } = yield* journal.run(claim, { effect, idempotent: false })
 *   return entry.recorded?.encodedResult
 * }).pipe(Effect.scoped)
 *
 * await Effect.runPromise(program) // => "paid"
 * payments // => 1
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(options: {
  readonly store: Store.RequestOperations
  readonly named?: boolean | undefined
  readonly grace?: Duration.Input | undefined
  readonly heartbeat?: Duration.Input | undefined
}): Effect.fn.Return<Service, never, Scope.Scope> {
  const { store } = options
  const scope = yield* Effect.scope
  const grace = Duration.fromInputUnsafe(options.grace ?? "10 seconds")
  const live = new Map<string, Run>()
  let closing = false
  // Runs get a scope of their own, closed only after the grace below.
  const runs = yield* Scope.make()
  yield* Scope.addFinalizerExit(scope, (exit) =>
    Effect.gen(function*() {
      closing = true
      // Whoever interrupts a program expects it to end soon.
      const patience = Exit.hasInterrupts(exit) ? Duration.min(grace, Shutdown.grace) : grace
      yield* Live.ended(live.values(), patience)
      yield* Scope.close(runs, Exit.void)
      yield* unrecorded.close
    }))

  const liveness = yield* Liveness.make({
    store,
    heartbeat: Liveness.heartbeatOf(store, options.heartbeat),
    isBusy: () => live.size > 0,
    scope: runs
  })
  const { owner } = liveness
  const unrecorded = Unrecorded.make(runs)

  const records = JournalRecords.make(store)

  const makeEntry = (claim: Claim, fields: Omit<typeof Entry.Type, "toolName" | "toolCallId" | "at">) =>
    Effect.withFiberSucceed((fiber) => {
      const at = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
      const { approvals, decidedBy, toolCallId, toolName } = claim
      return new Entry({ ...fields, toolName, toolCallId, at, ...definedFields({ approvals, decidedBy }) })
    })

  const read = (claim: Claim) => unrecorded.settled(() => records.read(claim))

  const find: Service["find"] = (claim) =>
    Effect.flatMap(read(claim), (found) =>
      // A run of this process that is about to write its claim has begun: nobody may say that nothing ran.
      found === undefined && live.has(JournalRecords.keyOf(claim))
        ? makeEntry(claim, { state: "running", owner })
        : Effect.succeed(found?.entry))

  const end: Service["end"] = (claim, state, reason) =>
    Effect.flatMap(
      makeEntry(claim, { state, reason }),
      (entry) => unrecorded.settled(() => JournalRecords.change(records, claim, () => entry))
    )

  const approve: Service["approve"] = (claim) =>
    Effect.flatMap(
      makeEntry(claim, { state: "pending" }),
      (entry) =>
        unrecorded.settled(() => JournalRecords.change(records, claim, (found) => withApproval(entry, claim, found)))
    )

  const conclude = (held: Held, entry: Entry, step: JournalRecords.JournalRecords["write"]) =>
    Effect.flatMap(
      Concluding.conclude(records, owner, held, entry, step),
      (stands) =>
        stands ? Effect.succeed(true) : Effect.as(
          Effect.logWarning(
            `Assent: "${held.claim.toolName}" ended after its claim had been given up; what it did is not on record.`
          ),
          false
        )
    )

  // The run has happened; that it is on record matters more than a moment's wait.
  const record = (held: Held, entry: Entry): Effect.Effect<void> =>
    unrecorded.record(
      JournalRecords.keyOf(held.claim),
      held.claim.toolName,
      conclude(held, entry, records.write)
    )

  // What it waits for is kept if, and only if, it is on record that it does.
  const suspend = Effect.fnUntraced(function*(
    held: Held,
    entry: Entry,
    { keep, kept, otherwise }: NonNullable<Suspended["waiting"]>
  ): Effect.fn.Return<Settled> {
    const { claim } = held
    const both = conclude(
      held,
      entry,
      (...step) => Effect.tap(records.decide(...step), (written) => written ? keep : Effect.void)
    )
    const written = yield* store.atomically(both).pipe(
      Effect.catchTag("StoreError", (error) => Effect.fail(JournalRecords.unavailable(error))),
      Effect.retry({ times: 3 }),
      Effect.result
    )
    if (Result.isFailure(written)) return yield* finish(held, yield* otherwise(written.failure))
    if (!written.success) {
      return { entry: yield* makeEntry(claim, { state: "unknown", reason: Words.lostReason }), ran: undefined }
    }
    yield* kept
    yield* records.publish(claim, "running", entry)
    return { entry, ran: undefined }
  })

  const waitAgain = Effect.fnUntraced(function*(held: Held, { again }: Again): Effect.fn.Return<Settled> {
    const entry = yield* makeEntry(nobodys(held.claim), { state: "pending" })
    const both = conclude(
      held,
      entry,
      (...step) => Effect.tap(records.decide(...step), (written) => written ? again : Effect.void)
    )
    yield* unrecorded.record(JournalRecords.keyOf(held.claim), held.claim.toolName, store.atomically(both))
    return { entry, ran: undefined }
  })

  const finish = (held: Held, ran: Ran): Effect.Effect<Settled> => {
    const { recorded } = ran
    return Effect.flatMap(
      makeEntry(held.claim, { state: recorded.isFailure ? "failed" : "done", recorded }),
      (entry) => Effect.as(record(held, entry), { entry, ran })
    )
  }

  const execute = Effect.fnUntraced(function*<R>(
    wanted: Claim,
    { effect, isNew = false, within }: RunOptions<R>,
    run: Run,
    restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  ): Effect.fn.Return<Settled, Failure, R> {
    const waiting = Effect.suspend(() => {
      run.waits = true
      return restore(Effect.sleep("200 millis"))
    })
    const { params } = wanted
    const claimed = yield* makeEntry(wanted, { state: "running", owner, ...definedFields({ params }) })
    const power = run.power
    const acquired = yield* Claiming.acquire({ claim: wanted, claimed, power, isNew, records, read, liveness, waiting })
    if (acquired instanceof Entry) return { entry: acquired, ran: undefined }
    run.waits = false
    const above = yield* Above.Above
    const running = { store, nonce: acquired.claim.nonce, version: acquired.version }
    const inside = Effect.updateContext(
      effect,
      (context: Context.Context<R>) =>
        Context.add(Context.add(context, Above.Above, [...above, running]), Activity.Current, run.activity)
    )
    const exit = yield* Effect.exit(restore(inside))
    const claim = { ...acquired.claim, within: within?.() }
    const held = { ...acquired, claim }
    if (Exit.isFailure(exit)) {
      const stopped = run.stop === "none" && !Activity.isStopped(run.activity) ? undefined : { stopped: true }
      const entry = yield* makeEntry(claim, {
        state: "unknown",
        reason: Words.interruptedReason,
        ...definedFields({ params }),
        ...stopped
      })
      yield* record(held, entry)
      if (stopped !== undefined) run.stop = "recorded"
      return { entry, ran: undefined }
    }
    const ended = exit.value
    if ("unbegun" in ended) {
      yield* record(held, yield* makeEntry(nobodys(claim), { state: "pending" }))
      return yield* ended.unbegun
    }
    if ("again" in ended) return yield* waitAgain(held, ended)
    if (!("suspendedAs" in ended)) return yield* finish(held, ended)
    const entry = yield* makeEntry(claim, { state: "suspended", suspendedAs: ended.suspendedAs })
    if (ended.waiting !== undefined) return yield* suspend(held, entry, ended.waiting)
    yield* record(held, entry)
    return { entry, ran: undefined }
  })

  const run: Service["run"] = (claim, options) =>
    Effect.flatMap(Activity.Current, (around) =>
      // Where everything is stopped nothing begins: whoever asks is about to be told.
      around?.isStopped === true ? Effect.interrupt : runWithin(around, claim, options))

  const runWithin = <R>(around: Activity.Activity | undefined, claim: Claim, options: RunOptions<R>) =>
    // From being registered to being started nothing can come between, whatever becomes of the reader.
    Effect.uninterruptibleMask((restoreReader): Effect.Effect<Settled, Failure, R> => {
      const key = JournalRecords.keyOf(claim)
      const power = powerOf(options)
      const joined = live.get(key)
      if (joined !== undefined) {
        Activity.enter(joined.activity, around)
        const awaited = restoreReader(Deferred.await(joined.settled))
        // Whoever was joined may have been able to do less than this one may: then it is this one's turn.
        return joined.power >= power ? awaited : Effect.matchEffect(awaited, {
          onFailure: (error) => joined.power === Power.joins ? run(claim, options) : Effect.fail(error),
          onSuccess: (settled) => settled.entry.state === "unknown" ? run(claim, options) : Effect.succeed(settled)
        })
      }
      if (closing) return JournalRecords.journalUnavailable(Words.closedReason)
      const settled = Deferred.makeUnsafe<Settled, Failure>()
      const started: Run = Live.make({ approvalId: claim.approvalId, power, settled }, around)
      live.set(key, started)
      // Whoever waits is told how it ended before the run's own interruption goes on.
      const running = Effect.uninterruptibleMask((restore) =>
        Effect.onExit(Live.within(started, execute(claim, options, started, restore)), (exit) =>
          Effect.sync(() => {
            live.delete(key)
            Activity.end(started.activity)
            // Only a wait for another process can be cut short; who waits here is told so, not interrupted with it.
            const cut = Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
            const reason = started.stop === "none" ? Words.closedReason : Words.stoppedReason
            Deferred.doneUnsafe(settled, cut ? JournalRecords.journalUnavailable(reason) : exit)
          }))
      )
      return Effect.flatMap(
        Effect.forkIn(running, runs, { startImmediately: true, uninterruptible: false }),
        () =>
          options.endsWithReader === true
            ? Effect.onInterrupt(restoreReader(Deferred.await(settled)), () => Live.leave(started))
            : restoreReader(Deferred.await(settled))
      )
    })

  const interrupt: Service["interrupt"] = (approvalId) => Live.interrupt(live.values(), approvalId)

  const isRunning: Service["isRunning"] = (claim, { owner }) =>
    live.has(JournalRecords.keyOf(claim))
      ? Effect.succeed(true)
      : Effect.mapError(liveness.isAlive(owner), JournalRecords.unavailable)

  return { named: options.named ?? true, find, end, approve, run, isRunning, interrupt }
})

// =============================================================================
// Layers
// =============================================================================

/**
 * A journal in this process's memory, and the program's word that a restart may forget what ran. Runs live as long as
 * the layer. Closing it waits for them for `grace` (default 10 seconds; 2 at most where the program is interrupted).
 *
 * `capacity` (default 100,000) bounds how many unsettled requests are kept, and `maxResultBytes` (default 64 MiB) the results
 * that are kept. To make room, the oldest results are given up; that something ran is never forgotten. A full journal
 * refuses to claim.
 *
 * @example
 * import { ApprovalJournal } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const named = Effect.map(ApprovalJournal.ApprovalJournal, (journal) => journal.named)
 *
 * await Effect.runPromise(named) // => false
 * await Effect.runPromise(Effect.provide(named, ApprovalJournal.layerMemory())) // => true
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = (options?: {
  readonly capacity?: number | undefined
  readonly grace?: Duration.Input | undefined
  readonly maxResultBytes?: number | undefined
}): Layer.Layer<never> =>
  Layer.effect(
    ApprovalJournal,
    Effect.flatMap(Store.makeMemory(options), (store) => make({ store, grace: options?.grace }))
  )

/**
 * A journal over any {@link Store.Store}, which several processes may share: of two that claim one request, one runs it
 * and the other waits for its result (law L2).
 *
 * A claim whose process has died is given up as *unknown* after six heartbeats of silence. `heartbeat` is 1 second by
 * default where processes share the store, and cannot be switched off there. No two clocks are compared for that, and a
 * process that was only slow still records how its run ended.
 *
 * @example
 * import { ApprovalJournal, Store } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const claim = { approvalId: "id-1", nonce: "n-1", expiresAt: Infinity, toolName: "Pay", toolCallId: "call-1" }
 * const shared = Effect.provide(ApprovalJournal.ApprovalJournal, ApprovalJournal.layerStore())
 *
 * const program = Effect.gen(function*() {
 *   yield* Effect.flatMap(shared, (process) => process.end(claim, "denied", "It is too much."))
 *   const another = yield* Effect.flatMap(shared, (process) => process.find(claim))
 *   // A process that does not share the store knows nothing of it.
 *   const alone = yield* Effect.flatMap(ApprovalJournal.ApprovalJournal, (process) => process.find(claim))
 *   return [another?.reason, alone]
 * }).pipe(Effect.provide(Store.layerMemory))
 *
 * await Effect.runPromise(program) // => ["It is too much.", undefined]
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStore = (options?: {
  readonly grace?: Duration.Input | undefined
  readonly heartbeat?: Duration.Input | undefined
}): Layer.Layer<never, never, Store.Store> =>
  Layer.effect(ApprovalJournal, Effect.flatMap(Store.Store, (store) => make({ store, ...options })))

// =============================================================================
// Internals
// =============================================================================

type Failure = ApprovalError.ApprovalError

type Run = Live.Run<Settled, Failure>

const processJournalKey = Symbol.for("@assent/ai/ApprovalJournal/process")

// One per process even when the module is loaded twice (hot reload): what ran must not be forgotten.
const processJournal = (): Service => {
  const slots = globalThis as { [processJournalKey]?: Service }
  return slots[processJournalKey] ??= Effect.runSync(
    Effect.provideService(
      make({ store: MemoryCore.ofProcess().operations, named: false }),
      Scope.Scope,
      Scope.makeUnsafe()
    ).pipe(
      Effect.map(endingWithProgram)
    )
  )
}

// It is in no scope that the end of the program closes.
const endingWithProgram = (journal: Service): Service => ({
  ...journal,
  run: (claim, options) => {
    const ended = journal.run(claim, { effect: Effect.never, idempotent: false, joinOnly: true })
    const effect = Shutdown.running(options.effect, Shutdown.stop(ended, journal.interrupt(claim.approvalId)))
    return Effect.onInterrupt(journal.run(claim, { ...options, effect }), () => Shutdown.leaving)
  }
})
