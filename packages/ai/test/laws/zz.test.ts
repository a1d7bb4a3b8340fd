import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Approval } from "../../src/index.ts"
import { answering, answers, ask, call, forEachMode, makeTools, takeTurn, throughJson } from "./support.ts"

forEachMode("smoke", (mode) => Effect.gen(function*() {
  const tools = yield* makeTools()
  const asked = yield* ask(mode, { toolkit: tools.toolkit, calls: [call("c1", "Charge", { amount: "12" })] })
  assert.strictEqual(asked.requests.length, 1)
  const { model } = yield* answering
  const turn = yield* takeTurn(mode, { model, toolkit: tools.toolkit, history: throughJson(asked.history), prompt: answers(Approval.approve(asked.requests[0]!)) })
  console.log(mode, turn.parts, turn.results[0], asked.requests[0])
  assert.deepStrictEqual(tools.runs, [{ name: "Charge", params: { amount: 12 } }])
}))
