/** The request that stands for a run which waits: how its seal is told from that of a question before a run (law L4). */
import * as Effect from "effect/Effect"
import type * as Approval from "../../Approval.ts"
import type * as ApprovalSeal from "../../ApprovalSeal.ts"
import type * as Approver from "../../Approver.ts"
import type * as SuspensionStore from "../../SuspensionStore.ts"
import type * as Within from "../agent/within.ts"
import * as ApprovalId from "../seal/approvalId.ts"
import * as Text from "../text.ts"
import * as Interactions from "../waiting/interaction.ts"
import * as Request from "./request.ts"

const mark = "~"

/** What is sealed of what a run waits for, so that no answer to it can pass for consent to begin. */
export const digestOf = (awaited: Approval.Awaited): Effect.Effect<string> =>
  Effect.map(Interactions.digest(awaited), (digest) => mark + digest)

/** Whether a request that was sealed asks for what a tool waits for, and not whether it may begin. */
export const isSealed = ({ presentationDigest }: Pick<ApprovalSeal.Sealed, "presentationDigest">): boolean =>
  presentationDigest?.startsWith(mark) === true

/** Whether an id says of itself that its request asks for what a tool waits for. It proves nothing. */
export const isIdOf = (approvalId: string): boolean => {
  const id = ApprovalId.parse(approvalId)
  return id !== undefined && isSealed(id)
}

/** Whether a request was sealed for what is kept under its id. */
export const isSealedFor = (sealed: ApprovalSeal.Sealed, awaited: Approval.Awaited): Effect.Effect<boolean> =>
  Effect.map(digestOf(awaited), (digest) => sealed.presentationDigest === digest)

/** What is asked of whoever is to answer. `reason` says why it is still open. */
export const requestOf = (
  within: Within.Within | undefined,
  suspension: SuspensionStore.Suspension,
  reason?: string,
  approvers: Approver.Approvers | undefined = suspension.awaited.approvers
): Approval.ApprovalRequest => {
  const { awaited, params, toolCallId, toolName } = suspension
  return Request.makeRequest(
    { scope: suspension.scope, within },
    suspension,
    { toolCallId, toolName, encoded: params },
    {
      awaited,
      approvers,
      // It is escaped; once more for one line.
      description: awaited.prompt === undefined ? undefined : Text.escape(awaited.prompt, { maxLength: 500 }),
      reason
    }
  )
}
