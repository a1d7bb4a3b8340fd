/**
 * The house of DESIGN.md §2: a module imports only from its own floor and the floors below, and never in a circle.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Path from "node:path"
import { importsOf, readModules } from "./source.ts"

/** Lowest first. A `*` at the end stands for any text. A new module is listed here, on the lowest floor it can live on. */
const floors: ReadonlyArray<readonly [floor: string, modules: ReadonlyArray<string>]> = [
  ["ground", ["Approval", "ApprovalError", "internal/text", "internal/fields", "internal/augment", "internal/paths"]],
  ["floor 1", [
    "internal/transcript",
    "internal/textIndex",
    "internal/exchange",
    "internal/asking",
    "internal/enclosing",
    "internal/presentation",
    "internal/canonical",
    "internal/matcher*",
    "internal/memoryGuard",
    "internal/covering",
    "internal/config*",
    "internal/strictest",
    "internal/cryptography",
    "internal/gate",
    "internal/abandon",
    "internal/approvalId",
    "internal/bodies",
    "internal/expiries",
    "internal/liveness",
    "internal/journalEntry",
    "internal/journalRecords",
    "internal/atomicStore*",
    "internal/prepare",
    "internal/results",
    "internal/spans",
    "internal/hostedCall",
    "internal/hostedSeal",
    "Tool",
    "Prompt",
    "Response",
    "ApprovalMemory",
    "ApprovalPresentation",
    "ApprovalMatcher",
    "ApprovalConfig",
    "ApprovalSeal",
    "ApprovalJournal",
    "Interaction",
    "SuspensionStore",
    "ApprovalEvents",
    "AtomicStore"
  ]],
  ["floor 2", ["internal/policy*", "ApprovalPolicy", "ApprovalController", "DeferredTool"]],
  ["floor 3", [
    "internal/environment",
    "internal/turn",
    "internal/generate*",
    "internal/stream*",
    "internal/decision",
    "internal/remembering",
    "internal/consult",
    "internal/guard",
    "internal/judge",
    "internal/hosted",
    "internal/hostedStream",
    "internal/settle",
    "internal/execution",
    "internal/providerPrompt",
    "internal/model",
    "internal/wrap",
    "internal/protectChat"
  ]],
  ["floor 4", ["LanguageModel", "Toolkit", "McpApproval"]],
  ["floor 5", ["Conversation", "Chat"]],
  ["index", ["index"]]
]

/** `testing/*` stands beside the house: it may use floors up to this one, and no module may import it. */
const testingMayUse = "floor 2"

/** Modules that may be longer than `maxLines`, with the reason. */
const maxLines = 500
const allowedLong: ReadonlyMap<string, string> = new Map([])

const modules = readModules(Path.join(import.meta.dirname, "../src"))
const names = new Set(modules.map((module) => module.name))

const matches = (pattern: string, name: string): boolean =>
  pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern

const floorOf = (name: string): number =>
  floors.findIndex(([, patterns]) => patterns.some((pattern) => matches(pattern, name)))

const isTesting = (name: string): boolean => name.startsWith("testing/")

/** The modules of this package that a module imports. */
const localImports = (module: typeof modules[number]): ReadonlyArray<string> =>
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

describe("architecture", () => {
  it("there are modules to look at", () => {
    assert.isAbove(modules.length, 0)
  })

  it("no module imports in a circle", () => {
    const cycle = findCycle()
    assert.isUndefined(cycle, cycle?.join(" → "))
  })

  describe.each(modules.map((module) => [module.name, module] as const))("%s", (name, module) => {
    it("stands on a floor", () => {
      assert.isTrue(
        isTesting(name) || floorOf(name) >= 0,
        `src/${name}.ts stands on no floor: list it in \`floors\` in packages/ai/test/architecture.test.ts, on the ` +
          "lowest floor it can live on (DESIGN.md §2)"
      )
    })

    it("imports only from its own floor and below", () => {
      if (!isTesting(name) && floorOf(name) < 0) return
      const top = isTesting(name) ? floors.findIndex(([floor]) => floor === testingMayUse) : floorOf(name)
      for (const imported of graph.get(name)!.filter((imported) => names.has(imported))) {
        if (isTesting(imported)) {
          assert.isTrue(isTesting(name), `src/${name}.ts imports ${imported}: the library never imports its test tools`)
        } else {
          assert.isAtMost(
            floorOf(imported),
            top,
            `src/${name}.ts imports ${imported}, which stands on ${floors[floorOf(imported)]?.[0]}`
          )
        }
      }
    })

    it("depends on effect alone", () => {
      const foreign = importsOf(module).filter((specifier) => !/^(\.\.?\/|effect$|effect\/)/.test(specifier))
      assert.deepStrictEqual(foreign, [])
    })

    it(`is at most ${maxLines} lines long`, () => {
      if (allowedLong.has(name)) return
      assert.isAtMost(module.text.trimEnd().split("\n").length, maxLines, `split src/${name}.ts by concept`)
    })
  })
})
