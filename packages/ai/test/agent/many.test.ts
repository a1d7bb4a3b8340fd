/** What many agents that wait cost: `npm run agents -- --crowd 1000` takes as many as one likes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Many from "./many.ts"
import * as Tree from "./tree.ts"

describe("conversations that wait at once, a third of them in an agent of an agent", () => {
  it.effect("L17 have at most 20 kB each, and waking one touches no other, however many there are", () =>
    Effect.gen(function*() {
      const few = yield* Many.crowd(3)
      const many = yield* Many.crowd(9)
      assert.deepStrictEqual([...few.problems, ...many.problems], [])
      assert.isAtMost(many.each, 20_000)
      assert.deepStrictEqual(many.operations, few.operations)
    }))
})

describe("the requests of one agent that are answered one by one", () => {
  it.effect("L17 cost as much each, whether there are four or twelve", () =>
    Effect.gen(function*() {
      const costOf = Effect.fnUntraced(function*(count: number) {
        const pays = Array.from({ length: count }, () => Tree.pay)
        const [before, after] = yield* Many.growthOf(Tree.agent([Tree.inner(pays)]), [0, count])
        return (after! - before!) / count
      })
      const [four, twelve] = [yield* costOf(4), yield* costOf(12)]
      assert.isAtMost(twelve, four * 1.25, `${four} bytes each of four, ${twelve} of twelve`)
    }))
})
