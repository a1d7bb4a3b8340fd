/** What a person reads where something failed: sentences, never JSON, and nothing of a store, a path or a stack (law L15). */
import { Approval, ApprovalError, ConversationStore } from "@assent/ai"
import * as Cause from "effect/Cause"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"

const maxLength = 4_000

const text = (said: string): string => Approval.escapeText(said, { maxLength, multiline: true })

/** The result of a call that failed, as the model is told it. */
export const ofResult = (toolName: string, result: unknown): string => {
  const said = typeof result === "string" ? result : sentenceIn(result)
  return said === undefined || said.trim() === "" ? `${text(toolName)} failed.` : text(said)
}

const fields = ["reason", "message", "description", "error"]

const sentenceIn = (result: unknown): string | undefined => {
  for (const field of fields) {
    if (Predicate.hasProperty(result, field) && typeof result[field] === "string") return result[field]
  }
  return undefined
}

/** Whether somebody, or a policy, said no: nothing else is final. */
export const isDenial = (result: unknown): boolean =>
  Predicate.hasProperty(result, "type") && result.type === "execution-denied"

/** Why a turn did not come to its end. */
export const ofCause = (cause: Cause.Cause<unknown>): string => {
  if (Cause.hasInterruptsOnly(cause)) return stopping
  const found = Cause.findErrorOption(cause)
  return Option.isNone(found) ? broken : ofError(found.value)
}

export const ofError = (error: unknown): string => {
  if (error instanceof ConversationStore.ConversationError) {
    return tellable.has(error.reason) ? text(error.description) : unkept
  }
  const approval = error instanceof ApprovalError.ApprovalError
    ? Option.some(error)
    : ApprovalError.fromAiError(error)
  return Option.isSome(approval) ? ofApproval(approval.value) : unanswered
}

/** Why an answer did not count. */
export const ofApproval = ({ message, reason }: ApprovalError.ApprovalError): string => {
  switch (reason._tag) {
    case "AlreadyDecided":
      return decidedAlready
    case "UnknownApproval":
      return unknown
    case "Expired":
    case "NotAnApprover":
    case "InvalidAnswer":
    case "InvalidEdit":
    case "InvalidPrompt":
      return text(message)
    default:
      return unkept
  }
}

const tellable: ReadonlySet<string> = new Set(["Busy", "Cancelled", "Conflict", "Full"])

export const stopping =
  "The server stopped while this was going on. What was done is kept; send the message again to go on."

const broken = "Something went wrong on the server. What was done is kept; send the message again to go on."

const unkept = "The conversation could not be read or written. What was done is kept; try again."

const unanswered = "The model did not answer. What was done is kept; try again."

export const decidedAlready = "This was decided already, and what was decided stands."

export const unknown = "Nobody was asked this here. Nothing ran."

export const withoutDetails =
  "What was changed did not arrive with the answer, so nothing ran. Please look at it, and answer again."

export const notForPeople = "This is not for a person to answer."

export const noResult = "This call has no result in the conversation: its turn is still going on, or was cut short."

export const notOpen = "This is not asked any more. What became of it is not in the conversation yet."

export const tooMany = "Too many messages are waiting for this conversation. Wait for the answer, and try again."

export const tooOften = (seconds: number): string =>
  `That was too much in a short time, so nothing was done. Try again in ${seconds} ${
    seconds === 1 ? "second" : "seconds"
  }.`

export const stopped = "Somebody stopped it."

export const tooFarBehind = "This page fell too far behind. Load it again."
