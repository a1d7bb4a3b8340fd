/** What OpenAI knows already is not told again; what it has lost is. */
import { Prompt } from "@assent/ai"
import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as C from "./conversation.ts"
import * as Memory from "./memory.ts"

describe("a tracked chat", () => {
  C.everyWay("sends only what is new, through calls and approvals", function*(way) {
    const chat = yield* Memory.begin("tracker", {
      way,
      tools: "local",
      turns: [
        "Hi.",
        [ResponsesServer.reasoning("Adding."), ResponsesServer.functionCall({ name: "Add", params: { a: 1, b: 2 } })],
        "Three.",
        [ResponsesServer.functionCall({ name: "Delete", params: { path: "a", force: null } })],
        "Deleted.",
        "Bye."
      ]
    })
    yield* chat.send("hi")
    yield* chat.send("1 + 2?")
    yield* chat.send([])
    const asked = yield* chat.send("delete a")
    yield* chat.send(C.approve(asked.requests))
    yield* chat.send("bye")
    const bodies = yield* chat.bodies
    assert.deepStrictEqual(bodies.map((body) => [body["previous_response_id"], ...C.outline(body)]), [
      [undefined, "user"],
      ["resp_00000001", "user"],
      ["resp_00000002", "output 3"],
      ["resp_00000003", "user"],
      ["resp_00000004", "output deleted a"],
      ["resp_00000005", "user"]
    ])
    yield* C.assertAccepted(chat.server)
  })

  C.everyWay("sends everything again where OpenAI has lost the response, and goes on from there", function*(way) {
    const chat = yield* Memory.begin("tracker", {
      way,
      tools: "none",
      turns: [[ResponsesServer.reasoning("Hm."), ResponsesServer.text("Hi.")], "Again.", "Bye."]
    })
    yield* chat.send("hi")
    yield* Effect.promise(() => chat.client.client.responses.delete("resp_00000001"))
    assert.strictEqual((yield* chat.send("still there?")).text, "Again.")
    yield* chat.send("bye")
    const bodies = yield* chat.bodies
    assert.strictEqual(bodies[1]!["previous_response_id"], "resp_00000001")
    assert.deepStrictEqual(C.outline(bodies[1]!), ["user"])
    assert.isUndefined(bodies[2]!["previous_response_id"])
    assert.include(
      ["user, ref rs_00000001, assistant, user", "user, assistant, user"],
      C.outline(bodies[2]!).join(", ")
    )
    assert.strictEqual(bodies.at(-1)!["previous_response_id"], "resp_00000002")
  })

  C.everyWay("sends everything where OpenAI keeps nothing", function*(way) {
    const chat = yield* Memory.begin("tracker", {
      way,
      tools: "none",
      config: { store: false },
      turns: ["Hi.", "Bye."]
    })
    yield* chat.send("hi")
    yield* chat.send("bye")
    const body = yield* chat.lastBody
    assert.isUndefined(body["previous_response_id"])
    assert.deepStrictEqual(C.outline(body), ["user", "assistant", "user"])
    yield* C.assertAccepted(chat.server)
  })
})

describe("a chat that goes on from a response of its history", () => {
  C.everyWay("sends what came after it, however much that is", function*(way) {
    const chat = yield* C.startPlain(way, ["One.", "Two.", "Three.", "Four."])
    yield* chat.send("one")
    yield* chat.send("two", { config: { previous_response_id: "resp_00000001" } })
    yield* chat.send("three", { config: { previous_response_id: "resp_00000001" } })
    yield* chat.send("four", { config: { previous_response_id: "resp_00000003" } })
    assert.deepStrictEqual((yield* chat.bodies).map((body) => C.outline(body)), [
      ["user"],
      ["user"],
      ["user", "assistant", "user"],
      ["user"]
    ])
    yield* C.assertAccepted(chat.server)
  })

  C.everyWay("sends calls that came after it with their outputs", function*(way) {
    const chat = yield* C.start({
      way,
      turns: [
        "One.",
        [ResponsesServer.functionCall({ name: "Add", params: { a: 1, b: 2 } }), C.roll(6)],
        "Done."
      ]
    })
    const config = { previous_response_id: "resp_00000001" }
    yield* chat.send("one")
    const asked = yield* chat.send("add and roll", { config })
    yield* chat.send(C.approve(asked.requests), { config })
    assert.deepStrictEqual(C.outline(yield* chat.lastBody), [
      "user",
      "call Add",
      "ref mcpr_00000001",
      "output 3",
      "approve mcpr_00000001"
    ])
    assert.strictEqual(yield* chat.server.executionsOf("mcpr_00000001"), 1)
    yield* C.assertAccepted(chat.server)
  })

  C.everyWay("sends all of a history that has nothing of it", function*(way) {
    const chat = yield* C.start({
      way,
      tools: "none",
      turns: ["One.", "Two."],
      history: [{ role: "user", content: [{ type: "text", text: "hi" }] }, {
        role: "assistant",
        content: [{ type: "text", text: "Written by hand." }]
      }]
    })
    yield* chat.send("one")
    yield* chat.setHistory([])
    yield* chat.send("two", { config: { previous_response_id: "resp_00000001" } })
    assert.deepStrictEqual((yield* chat.bodies).map((body) => C.outline(body)), [["user", "assistant", "user"], [
      "user"
    ]])
    yield* C.assertAccepted(chat.server)
  })
})

describe("a conversation at OpenAI", () => {
  C.everyWay("gets the history that it does not have, and then only what is new", function*(way) {
    const chat = yield* C.startPlain(way, ["One.", "Two.", "Three."])
    yield* chat.send("one")
    const { id } = yield* Effect.promise(() => chat.client.client.conversations.create())
    yield* chat.send("two", { config: { conversation: id } })
    yield* chat.send("three", { config: { conversation: { id } } })
    const bodies = yield* chat.bodies
    assert.deepStrictEqual(bodies.map((body) => [body["conversation"], ...C.outline(body)]), [
      [undefined, "user"],
      [id, "user", "assistant", "user"],
      [id, "user"]
    ])
    yield* C.assertAccepted(chat.server)
  })

  C.everyWay("wins over a response that a tracker found, which OpenAI would refuse beside it", function*(way) {
    const chat = yield* C.start({ way, tools: "none", tracked: true, turns: ["One.", "Two."] })
    const { id } = yield* Effect.promise(() => chat.client.client.conversations.create())
    yield* chat.send("one", { config: { conversation: id } })
    yield* chat.send("two", { config: { conversation: id } })
    const body = yield* chat.lastBody
    assert.deepStrictEqual([body["conversation"], body["previous_response_id"]], [id, undefined])
    assert.deepStrictEqual(C.outline(body), ["user"])
    yield* C.assertAccepted(chat.server)
  })
})

describe("items that OpenAI has lost", () => {
  C.everyWay("a history from elsewhere goes on without them", function*(way) {
    const first = yield* C.start({
      way,
      turns: [
        [
          ResponsesServer.reasoning("Adding."),
          ResponsesServer.functionCall({ name: "Add", params: { a: 1, b: 2 } }),
          C.roll(6)
        ],
        "Done."
      ]
    })
    const asked = yield* first.send("add and roll")
    yield* first.send(C.approve(asked.requests))
    // Another account knows none of these items.
    const second = yield* C.start({ way, history: yield* first.history, turns: ["Hello.", "Bye."] })
    const turn = yield* second.send("go on")
    assert.strictEqual(turn.text, "Hello.")
    assert.deepStrictEqual(C.outline(yield* second.lastBody), ["user", "call Add", "output 3", "assistant", "user"])
    assert.deepStrictEqual(yield* second.server.executions, [])
    assert.strictEqual((yield* second.send("bye")).text, "Bye.")
    assert.deepStrictEqual(yield* second.server.executions, [])
  })

  C.everyWay(
    "L4 a request that OpenAI does not know, although it keeps everything, is not told from the history",
    function*(way) {
      const first = yield* C.start({ way, turns: [[C.roll(6)]] })
      const asked = yield* first.send("roll")
      const second = yield* C.start({ way, history: yield* first.history, turns: ["What was that?"] })
      yield* second.send(C.approve(asked.requests))
      assert.deepStrictEqual(C.outline(yield* second.lastBody), ["user"])
      assert.deepStrictEqual(yield* second.server.executions, [])
    }
  )
})

describe("a history of other hands", () => {
  C.everyWay("items without a response are taken to be where OpenAI goes on from", function*(way) {
    const chat = yield* C.startPlain(way, ["One.", "Two."])
    yield* chat.send("one")
    const history = (yield* chat.history).content.map((message) =>
      message.role !== "assistant" ? message : Prompt.assistantMessage({
        content: message.content.map((part) =>
          part.type === "text"
            ? Prompt.textPart({ text: part.text, options: { openai: { itemId: "msg_00000001" } } })
            : part
        )
      })
    )
    yield* chat.setHistory(Prompt.fromMessages(history))
    yield* chat.send("two", { config: { previous_response_id: "resp_00000001" } })
    assert.deepStrictEqual(C.outline(yield* chat.lastBody), ["user"])
    yield* C.assertAccepted(chat.server)
  })
})

describe("a response that was cut", () => {
  it.live("is told again to a conversation that did not keep it", () =>
    C.fresh(Effect.gen(function*() {
      const chat = yield* C.startPlain("Chat.streamText", ["One.", [
        ResponsesServer.text("Half of"),
        ResponsesServer.cut()
      ], "Three."])
      const { id } = yield* Effect.promise(() => chat.client.client.conversations.create())
      const config = { conversation: id }
      yield* chat.send("one", { config })
      yield* Effect.flip(chat.send("two", { config }))
      yield* chat.send("three", { config })
      assert.deepStrictEqual(C.outline(yield* chat.lastBody), ["user", "assistant", "user"])
    })))

  for (const tracked of [true, false]) {
    it.live(`is told again by its text, tracked: ${tracked}`, () =>
      C.fresh(Effect.gen(function*() {
        const chat = yield* C.start({
          way: "Chat.streamText",
          tools: "none",
          tracked,
          turns: [
            "One.",
            [ResponsesServer.reasoning("Hm."), ResponsesServer.text("Two."), ResponsesServer.cut()],
            "Three."
          ]
        })
        yield* chat.send("one")
        yield* Effect.flip(chat.send("two"))
        assert.strictEqual((yield* chat.send("three")).text, "Three.")
        assert.deepStrictEqual(C.outline(yield* chat.lastBody), ["user", "assistant", "user", "assistant", "user"])
      })))
  }
})
