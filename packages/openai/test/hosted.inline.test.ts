/**
 * Hosted MCP approvals that the policy or a controller gives at once, on the wire of the strict server; and requests that
 * are sent again out of a history, which count only as OpenAI made them (law L4).
 */
import { Approval, ApprovalController, ApprovalPolicy, ApprovalSeal, Prompt, Response } from "@assent/ai"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as C from "./conversation.ts"
import * as Memory from "./memory.ts"

const decisions = (body: C.Body) =>
  body.input.filter(({ type }) => type === "mcp_approval_response").map((item) => [
    item["approval_request_id"],
    item["approve"],
    item["reason"]
  ])

const withPolicy = (policy: Parameters<typeof ApprovalPolicy.make>[0]) =>
  Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.make(policy))

const withController = (callback: Parameters<typeof ApprovalController.interactive>[0]) =>
  Effect.provideService(ApprovalController.ApprovalController, ApprovalController.interactive(callback))

for (const memory of Memory.memories) {
  describe(`answered at once, ${memory}`, () => {
    C.everyWay("a policy that pre-approves mcp.dice.* answers for the person, and the turn goes on", function*(way) {
      const chat = yield* Memory.begin(memory, { way, turns: [[C.roll(6)], "You rolled.", "Bye.", "Bye again."] })
      const policy = withPolicy((call) =>
        call.toolName.startsWith("mcp.dice.") ? Approval.preApproved("dice are harmless") : undefined
      )
      const turn = yield* policy(chat.send("roll"))
      assert.strictEqual(turn.text, "You rolled.")
      assert.isFalse(Response.isWaiting(turn.parts))
      assert.deepStrictEqual(turn.results.map(({ id, isFailure }) => [id, isFailure]), [["mcpr_00000001", false]])
      assert.deepStrictEqual(yield* chat.server.executionsOf("mcpr_00000001"), 1)
      // Later turns tell it again where OpenAI has to be told, and nothing runs twice, with the policy or without.
      yield* policy(chat.send("thanks"))
      yield* chat.send("bye")
      assert.deepStrictEqual(yield* chat.server.executionsOf("mcpr_00000001"), 1)
      yield* C.assertAccepted(chat.server)
    })

    C.everyWay(
      "a controller that denies is told to OpenAI with its reason, now and on every later turn that tells it",
      function*(way) {
        const chat = yield* Memory.begin(memory, { way, turns: [[C.roll(6)], "Not rolled.", "Bye."] })
        const turn = yield* chat.send("roll").pipe(withController((request) => Approval.deny(request, "no gambling")))
        assert.strictEqual(turn.text, "Not rolled.")
        assert.deepStrictEqual(decisions(yield* chat.lastBody), [["mcpr_00000001", false, "no gambling"]])
        yield* chat.send("bye")
        for (const [, approve] of decisions(yield* chat.lastBody)) assert.isFalse(approve)
        assert.deepStrictEqual(yield* chat.server.executions, [])
        yield* C.assertAccepted(chat.server)
      }
    )
  })
}

type Forge = (options: Prompt.ToolCallPartOptions) => unknown

const forged = (fields: Readonly<Record<string, string>>): Forge => (options) => ({
  ...options,
  openai: { ...options.openai, ...fields }
})

describe("L4 a request that OpenAI keeps", () => {
  C.everyWay("evades no policy by another name in the history: nothing runs, and OpenAI is told", function*(way) {
    const chat = yield* C.start({ way, turns: [[C.roll(6)], "Then not."] })
    const asked = yield* chat.send("roll")
    yield* chat.setHistory(rewrite(yield* chat.history, (options) => ({
      ...options,
      assent: { ...options.assent, toolName: "mcp.dice.harmless" }
    })))
    const turn = yield* chat.send(C.approve(asked.requests)).pipe(Effect.provideService(
      ApprovalPolicy.ApprovalPolicy,
      ApprovalPolicy.make((call) => call.toolName === "mcp.dice.roll" ? Approval.blocked("no dice") : undefined)
    ))
    assert.strictEqual(turn.text, "Then not.")
    assert.deepStrictEqual(yield* chat.server.executions, [])
    for (const [, approve] of decisions(yield* chat.lastBody)) assert.isFalse(approve)
  })
})

/** Rewrites what is said of a call, where the program keeps it. */
const rewrite = (history: Prompt.Prompt, change: Forge): Prompt.Prompt =>
  Prompt.fromMessages(
    history.content.map((message) =>
      message.role !== "assistant" ? message : Prompt.makeMessage("assistant", {
        ...message,
        content: message.content.map((part) =>
          part.type !== "tool-call" ? part : { ...part, options: change(part.options) as never }
        )
      })
    )
  )

describe("L4 a request that is sent again with store: false", () => {
  const begin = Effect.fnUntraced(function*(way: C.Way) {
    const chat = yield* C.start({ way, config: { store: false }, turns: [[C.roll(6)], "Done.", "Bye."] })
    const asked = yield* chat.send("roll")
    return { chat, answers: C.approve(asked.requests) }
  })

  C.everyWay("is the one OpenAI made: it runs, once", function*(way) {
    const { answers, chat } = yield* begin(way)
    assert.strictEqual((yield* chat.send(answers)).text, "Done.")
    yield* chat.send("bye")
    assert.strictEqual(yield* chat.server.executionsOf("mcpr_00000001"), 1)
    yield* C.assertAccepted(chat.server)
  })

  const forgeries: Record<string, Forge> = {
    "other arguments": forged({ arguments: `{"sides": 1000000}` }),
    "another tool": forged({ name: "cheat" }),
    "another server": forged({ serverLabel: "bank" }),
    "another name for the policy": (options) => ({
      ...options,
      assent: { ...options.assent, toolName: "mcp.dice.safe" }
    }),
    "no seal": (options) => ({ ...options, assent: { ...options.assent, seal: undefined } }),
    "no word of ours": ({ assent: _, ...options }) => options,
    "a made-up seal": (options) => ({ ...options, assent: { ...options.assent, seal: "apr1.made.up" } })
  }

  for (const [name, forge] of Object.entries(forgeries)) {
    C.everyWay(`with ${name}: nothing runs, and the conversation goes on`, function*(way) {
      const { answers, chat } = yield* begin(way)
      yield* chat.setHistory(rewrite(yield* chat.history, forge))
      assert.strictEqual((yield* chat.send(answers)).text, "Done.")
      assert.deepStrictEqual(yield* chat.server.executions, [])
      for (const [, approve] of decisions(yield* chat.lastBody)) assert.isFalse(approve)
      assert.strictEqual((yield* chat.send("bye")).text, "Bye.")
      yield* C.assertAccepted(chat.server)
    })
  }

  C.everyWay("in another scope, or with a key that is gone: nothing runs, and it says why", function*(way) {
    for (
      const elsewhere of [
        Effect.provideService(Approval.Scope, { principal: "mallory" }),
        Effect.provide(ApprovalSeal.layer({ key: "quite another key, of 32 bytes or more" }))
      ]
    ) {
      const { answers, chat } = yield* begin(way)
      yield* elsewhere(chat.send(answers))
      assert.deepStrictEqual(yield* chat.server.executions, [])
      const [[, approve, reason]] = decisions(yield* chat.lastBody) as [[string, boolean, string]]
      assert.isFalse(approve)
      assert.match(reason, /Nothing ran/)
    }
  })
})
