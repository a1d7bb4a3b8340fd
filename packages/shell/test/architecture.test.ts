/** The house of this package: a module imports only from its own floor and the floors below. */
import * as Path from "node:path"
import { describeHouse, type House } from "../../ai/test/house.ts"

/** Lowest first. A new module is listed here, on the lowest floor it can live on. */
const floors: House["floors"] = [
  ["ground", ["internal/environment", "internal/line/", "internal/programs/"]],
  ["floor 1", ["internal/forbidding/", "internal/world/"]],
  ["floor 2", ["ApprovalMatcher", "Shell"]],
  ["floor 3", ["internal/import/"]],
  ["floor 4", ["ApprovalImport"]],
  ["index", ["index"]]
]

describeHouse({
  source: Path.join(import.meta.dirname, "../src"),
  floors,
  dependsOn: "effect, the approval engine's matchers and configuration and, in two modules, the parser",
  mayImport: (specifier, name) =>
    /^(effect\/|@assent\/ai\/Approval(?:Config|Matcher)$)/.test(specifier) ||
    (specifier === "unbash" && (name === "internal/line/parsed" || name === "internal/forbidding/line"))
})
