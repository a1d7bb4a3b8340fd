/**
 * L11 what is inside is never loosened from outside: policies of a conversation, an agent in a handler, a guarded toolkit
 * and `withPolicy` join with those around a turn to the stricter, and between controllers the innermost that is named is
 * asked. Every cell of inside × outside, in every way to nest the two.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as L from "./levels.ts"
import { fresh } from "./support.ts"

const order: ReadonlyArray<L.End> = ["ran", "open", "refused"]

/** What each level that says something would let become of the call by itself: nothing more may. */
const strictest = (gated: boolean, levels: ReadonlyArray<L.Word>): L.End => {
  const said = levels.filter((word) => word !== "none")
  const ends = (said.length === 0 ? ["none" as const] : said).map((word) => L.alone(word, gated))
  return order.findLast((end) => ends.includes(end))!
}

/**
 * Nobody is above anybody: the innermost that is named is asked, and where nobody may be asked at all, nobody is. Who
 * approves everything is nobody: it answers where nobody else is named.
 */
const decided = (inside: L.Who, outside: L.Who): L.Outcome => {
  if (inside === "strict" || outside === "strict") return { end: "refused", asked: [] }
  const isOutside = inside === "none" || (inside === "approveAll" && outside !== "none")
  const [who, at] = isOutside ? [outside, "outside" as const] : [inside, "inside" as const]
  switch (who) {
    case "approve":
      return { end: "ran", asked: [at] }
    case "deny":
      return { end: "refused", asked: [at] }
    case "approveAll":
      return { end: "ran", asked: [] }
    default:
      return { end: "open", asked: [] }
  }
}

describe("L11 the stricter policy holds, whichever is inside", () => {
  for (const [name, way] of Object.entries({ ...L.ways, ...L.policyWays })) {
    for (const stream of L.streams(name)) {
      it.effect(`L11 ${name} [${stream ? "stream" : "generate"}]`, () =>
        fresh(Effect.gen(function*() {
          const wrong: Array<string> = []
          for (const gated of [true, false]) {
            for (const inside of L.words) {
              for (const outside of L.words) {
                const { end } = yield* L.play(way, {
                  stream,
                  gated,
                  inside: L.level(inside),
                  outside: L.level(outside)
                })
                const expected = strictest(gated, [inside, outside])
                if (end !== expected) {
                  wrong.push(`${inside} × ${outside}, ${gated ? "gated" : "ungated"}: ${end}, not ${expected}`)
                }
              }
            }
          }
          assert.deepStrictEqual(wrong, [])
        })))
    }
  }
})

describe("L11 the innermost controller that is named is asked", () => {
  for (const [name, way] of Object.entries(L.ways)) {
    for (const stream of L.streams(name)) {
      it.effect(`L11 ${name} [${stream ? "stream" : "generate"}]`, () =>
        fresh(Effect.gen(function*() {
          const wrong: Array<string> = []
          for (const inside of L.controllers) {
            for (const outside of L.controllers) {
              const came = yield* L.play(way, {
                stream,
                gated: true,
                inside: L.level("none", inside),
                outside: L.level("none", outside)
              })
              const expected = decided(inside, outside)
              if (JSON.stringify(came) !== JSON.stringify(expected)) {
                wrong.push(`${inside} × ${outside}: ${JSON.stringify(came)}, not ${JSON.stringify(expected)}`)
              }
            }
          }
          assert.deepStrictEqual(wrong, [])
        })))
    }
  }

  for (const [name, way] of Object.entries(L.ways)) {
    it.effect(`L11 nobody around opens what a policy denies: ${name}`, () =>
      fresh(Effect.gen(function*() {
        for (const [inside, outside] of [["deny", "none"], ["none", "deny"], ["deny", "allow"]] as const) {
          const came = yield* L.play(way, {
            stream: false,
            gated: true,
            inside: L.level(inside),
            outside: L.level(outside, "approveAll")
          })
          assert.deepStrictEqual(came, { end: "refused", asked: [] }, `${inside} × ${outside}`)
        }
      })))
  }
})
