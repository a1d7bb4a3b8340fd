/**
 * L2, and PEERS B8 and B9: the parts of a settled approval are whole: they decode, and encode again by their own schema.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Approval, Prompt, Response, Tool } from "../../src/index.ts"
import * as Support from "./support.ts"

/** Encodes every part of a turn by upstream's schema for this toolkit, and decodes it again. */
const reencode = (mode: Support.Mode, tools: Support.Tools, turn: Support.Turn) =>
  Effect.gen(function*() {
    const schema = mode.endsWith("streamText") ? Response.StreamPart(tools.toolkit) : Response.Part(tools.toolkit)
    const codec = Schema.toCodecJson(schema) as unknown as Schema.Codec<unknown, unknown>
    const encoded = yield* Effect.forEach(turn.parts, (part) => Schema.encodeEffect(codec)(part))
    const decoded = yield* Effect.forEach(
      JSON.parse(JSON.stringify(encoded)) as ReadonlyArray<unknown>,
      (part) => Schema.decodeUnknownEffect(codec)(part)
    )
    return { decoded, encoded }
  })

const resultOf = (parts: ReadonlyArray<unknown>) =>
  parts.filter((part) => (part as Response.AnyPart).type === "tool-result") as ReadonlyArray<Support.ToolResult>

describe("L2 the parts of a settled approval", () => {
  Support.forEachMode("L2 B8 the result of an approved call is decoded, and its part encodes again", function*(mode) {
    const { asked, tools } = yield* Support.asking(mode, [Support.call("c1", "Charge", { amount: "12" })])
    const { model } = yield* Support.answering
    for (const _ of ["run", "recorded"]) {
      const turn = yield* Support.approve(mode, { asked, model, tools })
      assert.deepStrictEqual(turn.results[0]!.result, Support.charged(12))
      assert.deepStrictEqual(turn.results[0]!.encodedResult, Support.chargedEncoded(12))
      const { decoded, encoded } = yield* reencode(mode, tools, turn)
      assert.deepStrictEqual(resultOf(encoded)[0]!.result, Support.chargedEncoded(12))
      assert.deepStrictEqual(resultOf(decoded)[0]!.result, Support.charged(12))
      assert.deepStrictEqual(Support.throughJson(turn.history), turn.history)
      const stored = Support.partsOf(turn.history).find((part) => part.type === "tool-result")
      assert.deepStrictEqual(stored?.result, Support.chargedEncoded(12))
    }
  })

  Support.forEachMode("L2 B8 so is the result of an approved call that succeeds with nothing", function*(mode) {
    const { asked, tools } = yield* Support.asking(mode, [Support.call("c1", "Forget", {})], [
      Tool.make("Forget", { needsApproval: true })
    ], {
      Forget: () => Effect.void
    })
    const { model } = yield* Support.answering
    for (const _ of ["run", "recorded"]) {
      const turn = yield* Support.approve(mode, { asked, model, tools })
      assert.strictEqual(turn.text, "done")
      assert.deepStrictEqual(turn.results.map((result) => [result.isFailure, result.result]), [[false, undefined]])
      yield* reencode(mode, tools, turn)
    }
  })

  const denials = {
    "without a reason": undefined,
    "with an empty reason": "",
    "with a reason": "keep the money"
  }
  for (const [what, reason] of Object.entries(denials)) {
    Support.forEachMode(`L2 B9 the result of a denial ${what} has a reason and passes its schema`, function*(mode) {
      const { asked, tools } = yield* Support.asking(mode, [Support.call("c1", "Charge", { amount: "12" })])
      const script = yield* Support.answering
      for (const _ of ["decided", "recorded"]) {
        const turn = yield* Support.reply(
          mode,
          { asked, model: script.model, tools },
          Support.answers(Approval.deny(asked.requests[0]!, reason))
        )
        assert.strictEqual(turn.results.length, 1)
        const told = Support.failureReason(turn.results[0])
        if (reason) assert.include(told, reason)
        assert.strictEqual((turn.results[0]!.encodedResult as { type: string }).type, "execution-denied")
        const { decoded } = yield* reencode(mode, tools, turn)
        assert.strictEqual(Support.failureReason(resultOf(decoded)[0]), told)
        assert.strictEqual(Support.failureReason((yield* Support.sentResults(script))[0]), told)
      }
      assert.deepStrictEqual(tools.runs, [])
    })
  }

  Support.forEachMode("L2 B9 a denial part by hand, without a reason at all, does as well", function*(mode) {
    const { asked, tools } = yield* Support.asking(mode, [Support.call("c1", "Charge", { amount: "12" })])
    const { model } = yield* Support.answering
    const turn = yield* Support.reply(
      mode,
      { asked, model, tools },
      Prompt.fromMessages([
        Prompt.toolMessage({ content: [Support.answerPart(asked.requests[0]!.approvalId, false)] })
      ])
    )
    Support.failureReason(turn.results[0])
    yield* reencode(mode, tools, turn)
  })
})
