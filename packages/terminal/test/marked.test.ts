/** Whatever others write, no row of a screen begins with it, by the widths of three terminals (law L15). */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Marked from "./play/marked.ts"
import { tables } from "./play/widths.ts"

describe("no row begins with a text that is not ours", () => {
  for (const [row, table] of tables.entries()) {
    for (const [column, columns] of [80, 40, 20].entries()) {
      const seed = 1 + 3 * row + column
      it.effect(`${columns} columns, ${table}`, () =>
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* Marked.faults(seed, columns, table), [])
        }), 30_000)
    }
  }
})
