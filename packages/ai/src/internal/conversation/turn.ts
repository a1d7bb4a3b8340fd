/**
 * One turn of a conversation: it is held and taken over from the store, every step is written before the next begins, and
 * what it adds is never lost, however it ends.
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Response from "effect/ai/Response"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type * as Approval from "../../Approval.ts"
import type * as ApprovalError from "../../ApprovalError.ts"
import type * as Approver from "../../Approver.ts"
import * as ConversationStore from "../../ConversationStore.ts"
import * as Prompts from "../../Prompt.ts"
import * as Responses from "../../Response.ts"
import * as SuspensionStore from "../../SuspensionStore.ts"
import * as Bounded from "../history/bounded.ts"
import * as Cut from "../history/cut.ts"
import * as Results from "../history/results.ts"
import * as Transcript from "../history/transcript.ts"

/** Where a conversation is kept, and what this process knows of it. */
export interface Place {
  readonly store: ConversationStore.Service
  readonly key: string
  readonly busyFor: Duration.Duration
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

/** What a conversation is before anybody said anything. */
const nothing = (): ConversationStore.Kept =>
  new ConversationStore.Kept({ format: 1, history: Prompts.empty, open: [] })

/** The conversation as it stands in the store. */
export const read = (place: Place): Effect.Effect<ConversationStore.Kept, ConversationStore.ConversationError> =>
  Effect.map(find(place), (found) => found?.kept ?? nothing())

const find = (place: Place) =>
  Effect.map(place.store.read(place.key), (found) =>
    found !== undefined && found.version === place.known?.version
      ? place.known
      : place.known = found)

const busy = new ConversationStore.ConversationError({
  reason: "Busy",
  description: "Another turn of this conversation is being taken, and did not end in time. Nothing was done; try again."
})

const conflict = new ConversationStore.ConversationError({
  reason: "Conflict",
  description:
    "Another process went on with this conversation while this one, which seemed dead, was in a turn. What this" +
    " turn added is not in the history; read `history` and `pending` again. What ran under an approval does not run again."
})

/** Answers in the history of which nobody knows yet what becomes of them. */
export interface Decided {
  readonly ids: ReadonlyArray<string>
  /** The history without them, where they were given at the beginning of this turn. */
  readonly before: Prompt.Prompt | undefined
  /** Those that settle nothing, as the engine says. */
  readonly refusals: Array<ApprovalError.NotAnApprover>
}

/** A turn that is being taken. */
export interface Turn {
  /** The record as this turn wrote it last; `undefined` once somebody else has written over it. */
  base: ConversationStore.Found | undefined
  history: Prompt.Prompt
  /** What the conversation waits for, as the last response said. */
  open: ReadonlyArray<Approval.ApprovalRequest>
  /** The ids of those that were answered since. */
  answered: ReadonlyArray<string>
  /** Who gave those answers that stand in the history, by the ids of their requests (law L16). */
  deciders: Readonly<Record<string, Approver.DecidedBy>>
  /** What was decided, until it is known what becomes of it. */
  decided: Decided | undefined
  /** Everything the turn has said, over all of its steps. */
  readonly content: Array<Response.AnyPart>
  steps: number
  tokens: number
  /** What was said ends with the assistant, for the model to go on from there. */
  isPrefilled: boolean
  /** What a step that goes on has said so far. */
  step: Array<Response.AnyPart>
  readonly suspensions: SuspensionStore.Service
}

/** Begins a turn. It ends with the scope: what it added is written, and others may go on. */
export const begin = (place: Place): Effect.Effect<Turn, ConversationStore.ConversationError, Scope.Scope> =>
  Effect.timeoutOrElse(Effect.andThen(place.store.hold(place.key), takeOver(place)), {
    duration: place.busyFor,
    orElse: () => Effect.fail(busy)
  })

// Nobody else is in a turn with it, or whoever was is dead: from here on it is ours.
const takeOver = Effect.fnUntraced(function*(
  place: Place
): Effect.fn.Return<Turn, ConversationStore.ConversationError, Scope.Scope> {
  while (true) {
    const found = yield* find(place)
    const other = found?.kept.turn
    if (other !== undefined && (yield* place.store.isAlive(other.owner))) {
      yield* Effect.sleep("200 millis")
      continue
    }
    const turn = yield* enter(place, found)
    if (turn !== undefined) return turn
  }
})

// Once it is written that we are in a turn, nothing comes between: whoever is interrupted here leaves it again.
const enter = (place: Place, found: ConversationStore.Found | undefined) =>
  Effect.uninterruptible(Effect.gen(function*() {
    const at = yield* Clock.currentTimeMillis
    const suspensions = yield* SuspensionStore.SuspensionStore
    const { answered = [], deciders = {}, history, open } = found?.kept ?? nothing()
    const base = yield* write(place, found, {
      answered,
      deciders,
      history,
      open,
      turn: { owner: place.store.owner, at }
    })
    if (base === undefined) return undefined
    const turn: Turn = {
      base,
      history,
      open,
      answered,
      deciders,
      decided: answered.length === 0 ? undefined : { ids: answered, before: undefined, refusals: [] },
      content: [],
      steps: 0,
      tokens: 0,
      isPrefilled: false,
      step: [],
      suspensions
    }
    yield* Effect.addFinalizer(() => leave(place, turn))
    return turn
  }))

// `undefined` if the record is not the one of `base` any more.
const write = Effect.fnUntraced(function*(
  place: Place,
  base: ConversationStore.Found | undefined,
  fields: Omit<typeof ConversationStore.Kept.Type, "format">
): Effect.fn.Return<ConversationStore.Found | undefined, ConversationStore.ConversationError> {
  const kept = new ConversationStore.Kept({ format: 1, ...fields })
  if (!(yield* place.store.write(place.key, base?.version, kept))) return undefined
  return place.known = { version: base === undefined ? 0 : base.version + 1, kept }
})

/** Writes what the turn is by now; the conversation stays ours. */
export const save = (place: Place, turn: Turn): Effect.Effect<void, ConversationStore.ConversationError> =>
  writeOver(place, turn, turn.base?.kept.turn)

// Not interruptible: who is told nothing cannot tell what was written, and could not write down the end either.
const writeOver = (
  place: Place,
  turn: Turn,
  mark: ConversationStore.Kept["turn"]
): Effect.Effect<void, ConversationStore.ConversationError> =>
  Effect.uninterruptible(Effect.gen(function*() {
    const { answered, base, deciders, history, open } = turn
    if (base === undefined) return yield* conflict
    turn.base = yield* write(place, base, {
      answered,
      deciders,
      history,
      open,
      ...(mark === undefined ? undefined : { turn: mark })
    })
    if (turn.base === undefined) return yield* conflict
  }))

// A turn whose end cannot be written now keeps trying: as long as this process lives, no other may go on before.
const leave = (place: Place, turn: Turn): Effect.Effect<void> =>
  Effect.gen(function*() {
    // A step that was cut short has said what it has said.
    if (turn.step.length > 0) {
      const { answered, deciders } = turn
      turn.step.push(...missingEnds(turn.step))
      yield* takeStep(turn, true)
      turn.answered = answered
      turn.deciders = deciders
    }
    const ended = Effect.catchIf(writeOver(place, turn, undefined), isUnwritable, () => {
      // What cannot be kept is given up, so that the conversation can go on from what it was.
      turn.history = turn.base?.kept.history ?? turn.history
      return writeOver(place, turn, undefined)
    })
    yield* ended.pipe(
      Effect.retry({ times: 3, while: isPassing }),
      Effect.catch((error) =>
        Effect.andThen(
          Effect.logError(`Assent could not write down the end of a turn of a conversation: ${error.message}`),
          isPassing(error)
            ? Effect.forkDetach(
              Effect.ignore(Effect.retry(ended, { schedule: Schedule.spaced("5 seconds"), while: isPassing }))
            )
            : Effect.void
        )
      )
    )
  })

const isUnwritable = ({ reason }: ConversationStore.ConversationError): boolean => reason === "Unwritable"

const isPassing = ({ reason }: ConversationStore.ConversationError): boolean => reason === "Unavailable"

// A history has texts that came to their end alone. Reasoning that did not is none: providers sign it at its end.
const missingEnds = (parts: ReadonlyArray<Response.AnyPart>): ReadonlyArray<Response.AnyPart> => {
  const open = new Map<string, Response.AnyPart>()
  for (const part of parts) {
    if (part.type === "text-start") open.set(part.id, Response.makePart("text-end", { id: part.id }))
    else if (part.type === "text-end") open.delete(part.id)
  }
  return Array.from(open.values())
}

/** Adds what somebody says to the history. */
export const say = (turn: Turn, prompt: Prompt.Prompt): void => {
  if (prompt.content.length > 0) turn.history = Prompts.concat(turn.history, prompt)
}

/** What follows from a step. */
export type Next = "waits" | "goes on" | "is stopped" | "is done"

/**
 * Adds what the step has said to the history, and tells whether the model is to be called again. A stream was cut short where
 * it has no finish (law L7).
 */
export const takeStep = Effect.fnUntraced(function*(turn: Turn, isStream: boolean): Effect.fn.Return<Next> {
  const { history: { content: before }, step: parts } = turn
  turn.step = []
  turn.content.push(...parts)
  const said = Bounded.prompt(Prompts.fromResponseParts(parts.map(keepable)), Number.POSITIVE_INFINITY)
  say(turn, withoutEmptyTexts(said))
  if (isStream && !parts.some(({ type }) => type === "finish")) turn.history = Cut.markFrom(turn.history, before.length)
  const asked = Responses.approvalRequests(parts)
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
  if (asked.length > 0) return "waits"
  return Responses.isStopped(parts) ? "is stopped" : goesOn ? "goes on" : "is done"
})

// As the record has it, so that what the model was sent is what it will be sent in another process.
const keepable = (part: Response.AnyPart): Response.AnyPart => {
  if (part.type !== "tool-result") return part
  const { encodedResult, ...sent } = Results.sendable(part, Number.POSITIVE_INFINITY)
  return { ...part, ...sent, encodedResult: encodedResult === undefined ? null : encodedResult }
}

// No provider takes a text of nothing, and one that began when its reader left is one.
const withoutEmptyTexts = (said: Prompt.Prompt): Prompt.Prompt =>
  Prompts.fromMessages(said.content.flatMap((message): ReadonlyArray<Prompt.Message> => {
    if (message.role !== "assistant") return [message]
    const content = message.content.filter((part) => part.type !== "text" || part.text !== "")
    if (content.length === message.content.length) return [message]
    return content.length === 0 ? [] : [Prompts.makeMessage("assistant", { ...message, content })]
  }))

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

/** Which limit keeps the turn from taking another step. */
export const limitOf = ({ steps, tokens }: Turn, limits: Limits): "steps" | "tokens" | undefined =>
  steps >= limits.steps ? "steps" : tokens >= limits.tokens ? "tokens" : undefined

/** The text of a turn's last response. */
export const textOf = (parts: ReadonlyArray<Response.AnyPart>): string => {
  let text = ""
  for (const part of parts) {
    if (part.type === "text") text += part.text
    else if (part.type === "text-delta") text += part.delta
    else if (part.type === "tool-call" || part.type === "tool-params-start") text = ""
  }
  return text
}
