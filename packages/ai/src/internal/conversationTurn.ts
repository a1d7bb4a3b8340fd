/**
 * One turn of a conversation: it is held and taken over from the store, every step is written before the next begins, and
 * what it adds is never lost, however it ends.
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Response from "effect/ai/Response"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Approval from "../Approval.ts"
import * as ConversationStore from "../ConversationStore.ts"
import * as Prompts from "../Prompt.ts"
import * as Responses from "../Response.ts"
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
}

/** Begins a turn. It ends with the scope: what it added is written, and others may go on. */
export const begin = Effect.fnUntraced(function*(
  place: Place
): Effect.fn.Return<Turn, ConversationStore.ConversationError, Scope.Scope> {
  yield* Effect.timeoutOrElse(Effect.andThen(place.store.hold(place.key), takeOver(place)), {
    duration: place.busyFor,
    orElse: () => Effect.fail(busy)
  })
  const { history, open } = place.known?.kept ?? nothing()
  const turn: Turn = { history, open, content: [], steps: 0, tokens: 0, step: [] }
  yield* Effect.addFinalizer(() =>
    Effect.catch(
      end(place, turn),
      (error) => Effect.logError(`Assent could not write down the end of a turn of a conversation: ${error.message}`)
    )
  )
  return turn
})

// Nobody else is in a turn with it, or whoever was is dead: from here on it is ours.
const takeOver = Effect.fnUntraced(function*(
  place: Place
): Effect.fn.Return<void, ConversationStore.ConversationError> {
  while (true) {
    const found = yield* find(place)
    const other = found?.kept.turn
    if (other !== undefined && (yield* place.store.isAlive(other.owner))) {
      yield* Effect.sleep("200 millis")
      continue
    }
    const at = yield* Clock.currentTimeMillis
    const { history, open } = found?.kept ?? nothing()
    if (yield* write(place, { history, open, turn: { owner: place.store.owner, at } })) return
  }
})

const write = Effect.fnUntraced(function*(
  place: Place,
  fields: Omit<typeof ConversationStore.Kept.Type, "format">
): Effect.fn.Return<boolean, ConversationStore.ConversationError> {
  const { known } = place
  const kept = new ConversationStore.Kept({ format: 1, ...fields })
  const written = yield* place.store.write(place.key, known?.version, kept)
  place.known = written ? { version: known === undefined ? 0 : known.version + 1, kept } : undefined
  return written
})

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
    takeStep(turn)
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

/** Adds what the step has said to the history, and tells whether the model is to be called again. */
export const takeStep = (turn: Turn): "waits" | "goes on" | "is done" => {
  const parts = turn.step
  turn.step = []
  turn.content.push(...parts)
  turn.history = Prompts.concat(turn.history, Prompts.fromResponseParts(parts))
  const said = Responses.approvalRequests(parts)
  turn.open = openAfter(turn, said)
  turn.steps++
  let goesOn = false
  for (const part of parts) {
    if (part.type === "tool-call" && part.providerExecuted !== true) goesOn = true
    if (part.type !== "finish") continue
    turn.tokens += (part.usage.inputTokens.total ?? 0) + (part.usage.outputTokens.total ?? 0)
    if (part.reason === "pause") goesOn = true
  }
  return said.length > 0 ? "waits" : goesOn ? "goes on" : "is done"
}

// A request is open as long as responses say so; what the model goes on beside (law L6) it does not say again.
const openAfter = (
  { history, open }: Turn,
  said: ReadonlyArray<Approval.ApprovalRequest>
): ReadonlyArray<Approval.ApprovalRequest> => {
  const before = open.filter((one) =>
    !one.providerExecuted && !said.some(({ toolCallId }) => toolCallId === one.toolCallId)
  )
  if (before.length === 0) return said
  const waiting = new Set<string>()
  for (const { call, part, responses } of Transcript.readWhole(history.content).allRequests) {
    if (call?.result === undefined && responses.length === 0) waiting.add(part.approvalId)
  }
  return [...before.filter(({ approvalId }) => waiting.has(approvalId)), ...said]
}

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
