/** What rows of the table say, in a few words. */
import { type Decision, type Need, nobody, type OpenWhy, type Write } from "./decision.ts"
import { isAsked, isNo, namesPeople, plainestOf } from "./questions.ts"
import type { Question, Questions, Standing, Verdict, Wait } from "./standing.ts"

export const needVerdict: Need = { _tag: "Need", fact: "verdict" }

export const needAnswer: Need = { _tag: "Need", fact: "answer" }

export const tell = (why: Extract<Decision, { _tag: "Tell" }>["why"], at = 0): Decision => ({ _tag: "Tell", at, why })

export const open = (at: number, why: OpenWhy): Decision => ({ _tag: "Open", at, why })

export const run = (at: number, as: Extract<Decision, { _tag: "Run" }>["as"], by = nobody): Decision => ({
  _tag: "Run",
  at,
  as,
  by
})

export const end = (
  at: number,
  state: Extract<Write, { _tag: "End" }>["state"],
  why: Extract<Write, { _tag: "End" }>["why"],
  by = nobody
): Write => ({ _tag: "End", at, state, why, by })

export const denyPlainest = (questions: Questions): Write => {
  const at = plainestOf(questions)
  return end(at, "denied", "said", isAsked(questions) ? questions[at]!.answers.findIndex(isNo) : nobody)
}

export const leave: Decision = { _tag: "Leave" }

// An edit has to be allowed to whoever made it by what is said of both calls.
export const needsWho = (call: Standing, question: Question, verdict: Verdict): boolean =>
  namesPeople(verdict) || (question.named && namesPeople(call.verdict))

// Of a call that nobody was asked about; the provider's goes on as its request says.
export const nobodyWanted = (call: Standing): Decision | undefined =>
  isUnasked(call) ? run(nobody, "free") : call.way === "hosted" ? run(0, "claim") : undefined

export const isUnasked = ({ questions, way }: Standing): boolean =>
  questions === "none" && (way === "received" || way === "guarded")

export const isWaiting = (wait: Standing["wait"]): wait is Exclude<Wait, string> => typeof wait === "object"

export const mayBecome = (verdict: Verdict): boolean => verdict.says !== "ask" || verdict.editable
