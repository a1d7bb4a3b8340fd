/** What a plan met, so that a generator that no longer meets something is found out. */
import type * as Record from "./record.ts"
import * as View from "./view.ts"

/** What is in the way of a run: it was approved at once, approved later, or needs nobody. */
const kindOf = ({ answers, ops }: Record.Record, { call }: Record.Run): string => {
  if (View.isUngated(call)) return "an ungated run"
  const answer = answers.find(({ callId }) => callId === call.id)
  const by = answer === undefined
    ? undefined
    : ops.find(({ began, index }) => index === call.op && began.at < answer.at)
  return by?.plan.person === "nobody" ? "a deferred run" : "an inline run"
}

export const thingsOf = (record: Record.Record): ReadonlySet<string> => {
  const things = new Set<string>()
  for (const { how, outcome } of record.ops.flatMap(({ ended }) => ended ?? [])) {
    things.add(`turn ${how}: ${outcome.slice(0, 60)}`)
  }
  for (const run of record.runs) {
    things.add(`run ${run.outcome}`)
    if (run.isResumption) things.add("goes on after it waited")
  }
  for (const { state } of record.fates) things.add(`fate ${state}`)
  for (const { running, step } of record.steps) {
    things.add(`step ${step._tag}`)
    if (step._tag === "Turn" || step._tag === "Clock" || step._tag === "Time") continue
    for (const number of running) {
      const run = record.runs[number]!
      const isThere = record.processes[run.process]!.seat === step.seat
      things.add(`${step._tag} ${isThere ? "in" : "elsewhere in"} ${kindOf(record, run)} (${record.plan.options.way})`)
    }
    const { way } = record.plan.options
    if (running.length === 0) things.add(`${step._tag} in no run (${way})`)
  }
  const [first, second] = record.plan.options.clocks
  if (first !== second) things.add("clocks that differ")
  return things
}
