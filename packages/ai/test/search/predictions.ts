/**
 * What the laws say must become of each open request. Written from the laws (DESIGN §5), not from the engine; of what the
 * laws leave open nothing is said.
 */
import * as Hosted from "./hosted.ts"
import type * as Plan from "./plan.ts"
import * as Record from "./record.ts"
import * as Remembered from "./remembered.ts"
import * as View from "./view.ts"
import * as Waits from "./waits.ts"

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
    const isWhole = fates.length === open.length && !Hosted.mayBeOpen(record, turn) && !Waits.mayWait(record, turn) &&
      record.requests.every((request) => open.includes(request) || !View.isUnsettled(turn, request.approvalId))
    predictions.push(...fates.map((one) => ({ ...one, isWhole })))
    // What its twin may have done, the history does not tell.
    if (turn.plan.delivery._tag === "Twice" && (isRivalled(turn) || isFickle(turn))) {
      open = []
      continue
    }
    const given = turn.ending === "success" ? View.requestIdsOf(turn) : []
    open = [
      ...given.flatMap((id) => record.requests.find((request) => request.approvalId === id) ?? []),
      ...(turn.ending === "success" ? fates.flatMap(({ fate, request }) => fate === "kept" ? [request] : []) : [])
    ]
  }
  return predictions
}

const fateOf = (record: Record.Record, turn: Record.Turn, request: Record.Request): Fate | undefined => {
  const { circumstances, plan } = turn
  if (isClaimed(record, turn, request) || View.isStopped(record, [request])) return undefined
  // What was to be written may have been, or not.
  if (View.isTroubledSince(record, record.turns[request.turn]!.step, turn.step)) return undefined
  // A policy that forbade it when an earlier turn was sent again has ended it, though the history does not tell.
  if (
    record.judgements.some((judgement) =>
      judgement.turn < turn.index && judgement.said === "block" && Record.isSameCall(judgement.call, request.call)
    )
  ) {
    return undefined
  }
  const answers = View.answersOf(turn.prompt, request.approvalId)
  if (isRivalled(turn) && (answers.approved || answers.denied)) return undefined
  if (request.scope !== circumstances.scope || !View.isKeyAccepted(turn, request.key)) return "invalid"
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
  // Whether such a policy is asked once in a turn or twice, the laws do not say.
  if (answers.approved && isFickle(turn) && verdict === "ask") return undefined
  if (answers.approved) {
    if (plan.toolkit !== "full") return "no tools"
    if (hasDrifted) return "drifted"
    // Who resolves calls themselves has nobody asked, the policy neither. Another call's new message may fail the turn.
    if (!plan.resolve) return record.plan.options.onNewMessage === "fail" ? undefined : "waits"
    if (verdict === "block") return "blocked"
    if (verdict === "failed") return "held"
    if (isShownAnew) return "void"
    return "runs"
  }
  if (answers.edited) return undefined
  const isPassedOver = View.hasMessageAfter(turn.prompt, request.approvalId)
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
  if (Remembered.hasSay(record, turn, request.call)) return undefined
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
    (View.answersOf(earlier.prompt, request.approvalId).approved || earlier.circumstances.controller !== "defer")
  )

/** Of two turns at once either may be the first to ask such a policy. */
export const isFickle = ({ circumstances: { gate, policy } }: Record.Turn): boolean =>
  policy.endsWith("later") || gate.endsWith("later")

/** What will be said of a call that was asked about before. */
export const verdictAgain = (record: Record.Record, turn: Record.Turn, call: Record.Received): View.Verdict => {
  const { gate, policy } = turn.circumstances
  const { tool } = call
  const said = (by: Record.Judgement["by"], verdict: Plan.Verdict): View.Verdict | "own" => {
    const isFirst = !record.judgements.some((judgement) =>
      judgement.turn < turn.index && judgement.by === by && Record.isSameCall(judgement.call, call)
    )
    switch (verdict) {
      case "nothing":
        return "own"
      case "ask rememberable":
      case "ask once":
        return "ask"
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
  if (tool !== "Send") return View.ownVerdict(tool)
  const byGate = said("gate", gate)
  return byGate === "own" ? "failed" : byGate
}
