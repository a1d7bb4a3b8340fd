/**
 * L17, at random: JSON of any shape around the bounds, through whole turns. What is within them is as it was, and what is
 * not is told; either way the history can be written, and the turns go on.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Approval, Prompt, Tool } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { levelsOf, writable } from "./bounds.ts"
import * as Support from "./support.ts"

const maxResultSize = 4_000

/** JSON, and how deep it is put: mostly close to the bound. */
const Value = Schema.Struct({
  json: Schema.Json,
  levels: Schema.Union([
    Schema.Int.check(Schema.isBetween({ minimum: 500, maximum: 520 })),
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 }))
  ]),
  as: Schema.Array(Schema.Literals(["array", "object"])).check(Schema.isMinLength(1)),
  filling: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5_000 }))
})

// What is not Unicode is another law's (L4).
const wellFormed = (json: unknown): unknown =>
  typeof json === "string"
    ? json.replace(/\p{Surrogate}/gu, "?")
    : Array.isArray(json)
    ? json.map(wellFormed)
    : typeof json === "object" && json !== null
    ? Object.fromEntries(
      Object.entries(json).map(([key, value]) => [key.replace(/\p{Surrogate}/gu, "?"), wellFormed(value)])
    )
    : json

const valueOf = ({ as, filling, json, levels }: typeof Value.Type): unknown => {
  let value: unknown = [wellFormed(json), "ä".repeat(filling / 2)]
  for (let i = 0; i < levels; i++) value = as[i % as.length] === "array" ? [value] : { a: value, "b\"": null }
  return value
}

const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const fits = (json: string, bytes: number): boolean =>
  levelsOf(json) <= 512 && new TextEncoder().encode(json).length <= bytes

const Copy = (needsApproval: boolean) =>
  Tool.make("Copy", { parameters: { value: Schema.Unknown }, success: Schema.Unknown, needsApproval })

const Story = { value: Value, of: Schema.Literals(["params", "result"]), gated: Schema.Boolean }

for (const mode of ["generateText", "streamText", "Chat.streamText"] as const) {
  describe("L17 any JSON in a turn", () => {
    it.effect.prop(
      `L17 it is as it was where it is within bounds, and is told where it is not [${mode}]`,
      Story,
      ({ gated, of, value }) =>
        Support.fresh(Effect.gen(function*() {
          const big = valueOf(value)
          const tools = yield* Support.makeTools([Copy(gated)], {
            Copy: () => Effect.succeed(of === "result" ? big : "copied")
          })
          const params = { value: of === "params" ? big : 1 }
          const { model } = yield* ScriptedModel.make({
            turns: [[Support.call("c1", "Copy", params)]],
            afterLastTurn: "done"
          })
          const chat = yield* Support.converse(mode, { model, toolkit: tools.toolkit, approval: { maxResultSize } })
          const asked = yield* chat.take("Copy it.")
          const turn = asked.requests.length === 0
            ? asked
            : yield* chat.take(Support.answers(...asked.requests.map((request) => Approval.approve(request))))
          const result = turn.results[0]!
          const isIn = fits(JSON.stringify(of === "result" ? big : params), of === "result" ? maxResultSize : 1_048_576)
          assert.strictEqual(result.isFailure, !isIn)
          assert.strictEqual(tools.runs.length, of === "params" && !isIn ? 0 : 1)
          if (isIn) {
            const kept = of === "result" ? result.encodedResult : (tools.runs[0]!.params as typeof params).value
            assert.deepStrictEqual(throughJson(kept), throughJson(big))
          } else {
            assert.match(Support.failureReason(result), /nested deeper than 512 levels|larger than 4,000 bytes/)
          }
          yield* writable(turn.history)
          assert.strictEqual((yield* chat.take(Prompt.make("And?"))).text, "done")
        })),
      { timeout: 60_000, arbitrary: { runs: 40, seed: "bounds in turns" } }
    )
  })
}
