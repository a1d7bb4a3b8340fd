/** The house of this package: a module imports only from its own floor and the floors below. */
import { assert, describe, it } from "@effect/vitest"
import * as Path from "node:path"
import { importsOf, readModules } from "../../ai/test/source.ts"

/** Lowest first. A new module is listed here, on the lowest floor it can live on. */
const floors: ReadonlyArray<readonly [floor: string, modules: ReadonlyArray<string>]> = [
  ["ground", ["internal/piece", "internal/delegation", "internal/interpreters"]],
  ["floor 1", ["internal/plain", "internal/parsed"]],
  ["floor 2", ["internal/commandLine"]],
  ["floor 3", ["internal/pattern"]],
  ["floor 4", ["ApprovalMatcher"]],
  ["index", ["index"]]
]

const modules = readModules(Path.join(import.meta.dirname, "../src"))
const floorOf = (name: string): number => floors.findIndex(([, names]) => names.includes(name))

describe("architecture", () => {
  it("every module stands on a floor", () => {
    assert.deepStrictEqual(modules.map(({ name }) => name).filter((name) => floorOf(name) < 0), [])
    assert.lengthOf(modules, floors.flatMap(([, names]) => names).length)
  })

  it.each(modules.map((module) => [module.name, module] as const))("%s imports from below", (name, module) => {
    for (const specifier of importsOf(module).filter((specifier) => specifier.startsWith("."))) {
      const imported = Path.posix.join(Path.posix.dirname(name), specifier).replace(/\.ts$/, "")
      assert.isBelow(floorOf(imported), floorOf(name), `src/${name}.ts imports ${imported}`)
    }
    assert.isAtMost(module.text.split("\n").length, 500)
  })

  it.each(modules.map((module) => [module.name, module] as const))("%s imports nothing else", (name, module) => {
    const foreign = importsOf(module).filter((specifier) =>
      !/^(\.|effect\/|@assent\/ai\/ApprovalMatcher$)/.test(specifier)
    )
    assert.deepStrictEqual(foreign, name === "internal/parsed" ? ["unbash"] : [], "one module knows the parser")
  })
})
