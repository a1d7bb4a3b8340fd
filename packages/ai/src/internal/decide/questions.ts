/** The requests of a call: which of them are its own, what stands of them, and which one counts. */
import { type Need, nobody } from "./decision.ts"
import type { Answer, Fate, Question, Questions, Standing, Verdict } from "./standing.ts"

/** The question that counts. */
export interface Chosen {
  readonly at: number
  readonly question: Question
  /** The places of its answers that can have an effect. */
  readonly counting: ReadonlyArray<number>
}

/**
 * The question that was approved, else the first. Only an answer as it was proposed counts, or one whose edit somebody
 * vouches for; or what has to be known for that: where only the policy can say whether somebody does, or who may decide.
 */
export const chosenOf = (call: Standing): Chosen | Need | undefined => {
  if (!isAsked(call.questions)) return undefined
  let first: Chosen | undefined
  for (let at = 0; at < call.questions.length; at++) {
    const question = call.questions[at]!
    if (!isOwn(question)) continue
    const counting = countingOf(call, question, at)
    if ("_tag" in counting) return counting
    if (counting.length > 0) return { at, question, counting }
    first ??= { at, question, counting }
  }
  return first
}

const none: ReadonlyArray<number> = []

export const countingOf = (call: Standing, question: Question, at: number): ReadonlyArray<number> | Need => {
  const { answers } = question
  if (answers.length === 0) return none
  const edits = editsCount(call)
  if (edits === undefined && answers.some(({ says }) => says === "edit")) return needVerdict
  const unknown = whoseYes(call, question, at)
  if (unknown !== undefined) return unknown
  return answers.flatMap((answer, by) =>
    (answer.says === "yes" && !(question.named && isIdle(answer))) || (answer.says === "edit" && edits === true)
      ? [by]
      : []
  )
}

// Where the request named who may decide, a yes of somebody else is no answer, and it is found out at once.
const whoseYes = (call: Standing, { answers, named }: Question, at: number): Need | undefined => {
  if (!named || call.powers === "reads" || !isRunnable(call)) return undefined
  const by = answers.findIndex(({ says, who }) => says === "yes" && who === undefined)
  if (by < 0) return undefined
  if (call.verdict === undefined) return needVerdict
  return namesPeople(call.verdict) ? { _tag: "Need", fact: "who", at, by } : undefined
}

const needVerdict: Need = { _tag: "Need", fact: "verdict" }

/** It changes nothing: whoever gave it may not decide, or has done so already (law L16). */
export const isIdle = ({ who }: Answer): boolean => who === "stranger" || who === "already"

export const namesPeople = (verdict: Verdict | undefined): boolean => verdict?.says === "ask" && verdict.names

/**
 * The place of the "no" that counts, or what has to be known for that; `nobody` where none does. Where no policy can say who
 * may decide, nobody is kept from saying no; a reader leaves that open.
 */
export const denialOf = (call: Standing, question: Question, at: number): number | Need => {
  const first = question.suspension ? nobody : question.answers.findIndex((answer) => isNo(answer) && !isIdle(answer))
  if (first < 0 || !question.named) return first
  if (call.powers === "reads") return nobody
  if (call.tool !== "gated") return first
  if (call.verdict === undefined) return needVerdict
  return namesPeople(call.verdict) && question.answers[first]!.who === undefined
    ? { _tag: "Need", fact: "who", at, by: first }
    : first
}

// Where nothing may run, what may count later must not be given up now.
const editsCount = (call: Standing): boolean | undefined =>
  call.trusted || call.powers === "reads"
    ? true
    : !isRunnable(call)
    ? false
    : call.verdict === undefined
    ? undefined
    : call.verdict.says === "ask" && call.verdict.editable

export const isAsked = (questions: Questions | undefined): questions is ReadonlyArray<Question> =>
  questions !== undefined && typeof questions !== "string"

export const isRunnable = ({ tool }: Standing): boolean => tool === "free" || tool === "gated"

export const isOwn = ({ own }: Question): boolean => own === true

export const isPending = ({ fate }: Question): boolean => fate?.state === "pending"

export const hasResult = ({ state }: Fate): boolean => state === "done" || state === "failed"

export const hasBegun = ({ state }: Fate): boolean =>
  state === "running" || state === "unknown" || state === "suspended"

// The journal keeps a denial that a history may have lost.
export const wasDenied = ({ questions }: Standing): boolean =>
  findOwn(questions, ({ fate }) => fate?.state === "denied") >= 0

export const isWritten = ({ fate }: Question): boolean => fate !== undefined && fate.state !== "pending" && fate.written

export const isNo = ({ says }: Answer): boolean => says === "no"

/** Somebody said no to it, who may or of whom that can be found out; of what a run waits for, that is an answer like others. */
export const mayBeDenied = ({ powers }: Standing, { answers, named, suspension }: Question): boolean =>
  !suspension && !(named && powers === "reads") && answers.some((answer) => isNo(answer) && !isIdle(answer))

export const isAnswered = ({ answers }: Question): boolean => answers.some((answer) => !isIdle(answer))

export const findOwn = (questions: Questions, test: (question: Question) => boolean): number =>
  isAsked(questions) ? questions.findIndex((question) => isOwn(question) && test(question)) : -1

export const firstOf = ({ questions }: Standing): number => Math.max(0, findOwn(questions, () => true))

// The one that was approved as it was proposed, or the first.
export const plainestOf = (questions: Questions): number => {
  const approved = findOwn(questions, ({ answers }) => answers.some(({ says }) => says === "yes"))
  return approved >= 0 ? approved : Math.max(0, findOwn(questions, () => true))
}
