/** The laws of what may run: L1, L2, L3, L4, L11, and that what may run does. */
import * as Justify from "./justify.ts"
import type { Law } from "./laws.ts"
import * as Record from "./record.ts"
import * as Remembered from "./remembered.ts"
import * as View from "./view.ts"

const tell = (run: Record.Run): string =>
  `run ${run.number} of ${run.call.tool} (call ${run.call.id}) in turn ${run.turn}, process ${run.process}`

/** L1 Fail closed. */
export const L1: Law = {
  name: "L1",
  title: "a policy that fails, dies, hangs or says nothing of use never lets a tool run: a person is asked",
  check: ({ justified, record }) => [
    ...justified.flatMap(({ run }) => {
      const verdict = View.verdictOf(record, record.turns[run.turn]!, run.call, run.number)
      return verdict === "failed" || verdict === "unjudged" ? [`${tell(run)} though the policy ${verdict}`] : []
    }),
    ...record.requests.flatMap(({ call, shown }) =>
      call.params.includes("not a number") ? [`a person is asked about ${shown.description}, which cannot run`] : []
    ),
    ...record.turns.flatMap((turn) => {
      if (turn.ending !== "success" || turn.sent.length === 0 || !turn.plan.resolve) return []
      if (turn.plan.model.finish !== "complete" || turn.plan.toolkit !== "full") return []
      return turn.received.flatMap((call) =>
        turn.received.filter((other) => other.id === call.id).length === 1 &&
          View.verdictOf(record, turn, call) === "failed" &&
          !Remembered.hasSay(record, turn, call) &&
          // Where nobody answers inline, a guard has nobody to ask.
          !(View.isGuarded(call) && turn.circumstances.controller === "defer") &&
          !record.requests.some((request) => request.turn === turn.index && Record.isSameCall(request.call, call))
          ? [`nobody was asked about ${call.tool} (call ${call.id}) in turn ${turn.index}, of which the policy failed`]
          : []
      )
    })
  ],
  concerns: ({ record }) => record.judgements.some((judgement) => judgement.said === "failed")
}

// A run that ended just before its process did, or when the store did not work, may not have been recorded: then nobody
// knows what became of it.
const isUnknown = (record: Record.Record, run: Record.Run, until: number): boolean =>
  View.isUnknown(run) || record.turns[run.turn]!.ending === "crashed" || record.crashed.includes(run.process) ||
  View.isTroubledSince(record, record.turns[run.turn]!.step, until)

// A stop that the store did not keep is forgotten, and what may be repeated is.
const isKnownStopped = (record: Record.Record, request: Record.Request, run: Record.Run): boolean =>
  record.stops.some((stop) =>
    View.isStopped({ ...record, stops: [stop] }, [request], run.number) && !View.isTroubled(record, stop.step)
  )

/** L2 At most once. */
export const L2: Law = {
  name: "L2",
  title: "one approval is one run, across repeats, processes, crashes, readers who leave and runs that are stopped",
  check: ({ justified, record }) => [
    ...record.stops.flatMap(({ approvalId, left, said }) =>
      left.length === 0 ? [] : [
        `run ${left.join()} goes on though it was stopped (${approvalId}), and the journal says ${
          said ? "it was" : "there was none"
        }`
      ]
    ),
    ...justified.flatMap(({ isDirect, requests, run }) =>
      !isDirect && requests.length === 1 && isKnownStopped(record, requests[0]!, run)
        ? [`${tell(run)} after it was stopped`]
        : []
    ),
    ...Justify.runsTooMany(record, justified).flatMap(({ requests, run }) => {
      const mayRepeat = run.call.tool === "Sync" && !View.isStopped(record, requests, run.number) &&
        justified.some((earlier) =>
          earlier.run.number < run.number && isUnknown(record, earlier.run, record.turns[run.turn]!.step) &&
          earlier.requests.some((request) => requests.includes(request))
        )
      return mayRepeat ? [] : [`${tell(run)} is one too many for its approvals`]
    }),
    ...record.turns.flatMap((turn) =>
      turn.tampered ? [] : View.resultsOf(turn).flatMap((result) => {
        const request = record.requests.find((request) => request.approvalId === View.approvalIdOf(result))
        if (request === undefined || !View.isValid(turn, request)) return []
        const before = justified.filter(({ isDirect, requests, run }) =>
          !isDirect && requests.length === 1 && requests[0] === request &&
          record.turns[run.turn]!.step < turn.step && run.number < turn.runsBefore
        )
        const done = before.find(({ run }) =>
          run.outcome === "succeeded" && !View.isUnwritten(record, run) && !View.isStopped(record, [request]) &&
          !View.isTroubledSince(record, record.turns[run.turn]!.step, turn.step)
        )
        return done === undefined || View.marksIn(result.encodedResult).includes(done.run.number)
          ? []
          : [`turn ${turn.index} gives ${JSON.stringify(result.encodedResult)} for what ${tell(done.run)} did`]
      })
    )
  ],
  concerns: ({ justified, record }) =>
    justified.some(({ isDirect, requests, run }) =>
      !isDirect &&
      record.turns.some((turn) =>
        (turn.index > run.turn || turn.step === record.turns[run.turn]!.step && turn.index !== run.turn) &&
        requests.some((request) => View.answersOf(turn.prompt, request.approvalId).approved)
      )
    )
}

/** L3 Deny wins. */
export const L3: Law = {
  name: "L3",
  title: "a denial wins over approvals, in any order, and for ever",
  check: ({ justified, predictions, record }) => [
    ...justified.flatMap(({ isDirect, requests, run }) => {
      if (isDirect || requests.length === 0) return []
      const turn = record.turns[run.turn]!
      // With several approved requests for one call, one that is not denied may be the one that runs.
      const denied = requests.every((request) => isDenied(record, turn, request))
      return denied ? [`${tell(run)} though a person said no`] : []
    }),
    ...predictions.flatMap(({ fate, request, turn }) => {
      if (fate !== "denied" || turn.ending !== "success") return []
      const result = View.resultsOf(turn).find((result) => View.approvalIdOf(result) === request.approvalId)
      return result?.isFailure === true && View.reasonIn(result.encodedResult) !== undefined
        ? []
        : [`turn ${turn.index} does not say that call ${request.call.id} was denied`]
    })
  ],
  concerns: ({ record }) =>
    record.requests.some((request) =>
      record.turns.slice(0, record.closing).some((turn) => View.answersOf(turn.prompt, request.approvalId).denied) &&
      record.turns.slice(0, record.closing).some((turn) => View.answersOf(turn.prompt, request.approvalId).approved)
    )
}

const isDenied = (record: Record.Record, turn: Record.Turn, request: Record.Request): boolean =>
  View.answersOf(turn.prompt, request.approvalId).denied ||
  record.asked.some((asked) =>
    asked.said.startsWith("deny") && asked.approvalId === request.approvalId &&
    record.turns[asked.turn]!.step < turn.step && hasEnded(record, record.turns[asked.turn]!) &&
    !mayBeClaimed(record, record.turns[asked.turn]!, request)
  ) ||
  record.turns.some((earlier) =>
    earlier.step < turn.step && !earlier.tampered && hasEnded(record, earlier) &&
    View.isValid(earlier, request) && View.isPrompted(earlier, request.approvalId) &&
    View.answersOf(earlier.prompt, request.approvalId).denied && !mayBeClaimed(record, earlier, request)
  )

// A denial comes too late for what was claimed, and of that an idempotent tool may be run again when nobody knows how it
// ended: a run tells of the claim, or a store that may have kept it.
const mayBeClaimed = (record: Record.Record, denying: Record.Turn, request: Record.Request): boolean =>
  request.call.tool === "Sync" && (
    record.runs.some((run) =>
      Record.isSameCall(run.call, request.call) && record.turns[run.turn]!.step <= denying.step
    ) ||
    record.turns.some((turn) =>
      turn.step <= denying.step && View.isTroubled(record, turn.step) &&
      (View.answersOf(turn.prompt, request.approvalId).approved || turn.circumstances.controller !== "defer")
    )
  )

// A turn that the store failed has not ended anything it could not write down.
const hasEnded = (record: Record.Record, turn: Record.Turn): boolean =>
  turn.ending === "success" || (turn.ending === "failure" && !View.isTroubled(record, turn.step))

/** L4 No forgery. */
export const L4: Law = {
  name: "L4",
  title: "what runs was approved: this very call, these parameters, in this scope, in time, at a request of our own",
  check: ({ justified, record }) => [
    ...justified.flatMap(({ isDirect, requests, run }) =>
      isDirect || requests.length > 0 ? [] : [`${tell(run)} with ${run.call.params}, which nobody approved`]
    ),
    ...record.requests.flatMap((request) =>
      View.isReceived(record.turns[request.turn]!, request.call) &&
        !View.isPrompted(record.turns[request.turn]!, request.approvalId)
        ? []
        : [`turn ${request.turn} asks about call ${request.call.id}, which the provider did not make in it`]
    ),
    ...record.requests.flatMap(({ approvalId }) =>
      /^[\w.~-]{1,512}$/.test(approvalId) ? [] : [`an approval id that is not safe in a URL: ${approvalId}`]
    ),
    ...[...record.requests, ...record.askings].flatMap(({ approvalId, shown }) =>
      record.plan.options.expires === "in an hour" || shown.expiresAt === undefined
        ? []
        : [`${approvalId} expires at ${shown.expiresAt}, though nobody set an expiry`]
    )
  ],
  concerns: ({ record }) => record.tampered.length > 0
}

/** L11 Policy again at dispatch. */
export const L11: Law = {
  name: "L11",
  title: "the policy is asked again before an approved call runs: what it blocks does not run, and its failure holds",
  check: ({ justified, predictions, record }) => [
    ...justified.flatMap(({ run }) => {
      const verdict = View.verdictOf(record, record.turns[run.turn]!, run.call, run.number)
      return verdict === "block" ? [`${tell(run)} though the policy blocks it`] : []
    }),
    ...predictions.flatMap(({ fate, request, turn }) => {
      if (turn.ending !== "success") return []
      const result = View.resultsOf(turn).find((result) => View.approvalIdOf(result) === request.approvalId)
      if (fate === "blocked" && result?.isFailure !== true) return [`turn ${turn.index} does not say what is blocked`]
      if (fate !== "held") return []
      return View.requestIdsOf(turn).includes(request.approvalId) && turn.sent.length === 0
        ? []
        : [`turn ${turn.index} does not hold call ${request.call.id}, of which the policy failed`]
    })
  ],
  concerns: ({ predictions, record }) =>
    predictions.some(({ fate }) => fate === "blocked" || fate === "held") ||
    record.turns.some((turn) =>
      turn.circumstances.policy !== "default" &&
      record.requests.some((request) => View.answersOf(turn.prompt, request.approvalId).approved)
    )
}

/** An honest approval runs, once, and its result is given. */
export const Liveness: Law = {
  name: "Liveness",
  title: "what was honestly approved runs in that turn, and its result is given",
  check: ({ predictions, record }) =>
    predictions.flatMap(({ fate, request, turn }) => {
      if (fate !== "runs") return []
      const runs = record.runs.filter((run) =>
        record.turns[run.turn]!.step === turn.step && Record.isSameCall(run.call, request.call)
      )
      if (runs.length === 0) return [`call ${request.call.id} was approved in turn ${turn.index} and did not run`]
      // What waits now has no result yet.
      if (turn.ending !== "success" || runs.some(({ outcome }) => outcome === "suspended")) return []
      const results = View.resultsOf(turn).filter((result) => View.approvalIdOf(result) === request.approvalId)
      return results.length === 1
        ? []
        : [`turn ${turn.index} gives ${results.length} results for the approved call ${request.call.id}`]
    }),
  concerns: ({ predictions }) => predictions.some(({ fate }) => fate === "runs")
}
