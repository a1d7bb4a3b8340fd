/** What many agents that wait cost: `npm run agents -- --crowd 1000` takes as many as one likes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Many from "./many.ts"

describe("conversations that wait at once, a third of them in an agent of an agent", () => {
  it.effect("L17 have at most 20 kB each, and waking one touches no other, however many there are", () =>
    Effect.gen(function*() {
      const few = yield* Many.crowd(4)
      const many = yield* Many.crowd(40)
      assert.deepStrictEqual([...few.problems, ...many.problems], [])
      assert.isAtMost(many.each, 20_000)
      assert.deepStrictEqual(many.operations, few.operations)
    }))
})

describe("twenty requests of one agent that are answered one by one", () => {
  it.effect("L17 grow with the answers, and not with their square", () =>
    Effect.gen(function*() {
      const [none, five, ten, twenty] = yield* Many.growth([0, 5, 10, 20])
      const early = (five! - none!) / 5
      const late = (twenty! - ten!) / 10
      assert.isAtMost(late, early * 1.25 + 100, `${none}, ${five}, ${ten}, ${twenty} bytes`)
    }))
})
