/**
 * L11 and L16 over random nestings of policies, controllers and approvers: what becomes of a call is what the laws say,
 * whichever way it came, another level or another list of approvers never lets more run, and a decision by the wrong person
 * changes nothing. `NESTINGS=20000 npm test -- nestings` tries more, with a seed of its own by `NESTINGS_SEED`.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Expected from "./expected.ts"
import * as N from "./nestings.ts"
import { fresh } from "./support.ts"

const long = process.env["NESTINGS"]
const seed = process.env["NESTINGS_SEED"] ?? "nestings"
const timeout = long === undefined ? 30_000 : 3_600_000
const runs = (brief: number): number => long === undefined ? brief : Number(long)

const Pair = Schema.Struct({
  world: N.World,
  more: N.Level,
  policy: N.Word,
  place: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 }))
})

/** Nobody says no: a denial by somebody who may not decide would have counted without a list of approvers (law L16). */
const approving = (world: N.World): N.World => ({
  ...world,
  levels: world.levels.map((level) => ({ ...level, who: level.who === "no" ? "yes" : level.who })),
  later: world.later.map(({ by }) => ({ by, says: "yes" }))
})

/** The first policy stands in the place of the tool's gate, and the first who is somebody in that of nobody. */
const isFirst = ({ levels }: N.World, { policy, who }: N.Level): boolean =>
  (policy !== "none" && levels.every((level) => level.policy === "none")) ||
  (who !== "none" && levels.every((level) => level.who === "none" || level.who === "approveAll"))

const listed = (level: N.Level): N.Level => {
  const { policy } = level
  return { ...level, policy: policy === "ask" ? "either" : policy === "ada" || policy === "bob" ? "both" : policy }
}

const endsOf = (world: N.World): Effect.Effect<ReadonlyArray<N.End>> =>
  Effect.map(N.play(world), (moments) => moments.map(({ end }) => end))

describe("L16 random nestings", () => {
  it.effect.prop(
    "L11 L16 what becomes of a call is what the laws say, inline, from messages, by a conversation and by a guard",
    { world: N.World },
    ({ world }) =>
      fresh(Effect.gen(function*() {
        const moments = yield* N.play(world)
        const expected = Expected.expect(world)
        assert.deepStrictEqual(moments.map(({ end }) => end), expected.slice(0, moments.length).map(({ end }) => end))
        // Where others are needed too, who was asked may be one of them, or know them.
        const { asked } = moments[0]!
        assert.deepStrictEqual([...new Set(asked)], expected[0]!.asked)
        assert.isAtMost(asked.length, expected[0]!.isUnchanged ? 1 : 3)
        assert.isAtMost(moments.at(-1)!.after.runs, 1)
        if (N.isAnswered(world) && expected[0]!.end === "open") assert.lengthOf(moments, expected.length)
        for (const [at, { after, before, refusal }] of moments.entries()) {
          if (!expected[at]!.isUnchanged) continue
          const isOpen = expected[at]!.end === "open"
          assert.strictEqual(after.runs, at === 0 ? 0 : before.runs)
          if (isOpen) assert.strictEqual(after.remembered, before.remembered)
          if (at === 0) continue
          assert.strictEqual(after.journal, before.journal)
          assert.deepStrictEqual(after.pending, before.pending)
          if (world.way !== "conversation") continue
          assert.strictEqual(after.history, before.history)
          assert.strictEqual(refusal, isOpen ? "NotAnApprover" : "AlreadyDecided")
        }
      })),
    { timeout, arbitrary: { runs: runs(50), seed } }
  )

  it.effect.prop(
    "L11 L16 one more level around, one more policy, or one more list of approvers never lets more run",
    { pair: Pair },
    ({ pair: { more, place, policy, world: any } }) =>
      fresh(Effect.gen(function*() {
        const world = approving(any)
        const added: ReadonlyArray<N.World> = [
          ...(isFirst(world, more) ? [] : [{ ...world, levels: [...world.levels, more] }]),
          ...(isFirst(world, { ...more, policy, who: "none" })
            ? []
            : [{ ...world, levels: world.levels.toSpliced(place, 0, { ...more, policy, who: "none" }) }]),
          { ...world, levels: world.levels.map((level, at) => at === place ? listed(level) : level) }
        ]
        const ends = yield* endsOf(world)
        for (const other of added) {
          for (const [at, end] of (yield* endsOf(other)).entries()) {
            if (end === "ran") assert.strictEqual(ends[at] ?? ends.at(-1), "ran", JSON.stringify(other))
          }
        }
      })),
    { timeout, arbitrary: { runs: runs(12), seed } }
  )
})
