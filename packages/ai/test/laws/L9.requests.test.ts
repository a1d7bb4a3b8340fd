/** L9 which of the provider's own requests are open, and under whose name. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { ApprovalController, Prompt } from "../../src/index.ts"
import * as Asked from "./asked.ts"
import * as Support from "./support.ts"

describe("L9 the provider's own requests", () => {
  const call = Prompt.toolCallPart({ id: "mcp_1", name: "Search", params: { query: "a" }, providerExecuted: true })
  const result = Prompt.toolResultPart({
    id: "mcp_1",
    name: "Search",
    result: "found",
    isFailure: false,
    providerExecuted: true
  })

  Support.forEachMode("L9 a request whose call the provider has run meanwhile is not open", function*(mode) {
    const tools = yield* Support.makeTools()
    const { model } = yield* Support.answering
    const history = Support.written([call, Support.requestPart("mcpr_1", "mcp_1"), result])
    const turn = yield* Support.takeTurn(mode, { model, toolkit: tools.toolkit, history })
    assert.deepStrictEqual([turn.requests, turn.text], [[], "done"])
  })

  Support.forEachMode("L9 L10 of several whose calls were trimmed none is asked about", function*(mode) {
    const tools = yield* Support.makeTools()
    const { model } = yield* Support.answering
    const history = Support.written([Support.requestPart("mcpr_1", "mcp_1"), Support.requestPart("mcpr_2", "mcp_2")])
    const asked: Array<string> = []
    const turn = yield* Support.takeTurn(mode, { model, toolkit: tools.toolkit, history }).pipe(
      Effect.provideService(
        ApprovalController.ApprovalController,
        ApprovalController.interactive(({ approvalId }) => (asked.push(approvalId), true))
      )
    )
    assert.deepStrictEqual([asked, turn.requests, turn.text], [[], [], "done"])
  })

  Support.forEachMode("L9 a request with an id of ours is not shown as the provider's", function*(mode) {
    const { asked, options, request } = yield* Asked.deletion(mode)
    const history = Support.rewrite(asked.history, (part) =>
      part.type === "tool-call"
        ? call
        : part.type === "tool-approval-request"
        ? Support.requestPart(request.approvalId, "mcp_1")
        : part)
    const turn = yield* Support.takeTurn(mode, { ...options, history })
    assert.deepStrictEqual(turn.requests, [])
  })

  Support.forEachMode(
    "L6 L9 under hold the provider's request stays open after a new message, else it is over",
    function*(mode) {
      const tools = yield* Support.makeTools()
      const history = Support.written([call, Support.requestPart("mcpr_1", "mcp_1")])
      for (const onNewMessage of ["hold", "supersede"] as const) {
        const script = yield* Support.answering
        const turn = yield* Support.takeTurn(mode, {
          model: script.model,
          toolkit: tools.toolkit,
          history,
          prompt: "And now?",
          approval: { onNewMessage }
        })
        const open = turn.requests.map((request) => request.approvalId)
        assert.deepStrictEqual([open, yield* script.calls], onNewMessage === "hold" ? [["mcpr_1"], 0] : [[], 1])
      }
    }
  )
})
