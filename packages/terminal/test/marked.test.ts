/** Whatever others write, no row of a screen begins with it, by the widths of three terminals (law L15). */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Marked from "./play/marked.ts"
import { tables } from "./play/widths.ts"

describe("no row begins with a text that is not ours", () => {
  for (const table of tables) {
    for (const columns of [80, 40, 20]) {
      it.effect(`${columns} columns, ${table}`, () =>
        Effect.gen(function*() {
          const faults: Array<string> = []
          for (let seed = 1; seed <= 3; seed++) faults.push(...(yield* Marked.faults(seed, columns, table)))
          assert.deepStrictEqual(faults, [])
        }), 30_000)
    }
  }
})
