/**
 * Carries a plan out against the real engine, and writes down what happened. Nothing here is left to chance: the clock
 * is `TestClock`, random numbers and cryptography are our own, and the order of events is that of one thread.
 */
import { Clock, Effect, type Fiber, Logger, Ref, Scheduler } from "effect"
import { WebCrypto } from "effect/crypto"
import { TestClock } from "effect/testing"
import { ConversationStore, LanguageModel, type Prompt, type Store } from "../../../src/index.ts"
import * as Cryptography from "../cryptography.ts"
import * as Storage from "../storage.ts"
import * as Waiting from "../waiting.ts"
import * as Chats from "./chats.ts"
import * as Plan from "./plan.ts"
import * as Process from "./process.ts"
import * as Record from "./record.ts"
import * as Turn from "./turn.ts"

interface World {
  readonly record: Record.Record
  readonly store: Store.Store
  readonly key: ConversationStore.Key
  readonly chats: Chats.Chats | undefined
  /** By how many minutes the clocks are ahead. */
  readonly clocks: [number, number]
  /** Those at the two places; none until one is needed, and when the one before has died. */
  readonly seats: [Process.Process | undefined, Process.Process | undefined]
  readonly begun: Array<Turn.Begun>
  /** When those that stand still go on, in the right time. */
  readonly alarms: Array<{ readonly time: number; readonly process: Process.Process }>
}

const beginning = Date.UTC(2026, 0, 1)

/** Carries out a plan, brings it to its end, and gives what happened. */
export const carryOut = (plan: Plan.Plan): Effect.Effect<Record.Record> =>
  Effect.gen(function*() {
    Cryptography.reset()
    yield* TestClock.setTime(beginning)
    const clock = yield* Clock.Clock
    const record = Record.make(plan, () => clock.currentTimeMillisUnsafe())
    const world: World = {
      record,
      store: yield* yield* Storage.MakeStore,
      key: yield* ConversationStore.keyOf(Process.scope.conversation!, {}),
      chats: plan.options.way === "Chat" ? Chats.make() : undefined,
      clocks: [plan.options.clocks[0], plan.options.clocks[1]],
      seats: [undefined, undefined],
      begun: [],
      alarms: []
    }
    for (const step of plan.steps) yield* takeStep(world, step)
    yield* bringToAnEnd(world)
    return record
  }).pipe(
    Effect.provideService(WebCrypto.WebCrypto, Cryptography.cryptography),
    // An hour of real time: a plan that waits says so by getting stuck.
    Effect.provide([TestClock.layer({ warningDelay: "1 hour" }), Logger.layer([])]),
    Effect.provideService(Scheduler.Scheduler, Waiting.scheduler),
    Effect.andThen((record) => Effect.as(Waiting.breath, record))
  )

// =============================================================================
// Time
// =============================================================================

/** Time goes on by so many seconds, one by one, and whoever has stood still for long enough goes on. */
const pass = Effect.fnUntraced(function*(world: World, seconds: number) {
  for (let second = 0; second < seconds; second++) {
    yield* TestClock.adjust("1 second")
    const { time } = world.record.now()
    for (const alarm of world.alarms) if (alarm.time <= time) alarm.process.unblock()
    yield* Waiting.settle(() => false)
  }
})

/** Waits for something; when nothing more happens by itself, time goes on. */
const wait = Effect.fnUntraced(function*(world: World, isDone: () => boolean, seconds: number) {
  yield* Waiting.settle(isDone)
  for (let second = 0; second < seconds && !isDone(); second++) {
    yield* pass(world, 1)
    yield* Waiting.settle(isDone)
  }
  return isDone()
})

const isOver = (fiber: Fiber.Fiber<unknown, unknown>): boolean => fiber.pollUnsafe() !== undefined

// =============================================================================
// Processes
// =============================================================================

const processAt = Effect.fnUntraced(function*(world: World, seat: Plan.Seat) {
  const found = world.seats[seat]
  if (found !== undefined && !found.isDead()) return found
  const { record, store } = world
  return world.seats[seat] = yield* Process.make({ record, seat, store, ahead: () => world.clocks[seat] })
})

const placeOf = (world: World, process: Process.Process): Turn.Place => {
  const { chats, key, record, store } = world
  return {
    record,
    process,
    kept: Effect.map(
      Effect.orDie(store.conversations.read(key.id)),
      (found) => found === undefined ? "" : found.messages.join()
    ),
    chat: chats?.in(process)
  }
}

/** The turns that go on there. */
const going = ({ begun }: World, process: Process.Process): ReadonlyArray<Turn.Begun> =>
  begun.filter((one) => one.process === process && one.op.left === undefined && !isOver(one.fiber))

// =============================================================================
// Steps
// =============================================================================

const takeStep = Effect.fnUntraced(function*(world: World, step: Plan.Step) {
  if (step._tag === "Time") return yield* pass(world, step.seconds)
  if (step._tag === "Clock") {
    world.clocks[step.seat] = step.minutes
    return note(world, step)
  }
  if (step._tag === "Turn") {
    yield* takeTurn(world, step, false)
    return note(world, step)
  }
  const process = world.seats[step.seat]
  if (process === undefined || process.isDead()) return
  switch (step._tag) {
    case "Leave": {
      if (process.isBlocked()) return
      const left = going(world, process)
      if (left.length > 0) note(world, step)
      for (const { fiber, op } of left) {
        op.left = world.record.now()
        fiber.interruptUnsafe()
      }
      return
    }
    case "Die":
      note(world, step)
      return process.die()
    case "Block":
      if (process.isBlocked()) return
      note(world, step)
      process.block()
      world.alarms.push({ time: world.record.now().time + 60_000, process })
      return
    case "Close":
      if (process.isBlocked()) return
      note(world, step)
      return yield* close(world, process)
    case "Cancel":
      return yield* cancel(world, step, process)
    case "Pending":
      return yield* look(world, step, process)
  }
})

const note = ({ record }: World, step: Plan.Step): void => {
  const running = record.runs.filter(({ ended }) => ended === undefined)
  record.steps.push({ step, running: running.map(({ number }) => number) })
}

const close = Effect.fnUntraced(function*(world: World, process: Process.Process) {
  process.known.closed = world.record.now()
  const closing = yield* Effect.forkDetach(Process.close(process), { startImmediately: true })
  yield* wait(world, () => isOver(closing), 120)
  process.die()
})

const cancel = Effect.fnUntraced(function*(world: World, step: Plan.Step, process: Process.Process) {
  const { record } = world
  // A chat has no Stop of its own.
  if (world.chats !== undefined) return
  note(world, step)
  const one: Record.Cancel = { ...record.now(), process: process.known.index, ended: undefined }
  record.cancels.push(one)
  const cancelling = yield* Turn.inside(placeOf(world, process), (conversation) => conversation.cancel()).pipe(
    Effect.as("done"),
    Effect.catch((error) => Effect.succeed(error.message)),
    Effect.tap((outcome) => Effect.sync(() => (one.ended = { ...record.now(), outcome }))),
    Effect.forkDetach({ startImmediately: true })
  )
  yield* wait(world, () => isOver(cancelling), 45)
})

const look = Effect.fnUntraced(function*(world: World, step: Plan.Step, process: Process.Process) {
  const { record } = world
  if (world.chats !== undefined || process.isBlocked()) return
  note(world, step)
  const looking = yield* Turn.inside(placeOf(world, process), ({ pending }) => pending()).pipe(
    Effect.tap((open) => Effect.sync(() => record.looks.push({ ...record.now(), process: process.known.index, open }))),
    Effect.forkDetach({ startImmediately: true })
  )
  yield* wait(world, () => isOver(looking), 5)
})

// =============================================================================
// Turns
// =============================================================================

const takeTurn = Effect.fnUntraced(function*(world: World, step: Plan.Turn, isLast: boolean) {
  const process = yield* processAt(world, step.seat)
  // Two processes have a chat one after the other: it knows nothing of another one.
  if (world.chats !== undefined) {
    const others = world.begun.filter((one) => one.process !== process && !one.process.isDead())
    yield* wait(world, () => others.every(({ fiber }) => isOver(fiber)), 180)
  }
  const open = step.via === "decide" ? yield* openIn(world, process) : []
  // With no answers no turn is taken.
  if (step.via === "decide" && open.length === 0) return undefined
  const begun = yield* Turn.begin(placeOf(world, process), step, open, isLast)
  world.begun.push(begun)
  const { fiber, signs } = begun
  if (step.until === "end") {
    yield* wait(world, () => isOver(fiber) || process.isDead(), 180)
    return begun
  }
  const { count, hops, sign } = step.until
  yield* wait(world, () => isOver(fiber) || (signs.get(sign) ?? 0) > count, 30)
  yield* Waiting.hop(hops)
  return begun
})

/** What a person sees open there. */
const openIn = Effect.fnUntraced(function*(world: World, process: Process.Process) {
  const place = placeOf(world, process)
  let open: ReadonlyArray<Record.Open> = []
  const pending = place.chat === undefined
    ? Turn.inside(place, (conversation): Effect.Effect<ReadonlyArray<Record.Open>, unknown> => conversation.pending())
    : Effect.map(Effect.flatMap(place.chat, ({ history }) => Ref.get(history)), askedIn)
  const looking = yield* Effect.forkDetach(
    Effect.tap(pending, (requests) => Effect.sync(() => (open = requests))),
    { startImmediately: true }
  )
  yield* wait(world, () => isOver(looking), 65)
  return open
})

const askedIn = ({ content }: Prompt.Prompt): ReadonlyArray<Record.Open> =>
  LanguageModel.collectToolApprovals(content).pending.flatMap(({ approvalId, toolCall }) =>
    toolCall === undefined ? [] : [{ approvalId, toolCallId: toolCall.id }]
  )

// =============================================================================
// The end
// =============================================================================

/** Nothing happens any more by itself, and nothing will. */
const isQuiet = ({ begun, record, seats }: World): boolean =>
  seats.every((process) => process === undefined || process.isDead() || !process.isBlocked()) &&
  begun.every(({ fiber, process }) => process.isDead() || isOver(fiber)) &&
  record.runs.every(({ ended, process }) => ended !== undefined || record.processes[process]!.died !== undefined)

/** When all is quiet each process takes another turn, and then ends. */
const bringToAnEnd = Effect.fnUntraced(function*(world: World) {
  const { last } = world.record.plan.options
  yield* wait(world, () => isQuiet(world), 300)
  for (const seat of [last, 1 - last] as ReadonlyArray<Plan.Seat>) {
    yield* takeTurn(world, { ...Plan.simplest.turn, seat }, true)
  }
  const living = world.seats.filter((process) => process !== undefined && !process.isDead())
  for (const process of living) yield* look(world, { _tag: "Pending", seat: process!.known.seat }, process!)
  world.record.end = world.record.now().at
  for (const process of living) yield* close(world, process!)
})
