/** What is said between two turns, and what becomes of a journal that cannot be written. */
import { Cause } from "effect"
import { AiError } from "effect/ai"
import type { Prompt } from "../../src/index.ts"
import { ApprovalError } from "../../src/index.ts"
import type { Law } from "./laws.ts"

/** `Chat.answer`. */
export const Answers: Law = {
  name: "Answers",
  title: "answers between two turns are all taken or none, and only where there is a request that waits for them",
  check: ({ record }) =>
    record.answerings.flatMap(({ after, approvalIds, before, outcome, step, tampered }) => {
      const added = after.content.slice(before.content.length)
      const isKept = before.content.every((message, index) => message === after.content[index])
      if (!isKept) return [`the answers of step ${step} change the history`]
      if (outcome !== "done") {
        if (added.length > 0) return [`the answers of step ${step} are refused (${outcome}) and taken`]
      } else {
        const taken = added.flatMap((message) =>
          message.role === "tool"
            ? message.content.flatMap((part) => part.type === "tool-approval-response" ? [part.approvalId] : [])
            : []
        )
        if (taken.join() !== approvalIds.join()) return [`of the answers of step ${step} not all are taken`]
      }
      const fates = approvalIds.map((approvalId) => fateOf(before, approvalId))
      const first = fates.findIndex((fate) => fate !== "done")
      const expected = fates[first] ?? "done"
      return tampered || expected === "perhaps" || outcome === expected
        ? []
        : [`the answers of step ${step} are ${outcome}, not ${expected}: ${approvalIds[first]}`]
    }),
  concerns: ({ record }) => record.answerings.some(({ approvalIds }) => approvalIds.length > 0)
}

/** What should become of an answer. */
const fateOf = (
  { content }: Prompt.Prompt,
  approvalId: string
): "done" | "UnknownApproval" | "AlreadyDecided" | "perhaps" => {
  const parts = content.flatMap((message) =>
    message.role === "assistant" || message.role === "tool" ? [...message.content] : []
  )
  const request = parts.find((part) => part.type === "tool-approval-request" && part.approvalId === approvalId)
  if (request?.type !== "tool-approval-request") return "UnknownApproval"
  const calls = parts.filter((part) => part.type === "tool-call" && part.id === request.toolCallId)
  const results = parts.filter((part) => part.type === "tool-result" && part.id === request.toolCallId)
  if (results.length === 0) return "done"
  // Where an id is used again, the names of the results tell; else the one result is that of the one call.
  return calls.length === 1 ? "AlreadyDecided" : "perhaps"
}

/** A store that does not work. */
export const Storage: Law = {
  name: "Store",
  title: "a journal that cannot be used is a typed error, which says so, and never a defect",
  check: ({ record }) =>
    record.turns.flatMap((turn) => {
      if (turn.ending !== "failure" || turn.cause === undefined) return []
      return turn.cause.reasons.flatMap((reason) => {
        if (!Cause.isFailReason(reason)) return []
        const { error } = reason
        if (!AiError.isAiError(error)) {
          return typeof error === "object" && error !== null && "why" in error
            ? []
            : [`turn ${turn.index} fails with ${String(error)}`]
        }
        const said = ApprovalError.fromAiError(error)
        if (said._tag === "None" || said.value.reason._tag !== "JournalUnavailable") return []
        return record.troubles.some(({ step }) => step <= turn.step) || record.closed.length > 0
          ? []
          : [`turn ${turn.index} says that its journal is unavailable, which it is not`]
      })
    }),
  concerns: ({ record }) => record.troubles.some(({ step }) => record.turns.some((turn) => turn.step === step))
}
