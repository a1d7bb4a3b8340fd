/**
 * What was answered to a call that waits: in the history, to the store, or by the clock. Whose answer counts depends on
 * what is waited for, and an answer counts only if the interaction's own schema reads it (law L4).
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Approver from "../../Approver.ts"
import * as Interaction from "../../Interaction.ts"
import type * as Environment from "../environment/environment.ts"
import { byMessage, cancellation } from "../environment/trust.ts"
import * as HistoryAnswer from "../history/answer.ts"
import type * as Transcript from "../history/transcript.ts"
import * as Interactions from "../waiting/interaction.ts"
import type { Given, Tip } from "./file.ts"

/** An answer that fits: as it was given, and as the tool gets it. */
export interface Answer {
  readonly json: Schema.Json
  readonly decoded: unknown
  readonly by: Approver.DecidedBy
}

export interface Answered {
  readonly answer: Answer | undefined
  /** What is wrong with answers of the history. */
  readonly invalid: ReadonlyArray<string>
  /** What is wrong with an answer that was given to the store, and so can be given no more. */
  readonly undeliverable: string | undefined
}

export const none: Answered = { answer: undefined, invalid: [], undeliverable: undefined }

export const readAnswer = (
  { suspension }: Tip,
  interaction: Interaction.Any,
  json: Schema.Json | undefined,
  by: Approver.DecidedBy
): Effect.Effect<Answer, string> =>
  json === undefined
    ? Effect.fail("it is an approval, but an answer is needed.")
    : Effect.map(Interactions.decodeAnswer(interaction, suspension.awaited, json), (decoded) => ({ json, decoded, by }))

// The clock's answer, the store's, or the first of the history's that fits.
export const findAnswer = Effect.fnUntraced(function*(
  environment: Environment.Environment,
  tip: Tip,
  given: ReadonlyArray<Given>,
  interaction: Interaction.Any
): Effect.fn.Return<Answered> {
  const { dueAt, kind } = tip.suspension.awaited
  if (tip.delivered !== undefined && !given.some(({ response }) => response?.approved === false)) {
    const read = yield* Effect.result(readAnswer(tip, interaction, tip.delivered, tip.deliveredBy ?? byProgram))
    return Result.isSuccess(read) ? { ...none, answer: read.success } : { ...none, undeliverable: read.failure }
  }
  if (kind === "timer" && dueAt !== undefined) {
    const now = yield* Clock.currentTimeMillis
    if (now >= dueAt) {
      const fired: Interaction.Fired = { dueAt, firedAt: now }
      return { ...none, answer: { json: { ...fired }, decoded: fired, by: byClock } }
    }
  }
  if (!Interaction.isForPeople(kind) && !given.every(({ response }) => isTrusted(environment, response))) {
    return { ...none, invalid: given.filter(({ response }) => response!.approved).map(() => elsewhere) }
  }
  const answers = kind === "getApproval"
    ? verdicts(given)
    : given.map(({ by, response }) => ({ by, json: answerIn(response!) }))
  const invalid: Array<string> = []
  for (const { by, json } of answers) {
    const read = yield* Effect.result(readAnswer(tip, interaction, json, by))
    if (Result.isSuccess(read)) return { ...none, answer: read.success }
    invalid.push(read.failure)
  }
  return { ...none, invalid }
})

export const byProgram = Approver.decidedBy(undefined, "program")

const byClock = Approver.decidedBy(undefined, "timer")

const elsewhere = "an answer in a message history does not count, because anybody may have written it."

export const verdictOf = (approved: boolean, note: string | undefined, answer: Schema.Json | undefined): Schema.Json =>
  answer ?? (note === undefined ? { approved } : { approved, note })

// A no wins over a yes, in any order (law L3).
const verdicts = (
  given: ReadonlyArray<Given>
): ReadonlyArray<{ readonly json: Schema.Json; readonly by: Approver.DecidedBy }> => {
  const said = given.map(({ by, note, response }) => {
    const { approved } = response!
    return { by, json: verdictOf(approved, note, approved ? answerIn(response!) : undefined) }
  })
  return [...said.filter(({ json }) => saysNo(json)), ...said.filter(({ json }) => !saysNo(json))]
}

/** Whether an answer to `getApproval` is a no. */
export const saysNo = (json: Schema.Json): boolean =>
  typeof json === "object" && json !== null && "approved" in json && json.approved === false

const answerIn = (response: Prompt.ToolApprovalResponsePart): Schema.Json | undefined => {
  const said = HistoryAnswer.assentOf(response)
  return said !== undefined && "answer" in said
    ? said.answer as Schema.Json | undefined // read by the interaction's schema before it is used
    : undefined
}

// A request that is put behind a later call of the same id may find that one ended, and its own answers thought too late.
export const responsesTo = (
  asked: Transcript.TranscriptRequest | undefined
): ReadonlyArray<Prompt.ToolApprovalResponsePart> =>
  asked === undefined ? [] : asked.call?.result === undefined ? asked.responses : [...asked.responses, ...asked.ignored]

const answeredNow = new WeakMap<Transcript.Transcript, ReadonlySet<string>>()

/** Whether it is answered behind the last message of the user. */
export const isAnsweredNow = (transcript: Transcript.Transcript, approvalId: string): boolean => {
  let ids = answeredNow.get(transcript)
  if (ids === undefined) answeredNow.set(transcript, ids = answeredSinceUser(transcript))
  return ids.has(approvalId)
}

const answeredSinceUser = ({ lastUserIndex, messages }: Transcript.Transcript): ReadonlySet<string> => {
  const ids = new Set<string>()
  for (let at = lastUserIndex + 1; at < messages.length; at++) {
    const message = messages[at]!
    if (message.role !== "tool") continue
    for (const part of message.content) if (part.type === "tool-approval-response") ids.add(part.approvalId)
  }
  return ids
}

// Only the last answers are this turn's; what stood there before may have been anybody's.
const decidedBy = (
  { answeredBy }: Environment.Environment,
  messages: ReadonlyArray<Prompt.Message>,
  response: Prompt.ToolApprovalResponsePart
): Pick<Given, "by" | "isRefused"> => {
  const { approvalId } = response
  const by = answeredBy(approvalId)
  if (by === undefined) return { by: byMessage }
  let answers = lastAnswers.get(messages)
  if (answers === undefined) lastAnswers.set(messages, answers = new LastAnswers(messages))
  return answers.of(approvalId).includes(response) ? { by } : { by: byMessage, isRefused: true }
}

/** The answers of an id in the last message that has any, found from the end: each message is looked at once. */
class LastAnswers {
  private readonly messages: ReadonlyArray<Prompt.Message>
  private readonly found = new Map<string, ReadonlyArray<unknown>>()
  private next: number

  constructor(messages: ReadonlyArray<Prompt.Message>) {
    this.messages = messages
    this.next = messages.length
  }

  of(approvalId: string): ReadonlyArray<unknown> {
    while (this.next > 0 && !this.found.has(approvalId)) {
      const { content, role } = this.messages[--this.next]!
      if (typeof content === "string") continue
      const here = new Map<string, Array<unknown>>()
      for (const part of content) {
        if (part.type !== "tool-approval-response" || this.found.has(part.approvalId)) continue
        const those = here.get(part.approvalId)
        // Only a tool message answers.
        if (role !== "tool") here.set(part.approvalId, [])
        else if (those === undefined) here.set(part.approvalId, [part])
        else those.push(part)
      }
      for (const [id, parts] of here) this.found.set(id, parts)
    }
    return this.found.get(approvalId) ?? []
  }
}

const lastAnswers = new WeakMap<ReadonlyArray<Prompt.Message>, LastAnswers>()

/** Whether what an answer changes counts: where its history is the program's own, and it did not come from elsewhere. */
export const isTrusted = (
  { answeredBy, trustsAnswers }: Environment.Environment,
  response: Prompt.ToolApprovalResponsePart | undefined
): boolean => trustsAnswers && (response === undefined || answeredBy(response.approvalId)?.via !== byMessage.via)

/** What an answer of a history says. Beside yes or no it counts only where the policy says so (law L4). */
export const givenOf = (
  environment: Environment.Environment,
  messages: ReadonlyArray<Prompt.Message>
) =>
(response: Prompt.ToolApprovalResponsePart): Given => {
  const note = HistoryAnswer.noteOf(response)
  const whose = decidedBy(environment, messages, response)
  const isProgram = whose.by === cancellation
  const said = HistoryAnswer.assentOf(response)
  if (said === undefined) return { ...whose, isProgram, note, response }
  return {
    ...whose,
    isProgram,
    note,
    response,
    params: "params" in said ? said.params as Schema.Json | undefined : undefined, // prepared before it is used
    remember: "remember" in said ? said.remember as Schema.Json | undefined : undefined // decoded before it is used
  }
}
