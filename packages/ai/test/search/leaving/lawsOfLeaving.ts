/** What the model is told of what ran, and what is on record of it (law L2). */
import type { Law } from "./laws.ts"
import type * as Record from "./record.ts"
import * as View from "./view.ts"

/** Whether a prompt has to tell of a run: who stood still may not know of what others did meanwhile. */
const mustKnow = ({ ops, processes }: Record.Record, run: Record.Run, { at, op, process }: Record.Sent): boolean =>
  run.began.at < at &&
  (run.process === process || !View.stoodStill(processes[process]!, ops[op]!.began.at, at))

/** A chat is kept when its turn is over: of one that was killed in a turn nobody can know what it said. */
const isKept = ({ ops, plan, processes }: Record.Record, run: Record.Run, sent: Record.Sent): boolean => {
  if (plan.options.way === "Conversation") return true
  const { ended, process } = ops[run.call.op]!
  const { died } = processes[process]!
  return died === undefined || died.at > sent.at || (ended !== undefined && ended.at < died.at)
}

/** How many turns of the event loop a result of a handler takes at most until the engine knows of it. */
const wayToTheEngine = 6

/** Whether it is known to the engine how a run ended that needed nobody. */
const isNoted = ({ cancels, ops, processes }: Record.Record, run: Record.Run, by: number): boolean => {
  const { ended, op, process } = run
  if (ended === undefined || ended.at > by || !View.hasEnded(run)) return false
  // Whoever cancels it cuts it when they begin to.
  const over = View.cutOf(ops[op]!)
  const cut = cancels.find(({ at }) => at > ops[op]!.began.at && at < (over?.at ?? Infinity)) ?? over
  return cut !== undefined && ended.turn + wayToTheEngine < cut.turn && cut.at < by &&
    !View.isGone(processes[process]!, by) &&
    !View.stoodStill(processes[process]!, ops[op]!.began.at, by)
}

const isKnown = (record: Record.Record, run: Record.Run, sent: Record.Sent): boolean =>
  run.outcome !== "suspended" && run.outcome !== "died" &&
  (View.recordedBy(record, run, sent.at) !== undefined ||
    (View.isUngated(run.call) && isNoted(record, run, sent.at)))

/** Whether a prompt before that one had told that it is unknown what became of a run, and nobody knew better. */
const wasToldUnknown = (record: Record.Record, run: Record.Run, sent: Record.Sent): boolean =>
  record.sent.some((earlier) =>
    earlier.at < sent.at && View.toldOf(earlier.prompt, run.call.id).length > 0 &&
    !isKnown(record, run, earlier)
  )

const lacks = (record: Record.Record, run: Record.Run, sent: Record.Sent): string | undefined => {
  const told = View.toldOf(sent.prompt, run.call.id)
  const to = `the prompt of turn ${sent.op}`
  if (told.length === 0) return `${to} says nothing of ${View.name(run)}, which had begun`
  if (View.says(told, run)) return undefined
  // What an idempotent tool did again is told instead.
  const isAgain = record.runs.some((other) => other.call === run.call && View.says(told, other))
  if (isKnown(record, run, sent) && !wasToldUnknown(record, run, sent) && !isAgain) {
    return `${to} does not say what ${View.name(run)} had resulted in: ${told.join(", ")}`
  }
  return run.outcome !== "suspended" && told.every(View.saysNothingRan)
    ? `${to} says that nothing ran of ${View.name(run)}: ${told.join(", ")}`
    : undefined
}

/** Every prompt with the runs that it has to tell of. */
const pairs = (record: Record.Record) =>
  record.sent.flatMap((sent) =>
    record.runs.flatMap((run) => mustKnow(record, run, sent) && isKept(record, run, sent) ? [{ run, sent }] : [])
  )

export const Told: Law = {
  name: "L2-told",
  title: "whatever had begun, the model is told of it: what is recorded of it, or that it is unknown",
  check: (record) => pairs(record).flatMap(({ run, sent }) => lacks(record, run, sent) ?? []),
  concerns: ({ ops, processes, runs, sent }) =>
    runs.some((run) =>
      (ops[run.op]!.left !== undefined || processes[run.process]!.died !== undefined) &&
      sent.some(({ at }) => at > run.began.at)
    )
}

export const ToldLate: Law = {
  name: "L2-told-late",
  fewest: 120,
  title: "what was told to be unknown is told when it is recorded after all",
  check: (record) =>
    pairs(record).flatMap(({ run, sent }) => {
      if (!isKnown(record, run, sent) || !wasToldUnknown(record, run, sent)) return []
      const told = View.toldOf(sent.prompt, run.call.id)
      return record.runs.some((other) => other.call === run.call && View.says(told, other))
        ? []
        : [`the prompt of turn ${sent.op} still says that ${View.name(run)} is unknown: ${told.join(", ")}`]
    }),
  concerns: (record) =>
    record.sent.some((sent) =>
      record.runs.some((run) => isKnown(record, run, sent) && wasToldUnknown(record, run, sent))
    )
}

/** Two processes that have a chat at once do not know of each other. */
const isAlone = ({ ops, plan, processes }: Record.Record, op: Record.Op): boolean =>
  plan.options.way === "Conversation" ||
  (!View.isGone(processes[op.process]!, op.ended?.at ?? Infinity) &&
    ops.every((other) =>
      other.process === op.process || other.began.at > (op.ended?.at ?? Infinity) ||
      (other.ended?.at ?? Infinity) < op.began.at || View.isGone(processes[other.process]!, op.began.at)
    ))

export const Said: Law = {
  name: "L2-said",
  title: "what was said in a turn that came to its end is in every prompt after it",
  check: (record) => {
    const { ops, processes, sent } = record
    return ops.flatMap((said) => {
      const { ended, index, text } = said
      if (text === "" || ended?.how !== "success" || !isAlone(record, said)) return []
      return sent.flatMap(({ at, op, process, prompt }) => {
        const told = ops[op]!
        return at < ended.at || View.stoodStill(processes[process]!, told.began.at, at) || !isAlone(record, told) ||
            View.textOf(prompt).includes(text)
          ? []
          : [`the prompt of turn ${op} does not have the words of turn ${index}`]
      })
    })
  },
  concerns: ({ ops }) => ops.filter(({ ended, text }) => text !== "" && ended?.how === "success").length > 1
}

export const OnRecord: Law = {
  name: "L2-on-record",
  title: "what the model said is on record before anything of it runs",
  check: ({ plan, runs }) =>
    plan.options.way === "Chat"
      ? []
      : runs.flatMap((run) => run.isOnRecord ? [] : [`${View.name(run)} began, and its call was not on record`]),
  concerns: ({ runs }) => runs.length > 0
}

export const Unknown: Law = {
  name: "L2-unknown",
  title: "nothing stays unknown once its owner has recorded its end, nor while its owner lives",
  check: (record) => {
    const { fates, processes, runs } = record
    const stays = runs.flatMap((run) => {
      if (View.isUngated(run.call) || !View.hasEnded(run) || run.outcome === "died") return []
      if (processes[run.process]!.died !== undefined && processes[run.process]!.closed === undefined) return []
      const fate = fates.findLast(({ callId }) => callId === run.call.id)
      if (fate?.state !== "unknown" && fate?.state !== "running") return []
      // Whoever stops a run at its very end may not hear of its end.
      const isStopped = fate.process === run.process &&
        record.cancels.some(({ at }) => at > run.began.at && at < fate.at)
      return isStopped ? [] : [`${View.name(run)} ended in a process that lived, and it stays ${fate.state}`]
    })
    const givenUp = fates.flatMap(({ at, callId, process, state }) => {
      if (state !== "unknown") return []
      return runs.flatMap((run) => {
        const owner = processes[run.process]!
        const isOwn = run.process === process
        const isOver = run.ended !== undefined && run.ended.at < at
        if (run.call.id !== callId || run.began.at > at || isOwn || isOver) return []
        return View.isGone(owner, at) || View.stoodStill(owner, run.began.at, at)
          ? []
          : [`process ${process} gave ${View.name(run)} up while process ${run.process} lived and ran it`]
      })
    })
    return [...stays, ...givenUp]
  },
  concerns: ({ fates }) => fates.some(({ state }) => state === "running")
}

export const Running: Law = {
  name: "L2-running",
  title: "no request is open whose call has begun",
  check: ({ fates, looks, runs }) =>
    looks.flatMap(({ at, open }) =>
      open.flatMap(({ approvalId, toolCallId }) => {
        const claimed = fates.find((fate) => fate.approvalId === approvalId && fate.state === "running" && fate.at < at)
        const begun = claimed === undefined
          ? undefined
          : runs.find(({ began, call }) => call.id === toolCallId && began.at > claimed.at && began.at < at)
        return begun === undefined ? [] : [`the request of ${View.name(begun)}, which had begun, is open`]
      })
    ),
  concerns: ({ looks, runs }) => looks.some(({ at }) => runs.some(({ began }) => began.at < at))
}
