/**
 * L16 a decision by anybody else than the approvers changes nothing, whichever way it comes: a message history, a
 * controller, a conversation, a guarded toolkit. The journal, the history, what is remembered and what is pending are as
 * before, and whoever may decide still can.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as N from "./nestings.ts"
import { fresh } from "./support.ts"

const world = (world: Partial<N.World>): N.World => ({
  way: "conversation",
  gated: true,
  levels: [level({})],
  later: [],
  ...world
})

const level = (level: Partial<N.Level>): N.Level => ({ policy: "ada", who: "none", by: "nobody", ...level })

const both = (by: N.By): ReadonlyArray<N.Later> => [{ says: "yes", by }, { says: "no", by }]

const isAsBefore = ({ after, before }: N.Moment, history = true): void => {
  assert.deepStrictEqual(history ? after : { ...after, history: "" }, history ? before : { ...before, history: "" })
}

const wrong = ["bob", "cy", "nobody"] as const

describe("L16 a decision by the wrong person changes nothing", () => {
  for (const way of ["messages", "streamed messages"] as const) {
    it.effect(`L16 from ${way}, which nobody is known to have written`, () =>
      fresh(Effect.gen(function*() {
        const moments = yield* N.play(world({ way, later: [...both("ada"), ...both("bob")] }))
        assert.deepStrictEqual(moments.map(({ end }) => end), ["open", "open", "open", "open", "open"])
        // Its messages stand in the history, and settle nothing there.
        for (const moment of moments.slice(1)) isAsBefore(moment, false)
        assert.lengthOf(moments[4]!.after.pending, 1)
      })))
  }

  it.effect("L16 through a conversation, which tells whoever decides, and then the right one decides", () =>
    fresh(Effect.gen(function*() {
      const later = [...wrong.flatMap(both), { says: "yes", by: "ada" } as const]
      const moments = yield* N.play(world({ later }))
      assert.deepStrictEqual(moments.map(({ end }) => end), [...Array.from({ length: 7 }, () => "open"), "ran"])
      for (const moment of moments.slice(1, 7)) {
        isAsBefore(moment)
        assert.strictEqual(moment.refusal, "NotAnApprover")
      }
    })))

  for (const way of ["generate", "stream", "conversation", "guard"] as const) {
    it.effect(`L16 by a controller: ${way}`, () =>
      fresh(Effect.gen(function*() {
        for (const who of ["yes", "no"] as const) {
          for (const by of wrong) {
            const [moment] = yield* N.play(world({ way, levels: [level({ who, by })] }))
            const { after, asked, end } = moment!
            assert.deepStrictEqual({ end, asked, runs: after.runs, remembered: after.remembered }, {
              end: "open",
              asked: [0],
              runs: 0,
              remembered: 0
            })
            assert.lengthOf(after.pending, way === "guard" ? 0 : 1)
            // Nothing was decided of it.
            assert.notMatch(after.journal, /denied|running|done|approved/)
          }
          const [right] = yield* N.play(world({ way, levels: [level({ who, by: "ada" })] }))
          assert.strictEqual(right!.end, who === "yes" ? "ran" : "refused")
        }
      })))
  }
})

describe("L16 where two levels name different people", () => {
  it.effect("L16 one of each is needed, one by the same person counts once, and a denial still ends it", () =>
    fresh(Effect.gen(function*() {
      const levels = [level({}), level({ policy: "bob" })]
      const yes = (by: N.By): N.Later => ({ says: "yes", by })
      const play = (...later: ReadonlyArray<N.Later>) =>
        Effect.map(N.play(world({ levels, later })), (moments) => moments.map(({ end }) => end))
      assert.deepStrictEqual(yield* play(yes("ada"), yes("ada"), yes("bob")), ["open", "open", "open", "ran"])
      assert.deepStrictEqual(yield* play(yes("bob"), yes("cy"), yes("ada")), ["open", "open", "open", "ran"])
      assert.deepStrictEqual(yield* play(yes("ada"), { says: "no", by: "bob" }), ["open", "open", "refused"])
      assert.deepStrictEqual(yield* play(yes("ada"), { says: "no", by: "cy" }), ["open", "open", "open"])
    })))
})
