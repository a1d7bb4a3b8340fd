/**
 * The house of this package: a module imports only from its own floor and the floors below, and never in a circle.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Path from "node:path"
import { describeHouse, type House, valueImportsOf } from "../../ai/test/house.ts"

/** Lowest first. A new module is listed here, on the lowest floor it can live on. */
const floors: House["floors"] = [
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

/** What `testing/*` may use of Node: it is a server. */
const nodeOfTesting: ReadonlySet<string> = new Set(["node:http", "node:net"])

const isTesting = (name: string): boolean => name.startsWith("testing/")

const modules = describeHouse({
  source: Path.join(import.meta.dirname, "../src"),
  floors,
  dependsOn: "effect, the SDK and the approval engine",
  mayImport: (specifier, name) =>
    /^(effect|openai|@assent\/ai)($|\/)/.test(specifier)
      ? !specifier.startsWith("@assent/ai/testing") || isTesting(name)
      : isTesting(name) && nodeOfTesting.has(specifier)
})

describe("the SDK", () => {
  it.each(modules.map((module) => [module.name, module] as const))(
    "%s leaves running it to the modules that tame it",
    (name, module) => {
      if (runTheSdk.has(name)) return
      assert.deepStrictEqual(valueImportsOf(module).filter((specifier) => /^openai($|\/)/.test(specifier)), [])
    }
  )
})
