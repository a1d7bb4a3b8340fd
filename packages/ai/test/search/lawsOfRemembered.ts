/** The laws of answers that are remembered: what they let run, and what nobody is asked again. */
import * as Justify from "./justify.ts"
import type { Law } from "./laws.ts"
import * as Record from "./record.ts"
import * as Remembered from "./remembered.ts"
import * as View from "./view.ts"

const tell = ({ call, number, turn }: Record.Run): string =>
  `run ${number} of ${call.tool} (call ${call.id}) in turn ${turn}`

/** L2 At most once, and L4 No forgery. That a grant is of its scope, tool and call is in L4: what it does not cover, nobody approved. */
export const Uses: Law = {
  name: "L2 (remembered)",
  fewest: 30,
  title: "what is remembered for a number of calls lets so many run, however it is answered and read",
  check: ({ justified }) =>
    Justify.runsOverUse(justified).map(({ run }) => `${tell(run)} is one too many for what is remembered`),
  concerns: ({ justified }) => justified.some(({ grants, isAnswered }) => grants.length > 0 && !isAnswered)
}

/** L3 Deny wins. */
export const Denials: Law = {
  name: "L3 (remembered)",
  fewest: 5,
  title: "what was denied for good does not run, whatever else is remembered and whatever the policy allows",
  check: ({ justified, record }) =>
    justified.flatMap(({ run }) => {
      const turn = record.turns[run.turn]!
      // Where nobody is asked, nothing is looked up: whoever takes the policy away takes its denials with it.
      if (View.verdictOf(record, turn, run.call) === "allow" || !View.isReceived(turn, run.call)) return []
      const denial = sureIn(record, turn, run.call, "denied")
      return denial === undefined ? [] : [`${tell(run)}, though turn ${denial.turn} denied such calls for good`]
    }),
  concerns: ({ record }) =>
    record.turns.some((turn) => turn.received.some((call) => sureIn(record, turn, call, "denied") !== undefined))
}

const sureIn = (
  record: Record.Record,
  turn: Record.Turn,
  call: Record.Received,
  decision: Remembered.Grant["decision"]
): Remembered.Grant | undefined =>
  Remembered.covering(record, turn, call, decision).find((grant) => Remembered.isSure(record, turn, grant))

/** What is remembered counts. */
export const Liveness: Law = {
  name: "Liveness (remembered)",
  fewest: 10,
  title: "nobody is asked again about what was answered for good; an approval lets it run, a denial says so",
  check: ({ record }) =>
    rememberedIn(record).flatMap(({ call, decision, turn }) => {
      const what = `call ${call.id} in turn ${turn.index}, which is remembered as ${decision}`
      const isAsked = record.requests.some((request) =>
        request.turn === turn.index && Record.isSameCall(request.call, call)
      )
      if (isAsked) return [`somebody is asked about ${what}`]
      const runs = record.runs.filter((run) => run.turn === turn.index && Record.isSameCall(run.call, call))
      const results = View.resultsOf(turn).filter(({ id }) => id === call.id)
      if (runs.length !== (decision === "approved" ? 1 : 0)) return [`${what}, runs ${runs.length} times`]
      const isDenied = results.length === 1 && results[0]!.isFailure &&
        View.reasonIn(results[0]!.encodedResult) !== undefined
      return decision === "approved" || isDenied ? [] : [`${what}, has no result that says so`]
    }),
  concerns: ({ record }) => rememberedIn(record).length > 0
}

interface Known {
  readonly turn: Record.Turn
  readonly call: Record.Received
  readonly decision: Remembered.Grant["decision"]
}

/** Calls of which it is known what is remembered, in turns that can act on it. */
const rememberedIn = (record: Record.Record): ReadonlyArray<Known> =>
  record.turns.flatMap((turn) => {
    const { circumstances: { policy }, ending, plan, sent, within } = turn
    if (ending !== "success" || !plan.resolve || plan.object || plan.toolkit !== "full") return []
    if (plan.model.finish !== "complete" || (within === "conversation" && sent.length === 0)) return []
    if (!["default", "ask", "ask once", "ask rememberable"].includes(policy)) return []
    // What does not fit its tool runs by nobody's word.
    if (plan.model.calls.some(({ flaw }) => flaw !== "none")) return []
    return turn.received.flatMap((call): ReadonlyArray<Known> => {
      const isOnly = record.turns.every((other) =>
        other.received.every((received) => (other === turn && received === call) || received.id !== call.id)
      )
      if (!isOnly || View.verdictOf(record, turn, call) !== "ask") return []
      if (sureIn(record, turn, call, "denied") !== undefined) return [{ turn, call, decision: "denied" }]
      // A denial that may be meant makes it uncertain, and so does what is used up.
      const mayBeDenied = Remembered.grantsOf(record).some(({ decision, tool }) =>
        decision === "denied" && tool === call.tool
      )
      const grant = sureIn(record, turn, call, "approved")
      return mayBeDenied || grant === undefined || grant.uses < Infinity
        ? []
        : [{ turn, call, decision: "approved" }]
    })
  })

/** L5, of siblings that wait. */
export const Siblings: Law = {
  name: "L5 (remembered)",
  fewest: 8,
  title: "one answer that is to be remembered answers what waits beside it and is covered",
  check: ({ predictions, record }) =>
    predictions.flatMap(({ fate, request, turn }) => {
      if (fate !== "runs") return []
      return siblingsOf(record, turn, request).flatMap((sibling) =>
        record.runs.some((run) =>
            record.turns[run.turn]!.step <= turn.step && Record.isSameCall(run.call, sibling.call)
          )
          ? []
          : [
            `call ${sibling.call.id} waits on in turn ${turn.index} beside ${request.call.id}, which was answered for it`
          ]
      )
    }),
  concerns: ({ predictions, record }) =>
    predictions.some(({ fate, request, turn }) => fate === "runs" && siblingsOf(record, turn, request).length > 0)
}

/** The requests that an approval in the history of a turn is for too. */
const siblingsOf = (
  record: Record.Record,
  turn: Record.Turn,
  { approvalId }: Record.Request
): ReadonlyArray<Record.Request> => {
  const { circumstances: { controller, memory, policy } } = turn
  if (!memory || controller !== "defer" || (policy !== "ask rememberable" && policy !== "ask once")) return []
  if (turn.ending !== "success" || turn.plan.object) return []
  const grant = Remembered.grantsOf(record).find((grant) =>
    !grant.isInline && grant.turn === turn.index && grant.approvalId === approvalId && grant.uses === Infinity
  )
  // A presentation that the policy does not make is not what the person was shown.
  if (grant === undefined || grant.decision === "denied" || grant.tool === "Charge") return []
  return record.requests.filter((request) => {
    const answers = View.answersOf(turn.prompt, request.approvalId)
    return request.approvalId !== approvalId && View.isUnsettled(turn, request.approvalId) &&
      !answers.approved && !answers.denied && !answers.edited && View.isValid(turn, request) &&
      turn.endedAt < request.expiresAt && !View.hasMessageAfter(turn.prompt, request.approvalId) &&
      Remembered.covering(record, turn, request.call, "approved").includes(grant) &&
      Remembered.grantsOf(record).every(({ decision, tool }) => decision === "approved" || tool !== grant.tool) &&
      (record.turns[request.turn]!.circumstances.drift[grant.tool] ?? "none") ===
        (turn.circumstances.drift[grant.tool] ?? "none")
  })
}
