/** The house of this package: a module imports from its own wing and the floors below. */
import * as Path from "node:path"
import { describeHouse, type House } from "../../ai/test/house.ts"

/** Lowest first; what ends in `/` is a wing. A new module goes to the wing of its concept. */
const floors: House["floors"] = [
  ["ground", ["internal/text/"]],
  ["floor 1", ["internal/screen/"]],
  ["floor 2", ["internal/keys/"]],
  ["floor 3", ["internal/scene/"]],
  ["floor 4", ["internal/call/"]],
  ["floor 5", ["internal/waiting/"]],
  ["floor 6", ["internal/asker", "internal/stopping"]],
  ["floor 7", ["TerminalController"]],
  ["index", ["index"]]
]

const parts: Record<string, string> = {
  lowlight: "internal/text/highlight"
}

describeHouse({
  source: Path.join(import.meta.dirname, "../src"),
  floors,
  dependsOn: "effect, the approval engine and, in one module each, what measures and colours text",
  mayImport: (specifier, name) => /^(effect\/|@assent\/ai\/)/.test(specifier) || parts[specifier] === name
})
