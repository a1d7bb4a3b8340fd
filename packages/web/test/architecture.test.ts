/**
 * The house of this package: a module imports from its own floor and the floors below, and never in a circle.
 */
import * as Path from "node:path"
import { describeHouse, type House } from "../../ai/test/house.ts"

/** Lowest first. */
const floors: House["floors"] = [
  ["ground", ["internal/wire/", "internal/logging"]],
  ["floor 1", ["internal/turn/"]],
  ["floor 2", ["Decider"]],
  ["floor 3", ["internal/limiting", "internal/routes"]],
  ["floor 4", ["UiMessageStream"]],
  ["floor 5", ["internal/proxy/"]],
  ["floor 6", ["ConversationProxy", "ConversationProxyServer"]],
  ["index", ["index"]]
]

describeHouse({
  source: Path.join(import.meta.dirname, "../src"),
  floors,
  dependsOn: "effect and the approval engine",
  mayImport: (specifier) => /^(effect|@assent\/ai)($|\/)/.test(specifier) && !specifier.startsWith("@assent/ai/testing")
})
