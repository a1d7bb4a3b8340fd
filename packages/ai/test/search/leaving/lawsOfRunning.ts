/** What runs, how often, and until when (laws L1, L2, L10). */
import type { Law } from "./laws.ts"
import type * as Record from "./record.ts"
import * as View from "./view.ts"

const noun = (count: number) => `${count} ${count === 1 ? "time" : "times"}`

export const Approved: Law = {
  name: "L1-approved",
  title: "nothing runs that somebody is to be asked about and has not approved",
  check: ({ answers, runs }) =>
    runs.flatMap((run) => {
      if (View.isUngated(run.call)) return []
      const said = answers.filter(({ at, callId }) => callId === run.call.id && at < run.began.at)
      if (!said.some(({ isApproval }) => isApproval)) return [`${View.name(run)} was not approved`]
      // Nobody's "no" is made up: a cancellation is none (RUNS).
      return run.isRefused && said.every(({ isApproval }) => isApproval)
        ? [`${View.name(run)} goes on with a "no" that nobody said`]
        : []
    }),
  concerns: ({ runs }) => runs.some(({ call }) => !View.isUngated(call))
}

export const Once: Law = {
  name: "L2-once",
  title: "nothing runs twice but what is idempotent, and that only if it is not known to have ended",
  check: (record) => {
    const { runs } = record
    return runs.flatMap((run, index) => {
      const before = runs.slice(0, index).filter(({ call, isResumption }) =>
        call === run.call && isResumption === run.isResumption
      )
      if (before.length === 0) return []
      if (!View.isIdempotent(run.call)) return [`${run.call.id} ran ${noun(before.length + 1)}`]
      return before.flatMap((earlier) => {
        const recorded = View.recordedBy(record, earlier, run.began.at)
        // Who claimed it, stood still, and goes on, cannot know that another has done it meanwhile.
        if (View.stoodStill(record.processes[run.process]!, earlier.began.at, run.began.at)) return []
        if (recorded !== undefined) return [`${View.name(earlier)} was recorded as ${recorded.state} and ran again`]
        const owner = record.processes[earlier.process]!
        const isGivenUp = earlier.ended !== undefined || View.isGone(owner, run.began.at) ||
          View.stoodStill(owner, earlier.began.at, run.began.at)
        return isGivenUp ? [] : [`${View.name(earlier)} ran again while it was running`]
      })
    })
  },
  concerns: ({ ops, processes, runs }) =>
    runs.some(({ op, process }) => ops[op]!.left !== undefined || processes[process]!.died !== undefined)
}

/** How long a run may go on after it was stopped from another process, in milliseconds. */
const stopsWithin = 10_000

export const Stop: Law = {
  name: "L2-stop",
  title: "Stop reaches every run, from whichever process",
  check: (record) =>
    record.cancels.flatMap((cancel) => {
      const { at, ended, process, time } = cancel
      const self = record.processes[process]!
      if (View.isGone(self, ended?.at ?? Infinity) || View.stoodStill(self, at, ended?.at ?? Infinity)) return []
      if (ended?.outcome !== "done") return [`Stop from process ${process} ended as ${ended?.outcome ?? "nothing"}`]
      const over = Math.max(time + stopsWithin, ended.time)
      return record.runs.flatMap((run) => {
        const owner = record.processes[run.process]!
        if (run.began.at > at || (run.ended !== undefined && run.ended.time <= over)) return []
        const until = run.ended?.at ?? Infinity
        if (View.isGone(owner, until) || View.stoodStill(owner, run.began.at, until)) return []
        return [`${View.name(run)} went on after it was stopped from process ${process}`]
      })
    }),
  concerns: ({ cancels, runs }) =>
    cancels.some((cancel) =>
      runs.some(({ began, ended }) => began.at < cancel.at && (ended === undefined || ended.at > cancel.at))
    ),
  fewest: 100
}

/** How long a turn may take in which the model says a word, in milliseconds; and each run that goes on in it. */
const goesOnWithin = 10_000
const runsFor = 20_000
// A person who takes their time is waited for, once for each run.
const asksFor = 5_000

export const GoesOn: Law = {
  name: "L10-goes-on",
  title: "when all is quiet, another turn can be taken at once, also if a process died in one",
  check: ({ ops, runs }) =>
    ops.flatMap(({ began, ended, index, isLast }) => {
      if (!isLast) return []
      if (ended === undefined) return [`turn ${index} did not end`]
      // It is the program's own tool that crashes.
      if (runs.some(({ op, outcome }) => op === index && outcome === "died")) return []
      if (ended.how !== "success") return [`turn ${index} failed: ${ended.outcome}`]
      const took = ended.time - began.time
      // A turn that was left may have had a run claimed, which begins when all seems quiet: it is joined.
      const count = runs.filter((run) => run.ended === undefined || run.ended.at > began.at).length
      return took > goesOnWithin + count * (runsFor + asksFor) ? [`turn ${index} took ${took / 1_000} seconds`] : []
    }),
  concerns: () => true
}

/** How long any turn may take, in milliseconds, whatever runs in it. */
const endsWithin = 150_000

export const Ends: Law = {
  name: "L10-ends",
  title: "every turn and every run of a process that lives comes to its end",
  check: ({ end, ops, processes, runs }) => [
    ...ops.flatMap(({ began, ended, index, process }) => {
      const known = processes[process]!
      if (ended === undefined) return View.isGone(known, end) ? [] : [`turn ${index} did not end`]
      const took = ended.time - began.time
      return took > endsWithin && !View.stoodStill(known, began.at, ended.at)
        ? [`turn ${index} took ${took / 1_000} seconds`]
        : []
    }),
    ...runs.flatMap((run) =>
      run.ended === undefined && !View.isGone(processes[run.process]!, end)
        ? [`${View.name(run)} did not end`]
        : []
    )
  ],
  concerns: () => true
}

/** Whether another process may have taken a turn for dead that was not. */
const wasStill = ({ processes }: Record.Record, { began, ended, process }: Record.Op): boolean =>
  View.stoodStill(processes[process]!, began.at, ended?.at ?? Infinity)

export const Alive: Law = {
  name: "L10-alive",
  title: "no turn is taken away from a process that lives, whatever its clock says",
  check: (record) =>
    record.ops.flatMap((op) =>
      op.ended !== undefined && op.ended.outcome.includes("which seemed dead") && !wasStill(record, op)
        ? [`turn ${op.index} was taken away from process ${op.process}`]
        : []
    ),
  concerns: ({ processes }) => processes.length > 1
}

export const WellFormed: Law = {
  name: "L7-well-formed",
  title: "no provider refuses a prompt",
  check: ({ refused }) => refused.map(({ op, what }) => `in turn ${op}: ${what}`),
  concerns: ({ sent }) => sent.length > 1
}
