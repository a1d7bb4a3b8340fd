/**
 * What a record means: which requests a prompt approves, what the policy said before a run, what justifies a run, and
 * what the laws say must become of each open request. Written from the laws (DESIGN §5), not from the engine.
 */
import type { Prompt, Response } from "../../src/index.ts"
import type * as Plan from "./plan.ts"
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

const neverAsked: ReadonlySet<string> = new Set(["Read", "Poke"])
const alwaysAsked: ReadonlySet<string> = new Set(["Delete", "Sync"])

/** What the tool itself says, where neither the policy nor its gate was heard. */
const ownVerdict = (tool: string): Verdict =>
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

/** What will be said of a call that was asked about before. */
const verdictAgain = (record: Record.Record, turn: Record.Turn, call: Record.Received): Verdict => {
  const { gate, policy } = turn.circumstances
  const { tool } = call
  const said = (by: Record.Judgement["by"], verdict: Plan.Verdict): Verdict | "own" => {
    const isFirst = !record.judgements.some((judgement) =>
      judgement.turn < turn.index && judgement.by === by && Record.isSameCall(judgement.call, call)
    )
    switch (verdict) {
      case "nothing":
        return "own"
      case "ask":
      case "allow":
      case "block":
        return verdict
      case "block later":
        return isFirst ? "ask" : "block"
      case "fail later":
        return isFirst ? "ask" : "failed"
      default:
        return "failed"
    }
  }
  const byPolicy = policy === "default" ? "own" : said("policy", policy)
  if (byPolicy !== "own") return byPolicy
  if (tool === "Charge") return "ask"
  if (tool !== "Send") return ownVerdict(tool)
  const byGate = said("gate", gate)
  return byGate === "own" ? "failed" : byGate
}

// =============================================================================
// Runs
// =============================================================================

/** Whether the provider made this call in this turn; a second use of an id gets one of its own. */
export const isReceived = (turn: Record.Turn, call: Record.Received): boolean => receivedIndexes(turn, call).length > 0

const receivedIndexes = (turn: Record.Turn, call: Record.Received): ReadonlyArray<number> =>
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

/** The requests that were given out for this very call and approved in this turn, in a message or inline. */
export const justificationsOf = (record: Record.Record, run: Record.Run): ReadonlyArray<Record.Request> => {
  const turn = record.turns[run.turn]!
  return record.requests.filter((request) => {
    if (request.call.id !== run.call.id || request.call.tool !== run.call.tool) return false
    if (request.turn > turn.index || !isValid(turn, request)) return false
    const inline = record.asked.some((asked) =>
      asked.turn === turn.index && asked.approvalId === request.approvalId && asked.params === run.call.params
    )
    return inline || (request.call.params === run.call.params && answersOf(turn.prompt, request.approvalId).approved)
  })
}

/** A run with what allows it: a call that needs nobody, or an approved request. */
export interface Justified {
  readonly run: Record.Run
  readonly isDirect: boolean
  readonly requests: ReadonlyArray<Record.Request>
}

export const justify = (record: Record.Record): ReadonlyArray<Justified> =>
  record.runs.map((run) => {
    const turn = record.turns[run.turn]!
    return {
      run,
      isDirect: isReceived(turn, run.call) && verdictOf(record, turn, run.call, run.number) === "allow",
      requests: justificationsOf(record, run)
    }
  })

/**
 * Runs for which no permit is left when every permit allows one run: each approved request is one, and so is each call
 * of the response that needs nobody.
 */
export const runsTooMany = (record: Record.Record, justified: ReadonlyArray<Justified>): ReadonlyArray<Justified> => {
  const takenBy = new Map<string, Justified>()
  const tooMany: Array<Justified> = []
  const permitsOf = ({ isDirect, requests, run }: Justified): ReadonlyArray<string> => [
    ...(isDirect ? receivedIndexes(record.turns[run.turn]!, run.call).map((index) => `${run.turn}/${index}`) : []),
    ...requests.map((request) => request.approvalId)
  ]
  // An augmenting path: a permit is given up by a run that can have another.
  const find = (one: Justified, tried: Set<string>): boolean => {
    for (const permit of permitsOf(one)) {
      if (tried.has(permit)) continue
      tried.add(permit)
      const holder = takenBy.get(permit)
      if (holder === undefined || find(holder, tried)) {
        takenBy.set(permit, one)
        return true
      }
    }
    return false
  }
  for (const one of justified) {
    if (permitsOf(one).length > 0 && !find(one, new Set())) tooMany.push(one)
  }
  return tooMany
}

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
// Predictions
// =============================================================================

/** What the laws say becomes of an open request in a turn; see {@link predict}. */
export type Fate =
  | "runs"
  | "denied"
  | "expired"
  | "invalid"
  | "no tools"
  | "drifted"
  | "void"
  | "blocked"
  | "held"
  | "waits"
  | "superseded"
  | "kept"
  | "fails"

export interface Prediction {
  readonly turn: Record.Turn
  readonly request: Record.Request
  readonly fate: Fate
  /** Whether the laws say what becomes of every other open request of the turn too. */
  readonly isWhole: boolean
}

/** Every open request of every turn of which the laws say what must become of it. */
export const predict = (record: Record.Record): ReadonlyArray<Prediction> => {
  const predictions: Array<Prediction> = []
  let open: ReadonlyArray<Record.Request> = []
  for (const turn of record.turns) {
    if (!turn.primary) continue
    if (turn.tampered) break
    const ended = turn.ending === "success" || turn.ending === "failure"
    const fates = open.flatMap((request): ReadonlyArray<Prediction> => {
      const fate = ended ? fateOf(record, turn, request) : undefined
      return fate === undefined ? [] : [{ turn, request, fate, isWhole: true }]
    })
    predictions.push(...fates.map((one) => ({ ...one, isWhole: fates.length === open.length })))
    // What its twin may have done, the history does not tell.
    if (turn.plan.delivery._tag === "Twice" && (isRivalled(turn) || isFickle(turn))) {
      open = []
      continue
    }
    const given = turn.ending === "success" ? requestIdsOf(turn) : []
    open = [
      ...given.flatMap((id) => record.requests.find((request) => request.approvalId === id) ?? []),
      ...(turn.ending === "success" ? fates.flatMap(({ fate, request }) => fate === "kept" ? [request] : []) : [])
    ]
  }
  return predictions
}

const fateOf = (record: Record.Record, turn: Record.Turn, request: Record.Request): Fate | undefined => {
  const { circumstances, plan } = turn
  if (isClaimed(record, turn, request)) return undefined
  // A policy that forbade it when an earlier turn was sent again has ended it, though the history does not tell.
  if (
    record.judgements.some((judgement) =>
      judgement.turn < turn.index && judgement.said === "block" && Record.isSameCall(judgement.call, request.call)
    )
  ) {
    return undefined
  }
  const answers = answersOf(turn.prompt, request.approvalId)
  if (isRivalled(turn) && (answers.approved || answers.denied)) return undefined
  if (request.scope !== circumstances.scope || !isKeyAccepted(turn, request.key)) return "invalid"
  const isExpired = turn.startedAt >= request.expiresAt
  // Near its end, a request may expire while the turn goes on.
  if (!isExpired && turn.endedAt >= request.expiresAt) return undefined
  if (answers.denied) return isExpired ? undefined : "denied"
  if (isExpired) return "expired"
  if (plan.delivery._tag === "Twice" && isFickle(turn)) return undefined
  const { tool } = request.call
  const asking = record.turns[request.turn]!
  const hasDrifted = (circumstances.drift[tool] ?? "none") !== (asking.circumstances.drift[tool] ?? "none")
  const verdict = verdictAgain(record, turn, request.call)
  const isShownAnew = tool === "Charge" && request.shown.presentation !== undefined && verdict !== "allow" &&
    (circumstances.policy !== "default" && circumstances.policy !== "nothing" ||
      circumstances.revision !== asking.circumstances.revision)
  if (answers.approved) {
    if (plan.toolkit !== "full") return "no tools"
    if (hasDrifted) return "drifted"
    if (verdict === "block") return "blocked"
    if (verdict === "failed") return "held"
    if (isShownAnew) return "void"
    return plan.resolve ? "runs" : undefined
  }
  if (answers.edited) return undefined
  const isPassedOver = hasMessageAfter(turn.prompt, request.approvalId)
  if (isPassedOver) {
    switch (record.plan.options.onNewMessage) {
      case "supersede":
        return "superseded"
      case "keep":
        return "kept"
      case "fail":
        return "fails"
      case "hold":
        break
    }
  }
  if (circumstances.controller !== "defer" || verdict === "block") return undefined
  // Whether a held request is held however its tool has changed, the laws do not say.
  if (plan.toolkit === "full" && hasDrifted) return isPassedOver ? undefined : "drifted"
  return "waits"
}

const isRivalled = ({ plan: { answers, delivery } }: Record.Turn): boolean =>
  delivery._tag === "Twice" && delivery.rival && answers.length > 0

/** A request is open until it is claimed: a run tells of that, and so may a crash just before it. */
const isClaimed = (record: Record.Record, turn: Record.Turn, request: Record.Request): boolean =>
  record.runs.some((run) => record.turns[run.turn]!.step < turn.step && Record.isSameCall(run.call, request.call)) ||
  record.turns.some((earlier) =>
    earlier.step < turn.step && (earlier.ending === "crashed" || earlier.process !== turn.process) &&
    (answersOf(earlier.prompt, request.approvalId).approved || earlier.circumstances.controller !== "defer")
  )

/** Of two turns at once either may be the first to ask such a policy. */
const isFickle = ({ circumstances: { gate, policy } }: Record.Turn): boolean =>
  policy.endsWith("later") || gate.endsWith("later")

const hasMessageAfter = ({ content }: Prompt.Prompt, approvalId: string): boolean =>
  content.findLastIndex((message) => message.role === "user") > indexOfRequest(content, approvalId)

const indexOfRequest = (messages: ReadonlyArray<Prompt.Message>, approvalId: string): number =>
  messages.findIndex((message) =>
    message.role === "assistant" &&
    message.content.some((part) => part.type === "tool-approval-request" && part.approvalId === approvalId)
  )

/** Whether a request stands in the history of a turn. */
export const isPrompted = (turn: Record.Turn, approvalId: string): boolean =>
  indexOfRequest(turn.prompt.content, approvalId) >= 0
