/**
 * L1 No side door: every tool that needs approval, in every toolkit, through every way into a turn, asked, forged and
 * replayed. Whatever a program imports from effect/ai by mistake, nothing runs unasked, twice, or by a forged answer; where
 * it is refused, the sentence says what to import.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Assent from "../../src/index.ts"
import * as Support from "../laws/support.ts"
import * as Cells from "./cells.ts"
import * as Stories from "./stories.ts"

describe("L1 no side door", () => {
  const tools = Cells.toolsOf(Assent)
  for (const [doorName, door] of Object.entries(Cells.doorsOf(Assent))) {
    for (const mode of ["generate", "stream"] as const) {
      for (const story of Object.keys(Stories.stories)) {
        it.effect(`L1 ${story}, through ${doorName} [${mode}]`, () =>
          Effect.gen(function*() {
            let cells = 0
            for (const [toolName, tool] of Object.entries(tools)) {
              for (
                const [kitName, kit] of Object.entries(Cells.kitsOf(Assent, tool.tool, toolName.endsWith("Tool.make")))
              ) {
                // Where nothing is ours, nothing of ours can be heard.
                if (!tool.ours && !kit.ours && !door.protects) continue
                cells++
                yield* Support.fresh(Stories.check(story, { name: `${toolName} in ${kitName}`, tool, kit, door, mode }))
              }
            }
            assert.strictEqual(cells, door.protects ? 34 : 30)
          }))
      }
    }
  }
})
