/** What agents ask that are tools: their calls are none of the conversation's own, and are shown by what is known of them. */
import { Approval, Prompt, Response } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Calls from "../../src/internal/wire/calls.ts"
import * as Chunks from "../../src/internal/wire/chunks.ts"
import * as Messages from "../../src/internal/wire/messages.ts"

const request = new Approval.ApprovalRequest({
  approvalId: "id-1",
  toolCallId: "outer/inner",
  toolName: "Pay",
  params: { amount: 10 },
  description: "Pay(amount=10)",
  interaction: "approval",
  providerExecuted: false,
  path: ["Treasurer"]
})

const nested = new Approval.ApprovalRequest({
  ...request,
  approvalId: "id-0",
  toolCallId: "outer",
  toolName: "Treasurer",
  params: { task: "pay" },
  interaction: "nested"
})

const encoded = (asked: Approval.ApprovalRequest) =>
  Schema.encodeSync(Schema.toCodecJson(Approval.ApprovalRequest))(asked) as Schema.Json

const asking = (asked: Approval.ApprovalRequest, metadata = { assent: encoded(asked) }) =>
  Response.makePart("tool-approval-request", {
    approvalId: asked.approvalId,
    toolCallId: asked.toolCallId,
    metadata
  } as never)

const outer = Response.makePart("tool-call", {
  id: "outer",
  name: "Treasurer",
  params: { task: "pay" },
  providerExecuted: false
})

describe("a request of an agent", () => {
  it("is a call of its own on the wire, with its parameters and its path", () => {
    const { next } = Chunks.make(Calls.make())
    next(outer)
    const [call, asked] = next(asking(request))
    assert.deepInclude(call, {
      type: "tool-input-available",
      toolCallId: "outer/inner",
      toolName: "Pay",
      input: { amount: 10 }
    })
    assert.strictEqual(asked?.type, "tool-approval-request")
    assert.deepStrictEqual(
      asked?.type === "tool-approval-request" ? asked.approvalDescriptor?.path : undefined,
      ["Treasurer"]
    )
    // It is asked once.
    assert.deepStrictEqual(next(asking(request)), [])
  })

  it("is no card without its metadata, and never one with the outer call's parameters", () => {
    const { next } = Chunks.make(Calls.make())
    next(outer)
    const chunks = next(asking(request, {} as never))
    assert.deepStrictEqual(chunks.map(({ type }) => type), ["data-approval"])
    assert.notInclude(JSON.stringify(chunks), "\"task\"")
    assert.deepStrictEqual(next(asking(nested)), [])
  })

  it("is on the page after a reload, behind the call that waits for it", () => {
    const history = [
      { id: "m0", message: Prompt.makeMessage("user", { content: [Prompt.makePart("text", { text: "Pay." })] }) },
      {
        id: "m1",
        message: Prompt.makeMessage("assistant", {
          content: [
            Prompt.makePart("tool-call", { id: "outer", name: "Treasurer", params: {}, providerExecuted: false }),
            Prompt.makePart("tool-approval-request", {
              approvalId: "id-0",
              toolCallId: "outer",
              options: { assent: encoded(nested) }
            } as never)
          ]
        })
      }
    ]
    const { cards, messages } = Messages.make(history, [request])
    assert.deepStrictEqual(
      messages[1]?.parts.map((part) => [part.type, "state" in part ? part.state : undefined]),
      [["step-start", undefined], ["tool-Treasurer", "input-available"], ["tool-Pay", "approval-requested"]]
    )
    assert.deepStrictEqual(Array.from(cards.keys()), ["id-1"])
  })
})
