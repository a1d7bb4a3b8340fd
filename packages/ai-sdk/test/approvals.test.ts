/** Ask, approve one, deny one, go on: calls that run here, and calls that the provider runs and asks about (law L9). */
import { Approval, ApprovalPolicy, Chat, LanguageModel, Prompt, Response, Tool, Toolkit } from "@assent/ai"
import { AiSdkLanguageModel } from "@assent/ai-sdk"
import { assert, describe, it } from "@effect/vitest"
import type { MockLanguageModelV4 } from "ai/test"
import { Effect, Schema, Stream } from "effect"
import * as Support from "./support.ts"

const Delete = Tool.make("Delete", {
  parameters: { path: Schema.String },
  success: Schema.String,
  needsApproval: true
})
const local = Toolkit.make(Delete)
const handlers = local.toLayer({ Delete: ({ path }) => Effect.succeed(`${path} is gone`) })

const Remote = Tool.providerDefined({
  id: "mock.remote",
  customName: "Remote",
  providerName: "remote",
  parameters: Schema.Struct({ path: Schema.String }),
  success: Schema.Struct({ done: Schema.String })
})()
const hosted = Toolkit.make(Remote)

const ways = ["generate", "stream"] as const

const take = (chat: Chat.Chat, way: (typeof ways)[number], prompt: Prompt.RawInput, toolkit: any) =>
  way === "generate"
    ? Effect.map(chat.generateText({ prompt, toolkit }), (response) =>
      response.content as ReadonlyArray<Response.AnyPart>)
    : Effect.map(
      Stream.runCollect(chat.streamText({ prompt, toolkit })),
      (parts) =>
        parts as unknown as ReadonlyArray<Response.AnyPart>
    )

const remote = (id: string, path: string) => [
  Support.call(id, "Remote", { path }, { providerExecuted: true }),
  { type: "tool-approval-request", approvalId: `ask-${id}`, toolCallId: id } as const
]

const within = (model: MockLanguageModelV4) => Effect.provide([AiSdkLanguageModel.layer({ model }), handlers])

describe.each(ways)("%s", (way) => {
  it.effect("asks, runs what was approved, and says of a denial what it is", () => {
    const model = Support.playing([
      [
        Support.text("On it."),
        Support.call("c1", "Delete", { path: "/a" }),
        Support.call("c2", "Delete", { path: "/b" })
      ],
      [Support.text("Done.")]
    ])
    return Effect.gen(function*() {
      const chat = yield* Chat.empty
      const turn = yield* take(chat, way, "Delete both.", local)
      const [a, b] = Response.approvalRequests(turn)
      yield* take(chat, way, Prompt.approvalResponses([Approval.approve(a!), Approval.deny(b!, "Keep it.")]), local)
      assert.deepStrictEqual(Support.asked(model, 1).prompt, [
        { role: "user", content: [{ type: "text", text: "Delete both." }] },
        {
          role: "assistant",
          content: [
            { type: "text", text: "On it." },
            { type: "tool-call", toolCallId: "c1", toolName: "Delete", input: { path: "/a" } },
            { type: "tool-call", toolCallId: "c2", toolName: "Delete", input: { path: "/b" } }
          ]
        },
        {
          role: "tool",
          content: [
            {
              type: "tool-result",
              toolCallId: "c1",
              toolName: "Delete",
              output: { type: "text", value: "/a is gone" }
            },
            {
              type: "tool-result",
              toolCallId: "c2",
              toolName: "Delete",
              output: { type: "error-text", value: "The call was denied and did not run. Keep it." }
            }
          ]
        }
      ])
    }).pipe(within(model))
  })

  it.effect("L9 answers the provider's own requests by their ids, and takes its results", () => {
    const model = Support.playing([
      [...remote("h1", "/a"), ...remote("h2", "/b")],
      [
        // Some say again which call it is that they ran.
        Support.call("h1", "Remote", { path: "/a" }, { providerExecuted: true }),
        { type: "tool-result", toolCallId: "h1", toolName: "Remote", result: { done: "/a" } },
        Support.text("One.")
      ],
      [Support.text("Well.")]
    ])
    return Effect.gen(function*() {
      const chat = yield* Chat.empty
      const turn = yield* take(chat, way, "Delete both.", hosted)
      assert.isTrue(Response.isWaiting(turn))
      const [a, b] = Response.approvalRequests(turn)
      assert.deepStrictEqual([a!.approvalId, b!.approvalId], ["ask-h1", "ask-h2"])
      const answers = Prompt.approvalResponses([Approval.approve(a!), Approval.deny(b!, "Keep it.")])
      const next = yield* take(chat, way, answers, hosted)
      assert.deepStrictEqual(next.filter((part) => part.type === "tool-call"), [])
      yield* take(chat, way, "And now?", hosted)
      const answered = [
        { role: "user", content: [{ type: "text", text: "Delete both." }] },
        {
          role: "assistant",
          content: [
            { type: "tool-call", toolCallId: "h1", toolName: "Remote", input: { path: "/a" }, providerExecuted: true },
            { type: "tool-call", toolCallId: "h2", toolName: "Remote", input: { path: "/b" }, providerExecuted: true }
          ]
        },
        {
          role: "tool",
          content: [
            { type: "tool-approval-response", approvalId: "ask-h1", approved: true },
            { type: "tool-approval-response", approvalId: "ask-h2", approved: false, reason: "Keep it." }
          ]
        }
      ]
      assert.deepStrictEqual<unknown>(Support.asked(model, 1).prompt, answered)
      assert.deepStrictEqual<unknown>(Support.asked(model, 2).prompt.slice(0, 3), answered)
      assert.deepStrictEqual<unknown>(Support.asked(model, 2).prompt.slice(3), [
        {
          role: "assistant",
          content: [
            {
              type: "tool-result",
              toolCallId: "h1",
              toolName: "Remote",
              output: { type: "json", value: { done: "/a" } }
            },
            { type: "text", text: "One." }
          ]
        },
        { role: "user", content: [{ type: "text", text: "And now?" }] }
      ])
    }).pipe(within(model))
  })

  it.effect("L9 a policy may answer the provider within the turn", () => {
    const model = Support.playing([remote("h1", "/a"), [
      { type: "tool-result", toolCallId: "h1", toolName: "Remote", result: { done: "/a" } }
    ]])
    return Effect.gen(function*() {
      const chat = yield* Chat.empty
      yield* take(chat, way, "Delete it.", hosted)
      assert.deepStrictEqual<unknown>(Support.asked(model, 1).prompt.at(-1), {
        role: "tool",
        content: [{ type: "tool-approval-response", approvalId: "ask-h1", approved: true }]
      })
    }).pipe(
      within(model),
      Effect.provideService(
        ApprovalPolicy.ApprovalPolicy,
        ApprovalPolicy.make(() => Effect.succeed(Approval.preApproved()))
      )
    )
  })
})

describe("what no provider hears", () => {
  const asking = (options: Prompt.ToolCallPartOptions) => [
    Prompt.userMessage({ content: [Prompt.textPart({ text: "Go." })] }),
    Prompt.assistantMessage({
      content: [
        Prompt.toolCallPart({ id: "h1", name: "Remote", params: { path: "/" }, providerExecuted: true, options }),
        Prompt.toolApprovalRequestPart({ approvalId: "ask-h1", toolCallId: "h1" })
      ]
    }),
    Prompt.toolMessage({
      content: [Prompt.toolApprovalResponsePart({ approvalId: "ask-h1", approved: true, reason: undefined })]
    })
  ]

  const answersOf = (options: Prompt.ToolCallPartOptions) =>
    Effect.gen(function*() {
      const model = Support.playing([[Support.text("Well.")]])
      yield* LanguageModel.generateText({ prompt: asking(options), toolkit: hosted }).pipe(within(model))
      return Support.asked(model).prompt.flatMap((message) =>
        message.role === "tool" ? message.content.map((part) => part.type) : []
      )
    })

  it.effect("an answer reaches the provider that asked", () =>
    Effect.map(
      answersOf({ "ai-sdk": { provider: "mock" } }),
      (types) => assert.deepStrictEqual(types, ["tool-approval-response"])
    ))

  it.effect("L9 no other provider, and none where nobody asked through the bridge", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* answersOf({ "ai-sdk": { provider: "other" } }), [])
      assert.deepStrictEqual(yield* answersOf({}), [])
    }))
})
