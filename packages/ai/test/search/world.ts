/**
 * Carries a plan out against the real engine, and writes down what happened. Nothing here is left to chance: the clock
 * is `TestClock`, random numbers and cryptography are our own, and the order of events is that of one thread.
 */
import { Effect, Fiber, Logger, Ref, Scheduler, Schema } from "effect"
import { ResponseIdTracker } from "effect/ai"
import { WebCrypto } from "effect/crypto"
import { TestClock } from "effect/testing"
import { Approval, type ApprovalError, Chat, LanguageModel, Prompt, SuspensionStore } from "../../src/index.ts"
import * as Cryptography from "./cryptography.ts"
import * as DeferredTools from "./deferredTools.ts"
import * as Guarded from "./guarded.ts"
import * as Plan from "./plan.ts"
import * as Process from "./process.ts"
import * as Record from "./record.ts"
import * as Script from "./script.ts"
import * as State from "./state.ts"
import * as Storage from "./storage.ts"
import * as Tamper from "./tamper.ts"
import * as Turn from "./turn.ts"
import * as View from "./view.ts"
import * as Waiting from "./waiting.ts"

/** Carries out a plan, brings it to its end, and gives what happened. */
export const carryOut = (plan: Plan.Plan): Effect.Effect<Record.Record> =>
  Effect.gen(function*() {
    Cryptography.reset()
    yield* TestClock.setTime(State.beginning)
    const record = Record.make(plan)
    const storage = yield* Storage.make((how, method) => record.troubles.push({ step: world.step, how, method }))
    const process = yield* Process.make(0, storage)
    const world: State.World = {
      record,
      plan,
      storage,
      seals: new Map(),
      tracker: yield* ResponseIdTracker.make,
      judged: new Set(),
      processes: [process],
      snapshots: [],
      seen: [],
      process,
      history: Prompt.empty,
      chat: State.isChat(plan) ? yield* Chat.empty : undefined,
      circumstances: State.initial,
      tampered: false,
      step: 0,
      calls: 0
    }
    for (const step of plan.steps) {
      yield* takeStep(world, step)
      world.step++
    }
    record.closing = record.turns.length
    yield* bringToAnEnd(world)
    // What readers left behind goes on to its end.
    if ([...record.runs, ...record.resumptions].some((run) => run.outcome === "running")) {
      yield* TestClock.adjust("1 minute")
    }
    for (const one of world.processes) yield* close(world, one)
    return record
  }).pipe(
    Effect.provideService(WebCrypto.WebCrypto, Cryptography.cryptography),
    // An hour of real time: a plan that waits says so by getting stuck.
    Effect.provide([TestClock.layer({ warningDelay: "1 hour" }), Logger.layer([])]),
    Effect.provideService(Scheduler.Scheduler, Waiting.scheduler),
    Effect.andThen((record) => Effect.as(Waiting.breath, record))
  )

// =============================================================================
// Steps
// =============================================================================

const takeStep = Effect.fnUntraced(function*(world: State.World, step: Plan.Step) {
  const set = (changes: Partial<Record.Circumstances>) => {
    world.circumstances = { ...world.circumstances, ...changes }
  }
  world.record.steps.push(step._tag)
  switch (step._tag) {
    case "Turn":
      return yield* deliver(world, step)
    case "Tamper": {
      const history = Tamper.apply(world.history, step, { record: world.record, snapshots: world.snapshots })
      if (history === undefined) return
      world.tampered = true
      world.record.tampered.push(step.how)
      return yield* setHistory(world, history)
    }
    case "Restart":
      if (step.how !== "reload") {
        if (step.how === "crash") crash(world)
        else yield* close(world, world.process)
        yield* startProcess(world)
      }
      return yield* reload(world)
    case "Policy":
      return set({ policy: step.says })
    case "Gate":
      return set({ gate: step.says })
    case "Show":
      return set({ revision: step.revision })
    case "Controller":
      return set({ controller: step.says })
    case "Memory":
      return set({ memory: step.isOn })
    case "Drift":
      return set({ drift: { ...world.circumstances.drift, [step.tool]: step.how } })
    case "Time": {
      // Over a month a program is deployed anew; its heart would also beat half a million times.
      const isLong = step.minutes > 24 * 60
      if (isLong) { for (const process of world.processes) yield* close(world, process) }
      yield* TestClock.adjust(`${step.minutes} minutes`)
      return isLong ? yield* startProcess(world) : undefined
    }
    case "Stop":
      return yield* stop(world, step.at)
    case "Answer":
      return yield* answer(world, step)
    case "Guarded":
      return yield* Guarded.call(world, step, () => `guarded-${++world.calls}`)
    case "Tell":
      return yield* tell(world, step)
    case "Store":
      return world.storage.set(step)
    case "Scope":
      return set({ scope: step.index })
    case "Keys":
      return set(yield* State.keysAfter(world.circumstances, step.how))
  }
})

const crash = ({ process, record }: State.World): void => {
  process.crash()
  record.crashed.push(process.index)
}

const close = Effect.fnUntraced(function*({ record }: State.World, process: Process.Process) {
  const at = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
  if (!process.isDead()) record.closed.push({ process: process.index, at })
  yield* Waiting.finishing(Process.close(process))
})

const startProcess = Effect.fnUntraced(function*(world: State.World) {
  world.process = yield* Process.make(world.processes.length, world.storage)
  world.processes.push(world.process)
})

const setHistory = Effect.fnUntraced(function*(world: State.World, history: Prompt.Prompt) {
  world.history = history
  if (State.isChat(world.plan)) world.chat = yield* Chat.fromPrompt(history)
})

const PromptJson = Schema.fromJsonString(Prompt.Prompt)

/** The history as a database gives it back. */
const reload = (world: State.World) =>
  Schema.encodeEffect(PromptJson)(world.history).pipe(
    Effect.flatMap(Schema.decodeEffect(PromptJson)),
    Effect.orDie,
    Effect.flatMap((history) => setHistory(world, history))
  )

/** Stops the run of a request that was given out, the newest first. */
const stop = Effect.fnUntraced(function*({ process, record, step }: State.World, at: number) {
  const requests = record.requests.filter(({ call }) => !View.isGuarded(call))
  const request = requests.at(-1 - at % Math.max(1, requests.length))
  if (request === undefined || process.isDead()) return
  // Of a call that was asked about twice, nobody can tell which request runs.
  const isOnly = record.requests.filter(({ call }) => call.id === request.call.id).length === 1
  const isLive = (run: Record.Run) =>
    isOnly && run.outcome === "running" && run.process === process.index && Record.isSameCall(run.call, request.call)
  const live = record.runs.filter(isLive)
  const runs = record.runs.length
  const stopping = yield* Effect.forkDetach(process.journal.interrupt(request.approvalId), { startImmediately: true })
  yield* Waiting.wait([stopping])
  const said = yield* Fiber.join(stopping)
  const left = live.filter(isLive).map(({ number }) => number)
  record.stops.push({ step, approvalId: request.approvalId, runs, said, left })
})

/** Answers between two turns; without a chat, in one that is made for it. */
const answer = Effect.fnUntraced(function*(world: State.World, step: Extract<Plan.Step, { readonly _tag: "Answer" }>) {
  const chat = world.chat ?? (yield* Chat.fromPrompt(world.history))
  const before = yield* Ref.get(chat.history)
  const answers = [
    ...Script.answers(saidOf(world, step.answers)),
    ...(step.unknown ? [Approval.approve({ approvalId: "nobody-asked" })] : [])
  ]
  const outcome = yield* Chat.answer(chat, answers).pipe(
    Effect.map((refused) => ({
      outcome: "done",
      refused: refused.map(({ approvalId, error }) => ({ approvalId, why: error.reason._tag }))
    })),
    Effect.catch((error: ApprovalError.ApprovalError) => Effect.succeed({ outcome: error.reason._tag, refused: [] }))
  )
  world.history = yield* Ref.get(chat.history)
  world.record.answerings.push({
    step: world.step,
    tampered: world.tampered,
    approvalIds: answers.map(({ approvalId }) => approvalId),
    before,
    after: world.history,
    ...outcome
  })
})

/** What is answered at this moment. */
const saidOf = (world: State.World, planned: ReadonlyArray<Plan.Answer>): Script.Said => ({
  planned,
  seen: world.seen,
  open: openOf(world),
  isRival: false,
  words: `words of step ${world.step}`
})

/** Tells a tool what it waits for, or ends its waiting: the newest first, and those that wait to be told before all. */
const tell = Effect.fnUntraced(function*(world: State.World, { at, how }: Extract<Plan.Step, { _tag: "Tell" }>) {
  const { circumstances, process, record, step } = world
  const events = record.askings.filter(({ suspension }) => suspension.kind === "event")
  const askings = how === "right" && events.length > 0 ? events : record.askings
  const asking = askings.at(-1 - at % Math.max(1, askings.length))
  if (asking === undefined || process.isDead()) return
  const { approvalId } = asking
  const event = { told: how === "right" ? `told in step ${step}` : "" }
  const told = how === "cancel"
    ? process.suspensions.end(approvalId)
    : DeferredTools.tell(approvalId, event).pipe(
      Effect.provideService(SuspensionStore.SuspensionStore, process.suspensions),
      Effect.provideService(Approval.Scope, State.scopes[circumstances.scope]!)
    )
  const telling = yield* Effect.forkDetach(
    Effect.catch(Effect.as(told, "done"), ({ reason }) => Effect.succeed(reason._tag)),
    { startImmediately: true }
  )
  yield* Waiting.wait([telling])
  const outcome = yield* Fiber.join(telling)
  const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
  const answer = how === "cancel" ? undefined : Record.canonical(event)
  record.tellings.push({ step, at: now, approvalId, answer, outcome })
})

// =============================================================================
// Delivering a turn
// =============================================================================

const deliver = Effect.fnUntraced(function*(world: State.World, step: Plan.Turn) {
  const { delivery } = step
  const script = Script.write(step, () => `fresh-${++world.calls}`)
  const said: Script.Said = { ...saidOf(world, step.answers), seen: world.seen.slice() }
  const added = Script.input(step, said)
  const first = yield* Turn.begin(world, { step, script, added, process: world.process, primary: true })
  const twin = (process: Process.Process, isRival: boolean) =>
    Turn.begin(world, {
      step,
      script,
      added: isRival ? Script.input(step, { ...said, isRival }) : added,
      process,
      primary: false
    })
  const twinProcess = Effect.suspend(() => {
    if (!("another" in delivery) || !delivery.another) return Effect.succeed(world.process)
    return Effect.tap(
      Process.make(world.processes.length, world.storage),
      (process) => Effect.sync(() => world.processes.push(process))
    )
  })

  switch (delivery._tag) {
    case "Once":
      yield* Turn.finish([first])
      break
    case "Again":
      yield* Turn.finish([first])
      yield* Turn.finish([yield* twin(yield* twinProcess, false)])
      break
    case "Twice": {
      const process = yield* twinProcess
      yield* Waiting.hop(delivery.hops)
      yield* Turn.finish([first, yield* twin(process, delivery.rival)])
      break
    }
    case "Leave":
      yield* Waiting.hop(delivery.hops)
      if (first.fiber.pollUnsafe() === undefined) {
        first.turn.ending = "left"
        first.fiber.interruptUnsafe()
      }
      yield* Turn.finish([first])
      break
    case "Crash":
      yield* Waiting.hop(delivery.hops)
      if (first.fiber.pollUnsafe() === undefined) {
        first.turn.ending = "crashed"
        crash(world)
        first.fiber.interruptUnsafe()
        yield* startProcess(world)
        return yield* reload(world)
      }
      yield* Turn.finish([first])
      break
    case "Stop":
      yield* Waiting.hop(delivery.hops)
      yield* stop(world, delivery.at)
      yield* Turn.finish([first])
      break
  }
  yield* goOnFrom(world, first)
})

/** Takes over what a turn left behind. */
const goOnFrom = Effect.fnUntraced(function*(world: State.World, { chat, turn }: Turn.Begun) {
  if (turn.ending === "stuck") return
  if (chat !== undefined) {
    world.history = yield* Ref.get(chat.history)
  } else if (turn.ending === "success") {
    world.history = Prompt.concat(turn.prompt, Prompt.fromResponseParts(turn.parts))
  } else if (turn.required !== undefined && turn.plan.object) {
    world.history = Prompt.concat(turn.prompt, Prompt.fromResponseParts(turn.parts))
  }
  world.snapshots.push(world.history)
  for (const request of Turn.requestsOf(turn)) {
    if (!world.seen.some((known) => known.approvalId === request.approvalId)) world.seen.push(request)
  }
})

/** The requests that the last turn of the conversation ended with. */
const openOf = (world: State.World): ReadonlyArray<Approval.ApprovalRequest> => {
  const last = world.record.turns.findLast((turn) => turn.primary)
  return last === undefined ? [] : Turn.requestsOf(last)
}

// =============================================================================
// The end
// =============================================================================

/**
 * Heals everything, denies what nobody has answered, and says something new, twice: whatever happened before, the
 * conversation must go on (law L10).
 */
const bringToAnEnd = Effect.fnUntraced(function*(world: State.World) {
  world.storage.set(Storage.works)
  const keys = Array.from(
    new Set([0, ...world.record.turns.map((turn) => turn.circumstances.key)]),
    (key) => ({ key, until: Infinity })
  )
  world.circumstances = { ...State.initial, scope: world.circumstances.scope, key: keys.at(-1)!.key, keys }
  for (let round = 0; round < 2; round++) {
    const { approved, denied, pending } = LanguageModel.collectToolApprovals(world.history.content)
    const unsettled = [...pending, ...[...approved, ...denied].filter((one) => one.result === undefined)]
      .filter(({ response, toolCall }) => toolCall?.providerExecuted !== true || response === undefined)
    const step: Plan.Turn = { ...Plan.simplest.turn, say: "after" }
    const added = Prompt.concat(
      Prompt.approvalResponses(unsettled.map((one) => Approval.deny(one, "It is over."))),
      Script.message(`end ${round}`)
    )
    const script = Script.write(step, () => "never")
    const begun = yield* Turn.begin(world, { step, script, added, process: world.process, primary: true })
    yield* Turn.finish([begun])
    yield* goOnFrom(world, begun)
    world.step++
  }
})
