/** What a program says and gets, through the real SDK and the strict server. */
import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe } from "@effect/vitest"
import * as C from "./conversation.ts"

describe("text", () => {
  C.everyWay("a question is answered", function*(way) {
    const chat = yield* C.startPlain(way, ["Hello there!", "Bye."])
    const turn = yield* chat.send([
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "Hi" }] }
    ])
    assert.strictEqual(turn.text, "Hello there!")
    assert.strictEqual(turn.finish?.reason, "stop")
    assert.strictEqual(turn.finish?.usage.inputTokens.total, 10)
    assert.strictEqual(turn.finish?.usage.outputTokens.total, 5)
    const metadata = turn.parts.find((part) => part.type === "response-metadata")
    assert.strictEqual(metadata?.modelId, "gpt-5.2")
    assert.match(metadata?.id ?? "", /^resp_/)
    const body = yield* chat.lastBody
    assert.deepStrictEqual(body.input, [
      { role: "developer", content: "Be brief." },
      { role: "user", content: [{ type: "input_text", text: "Hi" }] }
    ])
    assert.deepStrictEqual(
      Object.keys(body).toSorted(),
      way.endsWith("streamText")
        ? ["input", "model", "stream"]
        : ["input", "model", ...("stream" in body ? ["stream"] : [])]
    )

    yield* chat.send("Thanks")
    const later = yield* chat.lastBody
    assert.deepStrictEqual(C.outline(later), ["developer", "user", "assistant", "user"])
    assert.deepStrictEqual(later.input[2], {
      type: "message",
      role: "assistant",
      id: "msg_00000001",
      status: "completed",
      content: [{ type: "output_text", text: "Hello there!", annotations: [] }]
    })
    yield* C.assertAccepted(chat.server)
  })
})

describe("functions", () => {
  C.everyWay("a call runs and its result goes back", function*(way) {
    const chat = yield* C.start({
      way,
      tools: "local",
      turns: [
        [ResponsesServer.reasoning("Adding."), ResponsesServer.functionCall({ name: "Add", params: { a: 1, b: 2 } })],
        "Three."
      ]
    })
    const turn = yield* chat.send("1 + 2?")
    assert.strictEqual(turn.shape, "reasoning call result finish")
    assert.strictEqual(turn.finish?.reason, "tool-calls")
    assert.deepStrictEqual(chat.runs, ["add 1 2"])
    const after = yield* chat.send([])
    assert.strictEqual(after.text, "Three.")
    assert.deepStrictEqual(C.outline(yield* chat.lastBody), [
      "user",
      "ref rs_00000001",
      "call Add",
      "output 3"
    ])
    yield* C.assertAccepted(chat.server)
  })

  C.everyWay("a call that needs approval waits, runs once, and is denied in words", function*(way) {
    const chat = yield* C.start({
      way,
      turns: [
        [ResponsesServer.functionCall({ name: "Delete", params: { path: "a", force: null } })],
        "Deleted.",
        [ResponsesServer.functionCall({ name: "Delete", params: { path: "b", force: true } })],
        "As you wish."
      ]
    })
    const asked = yield* chat.send("delete a")
    assert.deepStrictEqual(asked.requests.map(({ params }) => params), [{ path: "a" }])
    assert.deepStrictEqual(chat.runs, [])
    const done = yield* chat.send(C.approve(asked.requests))
    assert.strictEqual(done.text, "Deleted.")
    assert.deepStrictEqual(chat.runs, ["delete a"])

    const again = yield* chat.send("delete b")
    const denied = yield* chat.send(C.deny(again.requests, "not b"))
    assert.strictEqual(denied.text, "As you wish.")
    assert.deepStrictEqual(chat.runs, ["delete a"])
    const output = (yield* chat.lastBody).input.at(-1)!
    assert.strictEqual(output.type, "function_call_output")
    assert.strictEqual(output["output"], "The call was denied and did not run. not b")
    yield* C.assertAccepted(chat.server)
  })
})
