/**
 * One turn of a conversation: it is held and taken over from the store, every step is written before the next begins, and
 * what it adds is never lost, however it ends.
 */
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import type * as Approval from "../../Approval.ts"
import type * as Approver from "../../Approver.ts"
import * as ConversationStore from "../../ConversationStore.ts"
import * as Prompts from "../../Prompt.ts"
import * as Responses from "../../Response.ts"
import * as SuspensionStore from "../../SuspensionStore.ts"
import type * as Within from "../agent/within.ts"
import * as Recorder from "../environment/recorder.ts"
import * as Cut from "../history/cut.ts"
import * as Transcript from "../history/transcript.ts"
import * as Rows from "../kept/rows.ts"
import * as Unwritten from "../kept/unwritten.ts"
import type { RefusedAnswer } from "../posted.ts"
import * as Said from "../turn/said.ts"
import * as Asked from "./asked.ts"
import * as Saying from "./saying.ts"

/** Where a conversation is kept, and what this process knows of it. */
export interface Place {
  readonly store: ConversationStore.Service
  readonly key: ConversationStore.Key
  readonly busyFor: Duration.Duration
  /** It is an agent's, and goes on within a call. */
  readonly within?: Within.Within | undefined
  /**
   * The record as it was read or written last, so that what did not change are the same objects. Whoever looks at the
   * conversation beside a turn changes it: what a turn writes over is the turn's own `base`.
   */
  known: ConversationStore.Found | undefined
}

export interface Limits {
  readonly steps: number
  readonly tokens: number
}

const nothing: ConversationStore.Kept = { history: Prompts.empty, open: [], answered: [], deciders: {} }

export const read = (place: Place): Effect.Effect<ConversationStore.Kept, ConversationStore.ConversationError> =>
  Effect.map(find(place), (found) => found?.kept ?? nothing)

const find = (place: Place) =>
  Effect.suspend(() => Effect.map(place.store.read(place.key, place.known), (found) => place.known = found))

export const busy = new ConversationStore.ConversationError({
  reason: "Busy",
  description: "Another turn of this conversation is being taken, and did not end in time. Nothing was done; try again."
})

const conflict = new ConversationStore.ConversationError({
  reason: "Conflict",
  description:
    "Another process went on with this conversation, or removed it, while this one, which seemed dead, was in a turn. What this" +
    " turn added is not in the history; read `history` and `pending` again. What ran under an approval does not run again."
})

const agents = new ConversationStore.ConversationError({
  reason: "Conflict",
  description: "This is an agent's conversation: what it asks is decided in the outermost one. Nothing was done."
})

/** Answers in the history of which nobody knows yet what becomes of them. */
export interface Decided {
  readonly ids: ReadonlyArray<string>
  /** The history without them, where they were given at the beginning of this turn. */
  readonly before: Prompt.Prompt | undefined
  /** Those that have no effect, as the engine says. */
  readonly refusals: Array<RefusedAnswer>
  /** Something else was said in this turn that counts. */
  readonly isAmongOthers: boolean
}

/**
 * How a turn stands in the store: only read yet, and overtaken by another before it was written; entered, so that others
 * wait for it, and lost to another since; left, so that others may go on.
 */
type Standing = "begun" | "overtaken" | "entered" | "lost" | "left"

export interface Turn {
  /** The conversation as this turn has read or written it last. */
  base: ConversationStore.Found | undefined
  standing: Standing
  /** Writes that it is taken, if that is not written yet: before anything else is done than to say something. */
  readonly enter: Effect.Effect<void, ConversationStore.ConversationError>
  /** Nothing is said or run in it but what ends what waits: it is taken in a full conversation too. */
  isEnding: boolean
  /** How many messages there were when it began, with what was said in it: what comes behind is what it says. */
  from: number
  /** Everything that it begins with is said. */
  hasBegun: boolean
  /** What was said along with answers, by where it stands. */
  beside: Beside | undefined
  history: Prompt.Prompt
  /** What the conversation waits for, as the last response said. */
  open: ReadonlyArray<Approval.ApprovalRequest>
  /** What is asked in agents, as the last response said. */
  nested: ReadonlyArray<Approval.ApprovalRequest>
  /** The ids of those that were answered since. */
  answered: ReadonlyArray<string>
  /** Who gave those answers that stand in the history, by the ids of their requests (law L16). */
  deciders: Readonly<Record<string, Approver.DecidedBy>>
  /** What was decided, until it is known what becomes of it. */
  decided: Decided | undefined
  /** Answers of this turn that have no effect, as far as that is known. */
  refused: ReadonlyArray<RefusedAnswer>
  /** Everything the turn has said, over all of its steps. */
  readonly content: Array<Response.AnyPart>
  steps: number
  tokens: number
  /** What was said ends with the assistant, for the model to go on from there. */
  isPrefilled: boolean
  /** What a step that goes on has said so far. */
  step: Array<Response.AnyPart>
  /** What of it is shown to nobody: that it waits for agents. */
  hidden: ReadonlyArray<Response.AnyPart>
  /** Until when it may go on, in milliseconds since 1970. */
  until: number
  /** What of it is on record, and as which messages. */
  record: Recorder.Record | undefined
  written: ReadonlyArray<Prompt.Message>
  readonly suspensions: SuspensionStore.Service
  readonly saying: Saying.Saying
  /** It keeps less of what it has said: a text, and not how it came. */
  isBrief: boolean
  /** It is an agent's. */
  readonly isAgent: boolean
}

interface Beside {
  readonly from: number
  readonly to: number
  /** Behind which messages the engine reads it; `undefined`: where it stands. */
  behind: number | undefined
}

/**
 * Begins a turn with what is said, decided or delivered in it; false if there is nothing to take a turn for. That is written
 * together with that the turn is taken. It ends with the scope: what it added is written, and others may go on.
 */
export const begin = Effect.fnUntraced(function*<E, R>(
  place: Place,
  beginning: (turn: Turn) => Effect.Effect<boolean, E, R>
): Effect.fn.Return<
  { readonly turn: Turn; readonly goesOn: boolean },
  E | ConversationStore.ConversationError,
  R | Scope.Scope
> {
  const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(place.busyFor)
  yield* inTime(until, place.store.hold(place.key))
  while (true) {
    const turn = yield* inTime(until, takeOver(place))
    const begun = Effect.flatMap(
      beginning(turn),
      (goesOn) => {
        turn.from = turn.history.content.length
        turn.hasBegun = true
        const written = !goesOn ? keep(place, turn) : turn.standing === "entered" ? save(place, turn) : turn.enter
        return Effect.as(written, { turn, goesOn })
      }
    )
    // What another process wrote since it was read may change what this beginning means.
    const result = yield* Effect.catchIf(begun, () => turn.standing === "overtaken", () => Effect.undefined)
    if (result !== undefined) return result
  }
})

const inTime = <A, E, R>(until: number, effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    Clock.currentTimeMillis,
    (now) => Effect.timeoutOrElse(effect, { duration: until - now, orElse: () => Effect.fail(busy) })
  )

// Nobody else is in a turn with it, or whoever was is dead.
const takeOver = Effect.fnUntraced(function*(
  place: Place
): Effect.fn.Return<Turn, ConversationStore.ConversationError, Scope.Scope> {
  while (true) {
    const base = yield* find(place)
    if (place.within === undefined && base?.isAgent === true) return yield* agents
    const other = base?.kept.turn
    if (other === undefined || !(yield* place.store.isAlive(other.owner))) return yield* makeTurn(place, base)
    yield* Effect.sleep("200 millis")
  }
})

const makeTurn = Effect.fnUntraced(function*(
  place: Place,
  base: ConversationStore.Found | undefined
): Effect.fn.Return<Turn, never, Scope.Scope> {
  const suspensions = yield* SuspensionStore.SuspensionStore
  const scope = yield* Effect.scope
  const { answered, deciders, history, open } = base?.kept ?? nothing
  const turn: Turn = {
    base,
    standing: "begun",
    // Once it is written that we are in a turn, nothing comes between: whoever is interrupted here leaves it again.
    enter: Effect.suspend(() =>
      turn.standing === "entered" ? Effect.void : Effect.uninterruptible(Effect.gen(function*() {
        const at = place.store.turns.beginAt(yield* Clock.currentTimeMillis)
        yield* write(place, turn, { owner: place.store.owner, at }, { begins: !turn.isEnding })
        yield* Scope.addFinalizer(scope, leave(place, turn))
      }))
    ),
    isEnding: false,
    from: history.content.length,
    hasBegun: false,
    beside: undefined,
    history,
    open,
    nested: [],
    answered,
    deciders,
    decided: answered.length === 0
      ? undefined
      : { ids: answered, before: undefined, refusals: [], isAmongOthers: false },
    refused: [],
    content: [],
    steps: 0,
    tokens: 0,
    isPrefilled: false,
    step: [],
    hidden: [],
    until: Number.POSITIVE_INFINITY,
    record: undefined,
    written: [],
    suspensions,
    saying: Saying.make(),
    isBrief: false,
    isAgent: place.within !== undefined
  }
  return turn
})

// Not interruptible: who is told nothing cannot tell what was written, and could not write down the end either.
const write = (
  place: Place,
  turn: Turn,
  mark: ConversationStore.Kept["turn"],
  options?: ConversationStore.WriteOptions,
  { history, open }: Pick<Turn, "history" | "open"> = turn
): Effect.Effect<void, ConversationStore.ConversationError> =>
  Effect.uninterruptible(Effect.gen(function*() {
    const { answered, base, deciders, from, hasBegun, standing } = turn
    const said = hasBegun ? Math.max(0, history.content.length - from) : undefined
    if (standing === "lost") return yield* conflict
    const found = yield* place.store.write(
      place.key,
      base,
      { history, open, answered, deciders, ...(mark === undefined ? undefined : { turn: { ...mark, said } }) },
      options
    )
    if (found === undefined) {
      turn.standing = standing === "begun" ? "overtaken" : "lost"
      return yield* conflict
    }
    turn.base = place.known = found
    turn.standing = mark === undefined ? "left" : "entered"
  }))

// What was said where no turn is taken for it.
const keep = (place: Place, turn: Turn): Effect.Effect<void, ConversationStore.ConversationError> => {
  const { answered, deciders, history, open } = turn.base?.kept ?? nothing
  const isSame = history === turn.history && open === turn.open && answered === turn.answered &&
    deciders === turn.deciders
  return turn.standing === "entered" || isSame ? Effect.void : write(place, turn, undefined)
}

/** Writes what the turn is by now; the conversation stays ours. */
export const save = (place: Place, turn: Turn): Effect.Effect<void, ConversationStore.ConversationError> =>
  write(place, turn, turn.base?.kept.turn)

/**
 * Keeps what a step says before anything of it runs: whoever goes on after this turn is told of it, however it ends. Who reads
 * a step that is no stream hears of it then.
 */
export const record = (place: Place, turn: Turn, isStream: boolean): Recorder.Recorder =>
  turn.record = Recorder.make(
    (parts) =>
      Effect.suspend(() => {
        const messages = messagesOf(turn, parts.filter(Asked.isOwn))
        const history = messages.length === 0 ? turn.history : Rows.grow(turn.history, messages)
        const kept = { history, open: unsettled(turn.open, parts) }
        return Effect.map(write(place, turn, turn.base?.kept.turn, undefined, kept), () => {
          turn.written = messages
        })
      }),
    isStream ? undefined : (parts) => Saying.hear(turn.saying, parts)
  )

// What was open and has its result is not open any more, whatever becomes of the turn.
const unsettled = (
  open: ReadonlyArray<Approval.ApprovalRequest>,
  parts: ReadonlyArray<Response.AnyPart>
): ReadonlyArray<Approval.ApprovalRequest> =>
  open.filter(({ approvalId, awaited, toolCallId }) =>
    !parts.some((part) =>
      part.type === "tool-result" && part.id === toolCallId && Transcript.isNaming(part.metadata.assent) &&
      // What has waited is named by the first of its requests.
      (awaited !== undefined || part.metadata.assent.approvalId === approvalId)
    )
  )

export const finish = (place: Place, turn: Turn): Effect.Effect<void, ConversationStore.ConversationError> =>
  write(place, turn, undefined)

// A turn whose end cannot be written now keeps trying for a while; a store that fails for ever keeps no process alive.
const leave = (place: Place, turn: Turn): Effect.Effect<void> =>
  Effect.gen(function*() {
    if (turn.standing === "left") return
    // A step that was cut short has said what it has said, or what is on record.
    if (turn.step.length > 0 || isKept(turn)) yield* takeCutStep(turn)
    const ended = Effect.catchIf(finish(place, turn), isTooMuch, () => {
      // What cannot be kept is given up, so that the conversation can go on from what it was; not where that cannot be
      // written either, as on a full disk.
      const { answered, deciders, history, open } = turn
      const { turn: _, ...before } = turn.base?.kept ?? nothing
      Object.assign(turn, before)
      return Effect.tapError(
        finish(place, turn),
        () => Effect.sync(() => Object.assign(turn, { answered, deciders, history, open }))
      )
    })
    yield* ended.pipe(
      Effect.retry({ times: 3, while: Unwritten.isPassing }),
      Effect.catch((error) =>
        Effect.andThen(
          Effect.logError(`Assent could not write down the end of a turn of a conversation: ${error.message}`),
          Unwritten.isPassing(error) ? place.store.keepTrying(place.key, ended) : Effect.void
        )
      )
    )
  })

const isKept = ({ record }: Turn): boolean => record !== undefined && record.kept > 0

const takeCutStep = Effect.fnUntraced(function*(turn: Turn): Effect.fn.Return<void> {
  const { answered, deciders, record, step } = turn
  turn.step = [...Asked.hide(turn, record !== undefined && record.kept > 0 ? record.parts : step)]
  yield* takeStep(turn, "cut")
  turn.open = yield* Effect.filter(
    turn.open,
    ({ approvalId, awaited }) =>
      record?.asked.has(approvalId) !== true
        ? Effect.succeed(true)
        : awaited === undefined
        ? Effect.succeed(false)
        // Nobody has answered it: what has begun still waits.
        : Effect.map(
          Effect.result(turn.suspensions.find(approvalId)),
          (found) =>
            Result.isSuccess(found) && found.success?.status === "open" && found.success.delivered === undefined
        )
  )
  turn.answered = answered
  turn.deciders = deciders
})

const isTooMuch = ({ reason }: ConversationStore.ConversationError): boolean =>
  reason === "Unwritable" || reason === "Full"

/** The history as the engine reads it: what was said beside answers comes behind what these have led to. */
export const promptOf = ({ beside, history }: Turn): Prompt.Prompt => {
  if (beside?.behind === undefined) return history
  const { behind, from, to } = beside
  const { content } = history
  return Prompts.fromMessages([
    ...content.slice(0, from),
    ...content.slice(to, behind),
    ...content.slice(from, to),
    ...content.slice(behind)
  ])
}

export const say = (turn: Turn, { content }: Prompt.Prompt): void => {
  if (content.length > 0) turn.history = Rows.grow(turn.history, content)
}

export type Next = "waits" | "goes on" | "is stopped" | "is done"

/** How a step has spoken: at once when it was over, part by part, or not to its end. */
export type Way = "whole" | "stream" | "cut"

/**
 * Adds what the step has said to the history, and tells whether the model is to be called again. A stream was cut short where
 * it has no finish (law L7).
 */
export const takeStep = Effect.fnUntraced(function*(turn: Turn, way: Way): Effect.fn.Return<Next> {
  const { history: { content: before }, saying } = turn
  const parts = turn.isBrief ? Saying.merged(turn.step) : turn.step
  if (way === "whole") Saying.hearRest(saying, parts)
  turn.step = []
  Saying.endStep(saying, turn.isBrief && way === "stream" ? parts : saying.step, way === "stream" ? turn.step : [])
  for (const part of parts) {
    if (part.type !== "tool-approval-request" || !turn.record?.asked.has(part.approvalId)) turn.content.push(part)
  }
  const own = [...parts.filter(Asked.isOwn), ...turn.hidden]
  turn.hidden = []
  const messages = messagesOf(turn, own.filter((part) => !Asked.isKnown(turn, part)))
  turn.record = undefined
  turn.written = []
  if (messages.length > 0) turn.history = Rows.grow(turn.history, messages)
  if (way !== "whole" && !parts.some(({ type }) => type === "finish")) {
    turn.history = Cut.markFrom(turn.history, before.length)
  }
  turn.nested = Responses.approvalRequests(parts.filter((part) => !Asked.isOwn(part)))
  const asked = Asked.requestsIn(turn, own)
  const isNew = asked.some(({ approvalId }) => turn.open.every((one) => one.approvalId !== approvalId))
  turn.open = yield* openAfter(turn, asked)
  turn.answered = []
  // What is still open was answered, and held: whoever goes on from there has to know by whom.
  turn.deciders = Object.fromEntries(
    turn.open.flatMap(({ approvalId: id }) => Object.hasOwn(turn.deciders, id) ? [[id, turn.deciders[id]!]] : [])
  )
  turn.steps++
  let goesOn = false
  for (const part of parts) {
    if (part.type === "tool-call" && part.providerExecuted !== true) goesOn = true
    if (part.type !== "finish") continue
    turn.tokens += (part.usage.inputTokens.total ?? 0) + (part.usage.outputTokens.total ?? 0)
    if (part.reason === "pause") goesOn = true
  }
  if (asked.length > 0) {
    const { beside } = turn
    if (!isNew || beside === undefined || beside.behind !== undefined) return "waits"
    // As if it were said now, beside what has begun to wait; the model was not called yet.
    beside.behind = turn.history.content.length
    turn.steps--
    return "goes on"
  }
  return Responses.isStopped(parts) ? "is stopped" : goesOn ? "goes on" : "is done"
})

// Those that are written already are the same objects: they are not written again.
const messagesOf = (
  { open, written }: Turn,
  parts: ReadonlyArray<Response.AnyPart>
): ReadonlyArray<Prompt.Message> => {
  // A step that did no more than ask again what is asked leaves the history as it is, however often it is taken (law L17).
  if (parts.every((part) => isRepeated(part, open))) return []
  const isWritten = (message: Prompt.Message, index: number): boolean =>
    index < written.length && JSON.stringify(message) === JSON.stringify(written[index])
  return Said.messages(parts).map((message, index) => isWritten(message, index) ? written[index]! : message)
}

const isRepeated = (part: Response.AnyPart, open: ReadonlyArray<Approval.ApprovalRequest>): boolean =>
  part.type === "finish" || part.type === "response-metadata" ||
  (part.type === "tool-approval-request" && open.some(({ approvalId }) => approvalId === part.approvalId))

// What the model goes on beside (law L6) is not said again: it is open until its call has a result, or asks anew.
const openAfter = Effect.fnUntraced(function*(
  { history, open, suspensions }: Turn,
  said: ReadonlyArray<Approval.ApprovalRequest>
): Effect.fn.Return<ReadonlyArray<Approval.ApprovalRequest>> {
  const before = open.filter((one) =>
    !one.providerExecuted && !said.some(({ approvalId }) => approvalId === one.approvalId)
  )
  if (before.length === 0) return said
  const known = new Map(
    Transcript.readWhole(history.content).allRequests.map((request) => [request.part.approvalId, request])
  )
  // A request of the same call id: of the same call, which has gone on and waits for something else, or of another one,
  // because some providers use ids again (law L13).
  const isReplaced = ({ approvalId, awaited, toolCallId }: Approval.ApprovalRequest) =>
    !said.some((one) => one.toolCallId === toolCallId)
      ? Effect.succeed(false)
      : awaited === undefined
      ? Effect.succeed(known.get(approvalId)!.responses.length > 0)
      : Effect.map(
        Effect.result(suspensions.find(approvalId)),
        (found) => Result.isSuccess(found) && found.success?.status !== "open"
      )
  const still = yield* Effect.filter(before, (one) => {
    const call = known.get(one.approvalId)?.call
    return call === undefined || call.result !== undefined
      ? Effect.succeed(false)
      : Effect.map(isReplaced(one), (replaced) => !replaced)
  })
  return [...still, ...said]
})

export const limitOf = ({ steps, tokens }: Turn, limits: Limits): "steps" | "tokens" | undefined =>
  steps >= limits.steps ? "steps" : tokens >= limits.tokens ? "tokens" : undefined

export const isFull = ({ store }: Place, { base }: Turn): boolean => base !== undefined && base.bytes > store.maxBytes
