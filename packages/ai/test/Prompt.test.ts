/** Writing answers and responses into prompts. */
import { Approval, LanguageModel, Prompt, Response, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Prompt as Upstream } from "effect/ai"
import { callPart, metadata, request, resultPart } from "./parts.ts"

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

  it.effect("L7 a result that says nothing can be kept as JSON by a program, and read again", () =>
    Effect.gen(function*() {
      const turn = yield* LanguageModel.generateText({ prompt: "Note it.", toolkit: noting })
      const prompt = Prompt.fromResponseParts(turn.content)
      const kept = JSON.stringify(yield* Schema.encodeEffect(Prompt.Prompt)(prompt))
      const again = yield* Schema.decodeUnknownEffect(Prompt.Prompt)(JSON.parse(kept))
      assert.deepStrictEqual(again.content, prompt.content)
    }).pipe(Effect.provide([noting.toLayer({ Note: () => Effect.void }), model])))
})

const noting = Toolkit.make(Tool.make("Note"))

const model = ScriptedModel.layer({ turns: [[ScriptedModel.toolCall({ id: "call-1", name: "Note", params: {} })]] })
