/** Where outputs stand in a request: before what the model said when it had them. */
import { ApprovalController, LanguageModel, Prompt } from "@assent/ai"
import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as C from "../conversation.ts"
import { message } from "../edges/edge.ts"
import { begin } from "../memory.ts"
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

describe("the output of a call that was answered within the turn", () => {
  for (const memory of ["store", "store: false"] as const) {
    C.everyWay(`stands before what the model said next, on every later turn, ${memory}`, function*(way) {
      const chat = yield* begin(memory, {
        way,
        turns: [
          [ResponsesServer.functionCall({ name: "Delete", params: { path: "a", force: null } })],
          [
            ResponsesServer.text("One is gone."),
            ResponsesServer.functionCall({ name: "Delete", params: { path: "b", force: null } })
          ],
          "Both are gone.",
          "You are welcome."
        ]
      })
      const answered = Effect.provideService(
        ApprovalController.ApprovalController,
        ApprovalController.interactive(() => true)
      )
      // A turn that goes on by itself, as long as the model calls.
      let turn = yield* answered(chat.send("Delete a and b."))
      for (let more = 0; more < 3 && turn.text !== "Both are gone."; more++) turn = yield* answered(chat.send([]))
      assert.strictEqual((yield* chat.send("Thanks.")).text, "You are welcome.")
      const told = C.outline(yield* chat.lastBody).filter((line) =>
        !line.includes("mcpl_") && line !== "mcp_list_tools"
      )
      assert.deepStrictEqual(told, [
        "user",
        "call Delete",
        "output deleted a",
        "assistant",
        "call Delete",
        "output deleted b",
        "assistant",
        "user"
      ])
      yield* C.assertAccepted(chat.server)
    })
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
