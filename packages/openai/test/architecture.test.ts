/**
 * The house of this package: a module imports from its own wing and the floors below, and never in a circle.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Path from "node:path"
import { describeHouse, type House, valueImportsOf } from "../../ai/test/house.ts"

/** Lowest first; what ends in `/` is a wing. A new module goes to the wing of its concept. */
const floors: House["floors"] = [
  ["ground", ["internal/augment", "internal/metadata", "OpenAiToolSchema"]],
  ["floor 1", ["internal/approvals/", "internal/client/", "internal/tools/"]],
  ["floor 2", ["internal/items/", "OpenAiClient", "OpenAiTool"]],
  ["floor 3", ["internal/request/", "internal/response/"]],
  ["floor 4", ["OpenAiLanguageModel"]],
  ["index", ["index"]]
]

/** The server that tests talk to, which knows nothing of the library. */
const testing: House["testing"] = {
  floors: [
    ["ground", [
      "testing/ApiError",
      "testing/StageDirection",
      "testing/ScriptedResponse",
      "testing/internal/ids",
      "testing/internal/json"
    ]],
    ["floor 1", ["testing/internal/request/"]],
    ["floor 2", ["testing/internal/http/", "testing/internal/stage/"]],
    ["floor 3", ["testing/internal/play/"]],
    ["floor 4", ["testing/internal/routes", "testing/ResponsesServer"]],
    ["index", ["testing/index"]]
  ]
}

/** The modules that run the SDK's code. All others know its types only, which cost nothing. */
const runTheSdk: ReadonlySet<string> = new Set(["internal/client/errors", "internal/client/sdk"])

/** What `testing/*` may use of Node: it is a server. */
const nodeOfTesting: ReadonlySet<string> = new Set(["node:http", "node:net"])

const isTesting = (name: string): boolean => name.startsWith("testing/")

const modules = describeHouse({
  source: Path.join(import.meta.dirname, "../src"),
  floors,
  testing,
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
