import { StrictProvider } from "@assent/ai/testing"
import { assert, describe, it } from "@effect/vitest"
import { Prompt, Response } from "effect/ai"

// The parts of a prompt, made unchecked: a history may hold what the types forbid.
const call = (id: string, name = "Read", params: unknown = {}) =>
  Prompt.makePart("tool-call", { id, name, params, providerExecuted: false })
const hostedCall = (id: string) => Prompt.makePart("tool-call", { id, name: "Web", params: {}, providerExecuted: true })
const result = (id: string, options: Partial<Prompt.ToolResultPart> = {}) =>
  Prompt.makePart("tool-result", {
    id,
    name: "Read",
    isFailure: false,
    result: "ok",
    providerExecuted: false,
    ...options
  })
const hostedResult = (id: string) => result(id, { name: "Web", providerExecuted: true })
const failed = (value: unknown) => result("1", { isFailure: true, result: value })
const text = (text: string) => Prompt.makePart("text", { text })
const request = (approvalId: string, toolCallId = "1") =>
  Prompt.makePart("tool-approval-request", { approvalId, toolCallId })
const response = (approvalId: string) => Prompt.makePart("tool-approval-response", { approvalId, approved: true })

const system = Prompt.makeMessage("system", { content: "Be brief" })
const user = (...content: ReadonlyArray<Prompt.UserMessagePart>) => Prompt.makeMessage("user", { content })
const ask = user(text("Hi"))
const assistant = (...content: ReadonlyArray<Prompt.AssistantMessagePart>) =>
  Prompt.makeMessage("assistant", { content })
const tool = (...content: ReadonlyArray<Prompt.ToolMessagePart>) => Prompt.makeMessage("tool", { content })

const rules = (messages: ReadonlyArray<Prompt.Message>, options?: StrictProvider.Options) =>
  StrictProvider.check(Prompt.fromMessages(messages), options).map(({ messageIndex, rule }) =>
    `${rule} ${messageIndex}`
  )

/** Refused prompts, each with what is wrong and where, beside the nearest prompt that is accepted. */
const table: ReadonlyArray<{
  readonly name: string
  readonly refused: ReadonlyArray<Prompt.Message>
  readonly violations: ReadonlyArray<string>
  readonly accepted: ReadonlyArray<Prompt.Message>
  readonly options?: StrictProvider.Options
}> = [
  {
    name: "a call at the end has no result",
    refused: [ask, assistant(call("1"))],
    violations: ["dangling-call 1"],
    accepted: [ask, assistant(call("1")), tool(result("1"))]
  },
  {
    name: "the prompt ends with the assistant",
    refused: [ask, assistant(call("1")), tool(result("1")), assistant(text("Done"))],
    violations: ["assistant-last 3"],
    accepted: [ask, assistant(call("1")), tool(result("1"))]
  },
  {
    name: "the prompt ends with the assistant, behind what the provider ran",
    refused: [ask, assistant(hostedCall("1"), hostedResult("1"), text("Done"))],
    violations: ["assistant-last 1"],
    accepted: [ask, assistant(text("Let me see"), hostedCall("1"), hostedResult("1"))]
  },
  {
    name: "the prompt ends with a call of the provider's, as after a pause, and not with a text before it",
    refused: [ask, assistant(hostedCall("1"), text("Let me see"))],
    violations: ["assistant-last 1"],
    accepted: [ask, assistant(text("Let me see"), hostedCall("1"))]
  },
  {
    name: "one of two calls has no result",
    refused: [ask, assistant(call("1"), call("2")), tool(result("2")), ask],
    violations: ["dangling-call 1"],
    accepted: [ask, assistant(call("1"), call("2")), tool(result("2"), result("1")), ask]
  },
  {
    name: "a call's id is used again before the call has a result",
    refused: [ask, assistant(call("1")), assistant(call("1")), tool(result("1"))],
    violations: ["dangling-call 1"],
    accepted: [ask, assistant(call("1")), tool(result("1")), assistant(call("1")), tool(result("1"))]
  },
  {
    name: "an assistant message stands between call and result",
    refused: [ask, assistant(call("1")), assistant(text("Wait")), tool(result("1"))],
    violations: ["misplaced-result 3"],
    accepted: [ask, assistant(text("Wait")), assistant(call("1")), tool(result("1"))]
  },
  {
    name: "a user message stands between call and result",
    refused: [ask, assistant(call("1")), ask, tool(result("1"))],
    violations: ["misplaced-result 3"],
    accepted: [ask, assistant(call("1")), tool(result("1")), ask]
  },
  {
    name: "a system message stands between call and result",
    refused: [ask, assistant(call("1")), system, tool(result("1"))],
    violations: ["misplaced-result 3"],
    accepted: [system, ask, assistant(call("1")), tool(result("1")), system]
  },
  {
    name: "a local result stands in the assistant message",
    refused: [ask, assistant(call("1"), result("1"))],
    violations: ["misplaced-result 1"],
    accepted: [ask, assistant(hostedCall("1"), hostedResult("1"))]
  },
  {
    name: "a provider's result stands in a tool message",
    refused: [ask, assistant(hostedCall("1")), tool(hostedResult("1"))],
    violations: ["misplaced-result 2"],
    accepted: [ask, assistant(hostedCall("1")), assistant(hostedResult("1"))]
  },
  {
    name: "the results of one message are split",
    refused: [ask, assistant(call("1"), call("2")), tool(result("1")), tool(result("2"))],
    violations: ["split-results 3"],
    accepted: [ask, assistant(call("1")), tool(result("1")), assistant(call("2")), tool(result("2"))]
  },
  {
    name: "a call has two results",
    refused: [ask, assistant(call("1")), tool(result("1"), result("1"))],
    violations: ["duplicate-result 2"],
    accepted: [ask, assistant(call("1"), call("2")), tool(result("1"), result("2"))]
  },
  {
    name: "a call has a second result much later",
    refused: [ask, assistant(call("1")), tool(result("1")), ask, assistant(text("Hm")), tool(result("1"))],
    violations: ["duplicate-result 5"],
    accepted: [ask, assistant(call("1")), tool(result("1")), ask, assistant(call("1")), tool(result("1"))]
  },
  {
    name: "a provider's call has two results",
    refused: [ask, assistant(hostedCall("1"), hostedResult("1"), hostedResult("1"))],
    violations: ["duplicate-result 1"],
    accepted: [ask, assistant(hostedCall("1"), hostedResult("1")), assistant(hostedCall("1"), hostedResult("1"))]
  },
  {
    name: "a result has no call",
    refused: [ask, assistant(text("Hm")), tool(result("1"))],
    violations: ["orphan-result 2"],
    accepted: [ask, assistant(text("Hm"), call("1")), tool(result("1"))]
  },
  {
    name: "a result stands before its call",
    refused: [ask, tool(result("1")), assistant(call("1"))],
    violations: ["orphan-result 1", "dangling-call 2"],
    accepted: [ask, assistant(call("1")), tool(result("1"))]
  },
  {
    name: "a local result answers a provider's call",
    refused: [ask, assistant(hostedCall("1")), tool(result("1", { name: "Web" }))],
    violations: ["orphan-result 2"],
    accepted: [ask, assistant(hostedCall("1"))]
  },
  {
    name: "a result has another name than its call",
    refused: [ask, assistant(call("1", "Write")), tool(result("1", { name: "Read" }))],
    violations: ["result-name 2"],
    accepted: [ask, assistant(call("1", "Write")), tool(result("1", { name: "Write" }))]
  },
  {
    name: "two calls of one message have the same id",
    refused: [ask, assistant(call("1"), call("1")), tool(result("1"))],
    violations: ["duplicate-call-id 1"],
    accepted: [ask, assistant(call("1"), call("2")), tool(result("1"), result("2"))]
  },
  {
    name: "a local and a provider's call have the same id",
    refused: [ask, assistant(call("1"), hostedCall("1")), tool(result("1"))],
    violations: ["duplicate-call-id 1"],
    accepted: [ask, assistant(call("1"), hostedCall("2")), tool(result("1"))]
  },
  {
    name: "an approval request that the provider did not issue",
    refused: [ask, assistant(call("1"), request("ours")), tool(result("1"))],
    violations: ["foreign-approval 1"],
    accepted: [ask, assistant(call("1"), request("mcpr_1")), tool(result("1"))],
    options: { allowProviderApprovals: ["mcpr_1"] }
  },
  {
    name: "an approval answer that the provider did not ask for",
    refused: [ask, assistant(hostedCall("1")), tool(response("ours"))],
    violations: ["foreign-approval 2"],
    accepted: [ask, assistant(hostedCall("1")), tool(response("mcpr_1"))],
    options: { allowProviderApprovals: ["mcpr_1"] }
  },
  {
    name: "approval parts of every id, when none is allowed",
    refused: [ask, assistant(hostedCall("1"), request("mcpr_1")), tool(response("mcpr_1"))],
    violations: ["foreign-approval 1", "foreign-approval 2"],
    accepted: [ask, assistant(hostedCall("1"))]
  },
  {
    name: "a user message without parts",
    refused: [user()],
    violations: ["empty-message 0"],
    accepted: [ask]
  },
  {
    name: "an assistant message without parts",
    refused: [ask, assistant(), ask],
    violations: ["empty-message 1"],
    accepted: [ask, assistant(text("Hm")), ask]
  },
  {
    name: "a tool message without parts",
    refused: [ask, assistant(call("1")), tool(), tool(result("1"))],
    violations: ["empty-message 2"],
    accepted: [ask, assistant(call("1")), tool(result("1"))]
  },
  {
    name: "an empty text",
    refused: [user(text("")), assistant(text(""), text("Hm")), ask],
    violations: ["empty-text 0", "empty-text 1"],
    accepted: [user(text(" ")), assistant(text("Hm")), ask]
  },
  {
    name: "a result that is undefined",
    refused: [ask, assistant(call("1")), tool(result("1", { result: undefined }))],
    violations: ["empty-result 2"],
    accepted: [ask, assistant(call("1")), tool(result("1", { result: null }))]
  },
  {
    name: "a failure that is null",
    refused: [ask, assistant(call("1")), tool(failed(null))],
    violations: ["empty-result 2"],
    accepted: [ask, assistant(call("1")), tool(failed({}))]
  },
  {
    name: "a failure that is an empty text",
    refused: [ask, assistant(call("1")), tool(failed(""))],
    violations: ["empty-result 2"],
    accepted: [ask, assistant(call("1")), tool(result("1", { result: "" }))]
  },
  {
    name: "a denial without a reason",
    refused: [ask, assistant(call("1")), tool(failed({ type: "execution-denied" }))],
    violations: ["missing-reason 2"],
    accepted: [ask, assistant(call("1")), tool(failed({ type: "execution-denied", reason: "no" }))]
  },
  {
    name: "an interruption with an empty reason",
    refused: [ask, assistant(call("1")), tool(failed({ type: "execution-interrupted", reason: "" }))],
    violations: ["missing-reason 2"],
    accepted: [ask, assistant(call("1")), tool(failed({ type: "execution-interrupted", reason: "cut" }))]
  },
  {
    name: "a denial whose reason is no text",
    refused: [ask, assistant(call("1")), tool(failed({ type: "execution-denied", reason: 1 }))],
    violations: ["missing-reason 2"],
    accepted: [ask, assistant(call("1")), tool(failed({ type: "other" }))]
  },
  {
    name: "a tool message with a text",
    // The types forbid it; a history that was read unchecked may hold it.
    refused: [ask, assistant(call("1")), tool(result("1"), text("Hm") as never)],
    violations: ["tool-message-part 2"],
    accepted: [ask, assistant(call("1")), tool(result("1"))]
  }
]

describe("StrictProvider", () => {
  describe("check", () => {
    for (const { accepted, name, options, refused, violations } of table) {
      it(`refuses: ${name}`, () => {
        assert.deepStrictEqual(rules(refused, options), violations)
        assert.deepStrictEqual(rules(accepted, options), [])
      })
    }

    it("has every rule in its table", () => {
      const named = new Set(table.flatMap((row) => row.violations.map((violation) => violation.split(" ")[0])))
      assert.deepStrictEqual([...named].toSorted(), [
        "assistant-last",
        "dangling-call",
        "duplicate-call-id",
        "duplicate-result",
        "empty-message",
        "empty-result",
        "empty-text",
        "foreign-approval",
        "misplaced-result",
        "missing-reason",
        "orphan-result",
        "result-name",
        "split-results",
        "tool-message-part"
      ])
    })

    const circular: Record<string, unknown> = {}
    circular["self"] = circular
    const shared = { a: 1 }
    const notJson: ReadonlyArray<readonly [name: string, value: unknown, path: string]> = [
      ["a function", () => 1, "$ is of type function"],
      ["a bigint", 1n, "$ is of type bigint"],
      ["a symbol", Symbol.iterator, "$ is of type symbol"],
      ["not a number", { a: [0, Number.NaN] }, "$.a[1] is NaN"],
      ["a hole in an array", { a: [undefined] }, "$.a[0] is of type undefined"],
      ["a date", { at: new Date(0) }, "$.at is an instance of a class"],
      ["a map", new Map(), "$ is an instance of a class"],
      ["a cycle", circular, "$.self contains itself"]
    ]
    for (const [name, value, path] of notJson) {
      it(`refuses what is not JSON: ${name}`, () => {
        const asResult = StrictProvider.check(
          Prompt.fromMessages([ask, assistant(call("1")), tool(result("1", { result: value }))])
        )
        const asParams = StrictProvider.check(
          Prompt.fromMessages([ask, assistant(call("1", "Read", value)), tool(result("1"))])
        )
        assert.deepStrictEqual(asResult.map((violation) => violation.rule), ["result-not-json"])
        assert.deepStrictEqual(asParams.map((violation) => violation.rule), ["params-not-json"])
        assert.include(asResult[0]!.message, path.replace("$", "result"))
        assert.include(asParams[0]!.message, path.replace("$", "params"))
      })
    }

    it("refuses params that are undefined", () => {
      const missing = Prompt.makePart("tool-call", {
        id: "1",
        name: "Read",
        params: undefined,
        providerExecuted: false
      })
      assert.deepStrictEqual(rules([ask, assistant(missing), tool(result("1"))]), ["params-not-json 1"])
    })

    it("accepts JSON of every kind, an absent key, an object without a prototype and one value twice", () => {
      const bare: Record<string, unknown> = Object.create(null)
      bare["__proto__"] = 1
      const values = [null, true, 0, "", [], {}, { a: undefined }, bare, [shared, shared], { constructor: 1 }]
      for (const value of values) {
        assert.deepStrictEqual(
          rules([ask, assistant(call("1", "Read", value)), tool(result("1", { result: value }))]),
          []
        )
      }
    })

    it("reports in the order of the messages", () => {
      assert.deepStrictEqual(
        rules([ask, assistant(call("1")), assistant(), tool(result("9")), user(), assistant(call("2"))]),
        ["dangling-call 1", "empty-message 2", "orphan-result 3", "empty-message 4", "dangling-call 5"]
      )
    })

    it("takes ids named like members of Object for what they are", () => {
      for (const id of ["__proto__", "constructor", "toString"]) {
        assert.deepStrictEqual(rules([ask, assistant(call(id)), tool(result(id))]), [])
        assert.deepStrictEqual(rules([ask, tool(result(id))]), ["orphan-result 1"])
      }
    })

    it("lets an incremental prompt begin with results, and only begin", () => {
      const incremental = { incremental: true }
      assert.deepStrictEqual(rules([tool(result("1"), result("2")), ask], incremental), [])
      assert.deepStrictEqual(rules([tool(result("1")), ask]), ["orphan-result 0"])
      assert.deepStrictEqual(rules([ask, tool(result("1"))], incremental), ["orphan-result 1"])
      assert.deepStrictEqual(rules([tool(result("1"), result("1"))], incremental), ["duplicate-result 0"])
      assert.deepStrictEqual(rules([tool(result("1")), tool(result("2"))], incremental), ["split-results 1"])
      assert.deepStrictEqual(rules([tool(failed(null))], incremental), ["empty-result 0"])
    })

    it("refuses the history that upstream's Chat writes after an approval, for the result torn from its call", () => {
      const written = [ask, assistant(call("1")), assistant(text("Done")), tool(result("1")), ask]
      assert.deepStrictEqual(rules(written), ["misplaced-result 3"])
    })

    it("accepts what upstream's own tool loop writes", () => {
      const parts = [
        Response.makePart("text", { text: "Reading" }),
        Response.makePart("tool-call", { id: "1", name: "Read", params: {}, providerExecuted: false }),
        Response.makePart("tool-result", {
          id: "1",
          name: "Read",
          isFailure: false,
          result: new Date(0),
          encodedResult: "1970",
          providerExecuted: false,
          preliminary: false
        })
      ]
      assert.deepStrictEqual(rules([ask, ...Prompt.fromResponseParts(parts).content]), [])
    })

    it("stays linear in long histories", () => {
      const turns = Array.from({ length: 25_000 }, () => [ask, assistant(call("1")), tool(result("1"))]).flat()
      const start = performance.now()
      assert.deepStrictEqual(rules(turns), [])
      assert.isBelow(performance.now() - start, 2_000)
    })
  })
})
