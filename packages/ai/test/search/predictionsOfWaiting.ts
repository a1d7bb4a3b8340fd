/**
 * What the laws say must become of each call that waits. Written from the laws (DESIGN §5 and §7), not from the engine;
 * of what the laws leave open nothing is said.
 */
import * as Predictions from "./predictions.ts"
import type * as Record from "./record.ts"
import * as View from "./view.ts"
import * as Waits from "./waits.ts"

/** What the laws say becomes of a call that waits, in a turn. */
export type Fate =
  | "goes on"
  | "denied"
  | "expired"
  | "invalid"
  | "drifted"
  | "blocked"
  | "held"
  | "waits"
  | "superseded"
  | "kept"
  | "fails"

export interface Prediction {
  readonly turn: Record.Turn
  readonly asking: Record.Asking
  readonly fate: Fate
}

/** Every call that waits in a turn of which the laws say what must become of it. */
export const predict = (record: Record.Record): ReadonlyArray<Prediction> => {
  if (record.askings.length === 0) return []
  const predictions: Array<Prediction> = []
  let open: ReadonlyArray<Record.Asking> = []
  for (const turn of record.turns) {
    if (!turn.primary) continue
    if (turn.tampered) break
    const ended = turn.ending === "success" || turn.ending === "failure"
    const fates = open.flatMap((asking): ReadonlyArray<Prediction> => {
      const fate = ended ? fateOf(record, turn, asking) : undefined
      return fate === undefined ? [] : [{ turn, asking, fate }]
    })
    predictions.push(...fates)
    const given = turn.ending === "success" ? View.requestIdsOf(turn) : []
    open = [
      ...given.flatMap((id) => record.askings.find((asking) => asking.approvalId === id) ?? []),
      ...(turn.ending === "success" ? fates.flatMap(({ asking, fate }) => fate === "kept" ? [asking] : []) : [])
    ]
  }
  return predictions
}

const fateOf = (record: Record.Record, turn: Record.Turn, asking: Record.Asking): Fate | undefined => {
  const { circumstances, plan } = turn
  const { suspension } = asking
  const { call } = suspension
  if (isUncertain(record, turn, asking)) return undefined
  if (Waits.isUnknown(record, turn, suspension)) return "invalid"
  if (!Waits.isKnown(record, turn, suspension)) return undefined
  const said = Waits.saidIn(turn.prompt, asking)
  const isOver = Waits.isOver(record, turn, asking)
  // Near its end, a request may expire while the turn goes on.
  if (!isOver && Waits.isOver(record, turn, asking, turn.endedAt)) return undefined
  if (Waits.isDenied(turn, asking)) return isOver ? undefined : "denied"
  if (isOver) return "expired"
  const dueAt = asking.shown.awaited?.dueAt ?? Infinity
  const isDue = turn.startedAt >= dueAt
  if (!isDue && turn.endedAt >= dueAt) return undefined
  const isAnswered = isDue || Waits.toldBefore(record, turn, asking).length > 0 ||
    said.some(({ answer }) => answer !== undefined)
  const tool = circumstances.drift[call.tool] ?? "none"
  const before = record.turns[record.runs[suspension.start]!.turn]!.circumstances.drift[call.tool] ?? "none"
  const hasDrifted = tool !== "widened" && tool !== before
  const verdict = Predictions.verdictAgain(record, turn, call)
  if (isAnswered) {
    // What came behind a message may be kept, or be superseded, where nobody can read the answer.
    if (plan.toolkit !== "full") return View.hasMessageAfter(turn.prompt, asking.approvalId) ? undefined : "waits"
    // Whether it can go on is found out by whoever lets it.
    if (!plan.resolve) return undefined
    // As above: without the tool nobody can read the answer.
    if (tool === "removed" && View.hasMessageAfter(turn.prompt, asking.approvalId)) return undefined
    // What was asked with more than the tool knows now may fit it all the same.
    if (hasDrifted && before === "widened" && tool === "none") return undefined
    if (hasDrifted) return "drifted"
    if (Predictions.isFickle(turn)) return undefined
    if (verdict === "block") return "blocked"
    return verdict === "failed" ? "held" : "goes on"
  }
  // What does not fit is no answer; whether it keeps what waits from being superseded, the laws do not say.
  if (View.hasMessageAfter(turn.prompt, asking.approvalId)) {
    if (said.length > 0) return undefined
    const isForPeople = suspension.kind === "words" || suspension.kind === "verdict"
    switch (record.plan.options.onNewMessage) {
      case "supersede":
        return isForPeople ? "superseded" : "kept"
      case "keep":
        return "kept"
      case "fail":
        return "fails"
      case "hold":
        break
    }
  }
  // A policy may end it before anybody is asked, and a controller may answer.
  if (circumstances.controller !== "defer" || circumstances.policy.startsWith("block")) return undefined
  return plan.toolkit !== "full" || !hasDrifted ? "waits" : undefined
}

/** Whether something may have become of it that the history does not tell. */
const isUncertain = (record: Record.Record, turn: Record.Turn, asking: Record.Asking): boolean => {
  const { suspension } = asking
  const { step } = record.turns[suspension.turn]!
  return record.resumptions.some((resumption) =>
    Waits.isSame(resumption.suspension, suspension) && record.turns[resumption.turn]!.step < turn.step
  ) ||
    View.isTroubledSince(record, step, turn.step) ||
    record.stops.some(({ approvalId, said }) => said && approvalId === asking.approvalId) ||
    record.tellings.some(({ answer, approvalId }) => approvalId === asking.approvalId && answer === undefined) ||
    record.judgements.some((judgement) => judgement.turn < turn.index && judgement.said === "block") ||
    record.turns.some((earlier) =>
      earlier.step >= step && earlier.step < turn.step &&
      (earlier.ending === "crashed" || earlier.ending === "left" || earlier.ending === "stuck" || isRivalled(earlier))
    ) ||
    isRivalled(turn)
}

const isRivalled = ({ plan: { delivery } }: Record.Turn): boolean => delivery._tag === "Twice" && delivery.rival
