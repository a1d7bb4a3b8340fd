/** Histories as no conversation of ours makes them, but somebody may. */
import { Prompt } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import * as Approvals from "../../src/internal/approvals/approvals.ts"
import type { HostedSource } from "../../src/internal/augment.ts"
import * as Input from "../../src/internal/request/input.ts"
import * as Waiting from "../waiting.ts"

const options: Input.Options = {
  base: { type: "nothing" },
  references: true,
  rebuildsRequests: false,
  systemRole: "developer",
  fileIdPrefixes: [],
  toolNames: new Set()
}
const whole: Input.Options = { ...options, references: false, rebuildsRequests: true }

const input = (messages: ReadonlyArray<Prompt.Message>, settings: Input.Options = options) =>
  Input.make(messages, Approvals.read(messages), settings)

const waiting = Waiting.waiting("mcpr_1", { arguments: "{ }" })
const request = Prompt.toolApprovalRequestPart({ approvalId: "mcpr_1", toolCallId: "mcpr_1" })
const answer = (approved: boolean) => Prompt.toolApprovalResponsePart({ approvalId: "mcpr_1", approved })
const ran = Prompt.toolResultPart({
  id: "mcpr_1",
  name: "OpenAiMcp",
  isFailure: false,
  result: {},
  providerExecuted: true,
  options: { openai: { itemId: "mcp_1", approvalRequestId: "mcpr_1" } }
})

describe("answers", () => {
  it("are told once, however often they stand there", () => {
    const items = input([
      Prompt.assistantMessage({ content: [waiting, request] }),
      Prompt.toolMessage({ content: [answer(true), answer(true)] }),
      Prompt.toolMessage({ content: [answer(true)] })
    ])
    assert.deepStrictEqual(items.map(({ type }) => type), ["item_reference", "mcp_approval_response"])
  })

  it("without their request are not told", () => {
    assert.deepStrictEqual(input([Prompt.toolMessage({ content: [answer(true)] })]), [])
  })

  it("are not told again where it cannot be told that the call ran: it would run again", () => {
    const messages = [
      Prompt.assistantMessage({ content: [waiting, request] }),
      Prompt.toolMessage({ content: [answer(true)] }),
      Prompt.assistantMessage({ content: [ran, Prompt.textPart({ text: "Four." })] })
    ]
    assert.deepStrictEqual(input(messages, whole), [{ role: "assistant", content: "Four." }])
    assert.deepStrictEqual(input(messages).map(({ type }) => type ?? "text"), [
      "item_reference",
      "mcp_approval_response",
      "item_reference",
      "text"
    ])
  })

  it.each([true, false])("that come after what ran change nothing, and stand before it: %s", (approved) => {
    const call = { ...ran, options: { openai: { ...ran.options.openai, itemType: "mcp_call" } } }
    const items = input([
      Prompt.assistantMessage({ content: [waiting, request, call] }),
      Prompt.toolMessage({ content: [answer(approved)] })
    ])
    assert.deepStrictEqual<unknown>(items, [
      { type: "item_reference", id: "mcpr_1" },
      { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true },
      { type: "item_reference", id: "mcp_1" }
    ])
  })

  it("are not told for a call whose request lost a part", () => {
    const openai = waiting.options.openai!
    for (const field of ["serverLabel", "name", "arguments"] as const) {
      const call = { ...waiting, options: { openai: { ...openai, [field]: null } } }
      const messages = [
        Prompt.assistantMessage({ content: [call, request] }),
        Prompt.toolMessage({ content: [answer(true)] })
      ]
      assert.deepStrictEqual(input(messages, whole), [], field)
    }
  })

  it("of a history of another provider find their call by the request", () => {
    const call = Prompt.toolCallPart({ id: "made-up", name: "OpenAiMcp", params: {}, providerExecuted: true })
    const messages = [
      Prompt.assistantMessage({
        content: [call, Prompt.toolApprovalRequestPart({ approvalId: "mcpr_1", toolCallId: "made-up" })]
      }),
      Prompt.toolMessage({ content: [answer(false)] })
    ]
    assert.deepStrictEqual(input(messages), [
      { type: "item_reference", id: "mcpr_1" },
      { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: false }
    ])
    assert.strictEqual(Approvals.read(messages).lastOf("mcpr_1")?.call.id, "made-up")
  })
})

describe("metadata", () => {
  it("L4 an answer is to the request of its own id, whatever the history says that its call was", () => {
    const call = Prompt.toolCallPart({
      id: "mcpr_1#2",
      name: "OpenAiMcp",
      params: {},
      providerExecuted: true,
      options: { openai: { itemId: "mcpr_9", itemType: "mcp_approval_request", approvalRequestId: "mcpr_9" } }
    })
    const messages = [
      Prompt.assistantMessage({
        content: [call, Prompt.toolApprovalRequestPart({ approvalId: "mcpr_1#2", toolCallId: "mcpr_1#2" })]
      }),
      Prompt.toolMessage({
        content: [Prompt.toolApprovalResponsePart({ approvalId: "mcpr_1#2", approved: true })]
      })
    ]
    const told = input(messages).flatMap((item) =>
      item.type === "mcp_approval_response" ? [item.approval_request_id] : []
    )
    assert.deepStrictEqual(told, ["mcpr_1"])
  })

  it("L4 a request that a part without text stands for is not told", () => {
    const part = Prompt.reasoningPart({
      text: "",
      options: { openai: { itemId: "mcpr_1", itemType: "mcp_approval_request" } }
    })
    assert.deepStrictEqual(input([Prompt.assistantMessage({ content: [part] })]), [])
  })

  it("of the wrong form is not there", () => {
    const openai = { itemId: 7, annotations: "x", phase: [], refusal: {} }
    const part = Prompt.textPart({ text: "Hi.", options: { openai } as never })
    assert.deepStrictEqual(input([Prompt.assistantMessage({ content: [part] })]), [{
      role: "assistant",
      content: "Hi."
    }])
  })

  it("names the last encrypted content of a reasoning that has several", () => {
    const part = (text: string, encryptedContent: string) =>
      Prompt.reasoningPart({ text, options: { openai: { itemId: "rs_1", encryptedContent } } })
    const items = input([
      Prompt.assistantMessage({
        content: [part("One.", "gAAA-1"), part("Two.", "gAAA-2"), Prompt.textPart({ text: "Hi." })]
      })
    ], whole)
    assert.deepStrictEqual(items[0], {
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text: "One." }, { type: "summary_text", text: "Two." }],
      encrypted_content: "gAAA-2"
    })
  })
})

describe("calls", () => {
  it("of one id that is used again each have the output of their own form", () => {
    const call = (itemType: string | undefined) =>
      Prompt.toolCallPart({
        id: "call_1",
        name: "Tool",
        params: {},
        providerExecuted: false,
        ...(itemType === undefined ? undefined : { options: { openai: { itemType } } })
      })
    const result = Prompt.toolMessage({
      content: [Prompt.toolResultPart({
        id: "call_1",
        name: "Tool",
        isFailure: false,
        result: { output: [] },
        providerExecuted: false
      })]
    })
    const items = input([
      Prompt.assistantMessage({ content: [call("shell_call")] }),
      result,
      Prompt.assistantMessage({ content: [call(undefined)] }),
      result
    ])
    assert.deepStrictEqual(items.map(({ type }) => type), [
      "shell_call",
      "shell_call_output",
      "function_call",
      "function_call_output"
    ])
    // OpenAI refuses an id that it has.
    const ids = items.flatMap((item) => "call_id" in item ? [item.call_id] : [])
    assert.deepStrictEqual(ids, ["call_1", "call_1", "call_1_2", "call_1_2"])
  })
})

describe("a hosted call's source", () => {
  it("has its arguments, or what could not be read of them", () => {
    const of = (text: string): HostedSource =>
      Approvals.hostedSource({ server_label: "dice", name: "roll", arguments: text })
    assert.deepStrictEqual(of(`{"sides": 6}`), { source: "mcp.dice", toolName: "mcp.dice.roll", params: { sides: 6 } })
    assert.deepStrictEqual(of("").params, {})
    assert.deepStrictEqual(of("{half").params, "{half")
  })
})
