/** What a turn has said, as its readers get it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { Response } from "../../src/index.ts"
import * as Saying from "../../src/internal/held/saying.ts"
import * as F from "./following.ts"

const text = (id: string, delta: string) => Response.makePart("text-delta", { id, delta })
const call = (id: string) =>
  Response.makePart("tool-call", { id, name: "ReadFile", params: {}, providerExecuted: false })

describe("neighbouring deltas", () => {
  it("of one text are one; others stay apart, in their order", () => {
    const parts = [
      text("1", "a"),
      text("1", "b"),
      text("2", "c"),
      text("1", "d"),
      Response.makePart("reasoning-delta", { id: "1", delta: "e" }),
      Response.makePart("reasoning-delta", { id: "1", delta: "f" }),
      call("x"),
      text("1", "g")
    ]
    const said = Saying.merged(parts).map((part) =>
      "delta" in part ? `${part.type} ${part.id} ${part.delta}` : part.type
    )
    assert.deepStrictEqual(said, [
      "text-delta 1 ab",
      "text-delta 2 c",
      "text-delta 1 d",
      "reasoning-delta 1 ef",
      "tool-call",
      "text-delta 1 g"
    ])
    assert.strictEqual((parts[0] as Response.TextDeltaPart).delta, "a")
  })
})

describe("a whole response", () => {
  it.effect("is told once, however much of it was heard before, with its finish at the end", () =>
    Effect.gen(function*() {
      const usage = new Response.Usage({
        inputTokens: { uncached: 1, total: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 }
      })
      const said = Response.makePart("text", { text: "Well." })
      const thought = Response.makePart("reasoning", { text: "Hm." })
      const finish = Response.makePart("finish", { reason: "stop", usage, response: undefined })
      const asked = Response.makePart("tool-approval-request", { approvalId: "r", toolCallId: "y" })
      const saying = Saying.make()
      // Somebody was asked about `y` in the turn itself, and nobody else can answer.
      Saying.hear(saying, [thought, said, call("x"), call("y"), finish, asked])
      Saying.hearRest(saying, [thought, said, call("x"), call("y"), call("x"), finish])
      Saying.endStep(saying, saying.step, [])
      Saying.end(saying, Exit.void)
      const types = F.typesOf(yield* F.collect(Saying.parts(saying)))
      assert.deepStrictEqual(types, [
        "reasoning-start",
        "reasoning-delta",
        "reasoning-end",
        "text-start",
        "text-delta",
        "text-end",
        "tool-call",
        "tool-call",
        "tool-call",
        "finish"
      ])
    }))
})
