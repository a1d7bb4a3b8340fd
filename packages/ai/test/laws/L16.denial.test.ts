/**
 * L3 L16 whoever one level names may deny what that level asks about, also where another one names fewer people: alone, the
 * level of both would have let nothing run after that no.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type * as N from "./nestings.ts"
import { play } from "./nestings.ts"
import { fresh } from "./support.ts"

describe("L16 a denial by somebody whom one of two levels names", () => {
  for (const [inside, outside] of [["either", "ada"], ["ada", "either"]] as const) {
    it.effect(`L16 ends it: ${inside} inside ${outside}`, () =>
      fresh(Effect.gen(function*() {
        const level = (policy: N.Word): N.Level => ({ policy, who: "none", by: "nobody" })
        const later: ReadonlyArray<N.Later> = [{ says: "no", by: "bob" }, { says: "yes", by: "ada" }]
        const levels = [level(inside), level(outside)]
        const moments = yield* play({ way: "conversation", gated: true, levels, later })
        assert.deepStrictEqual(moments.map(({ end }) => end), ["open", "refused", "refused"])
      })))
  }
})
