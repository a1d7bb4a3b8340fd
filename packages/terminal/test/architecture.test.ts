/** The house of this package: a module imports only from its own floor and the floors below. */
import * as Path from "node:path"
import { describeHouse, type House } from "../../ai/test/house.ts"

/** Lowest first. A new module is listed here, on the lowest floor it can live on. */
const floors: House["floors"] = [
  ["ground", ["internal/style", "internal/safe", "internal/json"]],
  ["floor 1", ["internal/cells", "internal/highlight", "internal/diff", "internal/verdict"]],
  ["floor 2", ["internal/content", "internal/stage", "internal/edit", "internal/editor", "internal/stopping"]],
  ["floor 3", ["internal/reader", "internal/textInput", "internal/list", "internal/session"]],
  ["floor 4", ["internal/question", "internal/form"]],
  ["floor 5", ["internal/answers", "internal/batch"]],
  ["floor 6", ["internal/asker"]],
  ["floor 7", ["TerminalController"]],
  ["index", ["index"]]
]

const parts: Record<string, string> = {
  "fast-string-width": "internal/cells",
  lowlight: "internal/highlight"
}

describeHouse({
  source: Path.join(import.meta.dirname, "../src"),
  floors,
  dependsOn: "effect, the approval engine and, in one module each, what measures and colours text",
  mayImport: (specifier, name) => /^(effect\/|@assent\/ai\/)/.test(specifier) || parts[specifier] === name
})
