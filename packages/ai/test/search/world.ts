/**
 * Carries a plan out against the real engine, and writes down what happened. Nothing here is left to chance: the clock
 * is `TestClock`, random numbers and cryptography are our own, and the order of events is that of one thread.
 */
import { Cause, Context, Effect, Exit, Fiber, Logger, Option, Ref, Schema, Stream, Tracer } from "effect"
import { ResponseIdTracker } from "effect/ai"
import { WebCrypto } from "effect/crypto"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalController,
  ApprovalError,
  ApprovalJournal,
  ApprovalPolicy,
  ApprovalSeal,
  AtomicStore,
  Chat,
  LanguageModel,
  Prompt,
  Response
} from "../../src/index.ts"
import { ScriptedModel, StrictProvider } from "../../src/testing/index.ts"
import * as Cryptography from "./cryptography.ts"
import * as Plan from "./plan.ts"
import * as Process from "./process.ts"
import * as Record from "./record.ts"
import * as Script from "./script.ts"
import * as Stage from "./stage.ts"
import * as Tamper from "./tamper.ts"

// =============================================================================
// State
// =============================================================================

interface World {
  readonly record: Record.Record
  readonly plan: Plan.Plan
  readonly store: AtomicStore.AtomicStore
  readonly seals: Map<string, ApprovalSeal.Service>
  readonly tracker: ResponseIdTracker.Service
  readonly judged: Set<string>
  readonly processes: Array<Process.Process>
  readonly snapshots: Array<Prompt.Prompt>
  /** Requests that the person has seen, the oldest first. */
  readonly seen: Array<Approval.ApprovalRequest>
  process: Process.Process
  history: Prompt.Prompt
  /** The chat that holds the history, where a chat does. */
  chat: Chat.Chat | undefined
  circumstances: Record.Circumstances
  tampered: boolean
  step: number
  /** Fresh call ids are counted. */
  calls: number
}

const beginning = Date.UTC(2026, 0, 1)
const scopes: ReadonlyArray<Approval.ApprovalScope> = [{ conversation: "one" }, { conversation: "two", principal: "eve" }]
const keyText = (key: number): string => `${Record.secrets.key} ${key} ${"x".repeat(16)}`

const initial: Record.Circumstances = {
  policy: "default",
  gate: "ask",
  controller: "defer",
  revision: 0,
  drift: {},
  scope: 0,
  keys: [{ key: 0, until: Infinity }],
  key: 0
}

/** Carries out a plan, brings it to its end, and gives what happened. */
export const carryOut = (plan: Plan.Plan): Effect.Effect<Record.Record> =>
  Effect.gen(function*() {
    Cryptography.reset()
    yield* TestClock.setTime(beginning)
    const record = Record.make(plan)
    const store = yield* AtomicStore.makeMemory()
    const process = yield* Process.make(0, store)
    const world: World = {
      record,
      plan,
      store,
      seals: new Map(),
      tracker: yield* ResponseIdTracker.make,
      judged: new Set(),
      processes: [process],
      snapshots: [],
      seen: [],
      process,
      history: Prompt.empty,
      chat: isChat(plan) ? yield* Chat.empty : undefined,
      circumstances: initial,
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
    if (record.runs.some((run) => run.outcome === "running")) yield* TestClock.adjust("1 minute")
    for (const one of world.processes) yield* finishing(Process.close(one))
    return record
  }).pipe(
    Effect.provideService(WebCrypto.WebCrypto, Cryptography.cryptography),
    // An hour of real time: a plan that waits says so by getting stuck.
    Effect.provide([TestClock.layer({ warningDelay: "1 hour" }), Logger.layer([])])
  )

const isChat = (plan: Plan.Plan): boolean => plan.options.way.startsWith("Chat.")

const isStream = (plan: Plan.Plan): boolean => plan.options.way.endsWith("streamText")

// =============================================================================
// Steps
// =============================================================================

const takeStep = Effect.fnUntraced(function*(world: World, step: Plan.Step) {
  const set = (changes: Partial<Record.Circumstances>) => {
    world.circumstances = { ...world.circumstances, ...changes }
  }
  world.record.steps.push(step._tag)
  switch (step._tag) {
    case "Turn":
      return yield* deliver(world, step)
    case "Tamper": {
      const history = Tamper.apply(world.history, step, { requests: world.record.requests, snapshots: world.snapshots })
      if (history === undefined) return
      world.tampered = true
      world.record.tampered.push(step.how)
      return yield* setHistory(world, history)
    }
    case "Restart":
      if (step.how !== "reload") {
        if (step.how === "crash") crash(world)
        else yield* finishing(Process.close(world.process))
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
    case "Drift":
      return set({ drift: { ...world.circumstances.drift, [step.tool]: step.how } })
    case "Time": {
      // Over a month a program is deployed anew; its heart would also beat half a million times.
      const isLong = step.minutes > 24 * 60
      if (isLong) for (const process of world.processes) yield* finishing(Process.close(process))
      yield* TestClock.adjust(`${step.minutes} minutes`)
      return isLong ? yield* startProcess(world) : undefined
    }
    case "Scope":
      return set({ scope: step.index })
    case "Keys":
      return set(yield* keysAfter(world.circumstances, step.how))
  }
})

const keysAfter = Effect.fnUntraced(function*({ key, keys }: Record.Circumstances, how: "rotate" | "replace" | "restore") {
  const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
  const next = Math.max(...keys.map((one) => one.key)) + 1
  switch (how) {
    case "restore":
      return { key: 0, keys: [{ key: 0, until: Infinity }] }
    case "replace":
      return { key: next, keys: [{ key: next, until: Infinity }] }
    case "rotate": {
      const until = now + 24 * 60 * 60_000
      return {
        key: next,
        keys: [
          { key: next, until: Infinity },
          ...keys.map((one) => one.key === key ? { ...one, until } : one)
        ]
      }
    }
  }
})

const sealOf = Effect.fnUntraced(function*(world: World) {
  const { key, keys } = world.circumstances
  const name = Record.canonical([key, keys])
  const known = world.seals.get(name)
  if (known !== undefined) return known
  const seal = yield* Effect.orDie(ApprovalSeal.make({
    key: keyText(key),
    keyId: `key-${key}`,
    previousKeys: keys.filter((one) => one.key !== key).map((one) => ({
      key: keyText(one.key),
      keyId: `key-${one.key}`,
      until: Number.isFinite(one.until) ? one.until : beginning * 2
    }))
  }))
  world.seals.set(name, seal)
  return seal
})

const crash = ({ process, record }: World): void => {
  process.crash()
  record.crashed.push(process.index)
}

const startProcess = Effect.fnUntraced(function*(world: World) {
  world.process = yield* Process.make(world.processes.length, world.store)
  world.processes.push(world.process)
})

const setHistory = Effect.fnUntraced(function*(world: World, history: Prompt.Prompt) {
  world.history = history
  if (isChat(world.plan)) world.chat = yield* Chat.fromPrompt(history)
})

const PromptJson = Schema.fromJsonString(Prompt.Prompt)

/** The history as a database gives it back. */
const reload = (world: World) =>
  Schema.encodeEffect(PromptJson)(world.history).pipe(
    Effect.flatMap(Schema.decodeEffect(PromptJson)),
    Effect.orDie,
    Effect.flatMap((history) => setHistory(world, history))
  )

// =============================================================================
// Delivering a turn
// =============================================================================

const deliver = Effect.fnUntraced(function*(world: World, step: Plan.Turn) {
  const { delivery } = step
  const script = Script.write(step, () => `fresh-${++world.calls}`)
  const open = openOf(world)
  const seen = world.seen.slice()
  const added = Script.input(step, seen, open, false)
  const first = yield* begin(world, { step, script, added, process: world.process, primary: true })
  const twin = (process: Process.Process, isRival: boolean) =>
    begin(world, {
      step,
      script,
      added: isRival ? Script.input(step, seen, open, true) : added,
      process,
      primary: false
    })
  const twinProcess = Effect.suspend(() => {
    if (!("another" in delivery) || !delivery.another) return Effect.succeed(world.process)
    return Effect.tap(Process.make(world.processes.length, world.store), (process) =>
      Effect.sync(() => world.processes.push(process)))
  })

  switch (delivery._tag) {
    case "Once":
      yield* finish([first])
      break
    case "Again":
      yield* finish([first])
      yield* finish([yield* twin(yield* twinProcess, false)])
      break
    case "Twice": {
      const process = yield* twinProcess
      yield* hop(delivery.hops)
      yield* finish([first, yield* twin(process, delivery.rival)])
      break
    }
    case "Leave":
      yield* hop(delivery.hops)
      if (first.fiber.pollUnsafe() === undefined) {
        first.turn.ending = "left"
        first.fiber.interruptUnsafe()
      }
      yield* finish([first])
      break
    case "Crash":
      yield* hop(delivery.hops)
      if (first.fiber.pollUnsafe() === undefined) {
        first.turn.ending = "crashed"
        crash(world)
        first.fiber.interruptUnsafe()
        yield* startProcess(world)
        return yield* reload(world)
      }
      yield* finish([first])
      break
  }
  yield* goOnFrom(world, first)
})

/** Takes over what a turn left behind. */
const goOnFrom = Effect.fnUntraced(function*(world: World, { chat, turn }: Begun) {
  if (turn.ending === "stuck") return
  if (chat !== undefined) {
    world.history = yield* Ref.get(chat.history)
  } else if (turn.ending === "success") {
    world.history = Prompt.concat(turn.prompt, Prompt.fromResponseParts(turn.parts))
  } else if (turn.required !== undefined && turn.plan.object) {
    world.history = Prompt.concat(turn.prompt, Prompt.fromResponseParts(turn.parts))
  }
  world.snapshots.push(world.history)
  for (const request of requestsOf(turn)) {
    if (!world.seen.some((known) => known.approvalId === request.approvalId)) world.seen.push(request)
  }
})

const requestsOf = (turn: Record.Turn): ReadonlyArray<Approval.ApprovalRequest> =>
  turn.required?.requests ?? Response.approvalRequests(turn.parts)

/** The requests that the last turn of the conversation ended with. */
const openOf = (world: World): ReadonlyArray<Approval.ApprovalRequest> => {
  const last = world.record.turns.findLast((turn) => turn.primary)
  return last === undefined ? [] : requestsOf(last)
}

// =============================================================================
// One turn
// =============================================================================

interface Begun {
  readonly turn: Record.Turn
  readonly fiber: Fiber.Fiber<unknown, unknown>
  readonly chat: Chat.Chat | undefined
}

const begin = Effect.fnUntraced(function*(world: World, { added, primary, process, script, step }: {
  readonly step: Plan.Turn
  readonly script: Script.Script
  readonly added: Prompt.Prompt
  readonly process: Process.Process
  readonly primary: boolean
}): Effect.fn.Return<Begun> {
  const { circumstances, plan, record } = world
  const sent: Array<{ readonly prompt: Prompt.Prompt; readonly incremental: Prompt.Prompt | undefined }> = []
  const turn: Record.Turn = {
    index: record.turns.length,
    step: world.step,
    plan: step,
    process: process.index,
    primary,
    tampered: world.tampered,
    startedAt: yield* Effect.clockWith((clock) => clock.currentTimeMillis),
    circumstances,
    prompt: Prompt.concat(world.history, added),
    added: added.content.length,
    parts: [],
    sent,
    received: script.received,
    ending: "stuck",
    endedAt: 0,
    unfinished: 0,
    cause: undefined,
    required: undefined
  }
  record.turns.push(turn)
  const stage: Stage.Stage = {
    record,
    turn: turn.index,
    process: process.index,
    gate: circumstances.gate,
    revision: circumstances.revision,
    alive: process.alive,
    judged: world.judged
  }
  const scripted = yield* ScriptedModel.make({
    turns: [],
    afterLastTurn: (options) => {
      sent.push({ prompt: options.prompt, incremental: options.incrementalPrompt })
      return script.turn(process.alive)
    },
    // What is refused is a finding, not an end: the law reads every prompt itself.
    strict: false,
    responseIds: plan.options.incremental
  })
  const chat = world.chat === undefined || primary ? world.chat : yield* Chat.fromPrompt(world.history)
  const toolkit = step.toolkit === "none"
    ? undefined
    : yield* step.toolkit === "empty"
      ? Stage.noTools
      : Stage.toolkitOf(circumstances.drift)
  const request = {
    prompt: chat === undefined ? turn.prompt : added,
    ...(toolkit === undefined ? undefined : { toolkit }),
    ...(step.resolve ? undefined : { disableToolCallResolution: true })
  }
  let context = Context.make(Stage.Stage, stage).pipe(
    Context.add(LanguageModel.LanguageModel, LanguageModel.withApproval(scripted.model, optionsOf(plan.options))),
    Context.add(ApprovalSeal.ApprovalSeal, yield* sealOf(world)),
    Context.add(ApprovalJournal.ApprovalJournal, process.journal),
    Context.add(Approval.Scope, scopes[circumstances.scope]!),
    Context.add(Tracer.Tracer, tracerOf(record))
  ) as Context.Context<LanguageModel.LanguageModel>
  if (plan.options.incremental) context = Context.add(context, ResponseIdTracker.ResponseIdTracker, world.tracker)
  if (circumstances.policy !== "default") {
    context = Context.add(context, ApprovalPolicy.ApprovalPolicy, Stage.policyOf(circumstances.policy))
  }
  if (circumstances.controller !== "defer") {
    context = Context.add(
      context,
      ApprovalController.ApprovalController,
      Stage.controllerOf(circumstances.controller, (shown) => note(record, turn, shown))
    )
  }
  const fiber = yield* call(world, turn, chat, request).pipe(
    Effect.onExit((exit) => Effect.andThen(process.alive, conclude(record, turn, exit))),
    Effect.provideContext(context),
    Effect.forkDetach({ startImmediately: true })
  )
  return { turn, fiber, chat }
})

const optionsOf = (options: Plan.Options): LanguageModel.ApprovalOptions => ({
  onNewMessage: options.onNewMessage,
  onInvalid: options.onInvalid,
  concurrency: options.concurrency,
  expiresIn: options.expires === "in an hour" ? "1 hour" : undefined,
  policyTimeLimit: "5 seconds"
})

const Answer = Schema.Struct({ a: Schema.Number })

// The options are known when the plan is carried out, not to the types.
const call = (
  { plan, record }: World,
  turn: Record.Turn,
  chat: Chat.Chat | undefined,
  request: any
): Effect.Effect<void, unknown, LanguageModel.LanguageModel> => {
  const receive = (part: Response.AnyPart) => {
    turn.parts.push(part)
    for (const shown of Response.approvalRequests([part])) {
      if (Option.isSome(Response.approvalRequest(part))) note(record, turn, shown)
    }
  }
  const takeAll = (response: { readonly content: ReadonlyArray<Response.AnyPart> }) => response.content.forEach(receive)
  if (turn.plan.object && !isStream(plan)) {
    const options = { ...request, schema: Answer }
    const made = chat === undefined ? LanguageModel.generateObject(options) : chat.generateObject(options)
    return Effect.map(made as Effect.Effect<any, unknown, LanguageModel.LanguageModel>, takeAll)
  }
  if (!isStream(plan)) {
    const made = chat === undefined ? LanguageModel.generateText(request) : chat.generateText(request)
    return Effect.map(made as Effect.Effect<any, unknown, LanguageModel.LanguageModel>, takeAll)
  }
  const stream = chat === undefined ? LanguageModel.streamText(request) : chat.streamText(request)
  return Stream.runForEach(
    stream as Stream.Stream<Response.AnyPart, unknown, LanguageModel.LanguageModel>,
    (part) => Effect.sync(() => receive(part))
  )
}

/** Writes down a request that was given out. */
const note = (record: Record.Record, turn: Record.Turn, shown: Approval.ApprovalRequest): void => {
  if (record.requests.some((known) => known.approvalId === shown.approvalId)) return
  record.requests.push({
    approvalId: shown.approvalId,
    call: { id: shown.toolCallId, tool: shown.toolName, params: Record.canonical(shown.params) },
    turn: turn.index,
    scope: turn.circumstances.scope,
    key: turn.circumstances.key,
    expiresAt: shown.expiresAt ?? Infinity,
    shown
  })
}

const conclude = (record: Record.Record, turn: Record.Turn, exit: Exit.Exit<unknown, unknown>) =>
  Effect.clockWith((clock) =>
    Effect.map(clock.currentTimeMillis, (now) => {
      turn.endedAt = now
      turn.unfinished = record.runs.filter((run) => run.turn === turn.index && run.outcome === "running").length
      if (turn.ending === "stuck") turn.ending = Exit.isSuccess(exit) ? "success" : "failure"
      if (Exit.isSuccess(exit)) return
      turn.cause = exit.cause
      const error = Cause.findErrorOption(exit.cause).pipe(Option.flatMap(approvalErrorOf))
      if (Option.isNone(error) || error.value.reason._tag !== "ApprovalRequired") return
      const { content, requests } = error.value.reason
      turn.required = { requests }
      for (const shown of requests) note(record, turn, shown)
      if (turn.plan.object) turn.parts.push(...content)
    })
  )

const approvalErrorOf = (error: unknown): Option.Option<ApprovalError.ApprovalError> =>
  ApprovalError.fromAiError(error as never)

const tracerOf = (record: Record.Record): Tracer.Tracer =>
  Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      const write = (text: unknown) => record.spans.push(typeof text === "string" ? text : Record.canonical(text) ?? "")
      write(options.name)
      const { attribute, event } = span
      span.attribute = (key, value) => {
        write(key)
        write(typeof value === "bigint" ? String(value) : value)
        attribute.call(span, key, value)
      }
      span.event = (name, startTime, attributes) => {
        write(name)
        write(attributes)
        event.call(span, name, startTime, attributes)
      }
      return span
    }
  })

// =============================================================================
// Time
// =============================================================================

const nextHop = () => new Promise<void>((resolve) => setImmediate(resolve))

const hop = (count: number): Effect.Effect<void> =>
  Effect.promise(async () => {
    for (let index = 0; index < count; index++) await nextHop()
  })

/** As many hops as nothing can take without the clock. */
const patience = 150

/** Waits for fibers; when nothing more happens by itself, time goes on, for an hour at most. */
const wait = Effect.fnUntraced(function*(fibers: ReadonlyArray<Fiber.Fiber<unknown, unknown>>) {
  const isDone = () => fibers.every((fiber) => fiber.pollUnsafe() !== undefined)
  for (const seconds of [0, 1, 1, 3, 5, 10, 10, 10, 10, 10, 60, 600, 1800]) {
    if (seconds > 0) yield* TestClock.adjust(`${seconds} seconds`)
    yield* Effect.promise(async () => {
      for (let index = 0; index < patience && !isDone(); index++) await nextHop()
    })
    if (isDone()) return true
  }
  return false
})

const finish = (begun: ReadonlyArray<Begun>) =>
  Effect.map(wait(begun.map(({ fiber }) => fiber)), (isDone) => {
    if (isDone) return
    for (const { fiber, turn } of begun) {
      if (fiber.pollUnsafe() === undefined) turn.ending = "stuck"
    }
  })

/** Carries out something that may have to wait for what still runs. */
const finishing = (effect: Effect.Effect<void>) =>
  Effect.flatMap(Effect.forkDetach(effect, { startImmediately: true }), (fiber) => wait([fiber]))

// =============================================================================
// The end
// =============================================================================

/**
 * Heals everything, denies what nobody has answered, and says something new, twice: whatever happened before, the
 * conversation must go on (law L10).
 */
const bringToAnEnd = Effect.fnUntraced(function*(world: World) {
  const keys = Array.from(
    new Set([0, ...world.record.turns.map((turn) => turn.circumstances.key)]),
    (key) => ({ key, until: Infinity })
  )
  world.circumstances = { ...initial, scope: world.circumstances.scope, key: keys.at(-1)!.key, keys }
  for (let round = 0; round < 2; round++) {
    const { approved, denied, pending } = LanguageModel.collectToolApprovals(world.history.content)
    const unsettled = [...pending, ...[...approved, ...denied].filter((one) => one.result === undefined)]
    const step: Plan.Turn = { ...Plan.simplest.turn, say: "after" }
    const added = Prompt.concat(
      Prompt.approvalResponses(unsettled.map((one) => Approval.deny(one, "It is over."))),
      Script.message(`end ${round}`)
    )
    const script = Script.write(step, () => "never")
    const begun = yield* begin(world, { step, script, added, process: world.process, primary: true })
    yield* finish([begun])
    yield* goOnFrom(world, begun)
    world.step++
  }
})

/** What a strict provider has against a prompt. */
export const problemsOf = (prompt: Prompt.Prompt, options?: StrictProvider.Options): ReadonlyArray<string> =>
  StrictProvider.check(prompt, options).map((violation) => `[${violation.rule}] ${violation.message}`)
