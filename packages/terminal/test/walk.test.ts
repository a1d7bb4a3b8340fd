/** Any keys in any state. `npm run walk:terminal -- --walks 1000` takes more of them. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Walk from "./play/walk.ts"

describe("any keys", () => {
  it.effect("let a call run only after a yes to what was shown", () =>
    Effect.gen(function*() {
      const faults: Array<string> = []
      for (let seed = 1; seed <= 12; seed++) faults.push(...(yield* Walk.walk(seed, 30)))
      assert.strictEqual(faults.join("\n"), "")
    }), 60_000)
})
