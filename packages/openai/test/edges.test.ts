/** Answers in shapes that servers are known to send: a misfit loses detail, never the answer. */
import { assert, describe, it } from "@effect/vitest"
import { edges } from "./edges/index.ts"
import { stable } from "./recorded/facts.ts"
import { replay } from "./recorded/replay.ts"

describe("a program sees, and OpenAI gets back", () => {
  for (const { name, shows, wire } of edges) {
    it(name, async () => {
      const { differences, error, facts, verdict } = await replay(wire)
      assert.deepStrictEqual([verdict, error, differences], ["right", undefined, []])
      for (const [fact, value] of Object.entries(shows)) {
        assert.strictEqual(stable(facts?.get(fact)), stable(value), fact)
      }
    })
  }
})
