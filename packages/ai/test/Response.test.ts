/** Reading requests from responses. */
import { Response } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { callPart, metadata, request, resultPart } from "./parts.ts"

describe("Response", () => {
  it("approvalRequest reads the request of a part, and only of its own part", () => {
    const part = Response.toolApprovalRequestPart({ approvalId: "a1", toolCallId: "c1", metadata })
    assert.deepStrictEqual(Option.getOrThrow(Response.approvalRequest(part)), request)
    for (const moved of [{ approvalId: "a2", toolCallId: "c1" }, { approvalId: "a1", toolCallId: "c2" }]) {
      assert.isTrue(Option.isNone(Response.approvalRequest(Response.toolApprovalRequestPart({ ...moved, metadata }))))
    }
    assert.isTrue(Option.isNone(Response.approvalRequest(callPart("c1"))))
  })

  it("approvalRequests joins requests of others with their calls, each once", () => {
    const parts = [
      callPart("c2", { path: "\u202Eb" }),
      Response.toolApprovalRequestPart({ approvalId: "a2", toolCallId: "c2" }),
      Response.toolApprovalRequestPart({ approvalId: "a2", toolCallId: "c2" }),
      Response.toolApprovalRequestPart({ approvalId: "a3", toolCallId: "missing" })
    ]
    const requests = Response.approvalRequests({ content: parts })
    assert.deepStrictEqual(
      requests.map((one) => [one.approvalId, one.toolName, one.description]),
      [["a2", "DeleteFile", "DeleteFile(path='\\u202eb')"], ["a3", "unknown", "unknown()"]]
    )
    assert.isTrue(Response.isWaiting(parts))
    assert.isFalse(Response.isWaiting([callPart("c1"), resultPart("c1")]))
  })
})
