/** The laws of turns that a handler takes with a model of its own. */
import type { Law } from "./laws.ts"
import * as Record from "./record.ts"
import * as View from "./view.ts"

/** L1 to L5 and L11, within a handler. */
export const Nested: Law = {
  name: "Nested",
  fewest: 50,
  title: "in a handler's own turns a call is asked about, and runs once when it was approved, as in any other",
  check: ({ record }) =>
    record.turns.flatMap((turn) => {
      if (turn.within !== "handler" || turn.ending !== "success" || View.isTroubled(record, turn.step)) return []
      if (turn.circumstances.memory) return []
      return [...asks(record, turn), ...settles(record, turn)]
    }),
  concerns: ({ record }) => record.turns.some(({ within }) => within === "handler")
}

const tell = (turn: Record.Turn, call: Record.Received): string => `call ${call.id} in turn ${turn.index} of a handler`

const runsOf = (record: Record.Record, turn: Record.Turn, call: Record.Received) =>
  record.runs.filter((run) => run.turn === turn.index && run.call.id === call.id)

/** What the inner model calls is given back as a request, or is answered at once. */
const asks = (record: Record.Record, turn: Record.Turn): ReadonlyArray<string> =>
  turn.received.flatMap((call) => {
    const given = View.requestIdsOf(turn).filter((approvalId) =>
      record.requests.some((request) => request.approvalId === approvalId && Record.isSameCall(request.call, call))
    )
    const results = View.resultsOf(turn).filter(({ id }) => id === call.id)
    const runs = runsOf(record, turn, call)
    if (given.length + results.length !== 1) {
      return [`${tell(turn, call)} has ${given.length} requests and ${results.length} results`]
    }
    const verdict = View.verdictOf(record, turn, call)
    if (turn.circumstances.controller !== "defer" || verdict === "block" || verdict === "allow") return []
    return given.length === 1 && runs.length === 0 ? [] : [`nobody is asked about ${tell(turn, call)}`]
  })

/** What was answered is settled: it runs, it is denied, or it is held. */
const settles = (record: Record.Record, turn: Record.Turn): ReadonlyArray<string> =>
  record.requests.flatMap(({ approvalId, call }) => {
    if (!View.isPrompted(turn, approvalId)) return []
    const { approved, denied } = View.answersOf(turn.prompt, approvalId)
    const results = View.resultsOf(turn).filter((result) => View.approvalIdOf(result) === approvalId)
    const runs = runsOf(record, turn, call)
    const verdict = View.verdictOf(record, turn, call)
    if (denied) {
      return runs.length === 0 && results.length === 1 && results[0]!.isFailure
        ? []
        : [`${tell(turn, call)} is denied, and runs ${runs.length} times`]
    }
    if (!approved) return []
    switch (verdict) {
      case "ask":
      case "allow":
        return runs.length === 1 && results.length === 1 && turn.sent.length > 0
          ? []
          : [`${tell(turn, call)} was approved, and runs ${runs.length} times`]
      case "block":
        return runs.length === 0 && results.length === 1 && results[0]!.isFailure
          ? []
          : [`${tell(turn, call)} is blocked, and runs ${runs.length} times`]
      default:
        return runs.length === 0 && View.requestIdsOf(turn).includes(approvalId) && turn.sent.length === 0
          ? []
          : [`${tell(turn, call)} is not held, of which the policy failed`]
    }
  })
