/** What the plans of a search met, so that a generator that no longer meets something is found out. */
import * as Hosted from "./hosted.ts"
import type * as Laws from "./laws.ts"
import * as Notes from "./notes.ts"
import type * as Record from "./record.ts"
import * as Remembered from "./remembered.ts"
import * as View from "./view.ts"
import * as Waits from "./waits.ts"

export const thingsOf = (happened: Laws.Case): ReadonlySet<string> => {
  const { justified, predictions, record } = happened
  const things = new Set<string>()
  const add = (name: string, isMet = true) => {
    if (isMet) things.add(name)
  }
  for (const { isDirect, run } of justified) {
    add(isDirect ? "run of a call that needs nobody" : "run of an approved call")
    add(`run ${run.outcome}`, run.outcome !== "succeeded")
  }
  for (const { fate } of predictions) add(`open request ${fate}`)
  for (const how of record.tampered) add(`tampered: ${how}`)
  for (const step of record.steps) add(`step ${step}`, step !== "Turn" && step !== "Tamper")
  for (const { said } of record.judgements) add(`policy said ${said}`)
  for (const { how, method } of record.troubles) {
    add(`store ${how}`)
    add(`store failed to ${method}`)
  }
  for (const { outcome } of record.answerings) add(`answers were ${outcome}`)
  for (const { said } of record.stops) add(said ? "a live run was stopped" : "there was no run to stop")
  for (const name of hostedThingsOf(record)) add(name)
  for (const name of waitingThingsOf(happened)) add(name)
  for (const name of otherThingsOf(record)) add(name)
  for (const { grants, isAnswered } of justified) add("run by what is remembered", grants.length > 0 && !isAnswered)
  for (const { decision, isInline, uses } of Remembered.grantsOf(record)) {
    add(`remembered as ${decision} ${isInline ? "inline" : "in the history"}`)
    add("remembered for one use", uses === 1)
  }
  for (const { said } of record.asked) add(`controller said ${said}`)
  for (const turn of record.turns.slice(0, record.closing)) {
    add(`turn ${turn.ending}`, turn.ending !== "success")
    add(`delivery ${turn.plan.delivery._tag}`, turn.plan.delivery._tag !== "Once")
    add("generateObject waits", turn.plan.object && turn.required !== undefined)
  }
  for (const turn of record.turns) {
    for (const { prompt } of turn.sent) {
      const isRaw = turn.prompt.content.some(Notes.isNote)
      add("told late", !isRaw && Notes.lateIn(prompt).length > 0)
      add(
        "told late, and later again",
        !isRaw && Notes.lateIn(prompt).length > 0 && !prompt.content.slice(-1).some(Notes.isNote)
      )
    }
    add(
      "answers that settle nothing",
      turn.ending === "success" && turn.sent.length === 0 && turn.plan.resolve &&
        turn.parts.some((part) => part.type === "finish" && part.reason === "stop")
    )
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

/** What a plan met of tools that wait. */
const waitingThingsOf = ({ predictionsOfWaiting, record }: Laws.Case): ReadonlyArray<string> =>
  [
    ...record.askings.map(({ suspension: { index, kind } }) => index === 0 ? `waits: ${kind}` : "waits again"),
    ...record.suspensions.map(({ call: { tool } }) => `waits: ${tool}`),
    ...predictionsOfWaiting.map(({ fate }) => `what waits ${fate}`),
    ...record.resumptions.map(({ suspension: { kind } }) => `goes on from: ${kind}`),
    ...record.resumptions.map(({ outcome }) => `resumption ${outcome}`),
    ...record.resumptions.map(({ process, suspension }) => process === suspension.process ? "" : "goes on elsewhere"),
    ...record.tellings.map(({ answer, outcome }) => `${answer === undefined ? "cancelled" : "told"}: ${outcome}`),
    ...record.turns.flatMap((turn) => {
      const answered = record.askings.filter((asking) => Waits.saidIn(turn.prompt, asking).length > 0)
      return answered.flatMap((asking) => {
        const denied = Waits.saidIn(turn.prompt, asking).filter(({ isDenial }) => isDenial).length
        return [
          denied > 0 ? "what waits is denied in the history" : "what waits is answered in the history",
          ...(turn.tampered ? ["what waits is answered in a history that was tampered with"] : [])
        ]
      })
    })
  ].filter((name) => name !== "")

/** What a plan met of guarded toolkits, and of models within handlers. */
const otherThingsOf = (record: Record.Record): ReadonlyArray<string> =>
  record.turns.flatMap((turn) => [
    ...turn.received.flatMap((call) => {
      if (!View.isGuarded(call)) return []
      const hasRun = record.runs.some((run) => run.turn === turn.index && run.call.id === call.id)
      return [`guarded within ${turn.within} ${hasRun ? "ran" : "did not run"}`]
    }),
    ...(turn.within === "handler" ? [`nested turn ${turn.ending}`] : []),
    ...(turn.within === "handler" && View.requestIdsOf(turn).length > 0 ? ["nested turn asks"] : []),
    ...record.runs.flatMap((run) =>
      run.turn === turn.index && run.call.tool === "Dig" ? [`nested run ${run.outcome}`] : []
    )
  ])

/** What a plan met of the calls that the provider runs itself. */
const hostedThingsOf = (record: Record.Record): ReadonlyArray<string> => {
  if (record.hosted.length === 0) return []
  const things: Array<string> = []
  const { provider } = record.plan.options
  const add = (name: string, isMet: boolean) => {
    if (isMet) things.push(`${name} (${provider})`)
  }
  for (const turn of record.turns) {
    const responses = turn.sent.flatMap(({ prompt }) => Hosted.partsOf(prompt).responses)
    for (const hosted of record.hosted) {
      const mine = responses.filter(({ part }) => part.approvalId === hosted.approvalId)
      const verdict = Hosted.verdictOf(record, turn, hosted)
      const replies = Hosted.repliesTo(record, turn, hosted)
      const isApproved = View.answersOf(turn.prompt, hosted.approvalId).approved
      add("a provider's request reached the program", View.requestIdsOf(turn).includes(hosted.approvalId))
      add("an approval reached the provider", mine.some(({ part }) => part.approved))
      add("a denial reached the provider", mine.some(({ part }) => !part.approved))
      add("the policy answered the provider", mine.length > 0 && (verdict === "allow" || verdict === "block"))
      add("the controller answered the provider", mine.length > 0 && replies.length > 0)
      add("the policy blocked what was approved", isApproved && mine.length > 0 && verdict === "block")
    }
  }
  if (record.hostedRuns.length > 0) things.push("the provider ran a call")
  if (record.hosted.some(({ plan }) => !plan.asks)) things.push("the provider ran a call unasked")
  return things
}
