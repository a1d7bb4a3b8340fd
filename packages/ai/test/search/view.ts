/**
 * What a record means: which requests a prompt approves, what the policy said before a run, and what justifies a run.
 * Written from the laws (DESIGN §5), not from the engine.
 */
import type { Prompt, Response } from "../../src/index.ts"
import * as Record from "./record.ts"

// =============================================================================
// Answers
// =============================================================================

export interface Answers {
  /** Approved plainly: an approval that would change parameters counts for nothing. */
  approved: boolean
  denied: boolean
  edited: boolean
}

const answersByPrompt = new WeakMap<Prompt.Prompt, ReadonlyMap<string, Answers>>()

const unanswered: Answers = { approved: false, denied: false, edited: false }

/** What a prompt answers to a request. */
export const answersOf = (prompt: Prompt.Prompt, approvalId: string): Answers => {
  let answers = answersByPrompt.get(prompt)
  if (answers === undefined) {
    const found = new Map<string, Answers>()
    for (const message of prompt.content) {
      if (message.role !== "tool") continue
      for (const part of message.content) {
        if (part.type !== "tool-approval-response") continue
        const answer = found.get(part.approvalId) ?? { ...unanswered }
        const assent = part.options.assent
        if (!part.approved) answer.denied = true
        else if (typeof assent === "object" && assent !== null && "params" in assent) answer.edited = true
        else answer.approved = true
        found.set(part.approvalId, answer)
      }
    }
    answers = found
    answersByPrompt.set(prompt, answers)
  }
  return answers.get(approvalId) ?? unanswered
}

// =============================================================================
// Verdicts
// =============================================================================

export type Verdict = "ask" | "allow" | "block" | "failed" | "unjudged"

const neverAsked: ReadonlySet<string> = new Set(["Read", "Poke", "Wait", "Agent"])
const alwaysAsked: ReadonlySet<string> = new Set(["Delete", "Sync", "Order", "Wipe", "Dig"])

/** What the tool itself says, where neither the policy nor its gate was heard. */
export const ownVerdict = (tool: string): Verdict =>
  neverAsked.has(tool) ? "allow" : alwaysAsked.has(tool) ? "ask" : "unjudged"

/** What was said last of a call in a turn, up to some run. */
export const verdictOf = (
  record: Record.Record,
  turn: Record.Turn,
  call: Record.Received,
  beforeRun = Infinity
): Verdict => {
  const heard = record.judgements.filter((judgement) =>
    judgement.turn === turn.index && judgement.runs <= beforeRun && Record.isSameCall(judgement.call, call)
  )
  const last = heard.at(-1)
  if (turn.circumstances.policy !== "default" && !heard.some((judgement) => judgement.by === "policy")) {
    return "unjudged"
  }
  return last === undefined || last.said === "own" ? ownVerdict(call.tool) : last.said
}

// =============================================================================
// Runs
// =============================================================================

/** Whether the provider made this call in this turn; a second use of an id gets one of its own. */
export const isReceived = (turn: Record.Turn, call: Record.Received): boolean => receivedIndexes(turn, call).length > 0

export const receivedIndexes = (turn: Record.Turn, call: Record.Received): ReadonlyArray<number> =>
  turn.received.flatMap((received, index) =>
    received.tool === call.tool && received.params === call.params &&
      (received.id === call.id || call.id.startsWith(`${received.id}_`))
      ? [index]
      : []
  )

export const isKeyAccepted = ({ circumstances, startedAt }: Record.Turn, key: number): boolean =>
  circumstances.keys.some((one) => one.key === key && one.until > startedAt)

/** Whether a request can be answered in a turn: it is of that scope, in time, and its key is known. */
export const isValid = (turn: Record.Turn, request: Record.Request): boolean =>
  request.scope === turn.circumstances.scope && turn.startedAt < request.expiresAt && isKeyAccepted(turn, request.key)

/** Whether a call is asked about where it is handled: then only whoever is asked there can say yes. */
export const isGuarded = ({ tool }: Record.Received): boolean => tool === "Wipe"

/** Whether nobody can tell what a run did: it was interrupted, or its process ended in the midst of it. */
export const isUnknown = (run: Record.Run): boolean => run.outcome === "interrupted" || run.outcome === "running"

// =============================================================================
// Parts
// =============================================================================

export type Result = Response.ToolResultPart<string, unknown, unknown>

/** The results of a turn, without the preliminary ones. */
export const resultsOf = (turn: Record.Turn): ReadonlyArray<Result> =>
  turn.parts.filter((part): part is Result => part.type === "tool-result" && part.preliminary !== true)

export const approvalIdOf = (result: Result): string | undefined => {
  const { assent } = result.metadata
  return assent !== null && assent !== undefined && "approvalId" in assent ? assent.approvalId : undefined
}

export const requestIdsOf = (turn: Record.Turn): ReadonlyArray<string> =>
  turn.parts.flatMap((part) => part.type === "tool-approval-request" ? [part.approvalId] : [])

/** The runs whose marks a value carries. */
export const marksIn = (value: unknown): ReadonlyArray<number> =>
  Array.from((JSON.stringify(value) ?? "").matchAll(/<run (\d+)>/g), (match) => Number(match[1]))

/** The reason of a failed result, if it is one that the engine gives. */
export const reasonIn = (value: unknown): string | undefined => {
  const reason = typeof value === "object" && value !== null && "reason" in value ? value.reason : undefined
  return typeof reason === "string" ? reason : undefined
}

// =============================================================================
// Requests of a prompt
// =============================================================================

/** Where a request stands first. */
export const indexOfRequest = (messages: ReadonlyArray<Prompt.Message>, approvalId: string): number =>
  messages.findIndex((message) =>
    message.role === "assistant" &&
    message.content.some((part) => part.type === "tool-approval-request" && part.approvalId === approvalId)
  )

/** Whether a request stands in the history of a turn. */
export const isPrompted = (turn: Record.Turn, approvalId: string): boolean =>
  indexOfRequest(turn.prompt.content, approvalId) >= 0

/** Whether a request stands in the history of a turn, and no result that names it. */
export const isUnsettled = (turn: Record.Turn, approvalId: string): boolean =>
  isPrompted(turn, approvalId) &&
  !turn.prompt.content.some((message) =>
    message.role === "tool" && message.content.some((part) => part.type === "tool-result" && names(part, approvalId))
  )

const names = ({ options: { assent } }: Prompt.ToolResultPart, approvalId: string): boolean =>
  assent !== null && assent !== undefined && "approvalId" in assent && assent.approvalId === approvalId

/** Whether a user said something after a request was made. */
export const hasMessageAfter = ({ content }: Prompt.Prompt, approvalId: string): boolean =>
  content.findLastIndex((message) => message.role === "user") > indexOfRequest(content, approvalId)

// =============================================================================
// Trouble
// =============================================================================

/** Whether the store failed in a step, and so may have kept what was to be written, or not. */
export const isTroubled = (record: Record.Record, step: number): boolean =>
  record.troubles.some((trouble) => trouble.step === step)

/** Whether the store failed anywhere from one step to another. */
export const isTroubledSince = (record: Record.Record, step: number, until = Infinity): boolean =>
  record.troubles.some((trouble) => trouble.step >= step && trouble.step <= until)

/** How long a process that is closed waits for its runs, in milliseconds. */
export const grace = 10_000

/** Whether a run may have ended unwritten: its process crashed, or it was done just when its grace was over. */
export const isUnwritten = (record: Record.Record, { endedAt, process }: Record.Run): boolean =>
  record.crashed.includes(process) ||
  record.closed.some((closed) => closed.process === process && endedAt >= closed.at + grace)

/** Whether somebody stopped a live run of one of these requests, before some run. */
export const isStopped = (
  record: Record.Record,
  requests: ReadonlyArray<Record.Request>,
  beforeRun = Infinity
): boolean =>
  record.stops.some((stop) =>
    stop.said && stop.runs <= beforeRun && requests.some(({ approvalId }) => approvalId === stop.approvalId)
  )
