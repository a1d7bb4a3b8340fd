/**
 * L9 and L7: requests and answers of the provider's reach its hook through a decorated copy of its model, a call's id
 * may be used again, and results that are moved into their message stay in their own branch of a history.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { Approval, LanguageModel, Prompt } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"
import * as Support from "./support.ts"

const allowed = { allowProviderApprovals: ["mcpr_1", "mcpr_2"] }

const providerCall = (id: string, path: string) =>
  ScriptedModel.toolCall({ id, name: "ReadFile", params: { path }, providerExecuted: true })

const asking = (id: string, approvalId: string, path = "x"): ReadonlyArray<ScriptedModel.TurnPart> => [
  providerCall(id, path),
  { type: "tool-approval-request", approvalId, toolCallId: id }
]

const found = (id: string, result = "found") => ScriptedModel.toolResult({ id, name: "ReadFile", result })

/** The provider's parts of a prompt, in their order. */
const traffic = (prompt: Prompt.Prompt): ReadonlyArray<string> =>
  prompt.content.flatMap((message) =>
    typeof message.content === "string" ? [] : message.content.flatMap((part) => {
      switch (part.type) {
        case "tool-call":
          return [`call ${part.id}`]
        case "tool-result":
          return [`result ${part.id}: ${JSON.stringify(part.result)}`]
        case "tool-approval-request":
          return [`request ${part.approvalId} of ${part.toolCallId}`]
        case "tool-approval-response":
          return [`${part.approved ? "approve" : "deny"} ${part.approvalId} ${part.reason}`]
        default:
          return []
      }
    })
  )

// =============================================================================
// Decorated copies
// =============================================================================

type Model = LanguageModel.LanguageModel

/** A copy whose functions are its own, as a router, a cache or a meter makes them. */
const decorate = (model: Model, count: () => void): Model => {
  const copy = {
    generateText: (options: never) => (count(), model.generateText(options)),
    generateObject: (options: never) => (count(), model.generateObject(options)),
    streamText: (options: never) => Stream.suspend(() => (count(), model.streamText(options)))
  }
  // The same options and the same parts; the overloads are the model's.
  return { ...model, ...copy as unknown as Model }
}

const copies: Record<string, (model: Model, count: () => void) => Model> = {
  "a decorated copy": decorate,
  "a decorated copy of a decorated copy": (model, count) => decorate(decorate(model, () => {}), count),
  "a decorated copy with approvals": (model, count) => LanguageModel.withApproval(decorate(model, count)),
  "a decorated copy with options": (model, count) =>
    LanguageModel.withApproval(decorate(model, count), { onInvalid: "fail" })
}

describe("L9 a decorated copy of a model of our make", () => {
  for (const [title, copy] of Object.entries(copies)) {
    for (const decision of ["approve", "deny"] as const) {
      C.everyWay(`L9 ${title}: the hook gets request and ${decision}, each once, on every turn`, function*(way) {
        let counted = 0
        const { runs, toolkit } = yield* C.fileTools
        const chat = yield* C.start({
          way,
          toolkit,
          turns: [asking("mcp_1", "mcpr_1"), [found("mcp_1"), ScriptedModel.text("there")], "bye", "bye"],
          script: { strict: allowed },
          make: (script) => Effect.map(LanguageModel.make(script.params), (model) => copy(model, () => counted++))
        })
        const asked = yield* chat.send("search")
        assert.deepStrictEqual(asked.requests.map((request) => request.approvalId), ["mcpr_1"])
        const answer = decision === "approve"
          ? Approval.approve(asked.requests[0]!, { note: "go ahead" })
          : Approval.deny(asked.requests[0]!, "not there")
        yield* chat.send(Prompt.approvalResponses([answer]))
        const answered = `${decision} mcpr_1 ${decision === "approve" ? "go ahead" : "not there"}`
        const first = ["call mcp_1", "request mcpr_1 of mcp_1", answered]
        assert.deepStrictEqual(traffic(yield* chat.lastPrompt), first)
        for (const message of ["thanks", "bye"]) {
          yield* chat.send(message)
          assert.deepStrictEqual(traffic(yield* chat.lastPrompt), [...first, `result mcp_1: "found"`])
        }
        assert.deepStrictEqual([yield* chat.calls, counted, runs], [4, 4, []])
      })
    }

    C.everyWay(`L2 ${title}: a call of ours is asked about once, and runs once`, function*(way) {
      const { runs, toolkit } = yield* C.fileTools
      const chat = yield* C.start({
        way,
        toolkit,
        turns: [[C.deleteCall("c1", "a"), C.readCall("r1", "x")], "done"],
        make: (script) => Effect.map(LanguageModel.make(script.params), (model) => copy(model, () => {}))
      })
      const asked = yield* chat.send("tidy up")
      assert.deepStrictEqual(asked.requests.map((request) => request.toolCallId), ["c1"])
      const turn = yield* chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)]))
      assert.deepStrictEqual([runs, turn.text], [["read x", "delete a"], "done"])
      assert.lengthOf(turn.results, 1)
      C.assertWellFormed(yield* chat.lastPrompt)
    })
  }
})

// =============================================================================
// Ids that come again
// =============================================================================

describe("L9 L13 a provider's id that is used again in a later turn", () => {
  const services: Record<string, NonNullable<C.StartOptions["make"]>> = {
    "our make": (script) => LanguageModel.make(script.params),
    "a foreign service": (script) => Effect.succeed(LanguageModel.withApproval(script.model))
  }
  for (const [name, make] of Object.entries(services)) {
    const ours = name === "our make"
    C.everyWay(`L9 waits though the first one has its result, and is sent as its own, ${name}`, function*(way) {
      const { runs, toolkit } = yield* C.fileTools
      const chat = yield* C.start({
        way,
        toolkit,
        make,
        script: { strict: allowed },
        turns: [
          [providerCall("p1", "one"), found("p1", "one"), ScriptedModel.text("one")],
          asking("p1", "mcpr_2", "two"),
          [found("p1", "two"), ScriptedModel.text("two")],
          "bye"
        ]
      })
      yield* chat.send("first")
      const asked = yield* chat.send("second")
      assert.deepStrictEqual(asked.requests.map((request) => [request.approvalId, request.params]), [
        ["mcpr_2", { path: "two" }]
      ])
      const poll = yield* chat.send([])
      assert.deepStrictEqual([poll.finishReason, poll.requests.map((request) => request.approvalId)], [
        "pause",
        ["mcpr_2"]
      ])
      assert.strictEqual(yield* chat.calls, 2)
      yield* chat.send(Prompt.approvalResponses([Approval.approve(poll.requests[0]!, { note: "yes" })]))
      const expected = [
        "call p1",
        `result p1: "one"`,
        "call p1",
        ...(ours ? ["request mcpr_2 of p1"] : []),
        "approve mcpr_2 yes"
      ]
      assert.deepStrictEqual(traffic(yield* chat.lastPrompt), expected)
      yield* chat.send("bye")
      assert.deepStrictEqual(traffic(yield* chat.lastPrompt), [...expected, `result p1: "two"`])
      assert.deepStrictEqual(runs, [])
    })

    C.everyWay(`L9 asked about in both turns: each answer goes to its own request, ${name}`, function*(way) {
      const { toolkit } = yield* C.fileTools
      const chat = yield* C.start({
        way,
        toolkit,
        make,
        script: { strict: allowed },
        turns: [asking("p1", "mcpr_1", "one"), [found("p1", "one")], asking("p1", "mcpr_2", "two"), "bye", "bye"]
      })
      const first = yield* chat.send("first")
      yield* chat.send(Prompt.approvalResponses([Approval.approve(first.requests[0]!, { note: "one" })]))
      const second = yield* chat.send("second")
      assert.deepStrictEqual(second.requests.map((request) => request.approvalId), ["mcpr_2"])
      yield* chat.send(Prompt.approvalResponses([Approval.deny(second.requests[0]!, "two")]))
      const request = (id: string) => ours ? [`request ${id} of p1`] : []
      assert.deepStrictEqual(traffic(yield* chat.lastPrompt), [
        "call p1",
        ...request("mcpr_1"),
        "approve mcpr_1 one",
        `result p1: "one"`,
        "call p1",
        ...request("mcpr_2"),
        "deny mcpr_2 two"
      ])
    })
  }
})

// =============================================================================
// Results that are moved
// =============================================================================

const user = Prompt.userMessage({ content: [Prompt.textPart({ text: "x" })] })

const providerPart = (id: string) => Prompt.toolCallPart({ id, name: "web", params: {}, providerExecuted: true })

const resultMessage = (id: string, result: string) =>
  Prompt.toolMessage({
    content: [Prompt.makePart("tool-result", { id, name: "web", isFailure: false, result, providerExecuted: true })]
  })

// An answer to nothing, which makes the history one that has to be rewritten.
const stray = Prompt.toolMessage({
  content: [Prompt.toolApprovalResponsePart({ approvalId: "nothing", approved: true })]
})

describe("L7 results of provider calls that stand in a tool message", () => {
  const send = (script: ScriptedModel.ScriptedModel, mode: Support.Mode, messages: ReadonlyArray<Prompt.Message>) =>
    Effect.gen(function*() {
      yield* Support.takeTurn(mode, { model: script.model, history: Prompt.fromMessages(messages) })
      const sent = (yield* script.requests).at(-1)!.prompt
      C.assertWellFormed(sent)
      return traffic(sent)
    })

  Support.forEachMode(
    "L7 are moved into their message, and never leak into another branch of the same history",
    function*(mode) {
      const script = yield* Support.answering
      // Both branches share these very messages.
      const shared = [user, Prompt.assistantMessage({ content: [providerPart("p")] })]
      const secret = [...shared, resultMessage("p", "secret of A"), user]
      const expected = ["call p", `result p: "secret of A"`]
      assert.deepStrictEqual(yield* send(script, mode, secret), expected)
      assert.deepStrictEqual(yield* send(script, mode, [...shared, stray, user]), ["call p"])
      assert.deepStrictEqual(yield* send(script, mode, [...shared, user]), ["call p"])
      const other = [...shared, resultMessage("p", "of B"), user]
      assert.deepStrictEqual(yield* send(script, mode, other), ["call p", `result p: "of B"`])
      assert.deepStrictEqual(yield* send(script, mode, secret), expected)
      assert.deepStrictEqual(yield* send(script, mode, [...shared, stray, user]), ["call p"])
    }
  )

  Support.forEachMode(
    "L7 nor where the message is rewritten anyway, for a call of ours that it holds as well",
    function*(mode) {
      const script = yield* Support.answering
      const local = Prompt.toolResultPart({
        id: "c1",
        name: "ReadFile",
        isFailure: false,
        result: "ours",
        providerExecuted: false
      })
      const shared = [
        user,
        Prompt.assistantMessage({
          content: [
            providerPart("p"),
            Support.callPart("c1", "ReadFile", { path: "a" }),
            Support.requestPart("old", "c1")
          ]
        }),
        Prompt.toolMessage({ content: [local] })
      ]
      const ours = ["call p", "call c1"]
      const withSecret = ["call p", "call c1", `result p: "secret of A"`, `result c1: "ours"`]
      const secret = [...shared, resultMessage("p", "secret of A"), user]
      for (let i = 0; i < 2; i++) {
        assert.deepStrictEqual(yield* send(script, mode, secret), withSecret)
        assert.deepStrictEqual(yield* send(script, mode, [...shared, user]), [...ours, `result c1: "ours"`])
      }
    }
  )

  Support.forEachMode("L7 go to the latest call of their id, each to its own", function*(mode) {
    const script = yield* Support.answering
    const turn = (result: string) => [
      user,
      Prompt.assistantMessage({ content: [providerPart("p")] }),
      resultMessage("p", result)
    ]
    assert.deepStrictEqual(yield* send(script, mode, [...turn("one"), ...turn("two"), user]), [
      "call p",
      `result p: "one"`,
      "call p",
      `result p: "two"`
    ])
  })

  Support.single("L7 a rewritten message of one branch is the same object on its next turn", function*() {
    const script = yield* Support.answering
    const shared = [user, Prompt.assistantMessage({ content: [providerPart("p")] })]
    const history = Prompt.fromMessages([...shared, resultMessage("p", "one"), user])
    for (let i = 0; i < 2; i++) yield* Support.takeTurn("generateText", { model: script.model, history })
    const [first, second] = yield* script.requests
    assert.strictEqual(first!.prompt.content[1], second!.prompt.content[1])
  })
})
