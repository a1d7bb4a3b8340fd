/**
 * The house of this package: a module imports from its own floor and the floors below, and never in a circle.
 */
import * as Path from "node:path"
import { describeHouse, type House } from "../../ai/test/house.ts"

/** Lowest first. */
const floors: House["floors"] = [
  ["ground", ["internal/sqlite/"]],
  ["floor 1", ["internal/changes/"]],
  ["floor 2", ["internal/store/"]],
  ["floor 3", ["internal/seal", "internal/sweeping"]],
  ["floor 4", ["SqliteClient", "SqlStore"]],
  ["floor 5", ["SqlApproval"]],
  ["index", ["index"]]
]

/** What is taken from the runtime stands in one place, as types and values alike. */
const fromRuntime = ["internal/sqlite/runtime", "internal/sqlite/connection"]

describeHouse({
  source: Path.join(import.meta.dirname, "../src"),
  floors,
  dependsOn: "effect and the approval engine, and in one place the runtime",
  mayImport: (specifier, name) =>
    (/^(effect|@assent\/ai)($|\/)/.test(specifier) && !specifier.startsWith("@assent/ai/testing")) ||
    (specifier.startsWith("node:") && fromRuntime.includes(name))
})
