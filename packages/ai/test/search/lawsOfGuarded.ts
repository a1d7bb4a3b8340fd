/** The laws of calls that are asked about where they are handled: by a guarded toolkit, within a turn or without any. */
import type { Law } from "./laws.ts"
import type * as Record from "./record.ts"
import * as Remembered from "./remembered.ts"
import * as View from "./view.ts"

interface Guarded {
  readonly turn: Record.Turn
  readonly call: Record.Received
}

/** The calls of which it is known that they reached their guard, and that whoever made them waited. */
const guardedIn = (record: Record.Record): ReadonlyArray<Guarded> =>
  record.turns.flatMap((turn) => {
    const { circumstances, ending, plan, sent, within } = turn
    if (ending !== "success" || !plan.resolve || plan.toolkit !== "full" || plan.model.finish !== "complete") return []
    if (within === "conversation" && (sent.length === 0 || plan.object)) return []
    if ((circumstances.drift["Wipe"] ?? "none") !== "none") return []
    return turn.received.flatMap((call) =>
      View.isGuarded(call) && !Remembered.hasSay(record, turn, call) && !call.params.includes("not a number") &&
        turn.received.filter(({ id }) => id === call.id).length === 1 &&
        // Of one whose id was used before, a result may be of the other.
        record.turns.every((other) => other === turn || other.received.every(({ id }) => id !== call.id))
        ? [{ turn, call }]
        : []
    )
  })

/** Whether somebody's yes lets such a call run; `undefined` where the laws do not say. */
const mayRun = (record: Record.Record, { call, turn }: Guarded): boolean => {
  const { controller } = turn.circumstances
  const isApproved = controller.startsWith("approve") || controller === "edit"
  switch (View.verdictOf(record, turn, call)) {
    case "allow":
      return true
    case "ask":
      return isApproved
    default:
      return false
  }
}

/** L1, L3, L4, L11 and L14, where nobody comes back with an answer. */
export const Guarded: Law = {
  name: "Guarded",
  fewest: 60,
  title: "a guarded call runs once when somebody says yes to it there, and else has a result that says why not",
  check: ({ record }) => [
    ...guardedIn(record).flatMap((guarded) => {
      const { call, turn } = guarded
      const what = `the guarded call ${call.id} in turn ${turn.index}`
      const runs = record.runs.filter((run) => run.turn === turn.index && run.call.id === call.id)
      const results = View.resultsOf(turn).filter(({ id, name }) => id === call.id && name === call.tool)
      const [result] = results
      if (result === undefined || results.length > 1) return [`${what} has ${results.length} results`]
      // Parameters that somebody changed are asked about by a policy of their own, which may say anything by then.
      const isEdited = turn.circumstances.controller === "edit"
      const expected = mayRun(record, guarded) ? 1 : 0
      if (runs.length > 1 || (!isEdited && runs.length !== expected)) return [`${what} runs ${runs.length} times`]
      if (runs.length === 1) return []
      const reason = View.reasonIn(result.encodedResult) ?? ""
      if (!result.isFailure || reason === "") return [`${what} does not run, and its result does not say why`]
      const isDenied = record.asked.some((asked) =>
        asked.turn === turn.index && asked.said.startsWith("deny") &&
        record.requests.some((request) => request.approvalId === asked.approvalId && request.call.id === call.id)
      )
      return isDenied && !reason.includes("no, thank you") ? [`${what} does not give the person's reason`] : []
    }),
    ...record.turns.flatMap((turn) =>
      View.requestIdsOf(turn).some((approvalId) =>
          record.requests.some((request) => request.approvalId === approvalId && View.isGuarded(request.call))
        )
        ? [`turn ${turn.index} gives a request of a guard to the program, which cannot answer it`]
        : []
    )
  ],
  concerns: ({ record }) => guardedIn(record).length > 0
}
