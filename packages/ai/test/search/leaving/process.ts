/**
 * A process of the program, by a clock of its own: its journal, its suspensions and its conversations over the store that
 * both processes share. One that has died does nothing any more; one that is blocked does nothing until it goes on.
 * Both are so wherever time passes in it, whenever it asks its store, its model or a person, and in its handlers.
 */
import { Clock, Context, Deferred, Effect, Exit, Latch, Scope } from "effect"
import {
  type Approval,
  ApprovalJournal,
  ApprovalSeal,
  type Conversation,
  ConversationStore,
  Store,
  SuspensionStore
} from "../../../src/index.ts"
import { intercept } from "../../store/intercept.ts"
import type * as Plan from "./plan.ts"
import type * as Record from "./record.ts"

export interface Process {
  readonly known: Record.Process
  readonly journal: ApprovalJournal.Service
  readonly services: Context.Context<never>
  readonly scope: Scope.Closeable
  /** Passes while the process goes on. */
  readonly gate: Effect.Effect<void>
  readonly isDead: () => boolean
  readonly isBlocked: () => boolean
  readonly die: () => void
  readonly block: () => void
  readonly unblock: () => void
  /** The conversation as this process has it, once it has. */
  conversation: Conversation.Conversation<any> | undefined
}

/** What a turn in which something is written is told. */
export const OnWrite = Context.Reference<Effect.Effect<void>>("assent/test/search/leaving/OnWrite", {
  defaultValue: () => Effect.void
})

/** What was written in a transaction that is not over yet. */
const Uncommitted = Context.Reference<Array<() => void> | undefined>("assent/test/search/leaving/Uncommitted", {
  defaultValue: () => undefined
})

export interface Options {
  readonly record: Record.Record
  readonly seat: Plan.Seat
  readonly store: Store.Store
  /** By how many minutes the clock at this place is ahead. */
  readonly ahead: () => number
}

export const make = Effect.fnUntraced(function*(options: Options): Effect.fn.Return<Process> {
  const { record } = options
  const known: Record.Process = {
    index: record.processes.length,
    seat: options.seat,
    died: undefined,
    closed: undefined,
    blocks: []
  }
  record.processes.push(known)
  const running = Latch.makeUnsafe(true)
  const isDead = () => known.died !== undefined
  const isBlocked = () => known.blocks.some(({ until }) => until === undefined)
  const gate: Effect.Effect<void> = Effect.suspend(() => {
    if (isDead()) return Effect.never
    return isBlocked() ? Effect.andThen(running.await, gate) : Effect.void
  })
  const crashed = yield* Deferred.make<never, "crashed">()
  const clock = clockOf(yield* Clock.Clock, options.ahead, gate)
  const store = storeOf(options, known, gate, Deferred.await(crashed))
  const scope = yield* Scope.make()
  const within = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) =>
    effect.pipe(Effect.provideService(Clock.Clock, clock), Scope.provide(scope))
  const journal = yield* within(ApprovalJournal.make({ store }))
  const services = Context.make(Clock.Clock, clock).pipe(
    Context.add(ApprovalJournal.ApprovalJournal, journal),
    Context.add(SuspensionStore.SuspensionStore, SuspensionStore.make({ store })),
    Context.add(ConversationStore.ConversationStore, yield* within(ConversationStore.make({ store }))),
    Context.add(
      ApprovalSeal.ApprovalSeal,
      yield* Effect.orDie(ApprovalSeal.make({ key: "k".repeat(32), keyId: "key" }))
    )
  ) as Context.Context<never>
  return {
    known,
    journal,
    services,
    scope,
    gate,
    isDead,
    isBlocked,
    die: () => {
      known.died = record.now()
      Deferred.doneUnsafe(crashed, Exit.fail("crashed"))
    },
    block: () => {
      known.blocks.push({ from: record.now(), until: undefined })
      running.closeUnsafe()
    },
    unblock: () => {
      const block = known.blocks.at(-1)
      if (block !== undefined) block.until ??= record.now()
      running.openUnsafe()
    },
    conversation: undefined
  }
})

/** A clock that is ahead, and that stands still with its process. How much time passes, it tells rightly. */
const clockOf = (right: Clock.Clock, ahead: () => number, gate: Effect.Effect<void>): Clock.Clock => {
  const millis = () => right.currentTimeMillisUnsafe() + ahead() * 60_000
  const nanos = () => right.currentTimeNanosUnsafe() + BigInt(ahead()) * 60_000_000_000n
  return {
    ...right,
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    sleep: (duration) => Effect.andThen(gate, Effect.andThen(right.sleep(duration), gate))
  }
}

// A store is somewhere else: others get their turn before it was asked, and before it has answered. It keeps the right
// time, and what a process was in the middle of doing atomically when it died did not happen.
const storeOf = (
  { record, store: shared }: Options,
  known: Record.Process,
  gate: Effect.Effect<void>,
  crashed: Effect.Effect<never, "crashed">
): Store.Store => {
  const passing = <A, E, R>(isWrite: boolean, operation: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.gen(function*() {
      yield* Effect.yieldNow
      // Whoever is blocked in a transaction would block the database; that is not what is looked for.
      const isWithin = (yield* Uncommitted) !== undefined
      if (isWrite) yield* yield* OnWrite
      if (!isWithin) yield* gate
      const result = yield* operation
      yield* Effect.yieldNow
      if (!isWithin) yield* gate
      return result
    })
  const written = (write: () => void) =>
    Effect.map(Uncommitted, (uncommitted) => {
      if (uncommitted === undefined) write()
      else uncommitted.push(write)
    })
  // What is written is so before whoever wrote it knows.
  const decide: Store.Requests["decide"] = (name, version, decided) =>
    Effect.tap(shared.requests.decide(name, version, decided), (isWritten) =>
      isWritten
        ? written(() => {
          const { approvalId, toolCallId: callId } = name
          record.fates.push({ ...record.now(), approvalId, callId, state: decided.state, process: known.index })
        })
        : Effect.void)
  const noting = Store.make({ ...shared, requests: { ...shared.requests, decide } })
  const intercepted = intercept(noting, (operation, _, run) => passing(isWrite.has(operation), run))
  const atomically: Store.Store["atomically"] = (effect) =>
    Effect.suspend(() => {
      const uncommitted: Array<() => void> = []
      const committing = shared.atomically(Effect.raceFirst(effect, crashed)).pipe(
        Effect.tap(() => Effect.sync(() => uncommitted.forEach((write) => write()))),
        Effect.provideService(Uncommitted, uncommitted)
      )
      return passing(true, committing).pipe(
        Effect.catchIf((error): error is "crashed" => error === "crashed", () => Effect.never)
      )
    })
  return Store.make({ ...intercepted, isShared: true, atomically })
}

const isWrite: ReadonlySet<string> = new Set(["conversations.write", "requests.decide", "requests.open"])

/** Ends a process as a shutdown does: what runs is waited for, and then interrupted. */
export const close = (process: Process): Effect.Effect<void> =>
  process.isDead() ? Effect.void : Effect.provideContext(Scope.close(process.scope, Exit.void), process.services)

export const scope: Approval.ApprovalScope = { conversation: "c1" }
