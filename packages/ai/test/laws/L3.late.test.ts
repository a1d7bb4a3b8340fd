/**
 * L3 where a call has its result: who says no after a failed result is heard, should an older history come back; after a
 * run it changes nothing.
 */
import { assert, describe } from "@effect/vitest"
import { Approval, LanguageModel, Prompt } from "../../src/index.ts"
import * as Support from "./support.ts"

const ask = (mode: Support.Mode, tools: Support.Tools) =>
  Support.ask(mode, {
    toolkit: tools.toolkit,
    calls: [Support.call("c1", "DeleteFile", { path: "a" })],
    prompt: "Delete a."
  })

// As programs write it: the results directly behind their calls, so that the exchange is settled; or where they came.
const writers = {
  "in one exchange": (asked: Support.Turn, settled: Support.Turn) =>
    Prompt.concat(
      asked.history,
      Prompt.fromMessages([
        Prompt.makeMessage("tool", {
          content: [
            ...Support.partsOf(settled.history).filter((part) => part.type === "tool-approval-response"),
            ...Support.partsOf(settled.history).filter((part) => part.type === "tool-result")
          ]
        })
      ])
    ),
  "where they came": (_: Support.Turn, settled: Support.Turn) => settled.history
}

describe("L3 a denial that comes late", () => {
  for (const [where, write] of Object.entries(writers)) {
    Support.forEachMode(
      `L3 is heard by an older history, where the approval failed for want of a toolkit, ${where}`,
      function*(mode) {
        const tools = yield* Support.makeTools()
        const asked = yield* ask(mode, tools)
        const { model } = yield* Support.answering
        const approved = Support.answers(Approval.approve(asked.requests[0]!))
        const without = yield* Support.takeTurn(mode, { model, history: asked.history, prompt: approved })
        assert.isTrue(without.results[0]?.isFailure)
        const denied = Support.answers(Approval.deny(asked.requests[0]!, "not that one"))
        const late = yield* Support.takeTurn(mode, {
          model,
          toolkit: tools.toolkit,
          history: write(asked, without),
          prompt: denied
        })
        assert.lengthOf(late.results, 0)
        const again = yield* Support.reply(mode, { asked, model, tools }, approved)
        assert.strictEqual(tools.count("DeleteFile"), 0)
        assert.include(JSON.stringify(again.results), "not that one")
      }
    )

    Support.forEachMode(`L3 changes nothing about a call that ran, ${where}`, function*(mode) {
      const tools = yield* Support.makeTools()
      const asked = yield* ask(mode, tools)
      const { model } = yield* Support.answering
      const approved = Support.answers(Approval.approve(asked.requests[0]!))
      const ran = yield* Support.reply(mode, { asked, model, tools }, approved)
      const denied = Support.answers(Approval.deny(asked.requests[0]!))
      const history = Prompt.concat(write(asked, ran), denied)
      const late = yield* Support.takeTurn(mode, { model, toolkit: tools.toolkit, history })
      // Where the model has had its say, nothing comes of it: the model is not called, and the result is given again.
      const isAnswered = where === "where they came"
      assert.deepStrictEqual(
        late.results.map(({ result }) => result),
        isAnswered ? ran.results.map(({ result }) => result) : []
      )
      assert.deepStrictEqual([late.requests, late.text, late.finish], [[], isAnswered ? "" : "done", "stop"])
      assert.strictEqual(tools.count("DeleteFile"), 1)
      const collected = LanguageModel.collectToolApprovals(history.content)
      assert.deepStrictEqual([collected.denied, collected.approved], [[], []])
      assert.deepStrictEqual(collected.settled.map((one) => one.responses.map((response) => response.approved)), [
        [true, false]
      ])
    })
  }
})
