/**
 * A server that counts its requests for approval anew with each response: the same id again, within a conversation, and another
 * answer of the person's. Each answer is that of its own request.
 */
import { Approval, ApprovalJournal, ApprovalSeal, Chat, LanguageModel, Prompt, Response, Toolkit } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as C from "./conversation.ts"
import { message } from "./edges/edge.ts"
import * as Edge from "./edges/edge.ts"
import { isObject, objects } from "./recorded/facts.ts"
import * as Stub from "./stub.ts"

const request = (sides: number) => ({
  type: "mcp_approval_request",
  id: "mcpr_1",
  server_label: "dice",
  name: "roll",
  arguments: `{"sides":${sides}}`
})

const ran = (id: string, sides: number) => ({
  type: "mcp_call",
  id,
  approval_request_id: "mcpr_1",
  server_label: "dice",
  name: "roll",
  arguments: `{"sides":${sides}}`,
  status: "completed",
  output: "4",
  error: null
})

const toolkit = Toolkit.make(C.Dice)

const decisions = (body: unknown) =>
  objects(isObject(body) ? body["input"] : undefined).filter(({ type }) => type === "mcp_approval_response").map((
    item
  ) => [item["approve"], item["reason"]])

for (const store of [true, false]) {
  for (const streams of [false, true]) {
    describe(`a request whose id was there before, store: ${store}, ${streams ? "streamed" : "whole"}`, () => {
      const scripted = (outputs: ReadonlyArray<ReadonlyArray<unknown>>) => {
        const replies = outputs.map((output, index) => {
          const response = Edge.response(output, { id: `resp_${index}` })
          return streams
            ? {
              body: String(Edge.stream("", [], {}, response).wire.body),
              headers: { "content-type": "text/event-stream" }
            }
            : { body: response }
        })
        return Stub.make(replies, { config: { store } })
      }
      const send = (chat: Chat.Service, prompt: Prompt.RawInput) =>
        streams
          ? Effect.map(Stream.runCollect(chat.streamText({ prompt, toolkit })), (parts) => parts)
          : Effect.map(chat.generateText({ prompt, toolkit }), ({ content }) => content)
      const begin = <A, E>(effect: Effect.Effect<A, E, any>) =>
        Effect.provide(effect, [
          ApprovalJournal.layerMemory(),
          ApprovalSeal.layer({ key: "the key of the openai tests, 32 bytes" })
        ]) as Effect.Effect<A, E>

      it.effect("is asked about again, in the response to the answer and in a later turn, and keeps its denial", () =>
        begin(Effect.gen(function*() {
          const server = scripted([
            [request(6)],
            [ran("mcp_1", 6), request(1000)],
            [message("Then not.")],
            [request(20)],
            [message("Not that one either.")],
            [message("Bye.")]
          ])
          const chat = yield* Chat.empty
          const turn = (prompt: Prompt.RawInput) => Effect.provide(send(chat, prompt), server.model)
          const asked = (parts: Iterable<Response.AnyPart>) => Response.approvalRequests([...parts])

          const first = asked(yield* turn("roll"))
          assert.deepStrictEqual(first.map(({ params }) => params), [{ sides: 6 }])
          const second = asked(yield* turn(C.approve(first, "one")))
          assert.deepStrictEqual(second.map(({ params }) => params), [{ sides: 1000 }])
          assert.deepStrictEqual(asked(yield* turn(C.deny(second, "two"))), [])
          assert.deepStrictEqual(decisions(server.asked[2]), [[true, "one"], [false, "two"]])

          const third = asked(yield* turn("another"))
          assert.deepStrictEqual(third.map(({ params }) => params), [{ sides: 20 }])
          assert.deepStrictEqual(asked(yield* turn(C.deny(third, "three"))), [])
          assert.deepStrictEqual(decisions(server.asked[4]), [[true, "one"], [false, "two"], [false, "three"]])
          yield* turn("bye")
          assert.deepStrictEqual(decisions(server.asked[5]), [[true, "one"], [false, "two"], [false, "three"]])
        })))
    })
  }
}
