/** A call, the request for it and its result, as parts of a response. */
import { Approval, Response } from "@assent/ai"

const asked = {
  approvalId: "a1",
  toolCallId: "c1",
  toolName: "DeleteFile",
  params: { path: "a" },
  description: "DeleteFile(path='a')",
  interaction: "approval",
  providerExecuted: false
} as const

export const request = new Approval.ApprovalRequest(asked)

export const metadata = { assent: asked }

export const callPart = (id: string, params: unknown = { path: "b" }) =>
  Response.toolCallPart({ id, name: "DeleteFile", params, providerExecuted: false })

export const resultPart = (id: string) =>
  Response.makePart("tool-result", {
    id,
    name: "DeleteFile",
    result: "ok",
    encodedResult: "ok",
    isFailure: false,
    preliminary: false,
    providerExecuted: false
  })
