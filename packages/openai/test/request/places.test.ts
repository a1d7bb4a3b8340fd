/** Where outputs stand in a request: before what the model said when it had them. */
import { LanguageModel, Prompt } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { message } from "../edges/edge.ts"
import * as Stub from "../stub.ts"

const of = (responseId: string) => ({ openai: { responseId } })

const call = (id: string, responseId: string) =>
  Prompt.toolCallPart({ id, name: "Add", params: {}, providerExecuted: false, options: of(responseId) })

const result = (id: string) =>
  Prompt.toolResultPart({ id, name: "Add", result: `result of ${id}`, isFailure: false, providerExecuted: false })

const outline = (input: unknown) =>
  (input as ReadonlyArray<Record<string, unknown>>).map((item) =>
    [item["type"] ?? item["role"], item["call_id"]].filter((word) => word !== undefined).join(" ")
  )

describe("the output of a call", () => {
  for (const store of [true, false]) {
    it.effect(`of a turn that went on by itself stands before what was said next, store: ${store}`, () =>
      Effect.gen(function*() {
        const server = Stub.make([Stub.reply([message("Bye.")])], { config: { store } })
        const prompt = Prompt.fromMessages([
          Prompt.userMessage({ content: [Prompt.textPart({ text: "hi" })] }),
          Prompt.assistantMessage({
            content: [
              call("a", "resp_1"),
              call("b", "resp_1"),
              Prompt.textPart({ text: "And then.", options: of("resp_2") }),
              call("c", "resp_2")
            ]
          }),
          Prompt.toolMessage({ content: [result("a"), result("b"), result("c")] }),
          Prompt.userMessage({ content: [Prompt.textPart({ text: "bye" })] })
        ])
        yield* Effect.provide(LanguageModel.generateText({ prompt }), server.model)
        assert.deepStrictEqual(outline(server.asked[0]!["input"]), [
          "user",
          "function_call a",
          "function_call b",
          "function_call_output a",
          "function_call_output b",
          "assistant",
          "function_call c",
          "function_call_output c",
          "user"
        ])
      }))
  }
})

describe("a server without the Responses API", () => {
  for (const [status, body] of [[404, "404 page not found"], [404, { detail: "Not Found" }], [405, {}]] as const) {
    it.effect(`says with ${status} and ${JSON.stringify(body)} which package speaks with it`, () =>
      Effect.gen(function*() {
        const server = Stub.make([{ status, body }])
        const error = yield* Effect.flip(Effect.provide(LanguageModel.generateText({ prompt: "hi" }), server.model))
        assert.include(String(error), "@assent/ai-sdk")
        assert.include(String(error), "does not speak OpenAI's Responses API")
      }))
  }

  it.effect("is not one where a model is missing", () =>
    Effect.gen(function*() {
      const server = Stub.make([
        Stub.refusal(404, {
          message: "The model does not exist",
          code: "model_not_found",
          type: "invalid_request_error"
        })
      ])
      const error = yield* Effect.flip(Effect.provide(LanguageModel.generateText({ prompt: "hi" }), server.model))
      assert.notInclude(String(error), "@assent/ai-sdk")
    }))
})
