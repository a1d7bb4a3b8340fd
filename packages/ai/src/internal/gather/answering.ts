/**
 * What was answered to a call that waits: in the history, to the store, or by the clock. Whose answer counts depends on
 * what is waited for, and an answer counts only if the interaction's own schema reads it (law L4).
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Interaction from "../../Interaction.ts"
import type * as Environment from "../environment/environment.ts"
import * as HistoryAnswer from "../history/answer.ts"
import type * as Transcript from "../history/transcript.ts"
import * as Interactions from "../waiting/interaction.ts"
import type { Given, Tip } from "./file.ts"

/** An answer that fits: as it was given, and as the tool gets it. */
export interface Answer {
  readonly json: Schema.Json
  readonly decoded: unknown
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
  json: Schema.Json | undefined
): Effect.Effect<Answer, string> =>
  json === undefined
    ? Effect.fail("it says yes, where an answer is asked for.")
    : Effect.map(Interactions.decodeAnswer(interaction, suspension.awaited, json), (decoded) => ({ json, decoded }))

// The clock's answer, the store's, or the first of the history's that fits.
export const findAnswer = Effect.fnUntraced(function*(
  { trustsAnswers }: Environment.Environment,
  tip: Tip,
  interaction: Interaction.Any
): Effect.fn.Return<Answered> {
  const { dueAt, kind } = tip.suspension.awaited
  if (tip.delivered !== undefined && denialOf(tip) === undefined) {
    const read = yield* Effect.result(readAnswer(tip, interaction, tip.delivered))
    return Result.isSuccess(read) ? { ...none, answer: read.success } : { ...none, undeliverable: read.failure }
  }
  if (kind === "timer" && dueAt !== undefined) {
    const now = yield* Clock.currentTimeMillis
    if (now >= dueAt) {
      const fired: Interaction.Fired = { dueAt, firedAt: now }
      return { ...none, answer: { json: { ...fired }, decoded: fired } }
    }
  }
  const { responses } = tip
  if (!Interaction.isForPeople(kind) && !trustsAnswers) {
    return { ...none, invalid: responses.filter(({ approved }) => approved).map(() => elsewhere) }
  }
  const given = kind === "getApproval" ? verdicts(responses) : responses.map(answerIn)
  const invalid: Array<string> = []
  for (const json of given) {
    const read = yield* Effect.result(readAnswer(tip, interaction, json))
    if (Result.isSuccess(read)) return { ...none, answer: read.success }
    invalid.push(read.failure)
  }
  return { ...none, invalid }
})

const elsewhere = "nobody is asked for it in a message history, which anybody may have written."

export const verdictOf = (approved: boolean, note: string | undefined, answer: Schema.Json | undefined): Schema.Json =>
  answer ?? (note === undefined ? { approved } : { approved, note })

// A no wins over a yes, in any order (law L3).
const verdicts = (responses: ReadonlyArray<Prompt.ToolApprovalResponsePart>): ReadonlyArray<Schema.Json> => {
  const given = responses.map((response) =>
    verdictOf(response.approved, HistoryAnswer.noteOf(response), response.approved ? answerIn(response) : undefined)
  )
  const saysNo = (verdict: Schema.Json) =>
    typeof verdict === "object" && verdict !== null && "approved" in verdict && verdict.approved === false
  return [...given.filter(saysNo), ...given.filter((verdict) => !saysNo(verdict))]
}

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

export const denialOf = ({ responses }: Pick<Tip, "responses">): Prompt.ToolApprovalResponsePart | undefined =>
  responses.find(({ approved }) => !approved)

export const isAnsweredSince = ({ messages }: Transcript.Transcript, approvalId: string, index: number): boolean =>
  messages.some((message, at) =>
    at > index && message.role === "tool" &&
    message.content.some((part) => part.type === "tool-approval-response" && part.approvalId === approvalId)
  )

/** What an answer of a history says. Beside yes or no it counts only where the policy says so (law L4). */
export const givenOf = (response: Prompt.ToolApprovalResponsePart): Given => {
  const note = HistoryAnswer.noteOf(response)
  const said = HistoryAnswer.assentOf(response)
  if (said === undefined) return { note, response }
  return {
    note,
    response,
    params: "params" in said ? said.params as Schema.Json | undefined : undefined, // prepared before it is used
    remember: "remember" in said ? said.remember as Schema.Json | undefined : undefined // decoded before it is used
  }
}
