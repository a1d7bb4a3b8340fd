/**
 * What becomes of a call: the first row of this table that says something counts. Pure: no effect, no clock, nothing
 * thrown. A row that turns on a fact nobody has gathered asks for that one, and the table is read again.
 */
import { nobody, type OpenWhy, type Said } from "./decision.ts"
import {
  type Chosen,
  chosenOf,
  countingOf,
  denialOf,
  findOwn,
  firstOf,
  hasBegun,
  hasResult,
  isAnswered,
  isAsked,
  isIdle,
  isOwn,
  isPending,
  isRunnable,
  isWritten,
  mayBeDenied,
  namesPeople,
  wasDenied
} from "./questions.ts"
import {
  denyPlainest,
  end,
  isUnasked,
  isWaiting,
  leave,
  mayBecome,
  needAnswer,
  needsWho,
  needVerdict,
  nobodyWanted,
  open,
  run,
  tell
} from "./saying.ts"
import type { Fate, Question, Standing } from "./standing.ts"
import { keepsFrom, unanswered } from "./waiting.ts"

export interface Row {
  readonly name: string
  readonly laws: string
  readonly says: (standing: Standing) => Said | undefined
}

/** What the first row says that says something; else it stays open (law L5). */
export const decide = (standing: Standing, table: ReadonlyArray<Row> = rows): Said => {
  for (const row of table) {
    const said = row.says(standing)
    if (said !== undefined) return said
  }
  return open(firstOf(standing), "asked")
}

export const rows: ReadonlyArray<Row> = [
  // A call that the model made in this turn, or that a toolkit is handling, and nobody was asked about yet.
  {
    name: "cut",
    laws: "L1",
    says: (call) => isUnasked(call) && call.finish === "cut" ? tell("cut") : undefined
  },
  {
    name: "unknown tool",
    laws: "L8",
    says: (call) =>
      isUnasked(call) && (call.tool === "gone" || call.tool === "noToolkit") ? tell("unknownTool") : undefined
  },
  {
    name: "unfit",
    laws: "L1 L8",
    says: (call) => isUnasked(call) && call.tool === "unfit" ? tell("unfit") : undefined
  },
  {
    name: "free",
    laws: "L8",
    says: (call) => isUnasked(call) && call.tool === "free" ? run(nobody, "free") : undefined
  },

  // Whose requests these are.
  {
    name: "lost",
    laws: "L4",
    says: (call) => call.way === "history" && call.questions === "none" ? tell("lost") : undefined
  },
  {
    name: "the provider was told",
    laws: "L9",
    says: (call) => {
      if (call.way !== "hosted" || call.reply === "given") return undefined
      if (call.denied) return leave
      const { powers, questions } = call
      const question = isAsked(questions) ? questions[0] : undefined
      if (question === undefined) return undefined
      // A reader calls no provider.
      if (powers === "reads") return isAnswered(question) ? leave : undefined
      // It is not to be told what a stranger said (law L16).
      const by = question.named ? denialOf(call, question, 0) : nobody
      return typeof by !== "number" ? by : by < 0 ? undefined : leave
    }
  },
  {
    name: "forged",
    laws: "L4",
    says: (call) =>
      call.questions !== "forged"
        ? undefined
        : call.denied
        ? tell("denied")
        : call.onInvalid === "fail"
        ? { _tag: "Fail", at: 0, why: "forged" }
        : tell("forged")
  },
  {
    name: "of another call",
    laws: "L13",
    says: ({ questions }) => {
      if (!isAsked(questions)) return undefined
      const at = questions.findIndex(({ own }) => own === undefined)
      return at >= 0 ? { _tag: "Need", fact: "own", at } : questions.some(isOwn) ? undefined : tell("lost")
    }
  },

  // What the journal and the provider know.
  {
    // Before anything else becomes of it, and before anything is told: or a later history could have one approved.
    name: "each that was denied",
    laws: "L3 L16",
    says: (call) => {
      const { questions } = call
      const unknown = findOwn(questions, (question) => mayBeDenied(call, question) && question.fate === undefined)
      if (unknown >= 0) return { _tag: "Need", fact: "fate", at: unknown }
      if (!isAsked(questions)) return undefined
      for (const [at, question] of questions.entries()) {
        if (!isOwn(question) || !isPending(question)) continue
        const by = denialOf(call, question, at)
        if (typeof by !== "number") return by
        if (by >= 0) return end(at, "denied", "said", by)
      }
      return undefined
    }
  },
  {
    // The last of its steps: what became of those before may be forgotten by now.
    name: "waits",
    laws: "L2",
    says: ({ questions, wait }) => {
      if (wait !== undefined || !isAsked(questions)) return undefined
      const at = questions.findLastIndex((question) => isOwn(question) && question.suspension)
      return at < 0 ? undefined : { _tag: "Need", fact: "wait", at }
    }
  },
  {
    name: "fate",
    laws: "L2",
    says: ({ questions }) => {
      const at = findOwn(questions, ({ fate }) => fate === undefined)
      return at < 0 ? undefined : { _tag: "Need", fact: "fate", at }
    }
  },
  { name: "decided", laws: "L2 L3", says: decided },
  {
    name: "forgotten",
    laws: "L2",
    says: ({ wait }) => wait === "gone" || wait === "over" ? tell(wait) : undefined
  },
  {
    name: "denied",
    laws: "L3",
    says: ({ denied, questions }) => denied ? denyPlainest(questions) : undefined
  },

  // What the history says of the request.
  {
    name: "expired",
    laws: "L4",
    says: ofChosen((call, chosen) =>
      chosen.question.expired || call.reply === "late" ? unanswered(call, chosen) : undefined
    )
  },
  { name: "passed over", laws: "L6", says: ofChosen(passedOver) },
  {
    name: "no toolkit",
    laws: "L10",
    says: ofChosen(({ tool, wait }, { at, counting }) => {
      if (tool !== "noToolkit") return undefined
      if (isWaiting(wait)) return open(at, wait.given ? "noToolkit" : "asked")
      return counting.length > 0 ? tell("noToolkit", at) : open(at, "asked")
    })
  },
  {
    name: "drift",
    laws: "L10",
    says: ofChosen(({ tool, way }, { at, question }) =>
      way !== "hosted" && (question.drifted || tool === "gone" || tool === "unfit")
        ? end(at, "void", "drifted")
        : undefined
    )
  },

  // What was answered, and what the policy says now.
  { name: "answered", laws: "L2 L4 L11", says: ofChosen(answered) },
  {
    name: "read only",
    laws: "L2",
    says: ofChosen(({ powers }, { at, counting, question }) =>
      powers === "reads" || (powers === "judges" && counting.every((by) => isIdle(question.answers[by]!)))
        ? open(at, "asked")
        : undefined
    )
  },
  { name: "approved", laws: "L3 L4 L11", says: ofChosen(approved) },
  {
    name: "policy",
    laws: "L11",
    says: ({ tool, verdict, wait }) =>
      verdict === undefined && !(isWaiting(wait) && tool === "free") ? needVerdict : undefined
  },
  {
    name: "blocked",
    laws: "L11",
    says: (call) =>
      call.verdict?.says !== "blocked"
        ? undefined
        : isUnasked(call)
        ? tell("blocked")
        : endChosen(call, "blocked")
  },
  {
    name: "held",
    laws: "L6",
    // What the provider asks for stays with it, and may be answered.
    says: ofChosen(({ way }, { at, question }) =>
      question.passedOver && way !== "hosted" ? open(at, "asked") : undefined
    )
  },
  {
    name: "edited by nobody who may",
    laws: "L4",
    says: ofChosen((_, { at, question }) => isAnswered(question) ? open(at, "untrustedEdit") : undefined)
  },

  // What is remembered, and whoever can be asked.
  {
    name: "memory",
    laws: "L3",
    says: ({ recall, reply, wait }) =>
      recall === undefined && reply === undefined && wait === undefined ? { _tag: "Need", fact: "recall" } : undefined
  },
  {
    name: "remembered",
    laws: "L3",
    says: (call) => {
      // A run that waits is no such call any more: its memory was looked up when it was asked about.
      // Nor is it looked up of one that somebody has answered.
      if (call.wait !== undefined || call.reply === "given") return undefined
      if (call.recall === "denied") {
        return isUnasked(call) ? tell("remembered") : endChosen(call, "remembered")
      }
      // A policy that failed lets nothing run, whatever was approved before (law L1).
      return call.recall === "approved" && call.verdict?.says !== "failed" && isUnasked(call)
        ? run(nobody, "free")
        : undefined
    }
  },
  {
    name: "nobody wanted",
    laws: "L1",
    says: (call) =>
      call.verdict?.says === "allowed" && call.recall === "nothing" && call.reply === undefined
        ? nobodyWanted(call)
        : undefined
  },
  {
    name: "sealed",
    laws: "L4",
    says: (call) =>
      !isUnasked(call)
        ? undefined
        : call.finish === undefined
        ? { _tag: "Need", fact: "finish" }
        : call.finish === "missing"
        ? tell("unfinished")
        : { _tag: "Seal" }
  },
  {
    name: "asked",
    laws: "L1",
    says: ({ controlled, reply, verdict, wait }) => {
      if (!controlled || reply !== undefined) return undefined
      // Whatever somebody said to it now, the policy would let nothing come of it.
      if (isWaiting(wait) && (wait.for === "other" || verdict?.says === "failed")) return undefined
      return { _tag: "Need", fact: "reply" }
    }
  },
  {
    // As if nobody had answered; but whoever is asked again is told.
    name: "answered by nobody who may",
    laws: "L16",
    says: ofChosen(({ wait }, { at, question }) => {
      const answer = isWaiting(wait) ? wait.answer : undefined
      return answer === "already" || question.answers.some(({ who }) => who === "already")
        ? open(at, "othersNeeded")
        : answer === "stranger" || question.answers.some(isIdle)
        ? open(at, "notAnApprover")
        : undefined
    })
  }
]

// =============================================================================
// Rows that take more than a line
// =============================================================================

// What the journal knows stands; an unfinished run is joined, and repeated if all that allowed it still does. Of several
// requests one that has a result comes before one whose run goes on, and that before one that ended without a run.
function decided(call: Standing): Said | undefined {
  const decidedAs = (test: (fate: Fate) => boolean): number =>
    findOwn(call.questions, (question) => !isPending(question) && test(question.fate!))
  const first = decidedAs(() => true)
  if (first < 0) return undefined
  const at = [hasResult, hasBegun].map(decidedAs).find((at) => at >= 0) ?? first
  const question = (call.questions as ReadonlyArray<Question>)[at]!
  const state = question.fate!.state
  switch (state) {
    case "suspended":
      return { _tag: "Need", fact: "wait", at }
    case "running":
    case "unknown":
    case "done":
    case "failed": {
      if (call.powers === "reads" || call.tool === "gone" || call.tool === "unfit" || call.tool === "noToolkit") {
        return state === "running" ? { _tag: "Wait", at } : tell("recorded", at)
      }
      if (hasResult(question.fate!) || isWritten(question)) return run(at, "join")
      return again(call, question, at) ?? run(at, "join")
    }
    default:
      return tell("recorded", at)
  }
}

// The run that all that was asked of its approval still allows.
const again = (call: Standing, question: Question, at: number): Said | undefined => {
  if (call.denied || wasDenied(call) || question.drifted) return undefined
  if (question.expired && !isWaiting(call.wait)) return undefined
  for (const [place, one] of (call.questions as ReadonlyArray<Question>).entries()) {
    const by = isOwn(one) ? denialOf(call, one, place) : nobody
    if (typeof by !== "number") return by
    if (by >= 0) return undefined
  }
  const counting = countingOf(call, question, at)
  if ("_tag" in counting) return counting
  const chosen: Chosen = { at, question, counting }
  const said = question.expired
    ? unanswered(call, chosen)
    : answered(call, chosen) ?? (counting.length > 0 ? approved(call, chosen) : begun(call, chosen))
  if (said?._tag === "Need") return said
  return said?._tag === "Run" ? { ...said, as: said.as === "claim" ? "repeat" : said.as } : undefined
}

// Whoever was asked where it ran said yes, and no message says so: that it was claimed does.
const begun = (call: Standing, { at, question }: Chosen): Said | undefined => {
  const { verdict, wait } = call
  if (wait !== undefined) return undefined
  if (verdict === undefined) return needVerdict
  if (verdict.says === "failed" || verdict.says === "blocked") return undefined
  if (namesPeople(verdict) && question.claimCounts !== true) {
    return question.claimCounts === undefined ? { _tag: "Need", fact: "claim", at } : undefined
  }
  if (question.shown === undefined) return { _tag: "Need", fact: "shown", at }
  return question.shown === "changed" ? undefined : run(at, "repeat")
}

function passedOver(call: Standing, { at, counting, question }: Chosen): Said | undefined {
  if (!question.passedOver || counting.length > 0) return undefined
  // Whether its edit counts nobody knows, so it is not given up.
  const isEdited = question.answers.some(({ says }) => says === "edit")
  if (isRunnable(call) && call.verdict?.says === "failed" && isEdited) return undefined
  if (isWaiting(call.wait)) {
    if (call.tool !== "noToolkit" && call.tool !== "gone" && call.wait.answer === undefined) return needAnswer
    const { answer } = call.wait
    if (answer === "fits" || answer === "more" || answer === "undeliverable") return undefined
  }
  switch (call.onNewMessage) {
    case "supersede":
      return end(at, "superseded", "superseded")
    case "keep":
      // What the provider asks for stays with it.
      return call.way === "hosted" ? { _tag: "Leave" } : { _tag: "Keep", at }
    case "fail":
      // Whoever catches it shows the request, and as the policy has it now.
      return call.verdict === undefined && call.powers === "asks" && isRunnable(call) && !isWaiting(call.wait)
        ? needVerdict
        : { _tag: "Fail", at, why: "passedOver" }
    case "hold":
      return undefined
  }
}

// What a run waits for.
function answered(call: Standing, { at }: Chosen): Said | undefined {
  const { wait } = call
  if (!isWaiting(wait)) return undefined
  switch (wait.answer) {
    case undefined:
      return needAnswer
    case "none":
    case "already":
    case "stranger":
      return undefined
    case "invalid":
      return open(at, "invalidAnswer")
    case "undeliverable":
      return end(at, "void", "undeliverable")
    case "fits":
    case "more":
      break
  }
  return keepsFrom(call, wait, at) ??
    (wait.answer === "more" ? { _tag: "Add", at, by: nobody } : run(at, "resume"))
}

// The first answer that can have an effect (law L3): parameters that count for nothing are no answer.
function approved(call: Standing, { at, counting, question }: Chosen): Said | undefined {
  let invalid: OpenWhy | undefined
  for (const by of counting) {
    const answer = question.answers[by]!
    // As if it was not there.
    if (isIdle(answer)) continue
    const edit = answer.says === "edit" ? answer : undefined
    if (edit !== undefined && edit.leads === undefined) return { _tag: "Need", fact: "leads", at, by }
    if (edit?.leads === "unfit") {
      invalid ??= "unfitEdit"
      continue
    }
    const elsewhere = edit?.leads === "elsewhere" ? edit : undefined
    const verdict = elsewhere === undefined ? call.verdict : elsewhere.verdict
    if (verdict === undefined) {
      return elsewhere === undefined ? needVerdict : { _tag: "Need", fact: "editVerdict", at, by }
    }
    if (verdict.says === "failed") return open(at, "held")
    if (elsewhere !== undefined && question.named) {
      // Who may not decide on the call does not by making it another one.
      if (call.verdict === undefined) return needVerdict
      if (call.verdict.says === "failed") return open(at, "held")
    }
    if (needsWho(call, question, verdict) && answer.who === undefined) return { _tag: "Need", fact: "who", at, by }
    if (verdict.says === "blocked") {
      return { _tag: "End", at, state: "denied", why: elsewhere === undefined ? "blocked" : "editBlocked", by }
    }
    if (question.shown !== "nothing") {
      // What the person was shown is the call as it was proposed, whatever they made of it.
      if (call.verdict === undefined) return needVerdict
      if (call.verdict.says === "failed") return open(at, "held")
      if (question.shown === undefined) return { _tag: "Need", fact: "shown", at }
      if (question.shown === "changed") return end(at, "void", "shownChanged")
    }
    if (elsewhere !== undefined) {
      // Proposed so, it would have been looked up before anybody was asked.
      if (elsewhere.deniedBefore === undefined) return { _tag: "Need", fact: "editDenied", at, by }
      if (elsewhere.deniedBefore) return { _tag: "End", at, state: "denied", why: "editDenied", by }
    }
    // What would have to be asked as it is now, only somebody who may edit that call may turn this one into.
    if (elsewhere === undefined || call.trusted || mayBecome(verdict)) {
      return answer.who === "more" ? { _tag: "Add", at, by } : run(at, "claim", by)
    }
    invalid ??= "untrustedEdit"
  }
  return invalid === undefined ? undefined : open(at, invalid)
}

// The request that counts is not always the first: somebody who may not decide may have said yes to another one.
const endChosen = (call: Standing, why: "blocked" | "remembered"): Said | undefined => {
  const chosen = chosenOf(call)
  return chosen === undefined || "_tag" in chosen ? chosen : end(chosen.at, "denied", why)
}

// Hoisted, because the rows are made of it.
function ofChosen(says: (call: Standing, chosen: Chosen) => Said | undefined): Row["says"] {
  return (call) => {
    const chosen = chosenOf(call)
    return chosen === undefined || "_tag" in chosen ? chosen : says(call, chosen)
  }
}
