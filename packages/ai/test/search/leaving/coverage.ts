/** What a plan met, so that a generator that no longer meets something is found out. */
import type * as Record from "./record.ts"
import * as View from "./view.ts"

/** How it came to run: a person was there, answered later, or was not needed. */
const kindOf = ({ answers, ops }: Record.Record, { call }: Record.Run): "inline" | "deferred" | "ungated" => {
  if (View.isUngated(call)) return "ungated"
  const answer = answers.find(({ callId }) => callId === call.id)
  return answer !== undefined && ops[call.op]!.ended !== undefined && answer.at > ops[call.op]!.ended!.at
    ? "deferred"
    : "inline"
}

export const thingsOf = (record: Record.Record): ReadonlySet<string> => {
  const { way } = record.plan.options
  const things = new Set<string>()
  for (const { ended } of record.ops) if (ended !== undefined) things.add(`turn ${ended.how}`)
  for (const { call, isResumption, number, outcome } of record.runs) {
    things.add(`run ${outcome}`)
    if (isResumption) things.add("goes on after it waited")
    const isAgain = record.runs.some((other) => other.call === call && !other.isResumption && other.number < number)
    if (isAgain && View.isIdempotent(call)) things.add("an idempotent tool runs again")
  }
  for (const [index, { approvalId, state }] of record.fates.entries()) {
    things.add(`fate ${state}`)
    const before = record.fates.slice(0, index).findLast((fate) => fate.approvalId === approvalId)
    if (before?.state === "unknown" && state !== "running") things.add("a late end replaces what was unknown")
  }
  for (const { running, step } of record.steps) {
    things.add(`step ${step._tag}`)
    if (step._tag === "Turn" || step._tag === "Clock" || step._tag === "Time") continue
    for (const number of running) {
      const run = record.runs[number]!
      const where = record.processes[run.process]!.seat === step.seat ? "in" : "elsewhere than in"
      things.add(`${step._tag} ${where} a run: ${kindOf(record, run)}`)
      if (where === "in") things.add(`${step._tag} in a run, under ${way}`)
    }
    if (running.length === 0) things.add(`${step._tag} in no run`)
  }
  const [first, second] = record.plan.options.clocks
  if (first !== second) things.add("clocks that differ")
  return things
}
