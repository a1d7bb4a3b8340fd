/** The requests of a conversation that are open, by their ids: each answer looks for its own. */
import type * as Approval from "../../Approval.ts"

type Open = ReadonlyArray<Approval.ApprovalRequest>

const indexes = new WeakMap<Open, ReadonlyMap<string, Approval.ApprovalRequest>>()

export const find = (open: Open, approvalId: string): Approval.ApprovalRequest | undefined => {
  let index = indexes.get(open)
  if (index === undefined) indexes.set(open, index = new Map(open.map((request) => [request.approvalId, request])))
  return index.get(approvalId)
}
