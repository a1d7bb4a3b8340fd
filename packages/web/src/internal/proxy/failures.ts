/** From what went wrong to what whoever asked is told: a status and a sentence, and nothing of a cause or a store (law L15). */
import { ApprovalError, ConversationStore } from "@assent/ai"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Decider from "../../Decider.ts"
import * as Logging from "../logging.ts"
import * as Sentences from "../wire/sentences.ts"
import type { RequestState } from "./conversation.ts"
import * as Errors from "./errors.ts"
import * as Json from "./json.ts"

const isOfOurs = (error: unknown): error is Errors.Any => ours.some((Class) => error instanceof Class)

const ours = [
  Decider.Refused,
  ...Errors.ofAnswer,
  Errors.Conflict,
  Errors.TooLarge,
  Errors.NotJson,
  Errors.TooManyRequests,
  Errors.ServerFailed,
  Errors.Unavailable
]

const serverFailed = (message: string) => new Errors.ServerFailed({ message })

/** What a request fails with, whatever it failed of; what nobody is told goes to the log. */
export const ofCause = (cause: Cause.Cause<unknown>): Effect.Effect<never, Errors.Any> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.fail(new Errors.Unavailable({ message: Sentences.stopping }))
  const found = Cause.findErrorOption(cause)
  const error = Option.isNone(found) ? serverFailed(Sentences.ofCause(cause)) : ofError(found.value)
  const isTold = error._tag !== "ServerFailed" && error._tag !== "Unavailable"
  return isTold || isOfOurs(Option.getOrUndefined(found))
    ? Effect.fail(error)
    : Effect.andThen(Logging.error("Assent: a request to a conversation failed.", cause), Effect.fail(error))
}

const ofError = (error: unknown): Errors.Any => {
  if (isOfOurs(error)) return error
  if (error instanceof ConversationStore.ConversationError) return ofConversation(error)
  const approval = approvalOf(error)
  return approval === undefined ? serverFailed(Sentences.ofError(error)) : ofApproval(approval, undefined)
}

const ofConversation = (error: ConversationStore.ConversationError): Errors.Any => {
  const message = Sentences.ofError(error)
  switch (error.reason) {
    case "Busy":
    case "Cancelled":
    case "Conflict":
    case "Full":
      return new Errors.Conflict({ reason: error.reason, message })
    case "Unavailable":
      return new Errors.Unavailable({ message })
    default:
      return serverFailed(message)
  }
}

export const approvalOf = (error: unknown): ApprovalError.ApprovalError | undefined =>
  error instanceof ApprovalError.ApprovalError ? error : Option.getOrUndefined(ApprovalError.fromAiError(error))

const ofApproval = (error: ApprovalError.ApprovalError, state: RequestState | undefined): Errors.Any => {
  const { reason } = error
  const message = Sentences.ofApproval(error)
  switch (reason._tag) {
    case "UnknownApproval":
    case "AlreadyDecided":
    case "Expired":
    case "NotAnApprover":
    case "InvalidAnswer":
    case "InvalidEdit":
      return ofAnswer(reason.approvalId, error, state)!
    case "InvalidPrompt":
      return new Errors.Unprocessable({ message })
    case "JournalUnavailable":
    case "SuspensionsUnavailable":
      return new Errors.Unavailable({ message })
    default:
      return serverFailed(message)
  }
}

/** Why an answer has no effect, as far as it is that answer's; `state` is how its request stands. */
export const ofAnswer = (
  approvalId: string,
  error: ApprovalError.ApprovalError,
  state: RequestState | undefined
): Errors.OfAnswer | undefined => {
  const { reason } = error
  const message = Sentences.ofApproval(error)
  switch (reason._tag) {
    case "UnknownApproval":
      return new Errors.UnknownRequest({ approvalId, message })
    case "AlreadyDecided":
      return decidedAlready(approvalId, state ?? { state: "unknown" })
    case "Expired":
      return new Errors.NoLongerOpen({ approvalId, message, state: "expired" })
    case "NotAnApprover":
      return new Errors.NotAnApprover({ approvalId, message })
    case "InvalidAnswer":
    case "InvalidEdit":
      return new Errors.Unprocessable({ approvalId, message })
    default:
      return undefined
  }
}

const decidedAlready = (approvalId: string, found: RequestState): Errors.OfAnswer =>
  ofState(approvalId, found) ?? new Errors.AlreadyDecided({
    approvalId,
    state: Errors.isDecided(found.state) ? found.state : "unknown",
    message: Sentences.decidedAlready,
    ...known(found)
  })

/** Why no answer can have an effect, as far as the state of its request says so. */
export const ofState = (approvalId: string, found: RequestState | undefined): Errors.NoLongerOpen | undefined =>
  found !== undefined && Errors.isOver(found.state)
    ? new Errors.NoLongerOpen({ approvalId, state: found.state, message: found.reason ?? over[found.state] })
    : undefined

const over = {
  expired: "The time to answer this is over. Nothing ran.",
  superseded: "Something else was asked in the place of this. Nothing ran.",
  cancelled: "This was cancelled. Nothing ran."
}

/** What is known of a request, as it is sent. */
export const known = ({ decidedBy, isFailure, reason, result }: Omit<RequestState, "state">) => ({
  ...(decidedBy === undefined ? undefined : { decidedBy }),
  ...(reason === undefined ? undefined : { reason }),
  ...(result === undefined ? undefined : { result: Json.of(result) }),
  ...(isFailure === undefined ? undefined : { isFailure })
})

/** What a turn fails with, at the end of its stream. */
export const ofTurn = (cause: Cause.Cause<unknown>): Effect.Effect<Errors.TurnFailed> => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  const failed = new Errors.TurnFailed({ reason: reasonOf(error, cause), message: Sentences.ofCause(cause) })
  return Cause.hasInterruptsOnly(cause)
    ? Effect.succeed(failed)
    : Effect.as(Logging.error("Assent: a turn of a conversation failed.", cause), failed)
}

const reasonOf = (error: unknown, cause: Cause.Cause<unknown>): Errors.TurnFailed["reason"] => {
  if (error instanceof ConversationStore.ConversationError) {
    return error.reason === "Unreadable" || error.reason === "Unwritable" ? "Server" : error.reason
  }
  if (error === undefined || Cause.hasInterruptsOnly(cause)) return "Server"
  const approval = approvalOf(error)
  if (approval === undefined) return "Model"
  return approval.reason._tag === "JournalUnavailable" || approval.reason._tag === "SuspensionsUnavailable"
    ? "Unavailable"
    : "Server"
}
