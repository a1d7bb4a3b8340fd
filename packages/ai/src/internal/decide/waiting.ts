/** Runs that wait: what keeps one from going on, and what becomes of one that nobody answered. */
import type { Said } from "./decision.ts"
import type { Chosen } from "./questions.ts"
import { end, isWaiting, needVerdict, open, run } from "./saying.ts"
import type { Standing, Wait } from "./standing.ts"

/** Its time is over, and what was given since comes too late: it ends, or goes on as its tool says it does then. */
export const unanswered = (call: Standing, { at, question }: Chosen): Said => {
  const { tool, wait } = call
  if (!isWaiting(wait) || wait.expiry === "ends" || question.drifted || tool === "gone" || tool === "unfit") {
    return end(at, "expired", "expired")
  }
  return tool === "noToolkit" ? open(at, "noToolkit") : keepsFrom(call, wait, at) ?? run(at, "resume")
}

/** What keeps a run that waited from going on. */
export const keepsFrom = (
  { powers, tool, verdict }: Standing,
  { state }: Exclude<Wait, string>,
  at: number
): Said | undefined => {
  if (powers === "reads") return open(at, "asked")
  if (state === undefined) return { _tag: "Need", fact: "state" }
  if (state !== "fits") return end(at, "void", state)
  if (tool !== "gated") return undefined
  if (verdict === undefined) return needVerdict
  if (verdict.says === "failed") return open(at, "held")
  return verdict.says === "blocked" ? end(at, "denied", "blocked") : undefined
}
