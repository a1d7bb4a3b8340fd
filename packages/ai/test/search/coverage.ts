/** What the plans of a search met, so that a generator that no longer meets something is found out. */
import * as Laws from "./laws.ts"
import * as View from "./view.ts"

/** How many plans met each thing. */
export type Coverage = Map<string, number>

export const make = (): Coverage => new Map()

export const count = (coverage: Coverage, happened: Laws.Case): void => {
  for (const name of thingsOf(happened)) coverage.set(name, (coverage.get(name) ?? 0) + 1)
}

const thingsOf = (happened: Laws.Case): ReadonlySet<string> => {
  const { justified, predictions, record } = happened
  const things = new Set<string>()
  const add = (name: string, isMet = true) => {
    if (isMet) things.add(name)
  }
  for (const law of Laws.laws) add(`law ${law.name}`, law.concerns(happened))
  for (const { isDirect, run } of justified) {
    add(isDirect ? "run of a call that needs nobody" : "run of an approved call")
    add(`run ${run.outcome}`, run.outcome !== "succeeded")
  }
  for (const { fate } of predictions) add(`open request ${fate}`)
  for (const how of record.tampered) add(`tampered: ${how}`)
  for (const step of record.steps) add(`step ${step}`, step !== "Turn" && step !== "Tamper")
  for (const { said } of record.judgements) add(`policy said ${said}`)
  for (const { said } of record.asked) add(`controller said ${said}`)
  for (const turn of record.turns.slice(0, record.closing)) {
    add(`turn ${turn.ending}`, turn.ending !== "success")
    add(`delivery ${turn.plan.delivery._tag}`, turn.plan.delivery._tag !== "Once")
    add("generateObject waits", turn.plan.object && turn.required !== undefined)
  }
  for (const turn of record.turns) {
    for (const request of record.requests) {
      const answers = View.answersOf(turn.prompt, request.approvalId)
      add("approved after it expired", answers.approved && turn.startedAt >= request.expiresAt)
      add("approved in another scope", answers.approved && turn.circumstances.scope !== request.scope)
      add("approved with an unknown key", answers.approved && !View.isKeyAccepted(turn, request.key))
      add("approved and denied", answers.approved && answers.denied)
    }
  }
  return things
}
