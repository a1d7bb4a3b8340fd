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
import type * as Scope from "effect/Scope"
import type * as Approval from "../Approval.ts"
import * as ConversationStore from "../ConversationStore.ts"
import * as Prompts from "../Prompt.ts"
import * as Responses from "../Response.ts"
import * as SuspensionStore from "../SuspensionStore.ts"
import * as Transcript from "./transcript.ts"

/** Where a conversation is kept, and what this process knows of it. */
export interface Place {
  readonly store: ConversationStore.Service
  readonly key: string
  readonly busyFor: Duration.Duration
  /** The record as it was read or written last, so that what did not change are the same objects. */
  known: ConversationStore.Found | undefined
}

export interface Limits {
  readonly steps: number
  readonly tokens: number
}

/** What a conversation is before anybody said anything. */
const nothing = (): Pick<ConversationStore.Kept, "history" | "open"> => ({ history: Prompts.empty, open: [] })

/** The conversation as it stands in the store. */
export const read = (
  place: Place
): Effect.Effect<Pick<ConversationStore.Kept, "history" | "open">, ConversationStore.ConversationError> =>
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

/** A turn that is being taken. */
export interface Turn {
  history: Prompt.Prompt
  /** What the conversation waits for, as the last response said. */
  open: ReadonlyArray<Approval.ApprovalRequest>
  /** Everything the turn has said, over all of its steps. */
  readonly content: Array<Response.AnyPart>
  steps: number
  tokens: number
  /** What a step that goes on has said so far. */
  step: Array<Response.AnyPart>
  readonly suspensions: SuspensionStore.Service
}

/** Begins a turn. It ends with the scope: what it added is written, and others may go on. */
export const begin = Effect.fnUntraced(function*(
  place: Place
): Effect.fn.Return<Turn, ConversationStore.ConversationError, Scope.Scope> {
  const suspensions = yield* SuspensionStore.SuspensionStore
  const inTime = Effect.timeoutOrElse({ duration: place.busyFor, orElse: () => Effect.fail(busy) })
  yield* inTime(place.store.hold(place.key))
  // Whoever leaves at any moment from here on leaves the conversation to others.
  let turn: Turn | undefined
  yield* Effect.addFinalizer(() =>
    turn === undefined ? Effect.void : Effect.catch(
      end(place, turn),
      (error) => Effect.logError(`Assent could not write down the end of a turn of a conversation: ${error.message}`)
    )
  )
  return yield* inTime(
    takeOver(
      place,
      ({ history, open }) => turn = { history, open, content: [], steps: 0, tokens: 0, step: [], suspensions }
    )
  )
})

// Nobody else is in a turn with it, or whoever was is dead: from here on it is ours.
const takeOver = Effect.fnUntraced(function*(
  place: Place,
  take: (kept: Pick<ConversationStore.Kept, "history" | "open">) => Turn
): Effect.fn.Return<Turn, ConversationStore.ConversationError> {
  while (true) {
    const found = yield* find(place)
    const other = found?.kept.turn
    if (other !== undefined && (yield* place.store.isAlive(other.owner))) {
      yield* Effect.sleep("200 millis")
      continue
    }
    const at = yield* Clock.currentTimeMillis
    const { history, open } = found?.kept ?? nothing()
    const taken = yield* Effect.uninterruptible(
      Effect.map(
        write(place, { history, open, turn: { owner: place.store.owner, at } }),
        (written) => written ? take({ history, open }) : undefined
      )
    )
    if (taken !== undefined) return taken
  }
})

// Not interruptible: who is told nothing cannot tell what was written, and could not write down the end either.
const write = (
  place: Place,
  fields: Omit<typeof ConversationStore.Kept.Type, "format">
): Effect.Effect<boolean, ConversationStore.ConversationError> =>
  Effect.uninterruptible(Effect.suspend(() => {
    const { known } = place
    const kept = new ConversationStore.Kept({ format: 1, ...fields })
    return Effect.map(place.store.write(place.key, known?.version, kept), (written) => {
      place.known = written ? { version: known === undefined ? 0 : known.version + 1, kept } : undefined
      return written
    })
  }))

/** Writes what the turn is by now; the conversation stays ours. */
export const save = Effect.fnUntraced(function*(
  place: Place,
  { history, open }: Turn
): Effect.fn.Return<void, ConversationStore.ConversationError> {
  const turn = place.known?.kept.turn
  if (turn === undefined || !(yield* write(place, { history, open, turn }))) return yield* conflict
})

const end = Effect.fnUntraced(function*(
  place: Place,
  turn: Turn
): Effect.fn.Return<void, ConversationStore.ConversationError> {
  // A step that was cut short has said what it has said.
  if (turn.step.length > 0) {
    turn.step.push(...missingEnds(turn.step))
    yield* takeStep(turn)
  }
  const { history, open } = turn
  if (place.known?.kept.turn === undefined || !(yield* write(place, { history, open }))) return yield* conflict
})

// A history has texts that came to their end alone.
const missingEnds = (parts: ReadonlyArray<Response.AnyPart>): ReadonlyArray<Response.AnyPart> => {
  const open = new Map<string, Response.AnyPart>()
  for (const part of parts) {
    if (part.type === "text-start") open.set(`text ${part.id}`, Response.makePart("text-end", { id: part.id }))
    else if (part.type === "text-end") open.delete(`text ${part.id}`)
    else if (part.type === "reasoning-start") {
      open.set(`reasoning ${part.id}`, Response.makePart("reasoning-end", { id: part.id }))
    } else if (part.type === "reasoning-end") open.delete(`reasoning ${part.id}`)
  }
  return Array.from(open.values())
}

/** Adds what somebody says to the history. */
export const say = (turn: Turn, prompt: Prompt.Prompt): void => {
  if (prompt.content.length > 0) turn.history = Prompts.concat(turn.history, prompt)
}

/** What follows from a step. */
export type Next = "waits" | "goes on" | "is done"

/** Adds what the step has said to the history, and tells whether the model is to be called again. */
export const takeStep = Effect.fnUntraced(function*(turn: Turn): Effect.fn.Return<Next> {
  const parts = turn.step
  turn.step = []
  turn.content.push(...parts)
  turn.history = Prompts.concat(turn.history, withoutEmptyTexts(Prompts.fromResponseParts(parts)))
  const said = Responses.approvalRequests(parts)
  turn.open = yield* openAfter(turn, said)
  turn.steps++
  let goesOn = false
  for (const part of parts) {
    if (part.type === "tool-call" && part.providerExecuted !== true) goesOn = true
    if (part.type !== "finish") continue
    turn.tokens += (part.usage.inputTokens.total ?? 0) + (part.usage.outputTokens.total ?? 0)
    if (part.reason === "pause") goesOn = true
  }
  return said.length > 0 ? "waits" : goesOn ? "goes on" : "is done"
})

// A text that was begun and never written, because its reader left, would make every later prompt one that providers
// refuse.
const withoutEmptyTexts = (said: Prompt.Prompt): Prompt.Prompt => {
  const isEmpty = (part: Prompt.Part) => part.type === "text" && part.text === ""
  if (!said.content.some((message) => message.role === "assistant" && message.content.some(isEmpty))) return said
  return Prompts.fromMessages(said.content.flatMap((message): ReadonlyArray<Prompt.Message> => {
    if (message.role !== "assistant") return [message]
    const content = message.content.filter((part) => !isEmpty(part))
    return content.length === 0 ? [] : [Prompts.makeMessage("assistant", { ...message, content })]
  }))
}

// A request is open as long as responses say so; what the model goes on beside (law L6) it does not say again.
const openAfter = Effect.fnUntraced(function*(
  { history, open, suspensions }: Turn,
  said: ReadonlyArray<Approval.ApprovalRequest>
): Effect.fn.Return<ReadonlyArray<Approval.ApprovalRequest>> {
  const before = open.filter((one) =>
    !one.providerExecuted && !said.some(({ approvalId }) => approvalId === one.approvalId)
  )
  if (before.length === 0) return said
  const waiting = new Set<string>()
  for (const { call, part, responses } of Transcript.readWhole(history.content).allRequests) {
    if (call?.result === undefined && responses.length === 0) waiting.add(part.approvalId)
  }
  // A request of the same call id: of the same call, which has gone on and waits for something else, or of another one,
  // because some providers use ids again (law L13).
  const isReplaced = ({ approvalId, awaited, toolCallId }: Approval.ApprovalRequest) =>
    awaited === undefined || !said.some((one) => one.toolCallId === toolCallId)
      ? Effect.succeed(false)
      : Effect.map(
        Effect.result(suspensions.find(approvalId)),
        (found) => Result.isSuccess(found) && found.success?.status !== "open"
      )
  const still = yield* Effect.filter(
    before.filter(({ approvalId }) => waiting.has(approvalId)),
    (one) => Effect.map(isReplaced(one), (replaced) => !replaced)
  )
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
