/** From the history of a conversation to the messages of a page, as they are after a reload. */
import { type Approval, type Conversation, Prompt } from "@assent/ai"
import * as Predicate from "effect/Predicate"
import type { Said } from "./body.ts"
import * as Calls from "./calls.ts"
import * as Fates from "./fates.ts"
import * as Files from "./files.ts"
import type { Fate, ToolApproval, ToolPart, UiMessage, UiPart } from "./model.ts"
import * as Requests from "./requests.ts"
import * as Sentences from "./sentences.ts"

/** A call that somebody was asked about, as it stands in a message, and what is known of it. */
export interface Card {
  readonly part: ToolPart
  readonly fate: Fate | undefined
}

/** How it stands; `reason` is told where nothing else is. */
export const fateOf = ({ fate, part }: Card, approvalId: string, reason: string): Fate =>
  fate ?? {
    approvalId,
    toolCallId: part.toolCallId,
    toolName: part.type.slice("tool-".length),
    state: states[part.state],
    reason: part.errorText ?? reason
  }

const states = {
  "input-available": "open",
  "approval-requested": "open",
  "approval-responded": "answered",
  "output-available": "done",
  "output-error": "failed",
  "output-denied": "denied"
} as const

/** Whether what became of it is known, so that no answer to it counts. */
export const isSettled = ({ part }: Card): boolean => part.state.startsWith("output-")

export interface Messages {
  readonly messages: ReadonlyArray<UiMessage>
  /** The calls that somebody was asked about, by every id under which that was. */
  readonly cards: ReadonlyMap<string, Card>
  /** The assistant's message that a turn goes on with, if it has begun, and its calls. */
  readonly current: { readonly message: UiMessage; readonly calls: Calls.Calls } | undefined
  /** What is not open, and has no result. */
  readonly unsettled: ReadonlyArray<string>
  /** What users have said, as messages or as answers to a question, by the ids of it; files by where, or what, they are. */
  readonly said: ReadonlyMap<string, string>
}

/**
 * Reads a history. What the assistant says between two messages of the user is one message, which is called as the first of
 * them in the history. `pending` is what is open; `states` is what became of calls that have no result there.
 */
export const make = (
  history: Conversation.Reading["messages"],
  pending: ReadonlyArray<Approval.ApprovalRequest>,
  states: ReadonlyMap<string, Conversation.RequestState> = new Map()
): Messages => {
  const building: Array<Building> = []
  const scanned: Array<Scanned> = []
  const said = new Map<string, string>()
  let assistantId: string | undefined

  const assistant = (): Building => {
    const last = building.at(-1)
    if (last?.role === "assistant") return last
    const made: Building = { id: assistantId!, role: "assistant", parts: [], calls: Calls.make() }
    building.push(made)
    return made
  }

  const settle = (part: Prompt.ToolResultPart) => {
    const { id, isFailure, name, result } = part
    const outcome: Fates.Outcome = { id, name, isFailure, result, assent: part.options.assent }
    const approvalId = Fates.approvalIdOf(outcome)
    const found = (approvalId === undefined ? undefined : byApproval(scanned, approvalId)) ??
      scanned.findLast(({ call, outcome }) =>
        call.id === id && outcome === undefined && (approvalId === undefined || call.approvalIds.size === 0)
      )
    if (found === undefined) return
    found.outcome = outcome
    found.call.isSettled = true
    const fate = Fates.of(outcome, found.call)
    if (fate !== undefined) found.message.parts.push(Fates.part(fate))
  }

  const call = (part: Prompt.ToolCallPart) => {
    const message = assistant()
    const call = message.calls.begin(part.id, part.name)
    call.isComplete = true
    const one: Scanned = {
      message,
      call,
      part,
      requests: [],
      answer: undefined,
      outcome: undefined,
      waitsForAgents: false
    }
    scanned.push(one)
    message.parts.push(one)
    return one
  }

  const ask = (part: Prompt.ToolApprovalRequestPart) => {
    const { approvalId, toolCallId } = part
    const found = byApproval(scanned, approvalId) ??
      scanned.findLast(({ call, outcome }) => call.id === toolCallId && outcome === undefined)
    if (found === undefined || found.call.approvalIds.has(approvalId)) return
    // What it waits for is asked in its agents.
    if (Requests.isOfAgents(Requests.ofHistory(part))) {
      found.waitsForAgents = true
      return
    }
    found.call.approvalIds.add(approvalId)
    const open = pending.find((request) => request.approvalId === approvalId)
    found.requests.push({ approvalId, isOpen: open !== undefined, request: open ?? Requests.ofHistory(part) })
    // The card of an answer is that of the request it was given to.
    found.answer = undefined
  }

  for (const { id, message } of history) {
    if (message.role === "user") {
      const parts = userParts(message)
      building.push({ id, role: "user", parts, calls: Calls.make() })
      said.set(id, wordsOf(parts))
      assistantId = undefined
      continue
    }
    if (message.role !== "system") assistantId ??= id
    if (message.role === "assistant") {
      // A message that repeats what is asked is no step.
      if (message.content.some(({ type }) => type !== "tool-approval-request")) {
        assistant().parts.push({ type: "step-start" })
      }
      for (const part of message.content) {
        if (part.type === "tool-call") call(part)
        else if (part.type === "tool-result") settle(part)
        else if (part.type === "tool-approval-request") ask(part)
        else {assistant().parts.push(
            part.type === "file" ? Files.toPart(part) : { type: part.type, text: part.text, state: "done" }
          )}
      }
    } else if (message.role === "tool") {
      const { assent } = message.options
      if (Predicate.hasProperty(assent, "text") && typeof assent.text === "string") said.set(id, assent.text)
      for (const part of message.content) {
        if (part.type === "tool-result") settle(part)
        else {
          const found = byApproval(scanned, part.approvalId)
          if (found !== undefined) found.answer = part
        }
      }
    }
  }

  // What agents ask stands in no history here: each is a call of its own, behind everything that was said.
  if (building.at(-1)?.role === "assistant") {
    for (const request of pending) {
      if ((request.path?.length ?? 0) === 0 || byApproval(scanned, request.approvalId) !== undefined) continue
      const { approvalId, params, toolCallId: id, toolName: name } = request
      const one = call(Prompt.makePart("tool-call", { id, name, params, providerExecuted: false }))
      one.call.approvalIds.add(approvalId)
      one.requests.push({ approvalId, isOpen: true, request })
    }
  }

  const cards = new Map<string, Card>()
  const parts = new Map<Scanned, ToolPart>()
  for (const one of scanned) {
    const card = cardOf(one, states)
    parts.set(one, card.part)
    // What came to an end that the history does not have is known of it as well.
    if (one.outcome === undefined && card.fate !== undefined) one.message.parts.push(Fates.part(card.fate))
    if (card.part.state === "approval-requested") one.call.shown = card.part.approval?.id
    for (const { approvalId } of one.requests) cards.set(approvalId, card)
  }
  const messages = building.map(({ id, role, parts: said }): UiMessage => ({
    id,
    role,
    parts: said.map((part) => isScanned(part) ? parts.get(part)! : part)
  }))
  const last = building.at(-1)
  return {
    messages,
    cards,
    current: last?.role === "assistant" ? { message: messages.at(-1)!, calls: last.calls } : undefined,
    unsettled: scanned.flatMap(({ outcome, requests }) =>
      outcome !== undefined || requests.some(({ isOpen }) => isOpen) ?
        [] :
        requests.slice(-1).map(({ approvalId }) => approvalId)
    ),
    said
  }
}

const wordsOf = (parts: ReadonlyArray<UiPart>): string =>
  parts.flatMap((part) => part.type === "text" ? [part.text] : part.type === "file" ? [part.url] : []).join("\n")

/** As the history would have it. */
const wordsSaid = ({ content }: Said): string => wordsOf(userParts({ content }))

/** Whether the history has what a page says. */
export const has = (messages: Messages, said: Said): boolean => messages.said.has(nameFor(messages, said))

/** Whether it is what a user has said last, whatever that is called. */
export const isLast = ({ said }: Messages, saying: Said): boolean =>
  Array.from(said.values()).at(-1) === wordsSaid(saying)

/**
 * What the history is to call it: as the page does. Where something else has that id, as when somebody changes a message of
 * theirs, or what they call it is no name, the next one that is free, which is the same whenever it is posted again.
 */
export const nameFor = ({ messages, said }: Messages, saying: Said): string => {
  const { messageId: given } = saying
  const words = wordsSaid(saying)
  const messageId = given === "" || /\p{Surrogate}/u.test(given) ? "message" : given.slice(0, maxIdLength)
  const taken = new Set([...messages.map(({ id }) => id), ...said.keys()])
  for (let count = 1;; count++) {
    const id = count === 1 ? messageId : `${messageId}~${count}`
    // Ids of this form say where a message stands.
    if (taken.has(id) ? said.get(id) === words : !/^m\d+$/.test(id)) return id
  }
}

const maxIdLength = 240

// =============================================================================
// Internals
// =============================================================================

interface Building {
  readonly id: string
  readonly role: "user" | "assistant"
  readonly parts: Array<UiPart | Scanned>
  readonly calls: Calls.Calls
}

interface Scanned {
  readonly message: Building
  readonly call: Calls.Call
  readonly part: Prompt.ToolCallPart
  readonly requests: Array<{
    readonly approvalId: string
    readonly isOpen: boolean
    readonly request: Approval.ApprovalRequest | undefined
  }>
  answer: Prompt.ToolApprovalResponsePart | undefined
  outcome: Fates.Outcome | undefined
  waitsForAgents: boolean
}

const isScanned = (part: UiPart | Scanned): part is Scanned => "call" in part

const byApproval = (scanned: ReadonlyArray<Scanned>, approvalId: string): Scanned | undefined =>
  scanned.find(({ call }) => call.approvalIds.has(approvalId))

const cardOf = (
  { answer, call, outcome, part, requests, waitsForAgents }: Scanned,
  states: ReadonlyMap<string, Conversation.RequestState>
): Card => {
  const asked = requests.findLast(({ isOpen }) => isOpen) ?? requests.at(-1)
  const base = {
    type: `tool-${call.name}` as const,
    toolCallId: call.wireId,
    input: part.params,
    ...(part.providerExecuted ? { providerExecuted: true as const } : undefined)
  }
  const fate = outcome === undefined ? undefined : Fates.of(outcome, call)
  const card = (part: ToolPart): Card => ({ part, fate })
  const approval = asked === undefined ? undefined : Requests.approval(asked.approvalId, asked.request)
  const answered: ToolApproval | undefined = approval === undefined || answer === undefined ? undefined : {
    ...approval,
    approved: answer.approved,
    ...(answer.reason === undefined ? undefined : { reason: answer.reason })
  }

  if (outcome !== undefined) {
    const granted = answered?.approved === true ? { approval: answered } : undefined
    switch (Fates.stateOf(outcome)) {
      case "done":
        return card({ ...base, state: "output-available", output: outcome.result ?? null, ...granted })
      case "failed":
        return card({
          ...base,
          state: "output-error",
          errorText: Sentences.ofResult(outcome.name, outcome.result),
          ...granted
        })
      case "denied": {
        const reason = Sentences.ofResult(outcome.name, outcome.result)
        return card({
          ...base,
          state: "output-denied",
          ...(approval === undefined ? undefined : { approval: { ...approval, approved: false, reason } })
        })
      }
    }
  }
  // What waits is asked, whatever was answered before.
  if (approval !== undefined && asked?.isOpen === true) {
    return card({ ...base, state: "approval-requested", approval })
  }
  const state = asked === undefined ? undefined : states.get(asked.approvalId)
  if (asked !== undefined && state !== undefined && !isGoingOn.has(state.state)) {
    const fate = Fates.ofState(asked.approvalId, state, call)
    const { reason = Sentences.noResult } = fate
    return {
      fate,
      part: state.state === "done"
        ? { ...base, state: "output-available", output: state.result ?? null, approval: answered ?? approval! }
        : state.state === "denied"
        ? { ...base, state: "output-denied", approval: { ...approval!, approved: false, reason } }
        : { ...base, state: "output-error", errorText: reason, approval: answered ?? approval! }
    }
  }
  if (waitsForAgents) return card({ ...base, state: "input-available" })
  if (answered !== undefined) return card({ ...base, state: "approval-responded", approval: answered })
  const errorText = approval === undefined ? Sentences.noResult : Sentences.notOpen
  return card({ ...base, state: "output-error", errorText })
}

/** What became of what an agent asked, of which the history here says nothing. */
export const ofAgent = (
  approvalId: string,
  toolCallId: string,
  state: Conversation.RequestState
): Card | undefined => {
  const { request } = state
  const name = request?.toolName ?? "agent"
  const base = { type: `tool-${name}` as const, toolCallId, input: request?.params }
  const approval = Requests.approval(approvalId, request)
  if (state.state === "open") return { fate: undefined, part: { ...base, state: "approval-requested", approval } }
  if (isGoingOn.has(state.state)) return undefined
  const fate = Fates.ofState(approvalId, state, { name, wireId: toolCallId })
  const { reason = Sentences.noResult } = fate
  return {
    fate,
    part: state.state === "done"
      ? { ...base, state: "output-available", output: state.result ?? null, approval }
      : state.state === "denied"
      ? { ...base, state: "output-denied", approval: { ...approval, approved: false, reason } }
      : { ...base, state: "output-error", errorText: reason, approval }
  }
}

/** What may still get its result. */
const isGoingOn: ReadonlySet<Conversation.RequestState["state"]> = new Set(["open", "answered", "running"])

const userParts = ({ content }: Pick<Prompt.UserMessage, "content">): Array<UiPart> =>
  content.map((part) => part.type === "text" ? { type: "text", text: part.text, state: "done" } : Files.toPart(part))
