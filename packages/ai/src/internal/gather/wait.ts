/**
 * What a call waits for whose run has begun: the last of the requests that its runs became, what was answered to it in the
 * history, to the store or by the clock, and whether the tool can go on from there.
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import type * as ApprovalJournal from "../../ApprovalJournal.ts"
import * as Approver from "../../Approver.ts"
import type { DecidedBy } from "../../Approver.ts"
import * as Interaction from "../../Interaction.ts"
import type * as SuspensionStore from "../../SuspensionStore.ts"
import { abandonable } from "../abandon.ts"
import type * as Standing from "../decide/standing.ts"
import * as Words from "../decide/words.ts"
import * as Transcript from "../history/transcript.ts"
import * as Deferral from "../tool/deferral.ts"
import * as Prepare from "../tool/prepare.ts"
import * as Interactions from "../waiting/interaction.ts"
import * as Agents from "./agents.ts"
import * as Answering from "./answering.ts"
import * as Approvers from "./approvers.ts"
import * as Fate from "./fate.ts"
import { type File, forget, type Given, question, type Tip, type WaitingTool } from "./file.ts"
import * as Request from "./request.ts"
import * as Suspension from "./suspension.ts"
import * as Tools from "./tools.ts"
import * as Who from "./who.ts"

/** The tip of the chain of requests that begins with the one at this place. */
export const gather = Effect.fnUntraced(function*(
  file: File,
  standing: Standing.Standing,
  at: number
): Effect.fn.Return<Standing.Standing, ApprovalError.ApprovalError> {
  const { call, environment, history } = file
  const { journal, seal, suspensions } = environment
  file.waits = true
  const first = file.questions[at]
  file.root ??= first?.sealed.approvalId
  const canonical = first?.canonical ?? file.prepared?.canonical ?? "null"
  let approvalId = file.waitsAs ?? first?.entry?.suspendedAs ?? first!.sealed.approvalId
  while (true) {
    const parsed = seal.parse(approvalId)
    if (Result.isFailure(parsed)) return gone(standing)
    const entry = yield* journal.find(Request.claimOf(parsed.success, call))
    if (entry?.suspendedAs !== undefined) {
      approvalId = entry.suspendedAs
      continue
    }
    const asked = history && Transcript.requestOf(history.transcript, approvalId)
    const responses = Answering.responsesTo(asked)
    const fate = Fate.of(entry, false)
    // What came to its end is on record, whether or not the store can be reached.
    const found = mayGoOn(fate) || responses.length > 0 ? yield* suspensions.find(approvalId) : undefined
    if (entry !== undefined && responses.length > 0) yield* refuseLate(file, approvalId, responses, entry, found)
    const givenOf = Answering.givenOf(environment, file.messages)
    file.questions = [{ sealed: parsed.success, canonical, given: responses.map(givenOf), entry }]
    const isKnown = found !== undefined && (yield* Suspension.isSealedFor(parsed.success, found.suspension.awaited))
    if (!isKnown) return { ...gone(standing), questions: [question({ suspension: true, fate })] }
    const tip = tipOf(file, found, responses)
    file.tip = tip
    const denial = file.questions[0]!.given.find(({ by, response }) => !response!.approved && mayAnswer(file, tip, by))
    file.denial = denial
    const { awaited } = found.suspension
    // What was accepted in time counts, however late anybody looks.
    const over = tip.delivered === undefined ? yield* expiry(tip) : undefined
    const expired = over !== undefined && (yield* isAccepted(file, tip)) ? undefined : over
    if (expired !== undefined) file.questions = [{ ...file.questions[0]!, expired }]
    const answersNow = history !== undefined && Answering.isAnsweredNow(history.transcript, approvalId)
    const isVerdict = awaited.kind === "getApproval"
    return {
      ...forget(standing),
      way: "history",
      reply: undefined,
      denied: !isVerdict && denial !== undefined,
      onNewMessage: messageMode(file, tip),
      tool: Tools.factOf(environment.policy, file.tools, tip.waiting?.tool, true),
      questions: [question({
        suspension: true,
        fate,
        expired: expired !== undefined,
        passedOver: !answersNow && asked !== undefined && history!.transcript.lastUserIndex > asked.messageIndex
      })],
      wait: found.status === "over" ? "over" : {
        for: isVerdict ? "verdict" : Interaction.isForPeople(awaited.kind) ? "person" : "other",
        given: tip.delivered !== undefined || responses.length > 0,
        expiry: expiryOf(tip),
        answer: undefined,
        state: undefined
      }
    }
  }
})

const mayGoOn = ({ state }: Standing.Fate): boolean => state === "pending" || state === "running" || state === "unknown"

const gone = (standing: Standing.Standing): Standing.Standing => ({
  ...forget(standing),
  way: "history",
  denied: false,
  wait: "gone",
  questions: [question({ suspension: true })]
})

const tipOf = (
  { call, tools }: File,
  { delivered, deliveredBy, suspension }: SuspensionStore.Found,
  responses: Tip["responses"]
): Tip => {
  const tool = Tools.toolOf(tools, call.toolName)
  const deferral = tool === undefined ? undefined : Deferral.of(tool)
  const interaction = deferral === undefined ? undefined : Deferral.interactionOf(deferral, suspension.awaited.name)
  const waiting: WaitingTool | undefined =
    tool === undefined || deferral === undefined || interaction?.kind !== suspension.awaited.kind
      ? undefined
      : { tool, deferral, interaction }
  return { suspension, delivered, deliveredBy, responses, waiting }
}

const expiryOf = ({ suspension }: Tip): Standing.WaitExpiry => suspension.handlesExpiry === true ? "resumes" : "ends"

/** Who lets a run go on that nobody answered. */
export const byExpiry = Approver.decidedBy(undefined, "expiry")

const messageMode = (
  { environment: { options }, history }: File,
  { suspension, waiting }: Tip
): Standing.OnNewMessage => {
  const isLeft = history !== undefined && Transcript.wasAskedInline(history.call)
  if (options.onNewMessage !== "supersede" && !isLeft) return options.onNewMessage
  return waiting?.interaction.onNewMessage ??
    (Interaction.isForPeople(suspension.awaited.kind) ? "supersede" : "keep")
}

/** Whether what was answered fits, whoever answered. */
export const gatherAnswer = Effect.fnUntraced(function*(
  file: File,
  standing: Standing.Standing
): Effect.fn.Return<Standing.Standing> {
  const tip = file.tip!
  // What cannot be read without its tool is looked at where it was given.
  if (tip.waiting === undefined) return withWait(standing, { answer: "none" })
  const { interaction } = tip.waiting
  const { given } = file.questions[0]!
  if (interaction.kind === "nested") {
    const { answer, isSuperseded } = yield* ofAgents(file, tip)
    const said = withWait(standing, { answer })
    // What its agents wait for says what becomes of it.
    return standing.onNewMessage === "supersede" && !isSuperseded ? { ...said, onNewMessage: "keep" } : said
  }
  const may = yield* refuseStrangers(file, tip, given)
  const refused = given.length > may.length && may.length === 0
  if (tip.replied !== undefined) {
    if (refused) return withWait(standing, { answer: "stranger" })
    const read = yield* Effect.result(Answering.readAnswer(tip, interaction, tip.replied.json, tip.replied.by))
    if (Result.isFailure(read)) {
      tip.problems = [read.failure]
      return withWait(standing, { answer: "invalid" })
    }
    tip.answer = read.success
    return withWait(standing, { answer: yield* worthOf(file, tip, read.success) })
  }
  const { answer, invalid, undeliverable } = yield* Answering.findAnswer(file.environment, tip, may, interaction)
  tip.answer = answer
  tip.problems = undeliverable === undefined ? invalid : [undeliverable]
  return withWait(standing, {
    answer: undeliverable !== undefined
      ? "undeliverable"
      : answer !== undefined
      ? yield* worthOf(file, tip, answer)
      : invalid.length > 0
      ? "invalid"
      : refused
      ? "stranger"
      : "none"
  })
})

// Its agents go on with whatever has come there; what stands in this history is given to them first.
const ofAgents = Effect.fnUntraced(function*(
  file: File,
  tip: Tip
): Effect.fn.Return<{ readonly answer: Standing.WaitAnswer; readonly isSuperseded: boolean }> {
  const { call, environment, history, questions } = file
  const { began } = tip.suspension
  const state = questions[0]?.entry?.state
  if (began === undefined) return { answer: "none", isSuperseded: true }
  // Once in a turn: what has no effect is not given again and again.
  const asked = file.hasAnsweredAgents === true ? [] : history?.transcript.allRequests ?? []
  file.hasAnsweredAgents = true
  for (const { part, responses } of asked) {
    if (!part.toolCallId.startsWith(`${call.toolCallId}/`)) continue
    yield* Agents.giveAll(environment, began, part.approvalId, responses.map(Answering.givenOf(environment, [])))
  }
  tip.answer = { json: null, decoded: null, by: Answering.byProgram }
  // A run that was begun and did not come to its end is taken up, whatever it was begun for.
  if (state !== undefined && state !== "pending") return { answer: "fits", isSuperseded: true }
  const within = yield* Effect.result(environment.suspensions.agents(began))
  return Result.isFailure(within)
    // What cannot be looked up is not given up.
    ? { answer: "none", isSuperseded: false }
    : { answer: within.success.hasNews ? "fits" : "none", isSuperseded: within.success.superseded.length > 0 }
})

/** Whether the tool can go on with what it remembers. */
export const gatherState = Effect.fnUntraced(function*(
  file: File,
  standing: Standing.Standing
): Effect.fn.Return<Standing.Standing> {
  const tip = file.tip!
  const { deferral } = tip.waiting!
  const { state, stateVersion } = tip.suspension
  if ((yield* prepare(file)) === undefined) return withWait(standing, { state: "unfitParameters" })
  const isNested = tip.suspension.awaited.kind === "nested"
  const decoded = yield* (isNested ? Agents.resumptionOf(deferral, state) : deferral.decodeState(state, stateVersion))
    .pipe(
      abandonable,
      Effect.timeout("30 seconds"),
      Effect.sandbox,
      Effect.result
    )
  if (Result.isFailure(decoded)) {
    yield* tellUnfitState(file, tip, decoded.failure)
    return withWait(standing, { state: "unfitState" })
  }
  tip.state = decoded.success
  return withWait(standing, { state: "fits" })
})

/** The call as its handler got it. */
export const prepare = Effect.fnUntraced(function*(file: File): Effect.fn.Return<Prepare.Prepared | undefined> {
  const tip = file.tip!
  if (tip.waiting === undefined || tip.prepared !== undefined) return tip.prepared
  const { toolCallId: id, toolName: name } = file.call
  const prepared = yield* Effect.result(Prepare.prepare(tip.waiting.tool, { id, name, params: tip.suspension.params }))
  tip.prepared = Result.getOrUndefined(prepared)
  return tip.prepared
})

const ruleOf = ({ environment }: File, { suspension: { awaited } }: Tip): Approvers.Rule | undefined =>
  Approvers.ruleOf([awaited], environment.scope)

const mayAnswer = (file: File, tip: Tip, by: DecidedBy): boolean => {
  const rule = ruleOf(file, tip)
  return rule === undefined || Approvers.problemOf(rule, by) === undefined
}

// Into the history of a conversation nobody writes but the conversation, which takes no answer once the time is over.
const isAccepted = Effect.fnUntraced(function*(file: File, tip: Tip): Effect.fn.Return<boolean> {
  const [asked] = file.questions
  const given = asked!.given.filter(({ isProgram }) => isProgram !== true)
  if (!file.environment.trustsAnswers || given.length === 0) return false
  // What was answered is read when its tool is there again.
  if (tip.waiting === undefined) return true
  const { answer } = yield* Answering.findAnswer(file.environment, tip, given, tip.waiting.interaction)
  if (answer === undefined) return false
  const rule = ruleOf(file, tip)
  return rule === undefined ||
    Approvers.approvalOf(rule, answer.by, asked!.entry, yield* approvedAs({ ...tip, answer })) === "counts"
})

/** What an answer is a digest of, where several have to give the same; two who say yes do. */
export const approvedAs = ({ answer, suspension: { awaited } }: Tip): Effect.Effect<string | undefined> =>
  awaited.kind === "getApproval" ? Effect.undefined : digestOf(awaited, answer!.json)

export const forgetAnswer = (standing: Standing.Standing): Standing.Standing =>
  typeof standing.wait === "object" ? withWait(standing, { answer: undefined }) : standing

// What fits, by what it is worth.
const worthOf = Effect.fnUntraced(function*(
  file: File,
  tip: Tip,
  answer: Answering.Answer
): Effect.fn.Return<Standing.WaitAnswer> {
  const rule = ruleOf(file, tip)
  if (rule === undefined || isNo(tip, answer)) return "fits"
  const asked = file.questions[0]!
  const who = Approvers.approvalOf(rule, answer.by, asked.entry, yield* approvedAs(tip))
  if (who === "counts") return "fits"
  if (who === "more") return "more"
  const given = asked.given.find(({ by }) => by === answer.by) ?? { by: answer.by }
  yield* Who.refuse(file, asked, given, rule, Approvers.problemOf(rule, answer.by))
  return who
})

// Any approver's ends it.
const isNo = ({ suspension: { awaited } }: Tip, { json }: Answering.Answer): boolean =>
  awaited.kind === "getApproval" && Answering.saysNo(json)

// What a stranger says is as if it was not said, and they are told so.
const refuseStrangers = Effect.fnUntraced(function*(
  file: File,
  tip: Tip,
  given: ReadonlyArray<Given>
): Effect.fn.Return<ReadonlyArray<Given>> {
  const rule = ruleOf(file, tip)
  if (rule === undefined) return given
  const may: Array<Given> = []
  for (const one of given) {
    const problem = Approvers.problemOf(rule, one.by)
    if (problem === undefined || one.isProgram === true) may.push(one)
    else yield* Who.refuse(file, file.questions[0]!, one, rule, problem)
  }
  return may
})

/** A digest of that with which it goes on, an answer or none: only a run with the same is ever repeated. */
export const answerDigest = ({ answer, suspension }: Tip, isExpired: boolean): Effect.Effect<string> =>
  isExpired
    ? Interactions.answerDigest({ expiredAt: suspension.expiresAt })
    : digestOf(suspension.awaited, answer!.json)

const digestOf = (awaited: Approval.Awaited, json: Schema.Json): Effect.Effect<string> =>
  Interactions.answerDigest(awaited.kind === "timer" ? { dueAt: awaited.dueAt ?? 0 } : json)

const withWait = (
  standing: Standing.Standing,
  known: Partial<Exclude<Standing.Wait, string>>
): Standing.Standing => ({ ...standing, wait: { ...standing.wait as Exclude<Standing.Wait, string>, ...known } })

/** Whoever was asked what the run waits for has answered. */
export const withReply = (
  file: File,
  standing: Standing.Standing,
  reply: Exclude<Approval.ApprovalDecision, Approval.Info>,
  by: DecidedBy,
  isProgram: boolean,
  expired: string | undefined
): Standing.Standing => {
  const tip = file.tip!
  const isVerdict = tip.suspension.awaited.kind === "getApproval"
  const isDenial = reply._tag === "Denied" && !isVerdict && (isProgram || mayAnswer(file, tip, by))
  const said = reply._tag === "Approved" ? reply.answer : undefined
  const json = isVerdict ? Answering.verdictOf(reply._tag === "Approved", reply.note, said) : said
  file.tip = { ...tip, replied: { json, by }, prepared: undefined }
  file.denial = isDenial ? { by, note: reply.note } : undefined
  file.questions = [{ ...file.questions[0]!, given: [{ by, isProgram, note: reply.note }], expired }]
  const { expiry, for: waitsFor } = standing.wait as Exclude<Standing.Wait, string>
  return {
    ...standing,
    reply: "given",
    denied: isDenial,
    verdict: undefined,
    questions: [question({ suspension: true, expired: expired !== undefined })],
    wait: { for: waitsFor, given: true, expiry, answer: undefined, state: undefined }
  }
}

// =============================================================================
// What is said of it
// =============================================================================

/** Why nobody can answer any more, once its time is over. */
export const expiry = ({ suspension: { expiresAt, toolName } }: Tip): Effect.Effect<string | undefined> =>
  Effect.map(Clock.currentTimeMillis, (now) =>
    now < expiresAt
      ? undefined
      : Words.stands(`What "${toolName}" waited for expired at ${new Date(expiresAt).toISOString()}.`))

/** Why the tool cannot go on. */
export const driftOf = ({ call: { toolName }, tools }: File, { suspension }: Tip): string => {
  const tool = Tools.toolOf(tools, toolName)
  return Words.stands(
    tool === undefined
      ? `The tool "${toolName}" is no longer available: it was removed or renamed while it waited.`
      : Deferral.of(tool) === undefined
      ? `The tool "${toolName}" no longer waits for anything.`
      : `The tool "${toolName}" no longer waits for ${
        Words.awaited(suspension.awaited)
      }: it was removed, renamed or changed.`
  )
}

export const unfitParameters = ({ call: { toolName } }: File): string =>
  Words.stands(`Its parameters no longer fit the schema of "${toolName}".`)

export const unfitState = ({ call: { toolName } }: File): string =>
  Words.stands(`What "${toolName}" remembered cannot be used any more.`)

// The model cannot do anything about it.
const tellUnfitState = (
  { call: { toolName } }: File,
  { suspension: { stateVersion }, waiting }: Tip,
  cause: Cause.Cause<unknown>
) => {
  const { migrates, stateVersion: current } = waiting!.deferral
  const misfit = Schema.isSchemaError(Cause.squash(cause))
  return Effect.logWarning(
    `Assent: "${toolName}" cannot go on with what it remembered: ${
      stateVersion === current
        ? `it does not fit the schema of its state.`
        : `it is of version ${stateVersion}, and ${
          !migrates
            ? `there is no migration to version ${current}.`
            : misfit
            ? `what \`migrate\` made of it does not fit the schema of version ${current}.`
            : `\`migrate\` failed to make version ${current} of it.`
        }`
    }`
  )
}

export const superseded = ({ suspension: { awaited } }: Tip): string =>
  `Superseded by a new message while the tool waited for ${
    Words.awaited(awaited)
  }. It did not go on, and what it did before` +
  " it waited is not undone; it may be asked again."

export const waiting = ({ suspension: { awaited } }: Pick<Tip, "suspension">): string =>
  `The tool has begun and waits for ${Words.awaited(awaited)}; its result will follow.`

// An answer that comes after another one has had its effect (law L3).
const refuseLate = (
  { call, environment }: File,
  approvalId: string,
  responses: ReadonlyArray<Prompt.ToolApprovalResponsePart>,
  { state }: ApprovalJournal.Entry,
  found: SuspensionStore.Found | undefined
): Effect.Effect<void> => {
  const ended = state === "denied" || state === "expired" || state === "superseded" || state === "cancelled" ||
    state === "void"
  const isLate = found?.suspension.awaited.kind === "getApproval"
    ? ended
    : responses.some(({ approved }) => approved === ended)
  if (!isLate || state === "pending") return Effect.void
  const reason = new ApprovalError.AlreadyDecided({ approvalId, state })
  environment.onRefused(approvalId, reason)
  return ApprovalEvents.publish((occasion) => ({
    _tag: "Refused",
    ...occasion,
    ...Request.about(call),
    approvalId,
    reason
  }))
}
