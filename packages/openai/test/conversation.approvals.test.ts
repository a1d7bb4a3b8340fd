/** What becomes of requests of hosted MCP servers that nobody answers, or that are answered late or elsewhere. */
import { Prompt, Toolkit } from "@assent/ai"
import { OpenAiTool } from "@assent/openai"
import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as C from "./conversation.ts"
import * as Memory from "./memory.ts"

const decisions = (body: C.Body) =>
  body.input.filter(({ type }) => type === "mcp_approval_response").map((item) => [
    item["approval_request_id"],
    item["approve"],
    item["reason"]
  ])

for (const memory of Memory.memories) {
  describe(`requests in ${memory}`, () => {
    C.everyWay(
      "a new message instead of an answer: the chat goes on, and a late approval runs nothing",
      function*(way) {
        const chat = yield* Memory.begin(memory, {
          way,
          turns: [[ResponsesServer.reasoning("Rolling."), C.roll(6)], "Fine.", "Bye.", "Still here."]
        })
        const asked = yield* chat.send("roll")
        assert.strictEqual(asked.requests.length, 1)
        assert.strictEqual((yield* chat.send("never mind")).text, "Fine.")
        const withdrawn = decisions(yield* chat.lastBody)
        if (Memory.sendsAll(memory)) {
          assert.deepStrictEqual(withdrawn, [])
          assert.isFalse(C.outline(yield* chat.lastBody).some((line) => line.includes("mcpr_")))
        } else {
          assert.deepStrictEqual(withdrawn.map(([id, approved]) => [id, approved]), [["mcpr_00000001", false]])
          assert.match(withdrawn[0]![2], /^Superseded by a new message/)
        }
        assert.strictEqual((yield* chat.send("bye")).text, "Bye.")
        assert.deepStrictEqual(decisions(yield* chat.lastBody), [], "it is withdrawn once")
        const late = yield* chat.send(Prompt.concat(C.approve(asked.requests), "there?"))
        assert.strictEqual(late.text, "Still here.")
        assert.deepStrictEqual(decisions(yield* chat.lastBody), [])
        assert.deepStrictEqual(yield* chat.server.executions, [])
        yield* C.assertAccepted(chat.server)
      }
    )

    C.everyWay("two requests, one answered: waits; the other answered later: both are told", function*(way) {
      const chat = yield* Memory.begin(memory, { way, turns: [[C.roll(6), C.roll(20)], "Done."] })
      const asked = yield* chat.send("roll")
      const waiting = yield* chat.send(C.approve([asked.requests[0]!], "first"))
      assert.strictEqual(waiting.finish?.reason, "pause")
      assert.deepStrictEqual(waiting.requests.map(({ approvalId }) => approvalId), ["mcpr_00000002"])
      assert.strictEqual(yield* chat.server.calls, 1)
      assert.strictEqual((yield* chat.send(C.deny([asked.requests[1]!], "second"))).text, "Done.")
      assert.deepStrictEqual(decisions(yield* chat.lastBody), [
        ["mcpr_00000001", true, "first"],
        ["mcpr_00000002", false, "second"]
      ])
      assert.strictEqual((yield* chat.server.executions).length, 1)
      yield* C.assertAccepted(chat.server)
    })

    C.everyWay("an answer without a reason has none on the wire; polls tell nobody anything", function*(way) {
      const chat = yield* Memory.begin(memory, { way, turns: [[C.roll(6)], "Done.", "Bye."] })
      const asked = yield* chat.send("roll")
      for (let poll = 0; poll < 2; poll++) assert.strictEqual((yield* chat.send([])).finish?.reason, "pause")
      yield* chat.send(C.approve(asked.requests))
      assert.deepStrictEqual(
        (yield* chat.lastBody).input.filter(({ type }) => type === "mcp_approval_response"),
        [{ type: "mcp_approval_response", approval_request_id: "mcpr_00000001", approve: true }]
      )
      yield* chat.send("bye")
      assert.strictEqual(yield* chat.server.executionsOf("mcpr_00000001"), 1)
      yield* C.assertAccepted(chat.server)
    })

    C.everyWay("one request after another: each is answered where it stands", function*(way) {
      const chat = yield* Memory.begin(memory, {
        way,
        turns: [[C.roll(6)], [ResponsesServer.reasoning(), C.roll(20)], [ResponsesServer.text("26")], "Bye."]
      })
      const first = yield* chat.send("roll twice")
      const second = yield* chat.send(C.approve(first.requests, "one"))
      assert.strictEqual(second.shape, "result reasoning call request finish")
      assert.deepStrictEqual(second.requests.map(({ approvalId }) => approvalId), ["mcpr_00000002"])
      yield* chat.send(C.approve(second.requests, "two"))
      yield* chat.send("bye")
      assert.deepStrictEqual(
        (yield* chat.server.executions).map((run) => run.approvalRequestId),
        ["mcpr_00000001", "mcpr_00000002"]
      )
      if (memory === "store") {
        assert.deepStrictEqual(C.outline(yield* chat.lastBody), [
          "user",
          "ref mcpl_00000001",
          "ref mcpr_00000001",
          "approve mcpr_00000001",
          "ref mcp_00000001",
          "ref rs_00000001",
          "ref mcpr_00000002",
          "approve mcpr_00000002",
          "ref mcp_00000002",
          "assistant",
          "user"
        ])
      }
      yield* C.assertAccepted(chat.server)
    })

    C.everyWay("the history goes through JSON between question and answer, as between two processes", function*(way) {
      const chat = yield* Memory.begin(memory, { way, turns: [[C.roll(6)], "Done.", "Bye."] })
      const asked = yield* chat.send("roll")
      const reload = Effect.gen(function*() {
        const json = JSON.stringify(Schema.encodeSync(Prompt.Prompt)(yield* chat.history))
        yield* chat.setHistory(Schema.decodeSync(Prompt.Prompt)(JSON.parse(json)))
      })
      yield* reload
      const turn = yield* chat.send(C.approve(asked.requests))
      assert.deepStrictEqual(turn.results.map(({ id }) => id), [asked.requests[0]!.toolCallId])
      yield* reload
      yield* chat.send("bye")
      assert.strictEqual(yield* chat.server.executionsOf("mcpr_00000001"), 1)
      yield* C.assertAccepted(chat.server)
    })

    C.everyWay("an answer that OpenAI did not get is told again", function*(way) {
      const chat = yield* Memory.begin(memory, {
        way,
        turns: [[C.roll(6)], ResponsesServer.apiError({ status: 500, message: "Sorry." }), "Done."]
      })
      const asked = yield* chat.send("roll")
      const history = yield* chat.history
      yield* Effect.flip(chat.send(C.approve(asked.requests)))
      yield* chat.setHistory(history)
      assert.strictEqual((yield* chat.send(C.approve(asked.requests))).text, "Done.")
      assert.strictEqual(yield* chat.server.executionsOf("mcpr_00000001"), 1)
    })
  })
}

describe("a call of an MCP server that asks nobody", () => {
  C.everyWay("is a call with its result", function*(way) {
    const chat = yield* C.start({
      way,
      turns: [[C.roll(6), ResponsesServer.text("Six.")], "Bye."],
      tools: "trusting"
    })
    const turn = yield* chat.send("roll")
    assert.strictEqual(turn.shape, "call result text finish")
    assert.deepStrictEqual(turn.results.map(({ id, isFailure, result }) => [id, isFailure, result]), [[
      "mcp_00000001",
      false,
      {
        type: "mcp_call",
        server_label: "dice",
        name: "roll",
        arguments: `{"sides": 6}`,
        output: `rolled {"sides":6}`,
        error: null
      }
    ]])
    yield* chat.send("bye")
    assert.deepStrictEqual(C.outline(yield* chat.lastBody), [
      "user",
      "ref mcpl_00000001",
      "ref mcp_00000001",
      "assistant",
      "user"
    ])
    yield* C.assertAccepted(chat.server)
  })
})

describe("several MCP servers", () => {
  C.everyWay("each is its own tool, under its own name", function*(way) {
    const kit = Toolkit.make(
      OpenAiTool.Mcp({ name: "Dice", server_label: "dice", server_url: "https://dice.example.com/mcp" }),
      OpenAiTool.Mcp({ name: "Coins", server_label: "coins", server_url: "https://coins.example.com/mcp" })
    )
    const chat = yield* C.start({
      way,
      toolkit: yield* Effect.provide(kit, kit.toLayer({})),
      mcpServers: { ...C.mcpServers, coins: [{ name: "flip" }] },
      turns: [[C.roll(6), ResponsesServer.mcpCall({ server: "coins", name: "flip" })], "Four, heads."]
    })
    const asked = yield* chat.send("roll and flip")
    assert.deepStrictEqual(asked.requests.map(({ params, toolName }) => [toolName, params]), [
      ["mcp.dice.roll", { sides: 6 }],
      ["mcp.coins.flip", {}]
    ])
    const turn = yield* chat.send(C.approve(asked.requests))
    assert.deepStrictEqual(turn.results.map(({ name }) => name), ["Dice", "Coins"])
    yield* C.assertAccepted(chat.server)
  })
})

describe("what the engine is told of a call on an MCP server", () => {
  C.everyWay("its source, its name there, and its arguments", function*(way) {
    const chat = yield* C.start({ way, turns: [[C.roll(6)]] })
    const { parts } = yield* chat.send("roll")
    const call = parts.find((part) => part.type === "tool-call")
    const { seal, ...said } = call?.metadata.assent ?? {}
    assert.deepStrictEqual(said, { source: "mcp.dice", toolName: "mcp.dice.roll", params: { sides: 6 } })
    assert.isString(seal)
    assert.deepStrictEqual(call?.metadata.openai, {
      responseId: "resp_00000001",
      itemId: "mcpr_00000001",
      itemType: "mcp_approval_request",
      approvalRequestId: "mcpr_00000001",
      serverLabel: "dice",
      name: "roll",
      arguments: `{"sides": 6}`
    })
  })
})
