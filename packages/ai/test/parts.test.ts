/** Reading requests from responses, and writing answers and responses into prompts. */
import { Approval, Prompt, Response } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { Prompt as Upstream } from "effect/ai"

const request = new Approval.ApprovalRequest({
  approvalId: "a1",
  toolCallId: "c1",
  toolName: "DeleteFile",
  params: { path: "a" },
  description: "DeleteFile(path='a')",
  interaction: "approval",
  providerExecuted: false
})

const metadata = {
  assent: {
    approvalId: "a1",
    toolCallId: "c1",
    toolName: "DeleteFile",
    params: { path: "a" },
    description: "DeleteFile(path='a')",
    interaction: "approval",
    providerExecuted: false
  }
}

const callPart = (id: string, params: unknown = { path: "b" }) =>
  Response.toolCallPart({ id, name: "DeleteFile", params, providerExecuted: false })

const resultPart = (id: string) =>
  Response.makePart("tool-result", {
    id,
    name: "DeleteFile",
    result: "ok",
    encodedResult: "ok",
    isFailure: false,
    preliminary: false,
    providerExecuted: false
  })

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

describe("Prompt", () => {
  it("approvalResponses is one tool message; an Info is no answer, and nothing is no message", () => {
    const answers = [
      Approval.approve(request),
      Approval.deny({ approvalId: "a2" }, "no"),
      new Approval.ApprovalAnswer({ approvalId: "a3", decision: new Approval.Info({ note: "later" }) })
    ]
    const prompt = Prompt.approvalResponses(answers)
    assert.deepStrictEqual(prompt.content, [
      Upstream.toolMessage({
        content: [
          Upstream.toolApprovalResponsePart({ approvalId: "a1", approved: true }),
          Upstream.toolApprovalResponsePart({ approvalId: "a2", approved: false, reason: "no" })
        ]
      })
    ])
    assert.strictEqual(Prompt.approvalResponses(answers.slice(2)).content.length, 0)
  })

  it("fromResponseParts keeps the metadata of requests and puts results of earlier calls first", () => {
    const prompt = Prompt.fromResponseParts([
      resultPart("c1"),
      Response.makePart("text", { text: "next" }),
      callPart("c2"),
      resultPart("c2"),
      Response.toolApprovalRequestPart({ approvalId: "a1", toolCallId: "c1", metadata })
    ])
    assert.deepStrictEqual(prompt.content.map((message) => message.role), ["tool", "assistant", "tool"])
    const part =
      prompt.content.flatMap((message) =>
        message.role === "assistant" ? message.content.filter((part) => part.type === "tool-approval-request") : []
      )[0]
    assert.deepStrictEqual(part?.options, metadata)
  })

  it("fromResponseParts is upstream's where there is neither a request nor an earlier result", () => {
    const parts = [Response.makePart("text", { text: "hi" }), callPart("c2"), resultPart("c2")]
    assert.deepStrictEqual(Prompt.fromResponseParts(parts).content, Upstream.fromResponseParts(parts).content)
  })
})

describe("Approval", () => {
  it("L15 a description cannot pass one parameter for several, nor hide what is in it", () => {
    assert.strictEqual(
      Approval.describe("Transfer", { to: "bob', amount='1", "x='y": 1, note: "a\u200Bb" }),
      "Transfer(to='bob\\', amount=\\'1', \"x='y\"=1, note='a\\u200bb')"
    )
  })

  it("L15 escaped text is bounded as it is shown, cut between escapes, with the cut said", () => {
    const text = Approval.escapeText("\u0000".repeat(1_000), { maxLength: 20 })
    assert.strictEqual(text, "\\u0000\\u0000\\u0000… (997 more characters)")
    assert.strictEqual(Approval.escapeText("a\nb\tc", { multiline: true }), "a\nb\tc")
    for (const hidden of ["\u{E0041}", "\u2800", "\u{1D173}", "\uD800", "\u2066", "\u0085"]) {
      assert.notInclude(Approval.escapeText(`a${hidden}b`), hidden)
    }
  })
})
