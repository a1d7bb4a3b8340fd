/** The laws of how a conversation goes on with tools that wait. */
import type { Law } from "./laws.ts"
import * as WaitingLaws from "./lawsOfWaiting.ts"
import type * as PredictionsOfWaiting from "./predictionsOfWaiting.ts"
import type * as Record from "./record.ts"
import * as View from "./view.ts"
import * as Waits from "./waits.ts"

const isGiven = (record: Record.Record, turn: Record.Turn, { approvalId }: Record.Asking): boolean => {
  if (turn.ending === "success") return View.requestIdsOf(turn).includes(approvalId)
  // A turn that fails for a new message names the request that it fails for.
  const mayFailForAnother = !turn.plan.object ||
    (record.plan.options.onNewMessage === "fail" && turn.plan.say !== "nothing")
  return turn.required === undefined || mayFailForAnother ||
    turn.required.requests.some((request) => request.approvalId === approvalId)
}

const failuresOf = (turn: Record.Turn, { suspension: { call } }: Record.Asking): ReadonlyArray<string> =>
  View.resultsOf(turn).flatMap((result) =>
    result.id === call.id && result.isFailure ? [View.reasonIn(result.encodedResult) ?? ""] : []
  )

/** L5 Partial batch waits, and what was answered goes on. */
export const L5: Law = {
  name: "L5 (waiting)",
  fewest: 50,
  title: "while a tool waits the model is not called, and its request is given again; once answered it goes on",
  check: ({ predictionsOfWaiting, record }) => [
    ...predictionsOfWaiting.flatMap(({ asking, fate, turn }) => {
      const what = Waits.tell(asking.suspension)
      switch (fate) {
        case "waits":
        case "held":
          if (turn.sent.length > 0) return [`the model was called in turn ${turn.index} while ${what} is ${fate}`]
          return isGiven(record, turn, asking)
            ? []
            : [`turn ${turn.index} does not give the request of ${what} again (${fate})`]
        case "goes on":
          return wentOn(record, turn, asking)
        default:
          return []
      }
    }),
    // What a tool asks for reaches the program in the turn in which it begins to wait.
    ...record.suspensions.flatMap((suspension) => {
      const turn = record.turns[suspension.turn]!
      if (turn.ending !== "success" || View.isTroubled(record, turn.step)) return []
      const given = View.requestIdsOf(turn)
      const isAsked = record.askings.some((asking) =>
        Waits.isSame(asking.suspension, suspension) && given.includes(asking.approvalId)
      )
      const isFailed = View.resultsOf(turn).some((result) => result.id === suspension.call.id && result.isFailure)
      const isAnswered = record.resumptions.some((resumption) =>
        record.turns[resumption.turn]!.step === turn.step && Waits.isSame(resumption.suspension, suspension)
      )
      const wasStopped = record.stops.some(({ said, step }) => said && step === turn.step)
      return isAsked || isAnswered || isFailed || wasStopped
        ? []
        : [`turn ${turn.index} does not ask for ${Waits.tell(suspension)}`]
    })
  ],
  concerns: ({ predictionsOfWaiting }) =>
    predictionsOfWaiting.some(({ fate }) => fate === "waits" || fate === "goes on")
}

const wentOn = (record: Record.Record, turn: Record.Turn, asking: Record.Asking): ReadonlyArray<string> => {
  const what = Waits.tell(asking.suspension)
  const gone = record.resumptions.find((resumption) =>
    Waits.isSame(resumption.suspension, asking.suspension) && record.turns[resumption.turn]!.step === turn.step
  )
  if (gone === undefined) return [`${what} was answered in turn ${turn.index} and did not go on`]
  if (turn.ending !== "success" || gone.outcome === "suspended") return []
  const { id, tool } = asking.suspension.call
  const results = View.resultsOf(turn).filter((result) => result.id === id && result.name === tool)
  return results.length === 1 ? [] : [`turn ${turn.index} gives ${results.length} results for ${what}`]
}

/** L6 A new user message. */
export const L6: Law = {
  name: "L6 (waiting)",
  fewest: 20,
  title: "a new message supersedes what people are asked, and timers and events wait on; or what the program wants",
  check: ({ predictionsOfWaiting, record }) =>
    predictionsOfWaiting.flatMap(({ asking, fate, turn }) => {
      const what = Waits.tell(asking.suspension)
      switch (fate) {
        case "superseded":
          if (turn.ending !== "success") return []
          if (!failuresOf(turn, asking).some((reason) => /superseded/i.test(reason))) {
            return [`turn ${turn.index} does not say that ${what} is superseded`]
          }
          return record.resumptions.some((resumption) => Waits.isSame(resumption.suspension, asking.suspension))
            ? [`${what} went on though turn ${turn.index} superseded it`]
            : []
        case "kept":
          return turn.ending === "success" && View.requestIdsOf(turn).includes(asking.approvalId)
            ? [`turn ${turn.index} asks again for ${what}, which it keeps`]
            : []
        case "fails":
          return turn.sent.length === 0 && turn.ending === "failure"
            ? []
            : [`turn ${turn.index} goes on though ${what} is open`]
        default:
          return []
      }
    }),
  concerns: ({ predictionsOfWaiting }) =>
    predictionsOfWaiting.some(({ fate }) => fate === "superseded" || fate === "kept" || fate === "fails")
}

/** L8 Isolation. */
export const L8: Law = {
  name: "L8 (waiting)",
  fewest: 30,
  title: "what a tool does after it waited is neither lost nor interrupted, and its result is given once",
  check: ({ record }) =>
    record.resumptions.flatMap((resumption) => {
      const { endedAt, number, outcome, process, suspension } = resumption
      const turn = record.turns[resumption.turn]!
      const asking = Waits.askingOf(record, suspension)
      if (record.stops.some(({ approvalId, said }) => said && approvalId === asking?.approvalId)) return []
      const closed = record.closed.find((one) => one.process === process)
      const isEnded = record.steps.includes("Restart") || record.steps.includes("Time") ||
        record.crashed.includes(process)
      const breaches: Array<string> = []
      if (outcome === "interrupted" && !isEnded && (closed === undefined || endedAt < closed.at)) {
        breaches.push(`resumption ${number} was interrupted`)
      }
      if (turn.ending === "success" && (outcome === "succeeded" || outcome === "failed")) {
        const given = View.resultsOf(turn).filter((result) =>
          WaitingLaws.marksIn(result.encodedResult).includes(number)
        )
        if (given.length !== 1) {
          breaches.push(`turn ${turn.index} gives the result of resumption ${number} ${given.length} times`)
        }
      }
      return breaches
    }),
  concerns: ({ record }) => record.resumptions.some(({ outcome }) => outcome !== "suspended")
}

/** L10 Drift, and whatever else ends what waits. */
export const L10: Law = {
  name: "L10 (waiting)",
  fewest: 30,
  title: "what waited and does not go on has a result that says why",
  check: ({ predictionsOfWaiting }) =>
    predictionsOfWaiting.flatMap(({ asking, fate, turn }) =>
      turn.ending !== "success" || !endings.has(fate) || failuresOf(turn, asking).some((reason) => reason.trim() !== "")
        ? []
        : [`turn ${turn.index} does not say why ${Waits.tell(asking.suspension)} is over (${fate})`]
    ),
  concerns: ({ predictionsOfWaiting }) => predictionsOfWaiting.some(({ fate }) => endings.has(fate))
}

/** L14 A failed result always has a reason, which is true. */
export const L14: Law = {
  name: "L14 (waiting)",
  fewest: 50,
  title: "of a call that began, and then waited, nobody is told that nothing ran",
  check: ({ record }) =>
    failedOf(record).flatMap(({ reason, start, turn }) =>
      /nothing ran|did not run|has not run/i.test(reason)
        ? [`turn ${turn.index} says that nothing ran of run ${start}, which did: ${reason}`]
        : []
    ),
  concerns: ({ record }) => failedOf(record).length > 0
}

/** The failed results of calls that are known to have begun, and to have waited, in an earlier turn. */
const failedOf = (record: Record.Record) =>
  record.turns.flatMap((turn) =>
    turn.tampered ? [] : View.resultsOf(turn).flatMap((result) => {
      // Where the model used an id again, another call may have failed of its own.
      const received = record.turns.flatMap(({ received }) =>
        received.filter(({ id, tool }) => tool === result.name && (id === result.id || result.id.startsWith(`${id}_`)))
      )
      if (!result.isFailure || received.length > 1) return []
      const begun = record.suspensions.filter(({ call }) => call.id === result.id && call.tool === result.name)
      const [first] = begun
      if (first === undefined || first.start >= turn.runsBefore) return []
      if (!begun.every((suspension) => Waits.isKnown(record, turn, suspension))) return []
      return [{ turn, start: first.start, reason: View.reasonIn(result.encodedResult) ?? "" }]
    })
  )

const endings: ReadonlySet<PredictionsOfWaiting.Fate> = new Set([
  "denied",
  "expired",
  "invalid",
  "drifted",
  "blocked",
  "superseded"
])
