/**
 * Hosted MCP approvals letter by letter: what the server got and what it sent, as bytes, in every way in which OpenAI may
 * know the history.
 */
import { Prompt } from "@assent/ai"
import { assert, describe } from "@effect/vitest"
import * as C from "./conversation.ts"
import { begin, memories, type Memory } from "./memory.ts"

type Json = { readonly [key: string]: unknown }

const id = "mcpr_00000001"

const user = { role: "user", content: [{ type: "input_text", text: "roll" }] }

const reference = (id: string): Json => ({ type: "item_reference", id })

const request: Json = {
  type: "mcp_approval_request",
  id,
  server_label: "dice",
  name: "roll",
  arguments: `{"sides": 6}`
}

/** What stands before the answer. */
const before = (memory: Memory, listed: Json): ReadonlyArray<Json> =>
  memory === "store"
    ? [user, reference("mcpl_00000001"), reference(id)]
    : memory === "store: false"
    ? [user, listed, request]
    : []

/** How a request says what it goes on from. */
const origin = (memory: Memory): Json =>
  memory === "store: false"
    ? { store: false }
    : memory === "conversation"
    ? { conversation: "conv_00000001" }
    : memory === "store"
    ? {}
    : { previous_response_id: "resp_00000001" }

const answers = [
  ["approved with a reason", true, "go on"],
  ["approved without one", true, undefined],
  ["denied with a reason", false, "no gambling"],
  ["denied without one", false, undefined]
] as const

/** The items of what was sent: of the events that begin and end each, or of the response. */
const itemsOf = (text: string): ReadonlyArray<readonly [event: string, item: Json]> =>
  text.startsWith("event: ")
    ? text.split("\n").filter((line) => line.startsWith("data: ")).flatMap((line) => {
      const event = JSON.parse(line.slice(6))
      return /output_item\.(added|done)$/.test(event.type) ? [[event.type, event.item] as const] : []
    })
    : JSON.parse(text).output.map((item: Json) => ["whole", item] as const)

for (const memory of memories) {
  for (const [title, approved, reason] of answers) {
    describe(`${memory}, ${title}`, () => {
      C.everyWay("is on the wire as OpenAI has it", function*(way) {
        const streams = way.endsWith("streamText")
        const chat = yield* begin(memory, { way, turns: [[C.roll(6)], "I see."] })
        const asked = yield* chat.send("roll")
        yield* chat.send(approved ? C.approve(asked.requests, reason) : C.deny(asked.requests, reason))

        const responses = (yield* chat.server.responses).filter(({ text }) => text.includes("resp_"))
        const [question, done] = responses.map(({ bytes }) => itemsOf(new TextDecoder().decode(bytes)))
        const listed = question!.findLast(([, item]) => item["type"] === "mcp_list_tools")
        const requests = question!.filter(([, item]) => item["type"] === "mcp_approval_request")
        assert.deepStrictEqual(
          requests.map(([event]) => event),
          streams ? ["response.output_item.added", "response.output_item.done"] : ["whole"]
        )
        assert.deepStrictEqual(requests.at(-1)![1], request)

        const received = (yield* chat.server.requests).filter(({ path }) => path === "/v1/responses")
        assert.strictEqual(received.length, 2)
        const text = new TextDecoder("utf-8", { fatal: true }).decode(received[1]!.bytes)
        const body: Json = JSON.parse(text)
        const tools = (body["input"] as ReadonlyArray<Json>).find(({ type }) => type === "mcp_list_tools")
        assert.strictEqual(tools === undefined, memory !== "store: false")
        if (tools !== undefined) assert.deepStrictEqual(tools["tools"], listed![1]["tools"])
        assert.deepStrictEqual(body["input"], [
          ...before(memory, tools ?? {}),
          {
            type: "mcp_approval_response",
            approval_request_id: id,
            approve: approved,
            ...(reason === undefined ? undefined : { reason })
          }
        ])
        for (const key of ["previous_response_id", "conversation", "store"]) {
          assert.deepStrictEqual(body[key], origin(memory)[key], key)
        }
        assert.strictEqual(body["stream"] === true, streams)
        // The id stands there once for the answer, and once for what it answers where OpenAI has to be told.
        assert.strictEqual(text.split(`"${id}"`).length - 1, memory.startsWith("store") ? 2 : 1)
        assert.strictEqual(text.split(`"mcp_approval_response"`).length - 1, 1)
        assert.include(text, `"require_approval":"always"`)

        const calls = done!.filter(([, item]) => item["type"] === "mcp_call").map(([, item]) => item)
        assert.strictEqual(calls.length, approved ? (streams ? 2 : 1) : 0)
        if (approved) {
          assert.deepInclude(calls.at(-1)!, {
            type: "mcp_call",
            id: "mcp_00000001",
            approval_request_id: id,
            server_label: "dice",
            name: "roll",
            arguments: `{"sides": 6}`,
            output: `rolled {"sides":6}`,
            status: "completed"
          })
        }
        yield* C.assertAccepted(chat.server)
      })
    })
  }
}

describe("two requests, one approved and one denied", () => {
  for (const memory of memories) {
    C.everyWay(`each answer is that of its request, in their order, ${memory}`, function*(way) {
      const chat = yield* begin(memory, { way, turns: [[C.roll(6), C.roll(20)], "I see."] })
      const { requests } = yield* chat.send("roll")
      // The person answers the second one first.
      yield* chat.send(Prompt.concat(C.deny([requests[1]!], "too many"), C.approve([requests[0]!])))
      const text = new TextDecoder().decode((yield* chat.server.requests).at(-1)!.bytes)
      const input: ReadonlyArray<Json> = JSON.parse(text).input
      const said = input.filter(({ type }) => type === "mcp_approval_response")
      assert.sameDeepMembers([...said], [
        { type: "mcp_approval_response", approval_request_id: "mcpr_00000001", approve: true },
        { type: "mcp_approval_response", approval_request_id: "mcpr_00000002", approve: false, reason: "too many" }
      ])
      assert.strictEqual(yield* chat.server.executionsOf("mcpr_00000001"), 1)
      assert.strictEqual(yield* chat.server.executionsOf("mcpr_00000002"), 0)
      yield* C.assertAccepted(chat.server)
    })
  }
})
