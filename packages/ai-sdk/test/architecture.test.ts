/**
 * The house of this package: a module imports from its own floor and the floors below, and never in a circle.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Path from "node:path"
import { describeHouse, type House, valueImportsOf } from "../../ai/test/house.ts"

/** Lowest first. */
const floors: House["floors"] = [
  ["ground", [
    "internal/config",
    "internal/errorText",
    "internal/metadata",
    "internal/models",
    "internal/requirements"
  ]],
  ["floor 1", [
    "internal/approvals",
    "internal/carrier",
    "internal/errors",
    "internal/files",
    "internal/finish",
    "internal/structured",
    "internal/tools",
    "internal/warnings"
  ]],
  ["floor 2", ["internal/content", "internal/results"]],
  ["floor 3", ["internal/prompt", "internal/response", "internal/stream"]],
  ["floor 4", ["internal/hooks"]],
  ["floor 5", ["AiSdkLanguageModel", "AiSdkTool"]],
  ["index", ["index"]]
]

const modules = describeHouse({
  source: Path.join(import.meta.dirname, "../src"),
  floors,
  dependsOn: "effect, the provider interface and the approval engine",
  mayImport: (specifier) =>
    /^(effect|@ai-sdk\/provider|@assent\/ai)($|\/)/.test(specifier) && !specifier.startsWith("@assent/ai/testing")
})

describe("the provider interface", () => {
  it.each(modules.map((module) => [module.name, module] as const))("%s knows its types alone", (_, module) => {
    assert.deepStrictEqual(valueImportsOf(module).filter((specifier) => specifier.startsWith("@ai-sdk/")), [])
  })
})
