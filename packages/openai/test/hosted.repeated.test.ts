/** A server that counts its requests for approval anew: the same id again, and another answer. Each is that of its own request. */
import { ApprovalJournal, ApprovalSeal, Chat, Prompt, Response, Toolkit } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Approvals from "../src/internal/approvals/approvals.ts"
import * as Input from "../src/internal/request/input.ts"
import * as C from "./conversation.ts"
import * as Edge from "./edges/edge.ts"
import { isObject, objects } from "./recorded/facts.ts"
import * as Stub from "./stub.ts"
import { waiting } from "./waiting.ts"

const call = (id: string) => waiting(id, { approvalRequestId: "mcpr_1" })

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
        fileIdPrefixes: [],
        toolNames: new Set()
      })
      assert.deepStrictEqual(
        items.flatMap((item) => item.type === "mcp_approval_response" ? [item.approve] : []),
        [true, false]
      )
      assert.strictEqual(items.filter(({ type }) => type === "mcp_approval_request").length, references ? 0 : 2)
    })
  }
})

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
  ) => {
    assert.strictEqual(item["approval_request_id"], "mcpr_1")
    return [item["approve"], item["reason"]]
  })

for (const store of [true, false]) {
  for (const streams of [false, true]) {
    describe(`a server that counts anew, store: ${store}, ${streams ? "streamed" : "whole"}`, () => {
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
      const send = (chat: Effect.Success<typeof Chat.empty>, prompt: Prompt.RawInput) =>
        streams
          ? Stream.runCollect(chat.streamText({ prompt, toolkit }))
          : Effect.map(chat.generateText({ prompt, toolkit }), ({ content }): Iterable<Response.AnyPart> => content)
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
            [Edge.message("Then not.")],
            [request(20)],
            [Edge.message("Not that one either.")],
            [Edge.message("Bye.")]
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
