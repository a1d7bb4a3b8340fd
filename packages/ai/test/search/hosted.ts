/**
 * Calls that the provider runs itself, in prompts: what a history says of them, and what the provider gets to see (law
 * L9). Written from the laws (DESIGN §5), not from the engine.
 */
import type { Prompt } from "../../src/index.ts"
import * as Notes from "./notes.ts"
import * as Provider from "./provider.ts"
import * as Record from "./record.ts"
import * as View from "./view.ts"

// =============================================================================
// Approval parts of a prompt
// =============================================================================

/** A part with the place it stands in. */
export interface Placed<Part> {
  readonly part: Part
  readonly at: number
  /** How many messages of users stand before it. */
  readonly users: number
}

export interface Parts {
  readonly calls: ReadonlyArray<Placed<Prompt.ToolCallPart>>
  readonly requests: ReadonlyArray<Placed<Prompt.ToolApprovalRequestPart>>
  readonly responses: ReadonlyArray<Placed<Prompt.ToolApprovalResponsePart>>
  readonly results: ReadonlyArray<Placed<Prompt.ToolResultPart>>
}

const partsByPrompt = new WeakMap<Prompt.Prompt, Parts>()

/** Everything that a prompt holds of hosted calls, and every approval part. */
export const partsOf = (prompt: Prompt.Prompt): Parts => {
  const known = partsByPrompt.get(prompt)
  if (known !== undefined) return known
  const calls: Array<Placed<Prompt.ToolCallPart>> = []
  const requests: Array<Placed<Prompt.ToolApprovalRequestPart>> = []
  const responses: Array<Placed<Prompt.ToolApprovalResponsePart>> = []
  const results: Array<Placed<Prompt.ToolResultPart>> = []
  let users = 0
  for (const [at, message] of prompt.content.entries()) {
    if (message.role === "user" && !Notes.isNote(message)) users++
    if (message.role !== "assistant" && message.role !== "tool") continue
    for (const part of message.content) {
      if (part.type === "tool-call" && part.providerExecuted) calls.push({ part, at, users })
      if (part.type === "tool-approval-request") requests.push({ part, at, users })
      if (part.type === "tool-approval-response") responses.push({ part, at, users })
      if (part.type === "tool-result" && part.providerExecuted) results.push({ part, at, users })
    }
  }
  const parts = { calls, requests, responses, results }
  partsByPrompt.set(prompt, parts)
  return parts
}

/**
 * The approvals a provider may see in a turn: its own; and whatever somebody wrote into the history about a call of the
 * provider's, for which ids the provider makes nobody else can tell.
 */
export const allowedIn = ({ hosted }: Record.Record, { prompt, tampered }: Record.Turn): ReadonlyArray<string> => {
  const issued = hosted.map(({ approvalId }) => approvalId)
  if (!tampered) return issued
  const { calls, requests } = partsOf(prompt)
  const written = requests.filter((request) => calls.some((call) => call.part.id === request.part.toolCallId))
  return [...issued, ...written.map(({ part }) => part.approvalId)]
}

/** Whether a message holds a request. */
export const holdsRequest = (message: Prompt.Message): boolean =>
  message.role === "assistant" && message.content.some((part) => part.type === "tool-approval-request")

// =============================================================================
// What a history says
// =============================================================================

/** What the history of a turn says of a hosted call that was asked about. */
export interface Told {
  readonly hosted: Record.Hosted
  readonly request: Placed<Prompt.ToolApprovalRequestPart>
  /** The answers that came before there was a result. */
  readonly answers: ReadonlyArray<Placed<Prompt.ToolApprovalResponsePart>>
  /** The answer that stands: a denial before all, else the first. */
  readonly standing: Placed<Prompt.ToolApprovalResponsePart> | undefined
  readonly result: Placed<Prompt.ToolResultPart> | undefined
  /** Whether the model went on with a new message before anybody answered. */
  readonly passedOver: boolean
}

/** What the prompt of a turn says of each hosted call whose request it holds. */
export const toldIn = (record: Record.Record, prompt: Prompt.Prompt): ReadonlyArray<Told> => {
  if (record.hosted.length === 0) return []
  const { requests, results } = partsOf(prompt)
  return record.hosted.flatMap((hosted): ReadonlyArray<Told> => {
    const request = requests.find(({ part }) => part.approvalId === hosted.approvalId)
    if (request === undefined) return []
    const result = results.find(({ part }) => part.id === hosted.callId)
    const answers = answersTo(prompt, hosted)
    const standing = answers.find(({ part }) => !part.approved) ?? answers[0]
    const end = answers[0]?.at ?? prompt.content.length
    return [{
      hosted,
      request,
      answers,
      standing,
      result,
      passedOver: goesOn(prompt.content.slice(request.at + 1, end))
    }]
  })
}

/** The answers that count: given before the call had its result, and none that would change what the provider runs. */
export const answersTo = (
  prompt: Prompt.Prompt,
  { approvalId, callId }: Record.Hosted
): ReadonlyArray<Placed<Prompt.ToolApprovalResponsePart>> => {
  const { calls, responses, results } = partsOf(prompt)
  const call = calls.find(({ part }) => part.id === callId)
  // One that stands before its call is nobody's.
  const result = results.find(({ at, part }) => part.id === callId && (call === undefined || at >= call.at))
  return responses.filter((answer) =>
    answer.part.approvalId === approvalId && (!answer.part.approved || isPlain(answer)) &&
    (result === undefined || answer.at <= result.at)
  )
}

/** Whether a result says that a new message came before anybody answered. */
export const isSuperseded = (part: Pick<Prompt.ToolResultPart, "isFailure" | "result">): boolean =>
  part.isFailure && /^superseded/i.test(View.reasonIn(part.result) ?? "")

const goesOn = (messages: ReadonlyArray<Prompt.Message>): boolean => {
  const first = messages.findIndex((message) => message.role === "user")
  return first >= 0 &&
    messages.slice(first).some((message) =>
      message.role === "assistant" && message.content.some((part) => part.type !== "tool-approval-request")
    )
}

/** Whether somebody said both yes and no to one request, so that what was passed on may not be what stands. */
export const isContradicted = (prompt: Prompt.Prompt): boolean => {
  const { responses } = partsOf(prompt)
  return responses.some(({ part }) =>
    part.approved && responses.some((other) => other.part.approvalId === part.approvalId && !other.part.approved)
  )
}

/** An approval that would change parameters is none: the provider runs what it asked about. */
export const isPlain = ({ part }: Placed<Prompt.ToolApprovalResponsePart>): boolean => {
  const { assent } = part.options
  return part.approved && !(typeof assent === "object" && assent !== null && "params" in assent)
}

/** Whether a request of the provider's may be open in a turn. */
export const mayBeOpen = (record: Record.Record, turn: Record.Turn): boolean =>
  toldIn(record, turn.prompt).some(({ result }) => result === undefined)

// =============================================================================
// What was said inline
// =============================================================================

/** What the policy said last of a hosted call in a turn, before the model was called so often. */
export const verdictOf = (
  record: Record.Record,
  turn: Record.Turn,
  { callId }: Record.Hosted,
  round = Infinity
): Record.Judgement["said"] | undefined =>
  record.judgements.findLast((judgement) =>
    judgement.turn === turn.index && judgement.by === "policy" && judgement.call.id === callId &&
    judgement.round <= round
  )?.said

/** What the controller said of it, in a turn. */
export const repliesTo = (record: Record.Record, turn: Record.Turn, { approvalId }: Record.Hosted) =>
  record.asked.filter((asked) => asked.turn === turn.index && asked.approvalId === approvalId)

/** Whether the policy or the controller may have answered for a person, or somebody had to refuse the call. */
export const isAnsweredInline = (record: Record.Record, turn: Record.Turn, hosted: Record.Hosted): boolean => {
  const verdict = verdictOf(record, turn, hosted)
  return verdict === "block" || verdict === "allow" || repliesTo(record, turn, hosted).length > 0 ||
    mayBeRefused(record, turn, hosted)
}

/**
 * Whether a call may be refused because nothing proves that it is the provider's: where somebody decides, its seal is
 * needed, which is of a scope and a key.
 */
export const mayBeRefused = (record: Record.Record, turn: Record.Turn, hosted: Record.Hosted): boolean => {
  const { circumstances } = record.turns[hosted.turn]!
  if (turn.circumstances.policy === "default" && turn.circumstances.controller === "defer") return false
  return turn.tampered || circumstances.scope !== turn.circumstances.scope ||
    !View.isKeyAccepted(turn, circumstances.key)
}

/** Whether a history holds the call as the provider made it. */
export const isTrue = ({ prompt }: Record.Turn, { callId, plan }: Record.Hosted): boolean =>
  partsOf(prompt).calls.some(({ part }) =>
    part.id === callId && part.name === plan.tool &&
    Record.canonical(part.params) === Record.canonical(Provider.paramsOf(plan))
  )
