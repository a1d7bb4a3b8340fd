/**
 * L1 Two copies of this package in one program, as two dependents may bring along: whichever of them a tool, a toolkit or
 * the engine comes from, a call is asked about, runs once when it was approved, and never by a forged answer.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as First from "../../src/index.ts"
import * as Support from "../laws/support.ts"
import * as Cells from "./cells.ts"
import * as Stories from "./stories.ts"

let packages: Record<string, Cells.Package> = {}

// Beside the tests, where it finds `effect`; not in git.
const copy = Path.join(import.meta.dirname, `generated/copy-${process.pid}`)

beforeAll(async () => {
  Fs.cpSync(Path.join(import.meta.dirname, "../../src"), copy, { recursive: true })
  const second = await import(Path.join(copy, "index.ts")) as Cells.Package
  assert.notStrictEqual(second.Tool.make, First.Tool.make)
  assert.strictEqual(second.Tool.getDescription, First.Tool.getDescription, "effect is one")
  packages = { first: First, second }
}, 60_000)

afterAll(() => Fs.rmSync(copy, { recursive: true, force: true }))

const names = ["first", "second"]

const doors = [
  "LanguageModel's functions",
  "effect/ai's LanguageModel's functions",
  "effect/ai's Chat, over a model with approval"
]

describe("L1 two copies of the package", () => {
  for (const toolFrom of names) {
    for (const kitFrom of names) {
      for (const engineFrom of names) {
        it.effect(`L1 a tool of the ${toolFrom}, a toolkit of the ${kitFrom}, the engine of the ${engineFrom}`, () =>
          Effect.gen(function*() {
            const tools = Cells.toolsOf(packages[toolFrom]!)
            for (const toolName of ["Tool.make", "Tool.dynamic", "Tool.setNeedsApproval of effect/ai's"]) {
              const { tool } = tools[toolName]!
              // Gated once more, by the other copy; and the handlers as one copy's toolkit locked them, run by the other's.
              for (const gated of [tool, packages[kitFrom]!.Tool.setNeedsApproval(tool, true)]) {
                const kit = Cells.kitsOf(packages[kitFrom]!, gated)["Toolkit.make"]!
                const layer = Cells.kitsOf(packages[toolFrom]!, gated)["Toolkit.make"]!
                for (const doorName of doors) {
                  const door = Cells.doorsOf(packages[engineFrom]!)[doorName]!
                  for (const story of Object.keys(Stories.stories)) {
                    const cell = {
                      name: `${toolName}, ${doorName}`,
                      tool: { tool: gated, ours: true },
                      kit,
                      layer,
                      door
                    }
                    yield* Support.fresh(Stories.check(story, { ...cell, mode: "generate" }))
                  }
                }
              }
            }
          }))
      }
    }
  }
})
