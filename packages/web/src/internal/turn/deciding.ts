/**
 * Decides what was answered in one post. One answer that is refused never voids the others: where a batch is refused whole,
 * what the error names is taken out, and the rest is given again.
 */
import { Approval, ApprovalError, Interaction } from "@assent/ai"
import type { Approver, Response } from "@assent/ai"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Sentences from "../wire/sentences.ts"
import type { Conversation } from "./conversation.ts"

export interface Decided {
  /** What the turn said, if there was one. */
  readonly content: ReadonlyArray<Response.AnyPart>
  readonly isTaken: boolean
  /** Why an answer did not count, by the id of its request. */
  readonly refused: ReadonlyMap<string, string>
}

export const decide = Effect.fnUntraced(function*(
  conversation: Conversation,
  answers: ReadonlyArray<Approval.ApprovalAnswer>,
  by: Approver.Person | undefined
): Effect.fn.Return<Decided, unknown> {
  const refused = new Map<string, string>()
  const pending = yield* conversation.pending()
  let left = answers.filter(({ approvalId, decision }) => {
    const request = pending.find((request) => request.approvalId === approvalId)
    if (decision._tag !== "Approved" || request === undefined || isPersonal(request)) return true
    refused.set(approvalId, Sentences.notForPeople)
    return false
  })
  while (left.length > 0) {
    const result = yield* Effect.result(conversation.decide(left, { by }))
    if (Result.isSuccess(result)) {
      const { content, refused: others = [] } = result.success
      for (const { approvalId, error } of others) refused.set(approvalId, Sentences.ofError(error))
      return { content, isTaken: true, refused }
    }
    const { failure } = result
    const named = failure instanceof ApprovalError.ApprovalError ? namedIn(failure, left) : undefined
    if (named === undefined) return yield* Effect.fail(failure)
    refused.set(named, Sentences.ofError(failure))
    left = left.filter(({ approvalId }) => approvalId !== named)
  }
  return { content: [], isTaken: false, refused }
})

// What a webhook, a timer or the program is to tell, nobody says in their place: `decide` is the program's own word.
const isPersonal = ({ interaction }: Approval.ApprovalRequest): boolean =>
  !isKind(interaction) || Interaction.isForPeople(interaction)

const isKind = Schema.is(Approval.InteractionKind)

const namedIn = (
  { reason }: ApprovalError.ApprovalError,
  answers: ReadonlyArray<Approval.ApprovalAnswer>
): string | undefined => {
  if (!("approvalId" in reason)) return undefined
  // An id that is unknown is cut.
  const { approvalId: named } = reason
  return answers.find(({ approvalId }) => approvalId.startsWith(named))?.approvalId
}
