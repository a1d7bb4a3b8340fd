/** A server that counts its requests for approval anew: the same id again, and another answer. */
import { Prompt } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import * as Approvals from "../src/internal/approvals/approvals.ts"
import * as Input from "../src/internal/request/input.ts"

const call = (id: string) =>
  Prompt.toolCallPart({
    id,
    name: "OpenAiMcp",
    params: {},
    providerExecuted: true,
    options: {
      openai: {
        itemId: "mcpr_1",
        itemType: "mcp_approval_request",
        approvalRequestId: "mcpr_1",
        serverLabel: "dice",
        name: "roll",
        arguments: "{}"
      }
    }
  })

const answer = (approvalId: string, approved: boolean) =>
  Prompt.toolMessage({ content: [Prompt.toolApprovalResponsePart({ approvalId, approved })] })

const messages = [
  Prompt.assistantMessage({ content: [call("mcpr_1")] }),
  answer("mcpr_1", true),
  Prompt.assistantMessage({
    content: [
      Prompt.toolResultPart({
        id: "mcpr_1",
        name: "OpenAiMcp",
        result: {},
        isFailure: false,
        providerExecuted: true,
        options: {
          openai: {
            itemId: "mcp_1",
            itemType: "mcp_call",
            approvalRequestId: "mcpr_1",
            item: { type: "mcp_call", id: "mcp_1", approval_request_id: "mcpr_1" }
          }
        }
      }),
      call("mcpr_1#2")
    ]
  }),
  answer("mcpr_1#2", false)
]

describe("a request whose id was there before", () => {
  for (const references of [true, false]) {
    it(`has the person's denial, ${references ? "where OpenAI keeps it" : "where it does not"}`, () => {
      const items = Input.make(messages, Approvals.read(messages), {
        systemRole: "developer",
        references,
        rebuildsRequests: !references,
        base: { type: "nothing" },
        fileIdPrefixes: []
      })
      assert.deepStrictEqual(
        items.flatMap((item) => item.type === "mcp_approval_response" ? [item.approve] : []),
        [true, false]
      )
      assert.strictEqual(items.filter(({ type }) => type === "mcp_approval_request").length, references ? 0 : 2)
    })
  }
})
