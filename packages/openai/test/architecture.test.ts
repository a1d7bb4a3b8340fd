/**
 * The house of this package: a module imports only from its own floor and the floors below, and never in a circle.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Path from "node:path"
import { importsOf, readModules } from "../../ai/test/source.ts"

/** Lowest first. A new module is listed here, on the lowest floor it can live on. */
const floors: ReadonlyArray<readonly [floor: string, modules: ReadonlyArray<string>]> = [
  ["ground", [
    "internal/augment",
    "internal/config",
    "internal/errorText",
    "internal/metadata",
    "internal/models",
    "internal/sse",
    "internal/structured",
    "internal/toolNames",
    "internal/toolsSchema",
    "internal/toolsSecrets"
  ]],
  ["floor 1", [
    "internal/approvals",
    "internal/citations",
    "internal/content",
    "internal/errors",
    "internal/finish",
    "internal/known",
    "internal/reasoning",
    "internal/tools"
  ]],
  ["floor 2", ["internal/hosted", "internal/local", "internal/sealing", "internal/sdk", "OpenAiTool"]],
  ["floor 3", ["internal/input", "internal/output", "OpenAiClient"]],
  ["floor 4", ["internal/events", "internal/request"]],
  ["floor 5", ["OpenAiLanguageModel"]],
  ["index", ["index"]]
]

/** The modules that run the SDK's code. All others know its types only, which cost nothing. */
const runTheSdk: ReadonlySet<string> = new Set(["internal/errors", "internal/sdk"])

/** What `testing/*`, which stands beside the house, may use of Node: it is a server. */
const nodeOfTesting: ReadonlySet<string> = new Set(["node:http", "node:net"])

const maxLines = 500

const modules = readModules(Path.join(import.meta.dirname, "../src"))
type Module = typeof modules[number]

const floorOf = (name: string): number => floors.findIndex(([, names]) => names.includes(name))

const isTesting = (name: string): boolean => name.startsWith("testing/")

/** The modules of this package that a module imports. */
const localImports = (module: Module): ReadonlyArray<string> =>
  importsOf(module)
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => Path.posix.join(Path.posix.dirname(module.name), specifier).replace(/\.ts$/, ""))

const graph = new Map(modules.map((module) => [module.name, localImports(module)]))

/** The first circle found, as the modules on it in order. */
const findCycle = (): ReadonlyArray<string> | undefined => {
  const done = new Set<string>()
  const visit = (name: string, path: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name]
    if (done.has(name)) return undefined
    for (const next of graph.get(name) ?? []) {
      const cycle = visit(next, [...path, name])
      if (cycle !== undefined) return cycle
    }
    done.add(name)
    return undefined
  }
  for (const name of graph.keys()) {
    const cycle = visit(name, [])
    if (cycle !== undefined) return cycle
  }
  return undefined
}

const isAllowed = (name: string, specifier: string): boolean =>
  /^(\.\.?\/|(effect|openai|@assent\/ai)($|\/))/.test(specifier)
    ? !specifier.startsWith("@assent/ai/testing") || isTesting(name)
    : isTesting(name) && nodeOfTesting.has(specifier)

/** The specifiers from which more than types is imported. */
const valueImports = (module: Module): ReadonlyArray<string> =>
  module.parsed.module.staticImports
    .filter((entry) => entry.entries.length === 0 || entry.entries.some((part) => !part.isType))
    .map((entry) => entry.moduleRequest.value)

describe("architecture", () => {
  it("there are modules to look at, and every module of the floors is there", () => {
    assert.deepStrictEqual(floors.flatMap(([, names]) => names).filter((name) => !graph.has(name)), [])
  })

  it("no module imports in a circle", () => {
    const cycle = findCycle()
    assert.isUndefined(cycle, cycle?.join(" → "))
  })

  describe.each(modules.map((module) => [module.name, module] as const))("%s", (name, module) => {
    it("stands on a floor", () => {
      assert.isTrue(
        isTesting(name) || floorOf(name) >= 0,
        `src/${name}.ts stands on no floor: list it in \`floors\` in packages/openai/test/architecture.test.ts, on the ` +
          "lowest floor it can live on"
      )
    })

    it("imports only from its own floor and below", () => {
      for (const imported of graph.get(name)!) {
        assert.strictEqual(
          isTesting(imported),
          isTesting(name),
          `src/${name}.ts imports ${imported}: the library and its test tools do not import each other`
        )
        if (isTesting(imported)) continue
        assert.isAtMost(
          floorOf(imported),
          floorOf(name),
          `src/${name}.ts imports ${imported}, which stands on ${floors[floorOf(imported)]?.[0]}`
        )
      }
    })

    it("depends on effect, the SDK and the approval engine alone", () => {
      assert.deepStrictEqual(importsOf(module).filter((specifier) => !isAllowed(name, specifier)), [])
    })

    it("leaves running the SDK to the modules that tame it", () => {
      if (runTheSdk.has(name)) return
      assert.deepStrictEqual(valueImports(module).filter((specifier) => /^openai($|\/)/.test(specifier)), [])
    })

    it(`is at most ${maxLines} lines long`, () => {
      assert.isAtMost(module.text.trimEnd().split("\n").length, maxLines, `split src/${name}.ts by concept`)
    })
  })
})
