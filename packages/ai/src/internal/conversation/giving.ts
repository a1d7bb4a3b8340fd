/**
 * Answers that are kept with what they answer before any turn takes them: those to what is asked in agents, and those that come
 * while a turn is taken, which goes on with them.
 */
import type * as Toolkit from "effect/ai/Toolkit"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Approval from "../../Approval.ts"
import type * as ApprovalError from "../../ApprovalError.ts"
import * as Approver from "../../Approver.ts"
import type * as ConversationStore from "../../ConversationStore.ts"
import * as SuspensionStore from "../../SuspensionStore.ts"
import type * as Model from "../environment/model.ts"
import * as Trust from "../environment/trust.ts"
import * as Listed from "../held/listed.ts"
import * as ConversationTurn from "../held/turn.ts"
import * as Open from "../kept/open.ts"
import type * as Posted from "../posted.ts"
import * as Deciding from "./deciding.ts"
import type * as Conversation from "./model.ts"

type AnyToolkit = Toolkit.WithHandler<Model.AnyTools>

/**
 * Decides what was given to open requests beside a turn, or from outside an agent: true where it goes on with any of it.
 */
export const takeGiven = Effect.fnUntraced(function*(
  place: ConversationTurn.Place,
  turn: ConversationTurn.Turn,
  toolkit: AnyToolkit
): Effect.fn.Return<boolean, ApprovalError.ApprovalError | ConversationStore.ConversationError> {
  const { suspensions } = turn
  const all: Array<Deciding.Decided> = []
  for (const { approvalId } of yield* mayBeGiven(place, turn)) {
    for (const { decidedBy, decision, trusted } of yield* suspensions.given(approvalId)) {
      all.push({
        answer: new Approval.ApprovalAnswer({ approvalId, decision }),
        decidedBy: trusted ? decidedBy : Approver.decidedBy(Deciding.personOf(decidedBy), Trust.byMessage.via)
      })
    }
  }
  if (all.length === 0) return false
  const goesOn = yield* Deciding.decideEach(turn, toolkit, all, turn.refused, true)
  // What leaves its request open is over, and it is asked again.
  for (const { answer: { approvalId } } of all) {
    if (!turn.answered.includes(approvalId)) yield* suspensions.forgetGiven(approvalId)
  }
  return goesOn
})

// What is open here and is not listed as open any more.
const mayBeGiven = (
  place: ConversationTurn.Place,
  turn: ConversationTurn.Turn
): Effect.Effect<ReadonlyArray<Approval.ApprovalRequest>, ConversationStore.ConversationError> => {
  const open = Deciding.pendingOf(turn)
  return open.length <= fewOpen || place.within !== undefined
    ? Effect.succeed(open)
    : Effect.map(Listed.ids(place), (ids) => open.filter(({ approvalId }) => !ids.has(approvalId)))
}

/** So few that a page of what is listed costs more than to look at each of them. */
const fewOpen = 3

/** What the agents of this turn say of answers that were given to them from outside and have no effect. */
export const refusingWithin =
  (turn: ConversationTurn.Turn) => (approvalId: string, error: ApprovalError.ApprovalError): void => {
    if (turn.refused.every((one) => one.approvalId !== approvalId)) Deciding.refuse(turn, { approvalId }, error)
  }

/**
 * Keeps answers at once with what they answer, before any turn is taken: those to what is asked in agents, and where a turn is
 * taken already, all of them. Gives those that are for a turn to take, and the ids of those that are kept.
 */
export const route = Effect.fnUntraced(function*(
  place: ConversationTurn.Place,
  toolkit: AnyToolkit,
  { answers, refused }: Posted.Answers,
  by: Approver.Person | undefined
): Effect.fn.Return<Routed, ApprovalError.ApprovalError | ConversationStore.ConversationError> {
  const { key, store } = place
  if (answers.length === 0) return { answers, refused, kept: [] }
  const { open, turn } = yield* ConversationTurn.read(place)
  const isTaken = turn !== undefined || store.turns.of(key.id) !== undefined
  const suspensions = yield* SuspensionStore.SuspensionStore
  const decidedBy = Deciding.decidedByOf(by)
  const now = yield* Clock.currentTimeMillis
  const own: Array<Approval.ApprovalAnswer> = []
  const failed = [...refused]
  const kept: Array<string> = []
  const nested = answers.every(({ approvalId }) => Open.find(open, approvalId) !== undefined)
    ? []
    : yield* Listed.nested(place)
  for (const answer of answers) {
    const { approvalId, decision } = answer
    const here = Open.find(open, approvalId)
    const request = here ?? Open.find(nested, approvalId)
    if ((here !== undefined && !isTaken) || here?.providerExecuted === true || here?.interaction === "nested") {
      own.push(answer)
      continue
    }
    const given = yield* Effect.result(Effect.gen(function*() {
      if (request !== undefined && decision._tag !== "Info") yield* Deciding.checkApprover(request, decidedBy)
      if (here !== undefined && decision._tag === "Approved") {
        yield* Deciding.checkAnswer(toolkit, here, decision.answer)
      }
      if (request !== undefined && Deciding.isLate({ answer, decidedBy, request }, now)) {
        return yield* Deciding.expired(request)
      }
      yield* suspensions.give(approvalId, { root: key.id }, { decision, decidedBy, trusted: true })
    }))
    if (Result.isSuccess(given)) kept.push(approvalId)
    else if (given.failure.reason._tag === "UnknownApproval") own.push(answer)
    else failed.push({ approvalId, error: given.failure })
  }
  return { answers: own, refused: failed, kept }
})

/** Answers that a turn is to take, and those that are kept already. */
export interface Routed extends Posted.Answers {
  readonly kept: ReadonlyArray<string>
}

// =============================================================================
// Plain texts
// =============================================================================

/** The first asked of the texts that the user was asked for, and of the choices that have an option of these words. */
const routeText: Conversation.RouteText = (text, open) => {
  let first: Approval.ApprovalRequest | undefined
  for (const request of open) {
    if (request.interaction !== "askUser" && optionOf(text, request) === undefined) continue
    // A tool that has gone on may ask anew in the place of its first question.
    if (first === undefined || (request.issuedAt ?? 0) < (first.issuedAt ?? 0)) first = request
  }
  return first
}

const optionOf = (text: string, { awaited, interaction }: Approval.ApprovalRequest) => {
  if (interaction !== "selectOptions") return undefined
  const said = text.trim().toLowerCase()
  return awaited?.options?.find(({ label, value }) => value.toLowerCase() === said || label.toLowerCase() === said)
    ?.value
}

// Text is never read as consent: only what is a text, or the words of an option, is answered with one.
export const answerOf = (
  text: string,
  open: ReadonlyArray<Approval.ApprovalRequest>,
  route: Conversation.RouteText = routeText
): Approval.ApprovalAnswer | undefined => {
  const named = route(text, open)
  const request = open.find(({ approvalId }) => approvalId === named?.approvalId)
  if (request?.interaction === "askUser") return Approval.answer(request, text)
  const option = request === undefined ? undefined : optionOf(text, request)
  return request === undefined || option === undefined
    ? undefined
    : Approval.answer(request, request.awaited?.multiple === true ? [option] : option)
}
