/**
 * What justifies each run: a call that needs nobody, an approved request, or an answer that is remembered. Written from
 * the laws (DESIGN §5), not from the engine.
 */
import * as Record from "./record.ts"
import * as Remembered from "./remembered.ts"
import * as View from "./view.ts"

/** A run with what allows it: a call that needs nobody, or an approved request. */
export interface Justified {
  readonly run: Record.Run
  /** Its call was received in that turn, and nobody had to be asked about it. */
  readonly isDirect: boolean
  /** The requests that were given out for this very call and approved in this turn, in a message, inline or from memory. */
  readonly requests: ReadonlyArray<Record.Request>
  /** Whether one of them was approved in this turn itself, so that no memory is needed. */
  readonly isAnswered: boolean
  /** What is remembered that covers the call, where it would have had to be asked about. */
  readonly grants: ReadonlyArray<Remembered.Grant>
}

export const justify = (record: Record.Record): ReadonlyArray<Justified> =>
  record.runs.map((run) => {
    const turn = record.turns[run.turn]!
    const verdict = View.verdictOf(record, turn, run.call, run.number)
    const isReceived = View.isReceived(turn, run.call)
    // What waits since an earlier turn is a question still, whatever the policy says by now.
    const isAsked = verdict === "ask" || (verdict === "allow" && !isReceived)
    const grants = isAsked ? Remembered.covering(record, turn, run.call, "approved") : []
    const own = record.requests.filter((request) => isOf(turn, run, request))
    const answered = own.filter((request) => isApproved(record, turn, run, request))
    const waiting = grants.length === 0
      ? []
      : own.filter((request) => !answered.includes(request) && View.isPrompted(turn, request.approvalId))
    return {
      run,
      isDirect: isReceived && (verdict === "allow" || grants.length > 0),
      requests: [...answered, ...waiting],
      isAnswered: answered.length > 0 || (isReceived && verdict === "allow"),
      grants
    }
  })

const isOf = (turn: Record.Turn, run: Record.Run, request: Record.Request): boolean =>
  request.call.id === run.call.id && request.call.tool === run.call.tool && request.turn <= turn.index &&
  View.isValid(turn, request)

const isApproved = (record: Record.Record, turn: Record.Turn, run: Record.Run, request: Record.Request): boolean => {
  const { approvalId, call } = request
  const inline = record.asked.some((asked) =>
    asked.approvalId === approvalId && asked.params === run.call.params &&
    // What an idempotent tool was let begin by may let it begin again.
    (asked.turn === turn.index || (asked.turn < turn.index && call.tool === "Sync"))
  )
  return inline || (!View.isGuarded(call) && call.params === run.call.params &&
    (View.answersOf(turn.prompt, approvalId).approved || isClaimed(record, turn, run, request)))
}

// It was approved in a turn before, and what of it nobody knows how it ended an idempotent tool may do again, whether or not
// that answer is in the history still: a run tells of the claim, or a process or a store that may have kept it.
const isClaimed = (record: Record.Record, turn: Record.Turn, run: Record.Run, { approvalId, call }: Record.Request) =>
  call.tool === "Sync" &&
  record.turns.some((earlier) =>
    earlier.index < turn.index && View.answersOf(earlier.prompt, approvalId).approved &&
    (earlier.ending === "crashed" || isDeadSince(record, earlier, run) || View.isTroubled(record, earlier.step) ||
      record.runs.some((one) =>
        one.number < run.number && one.turn === earlier.index && Record.isSameCall(one.call, run.call)
      ))
  )

// What was claimed in a turn that was left may not have begun when its process died.
const isDeadSince = (record: Record.Record, { ending, process }: Record.Turn, run: Record.Run) =>
  ending === "left" && run.process !== process && record.crashed.includes(process)

/**
 * Runs for which no permit is left when every permit allows one run: each approved request is one, and so is each call
 * of the response that needs nobody.
 */
export const runsTooMany = (record: Record.Record, justified: ReadonlyArray<Justified>): ReadonlyArray<Justified> =>
  withoutPermit(
    justified,
    ({ isDirect, requests, run }) => [
      ...(isDirect
        ? View.receivedIndexes(record.turns[run.turn]!, run.call).map((index) => `${run.turn}/${index}`)
        : []),
      ...requests.map((request) => request.approvalId)
    ]
  )

/** Runs that only a memory allows, for which no use is left. */
export const runsOverUse = (justified: ReadonlyArray<Justified>): ReadonlyArray<Justified> => {
  const counted = justified.filter((one, index) =>
    one.grants.length > 0 && !one.isAnswered && one.grants.every(({ uses }) => uses < Infinity) &&
    // What an idempotent tool does again takes no further use.
    !justified.slice(0, index).some((other) => Record.isSameCall(other.run.call, one.run.call))
  )
  return withoutPermit(
    counted,
    ({ grants }) => grants.flatMap(({ id, uses }) => Array.from({ length: uses }, (_, index) => `${id}/${index}`))
  )
}

/** Those that get no permit of their own, however the permits are shared out. */
const withoutPermit = (
  all: ReadonlyArray<Justified>,
  permitsOf: (one: Justified) => ReadonlyArray<string>
): ReadonlyArray<Justified> => {
  const takenBy = new Map<string, Justified>()
  const left: Array<Justified> = []
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
  for (const one of all) {
    if (permitsOf(one).length > 0 && !find(one, new Set())) left.push(one)
  }
  return left
}
