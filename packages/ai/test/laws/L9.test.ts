/**
 * L9, provider-executed: requests and answers reach the provider with their reason, each exactly once and in its place
 * in every prompt; never run or answered here; the call's id stays the same through its result. Over a foreign service
 * only the answer can pass.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Approval, LanguageModel, Prompt, Response, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"

const Search = Tool.make("Search", {
  parameters: { query: Schema.String },
  success: Schema.String,
  failure: Schema.String,
  failureMode: "return"
})
const allowed = { allowProviderApprovals: ["mcpr_1", "mcpr_2"] }

const request = (approvalId: string, toolCallId: string): Response.ToolApprovalRequestPartEncoded => ({
  type: "tool-approval-request",
  approvalId,
  toolCallId
})
const asking = (call: string, approval: string) => [
  ScriptedModel.toolCall({
    id: call,
    name: "Search",
    params: { query: call },
    providerExecuted: true,
    metadata: { test: { approval } }
  }),
  request(approval, call)
]
const found = (id: string) => ScriptedModel.toolResult({ id, name: "Search", result: `found ${id}` })

const services: Record<string, Pick<C.StartOptions, "make">> = {
  "our make": { make: (script) => LanguageModel.make(script.params) },
  "a foreign service": { make: (script) => Effect.succeed(LanguageModel.withApproval(script.model)) }
}

const begin = Effect.fnUntraced(function*(
  way: C.Way,
  service: Pick<C.StartOptions, "make">,
  turns: C.StartOptions["turns"],
  approval: LanguageModel.ApprovalOptions | undefined = undefined
) {
  const runs: Array<string> = []
  const toolkit = yield* C.withHandlers(Toolkit.make(Search, C.DeleteFile), {
    Search: ({ query }) => Effect.sync(() => (runs.push(`search ${query}`), "made up here")),
    DeleteFile: ({ path }) => Effect.sync(() => (runs.push(`delete ${path}`), { deleted: path }))
  })
  const chat = yield* C.start({ way, toolkit, turns, script: { strict: allowed }, approval, ...service })
  const asked = yield* chat.send("search")
  return { asked, chat, runs }
})

/** The approval parts of a prompt in their order, with the role of the message they stand in. */
const approvals = (prompt: Prompt.Prompt) =>
  prompt.content.flatMap((message) =>
    typeof message.content === "string" ? [] : message.content.flatMap((part) =>
      part.type === "tool-approval-request"
        ? [[message.role, "request", part.approvalId, part.toolCallId]]
        : part.type === "tool-approval-response"
        ? [[message.role, part.approved ? "approve" : "deny", part.approvalId, part.reason]]
        : []
    )
  )

for (const [name, service] of Object.entries(services)) {
  const ours = name === "our make"
  /** What the provider should see of `mcpr_1`: the request only where our own `make` can give it back. */
  const expected = (decision: "approve" | "deny", reason: string | undefined) => [
    ...(ours ? [["assistant", "request", "mcpr_1", "mcp_1"]] : []),
    ["tool", decision, "mcpr_1", reason]
  ]

  describe(`L9 over ${name}`, () => {
    C.everyWay(`L9 the provider's request waits like any other, ${name}`, function*(way) {
      const { asked, chat, runs } = yield* begin(way, service, [asking("mcp_1", "mcpr_1")])
      assert.isTrue(Response.isWaiting(asked.parts))
      const [only, ...more] = asked.requests
      assert.deepStrictEqual(more, [])
      assert.deepStrictEqual([only!.approvalId, only!.toolCallId, only!.toolName, only!.providerExecuted], [
        "mcpr_1",
        "mcp_1",
        "Search",
        true
      ])
      assert.deepStrictEqual(only!.params, { query: "mcp_1" })
      const poll = yield* chat.send([])
      assert.strictEqual(poll.finishReason, "pause")
      assert.deepStrictEqual(poll.requests.map((request) => request.approvalId), ["mcpr_1"])
      assert.strictEqual(yield* chat.calls, 1)
      assert.deepStrictEqual(runs, [])
    })

    C.everyWay(
      `L9 B19 approve: reaches the provider once, with its reason, in its place, on every turn, ${name}`,
      function*(way) {
        const { asked, chat, runs } = yield* begin(way, service, [
          asking("mcp_1", "mcpr_1"),
          [found("mcp_1"), ScriptedModel.text("found it")],
          "bye",
          "bye"
        ])
        const turn = yield* chat.send(
          Prompt.approvalResponses([Approval.approve(asked.requests[0]!, { note: "go ahead" })])
        )
        assert.strictEqual(turn.shape, "result text finish")
        assert.deepStrictEqual(turn.results.map((part) => [part.id, part.result, part.providerExecuted]), [
          ["mcp_1", "found mcp_1", true]
        ])
        const prompt = yield* chat.lastPrompt
        C.assertWellFormed(prompt, allowed)
        assert.deepStrictEqual(approvals(prompt), expected("approve", "go ahead"))
        assert.strictEqual(prompt.content.at(-1)!.role, "tool", "the answer follows the call")

        for (const message of ["thanks", "bye"]) {
          yield* chat.send(message)
          const later = yield* chat.lastPrompt
          C.assertWellFormed(later, allowed)
          assert.deepStrictEqual(approvals(later), expected("approve", "go ahead"))
          const lines = C.outline(later)
          const at = (text: string) => lines.findIndex((line) => line.includes(text))
          assert.strictEqual(at("approve mcpr_1"), at("call mcp_1") + 1, lines.join(" "))
          assert.isAbove(at("result mcp_1"), at("approve mcpr_1"), lines.join(" "))
        }
        assert.deepStrictEqual(runs, [])
      }
    )

    C.everyWay(`L9 B19 deny: is sent to the provider, not made up here, ${name}`, function*(way) {
      const { asked, chat, runs } = yield* begin(way, service, [asking("mcp_1", "mcpr_1"), "as you wish", "bye"])
      const turn = yield* chat.send(Prompt.approvalResponses([Approval.deny(asked.requests[0]!, "not this query")]))
      assert.strictEqual(turn.shape, "text finish", "no result but the provider's")
      assert.deepStrictEqual(approvals(yield* chat.lastPrompt), expected("deny", "not this query"))
      yield* chat.send("thanks")
      const later = yield* chat.lastPrompt
      C.assertWellFormed(later, allowed)
      assert.deepStrictEqual(approvals(later), expected("deny", "not this query"))
      assert.deepStrictEqual(C.resultsOf(later), [])
      assert.deepStrictEqual(runs, [])
    })

    C.everyWay(`L9 an answer without a reason has none at the provider, ${name}`, function*(way) {
      const { asked, chat } = yield* begin(way, service, [asking("mcp_1", "mcpr_1"), [found("mcp_1")]])
      yield* chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)]))
      assert.deepStrictEqual(approvals(yield* chat.lastPrompt), expected("approve", undefined))
    })

    C.everyWay(`L9 B19 answered twice: one answer reaches the provider, and a denial wins, ${name}`, function*(way) {
      const { asked, chat } = yield* begin(way, service, [asking("mcp_1", "mcpr_1"), "as you wish", "bye"])
      const [only] = asked.requests
      yield* chat.send(Prompt.approvalResponses([
        Approval.approve(only!, { note: "yes" }),
        Approval.deny(only!, "no"),
        Approval.approve(only!, { note: "yes!" })
      ]))
      assert.deepStrictEqual(approvals(yield* chat.lastPrompt), expected("deny", "no"))
      yield* chat.send(Prompt.concat(Prompt.approvalResponses([Approval.deny(only!, "no, again")]), "thanks"))
      assert.deepStrictEqual(approvals(yield* chat.lastPrompt), expected("deny", "no"))
    })

    C.everyWay(
      `L9 two requests, one answered: waits; both answered: both reach the provider once, ${name}`,
      function*(way) {
        const { asked, chat, runs } = yield* begin(way, service, [
          [...asking("mcp_1", "mcpr_1"), ...asking("mcp_2", "mcpr_2")],
          [found("mcp_1"), ScriptedModel.text("done")]
        ])
        const partial = yield* chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)]))
        assert.strictEqual(partial.finishReason, "pause")
        assert.deepStrictEqual(partial.requests.map((request) => request.approvalId), ["mcpr_2"])
        assert.strictEqual(yield* chat.calls, 1)
        yield* chat.send(Prompt.approvalResponses([Approval.deny(asked.requests[1]!, "no")]))
        const prompt = yield* chat.lastPrompt
        C.assertWellFormed(prompt, allowed)
        assert.deepStrictEqual(approvals(prompt).filter(([, kind]) => kind !== "request"), [
          ["tool", "approve", "mcpr_1", undefined],
          ["tool", "deny", "mcpr_2", "no"]
        ])
        if (ours) {
          assert.deepStrictEqual(approvals(prompt).filter(([, kind]) => kind === "request").map(([, , id]) => id), [
            "mcpr_1",
            "mcpr_2"
          ])
        }
        assert.deepStrictEqual(runs, [])
      }
    )

    C.everyWay(`L9 beside a local call: each is settled where it belongs, ${name}`, function*(way) {
      const { asked, chat, runs } = yield* begin(way, service, [
        [C.deleteCall("c1", "a"), ...asking("mcp_1", "mcpr_1")],
        [found("mcp_1"), ScriptedModel.text("done")],
        "bye"
      ])
      assert.strictEqual(asked.requests.length, 2)
      const turn = yield* chat.send(
        C.approveAll(asked)
      )
      assert.strictEqual(turn.shape, "result result text finish")
      assert.deepStrictEqual(runs, ["delete a"])
      for (const message of [undefined, "thanks"]) {
        if (message !== undefined) yield* chat.send(message)
        const prompt = yield* chat.lastPrompt
        C.assertWellFormed(prompt, allowed)
        assert.deepStrictEqual(approvals(prompt), expected("approve", undefined))
      }
    })

    C.everyWay(`L9 what the provider needs of a request travels in the call's metadata, ${name}`, function*(way) {
      const { asked, chat } = yield* begin(way, service, [asking("mcp_1", "mcpr_1"), [found("mcp_1")]])
      yield* chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)]))
      const calls = (yield* chat.lastPrompt).content.flatMap((message) =>
        message.role === "assistant" ? message.content.filter((part) => part.type === "tool-call") : []
      )
      assert.deepStrictEqual(calls.map((part) => [part.id, part.options["test"]]), [["mcp_1", {
        approval: "mcpr_1"
      }]])
    })

    C.everyWay(`L9 a provider's id is no approval of a local call, ${name}`, function*(way) {
      const { chat, runs } = yield* begin(way, service, [[C.deleteCall("c1", "a")], "bye"])
      const invented = Prompt.fromMessages([
        Prompt.userMessage({ content: [Prompt.textPart({ text: "delete" })] }),
        Prompt.assistantMessage({
          content: [
            Prompt.toolCallPart({ id: "c1", name: "DeleteFile", params: { path: "a" }, providerExecuted: false }),
            Prompt.toolApprovalRequestPart({ approvalId: "mcpr_1", toolCallId: "c1" })
          ]
        })
      ])
      yield* chat.setHistory(invented)
      yield* chat.send(Prompt.approvalResponses([Approval.approve({ approvalId: "mcpr_1" })]))
      const prompt = yield* chat.lastPrompt
      C.assertWellFormed(prompt, allowed)
      C.reasonOf(C.resultsOf(prompt)[0]!)
      assert.deepStrictEqual(runs, [])
    })

    C.everyWay(`L9 B17 without a toolkit the answer still reaches the provider, ${name}`, function*(way) {
      const { asked, chat } = yield* begin(way, service, [asking("mcp_1", "mcpr_1"), "found it"])
      const turn = yield* chat.send(
        Prompt.approvalResponses([Approval.approve(asked.requests[0]!, { note: "go" })]),
        {
          toolkit: "none"
        }
      )
      assert.strictEqual(turn.shape, "text finish")
      assert.deepStrictEqual(approvals(yield* chat.lastPrompt), expected("approve", "go"))
    })

    C.everyWay(`L9 a request of the provider for a local call does not make it run, ${name}`, function*(way) {
      const { asked, chat, runs } = yield* begin(way, service, [
        [C.deleteCall("c1", "a"), request("mcpr_1", "c1"), request("mcpr_2", "nowhere")],
        "on",
        "on"
      ])
      const own = asked.requests.filter((request) => !request.approvalId.startsWith("mcpr_"))
      assert.deepStrictEqual(own.map((request) => request.toolCallId), ["c1"])
      yield* chat.send(Prompt.approvalResponses([
        Approval.approve({ approvalId: "mcpr_1" }),
        Approval.approve({ approvalId: "mcpr_2" })
      ]))
      assert.deepStrictEqual(runs, [])
      yield* chat.send(Prompt.approvalResponses([Approval.approve(own[0]!)]))
      assert.deepStrictEqual(runs, ["delete a"])
      C.assertWellFormed(yield* chat.lastPrompt, allowed)
    })

    C.everyWay(`L9 polling repeats the request to the program, not to the provider, ${name}`, function*(way) {
      const { asked, chat } = yield* begin(way, service, [asking("mcp_1", "mcpr_1"), [found("mcp_1")], "bye"])
      for (let poll = 0; poll < 3; poll++) yield* chat.send([])
      yield* chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)]))
      assert.deepStrictEqual(approvals(yield* chat.lastPrompt), expected("approve", undefined))
      yield* chat.send("thanks")
      const prompt = yield* chat.lastPrompt
      C.assertWellFormed(prompt, allowed)
      assert.deepStrictEqual(approvals(prompt), expected("approve", undefined))
    })

    C.everyWay(`L9 L6 a new message while the provider's request is open: the chat goes on, ${name}`, function*(way) {
      const { chat, runs } = yield* begin(way, service, [asking("mcp_1", "mcpr_1"), "fine", "bye"])
      for (const text of ["fine", "bye"]) {
        assert.strictEqual((yield* chat.send("never mind")).text, text)
        C.assertWellFormed(yield* chat.lastPrompt, allowed)
      }
      assert.deepStrictEqual(runs, [])
    })

    C.everyWay(
      `L9 L6 an approval that comes after a new message superseded the request is not passed on, ${name}`,
      function*(way) {
        const { asked, chat } = yield* begin(way, service, [asking("mcp_1", "mcpr_1"), "fine", "bye"])
        yield* chat.send("never mind")
        yield* chat.send(
          Prompt.concat(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)]), "still there?")
        )
        const prompt = yield* chat.lastPrompt
        C.assertWellFormed(prompt, allowed)
        assert.deepStrictEqual(approvals(prompt).filter(([, kind]) => kind === "approve"), [])
      }
    )
  })
}
