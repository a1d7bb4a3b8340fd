/** The requests of a call: which of them are its own, what stands of them, and which one counts. */
import type { Answer, Fate, Question, Questions, Standing } from "./standing.ts"

/** The question that counts. */
export interface Chosen {
  readonly at: number
  readonly question: Question
  /** The places of its answers that can have an effect. */
  readonly counting: ReadonlyArray<number>
}

/**
 * The question that was approved, else the first. Only an answer as it was proposed counts, or one whose edit somebody
 * vouches for; `unknown` where only the policy can say whether somebody does.
 */
export const chosenOf = (call: Standing): Chosen | "unknown" | undefined => {
  if (!isAsked(call.questions)) return undefined
  let first: Chosen | undefined
  for (let at = 0; at < call.questions.length; at++) {
    const question = call.questions[at]!
    if (!isOwn(question)) continue
    const counting = countingOf(call, question)
    if (counting === "unknown") return "unknown"
    if (counting.length > 0) return { at, question, counting }
    first ??= { at, question, counting }
  }
  return first
}

const none: ReadonlyArray<number> = []

export const countingOf = (call: Standing, { answers }: Question): ReadonlyArray<number> | "unknown" => {
  if (answers.length === 0) return none
  const edits = editsCount(call)
  if (edits === undefined && answers.some(({ says }) => says === "edit")) return "unknown"
  return answers.flatMap(({ says }, by) => says === "yes" || (says === "edit" && edits === true) ? [by] : [])
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

/** Somebody said no to it; of what a run waits for, that is an answer like others. */
export const isDenied = ({ answers, suspension }: Question): boolean => !suspension && answers.some(isNo)

export const isAnswered = ({ answers }: Question): boolean => answers.length > 0

export const findOwn = (questions: Questions, test: (question: Question) => boolean): number =>
  isAsked(questions) ? questions.findIndex((question) => isOwn(question) && test(question)) : -1

export const firstOf = ({ questions }: Standing): number => Math.max(0, findOwn(questions, () => true))

// The one that was approved as it was proposed, or the first.
export const plainestOf = (questions: Questions): number => {
  const approved = findOwn(questions, ({ answers }) => answers.some(({ says }) => says === "yes"))
  return approved >= 0 ? approved : Math.max(0, findOwn(questions, () => true))
}
