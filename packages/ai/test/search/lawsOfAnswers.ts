/** What is said between two turns, and what becomes of a journal that cannot be written. */
import { Cause } from "effect"
import { AiError } from "effect/ai"
import type { Prompt } from "../../src/index.ts"
import { ApprovalError } from "../../src/index.ts"
import type { Law } from "./laws.ts"

/** `Chat.answer`. */
export const Answers: Law = {
  name: "Answers",
  title: "answers between two turns are taken where there is a request that waits for them, and the others are named",
  check: ({ record }) =>
    record.answerings.flatMap(({ after, approvalIds, before, outcome, refused, step, tampered }) => {
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
        const wanted = approvalIds.filter((id) => !refused.some(({ approvalId }) => approvalId === id))
        if (taken.join() !== wanted.join()) return [`of the answers of step ${step} not all are taken or refused`]
      }
      if (tampered) return []
      const fates = approvalIds.map((approvalId) => fateOf(before, approvalId))
      const expected = fates.length === 0 || fates.includes("done") ? "done" : fates[0]
      if (outcome !== expected && (expected === "done" || !fates.includes("perhaps"))) {
        return [`the answers of step ${step} are ${outcome}, not ${expected}`]
      }
      return outcome !== "done" ? [] : fates.flatMap((fate, at) => {
        const why = refused.find(({ approvalId }) => approvalId === approvalIds[at])?.why ?? "done"
        return fate === "perhaps" || why === fate
          ? []
          : [`an answer of step ${step} is ${why}, not ${fate}: ${approvalIds[at]}`]
      })
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
