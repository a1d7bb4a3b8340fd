/**
 * The house of DESIGN.md §2: a module imports only from its own floor and the floors below, and never in a circle.
 */
import * as Path from "node:path"
import { describeHouse, type House } from "./house.ts"

/** Lowest first. A `*` at the end stands for any text. A new module is listed here, on the lowest floor it can live on. */
const floors: House["floors"] = [
  ["ground", [
    "Approval",
    "ApprovalError",
    "internal/text",
    "internal/fields",
    "internal/augment",
    "internal/matcher/paths"
  ]],
  ["floor 1", [
    "internal/history/transcript",
    "internal/history/textIndex",
    "internal/environment/trust",
    "internal/history/repeatedIds",
    "internal/history/exchange",
    "internal/asking/asking",
    "internal/asking/enclosing",
    "internal/tool/presentation",
    "internal/seal/canonical",
    "internal/turn/chunks",
    "internal/tool/join",
    "internal/mcp/definition",
    "internal/mcp/guardError",
    "internal/mcp/names",
    "internal/mcp/result",
    "internal/matcher*",
    "internal/asking/memoryGuard",
    "internal/covering",
    "internal/config*",
    "internal/policy/strictest",
    "internal/seal/cryptography",
    "internal/seal/nativeCryptography",
    "internal/tool/gate",
    "internal/abandon",
    "internal/seal/approvalId",
    "internal/journal/bodies",
    "internal/store/expiries",
    "internal/store/orderedKeys",
    "internal/journal/liveness",
    "internal/journal/entry",
    "internal/journal/records",
    "internal/atomicStore*",
    "internal/tool/prepare",
    "internal/history/results",
    "internal/spans",
    "internal/hostedCall",
    "internal/hostedSeal",
    "internal/tool/deferral",
    "internal/waiting/interaction",
    "internal/waiting/suspensionRecords",
    "internal/webhook*",
    "internal/elicitation/form",
    "internal/elicitation/answer",
    "internal/elicitation/stdio",
    "internal/elicitation/rounds",
    "internal/elicitation/elicitation",
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
    "ConversationStore",
    "ApprovalEvents",
    "AtomicStore"
  ]],
  ["floor 2", [
    "internal/policy*",
    "internal/mcp/hints",
    "internal/mcp/toolkit",
    "ApprovalPolicy",
    "ApprovalController",
    "DeferredTool",
    "Webhook"
  ]],
  ["floor 3", [
    "internal/environment/environment",
    "internal/turn",
    "internal/receivedCalls",
    "internal/generate*",
    "internal/stream*",
    "internal/decision",
    "internal/gather/remembering",
    "internal/consult",
    "internal/guard",
    "internal/judge",
    "internal/hosted",
    "internal/hostedStream",
    "internal/settle",
    "internal/suspending",
    "internal/answering",
    "internal/resuming",
    "internal/execution",
    "internal/history/providerPrompt",
    "internal/model",
    "internal/wrap",
    "internal/protectChat",
    "internal/elicitation/toolkit"
  ]],
  ["floor 4", ["LanguageModel", "Toolkit", "McpApproval"]],
  ["floor 5", ["internal/conversation*", "Conversation", "Chat"]],
  ["index", ["index"]]
]

describeHouse({
  source: Path.join(import.meta.dirname, "../src"),
  floors,
  testing: {
    floors: [
      ["ground", ["testing/ScriptedTurn", "testing/StrictProvider"]],
      ["floor 1", ["testing/ScriptedApprover", "testing/ScriptedModel"]],
      ["index", ["testing/index"]]
    ],
    mayUse: "floor 2"
  },
  dependsOn: "effect",
  mayImport: (specifier) => /^effect(\/|$)/.test(specifier)
})
