/**
 * The house of DESIGN.md §2: a module imports only from its own floor and the floors below, and never in a circle.
 */
import * as Path from "node:path"
import { describeHouse, type House } from "./house.ts"

/** Lowest first. A `*` at the end stands for any text. A new module is listed here, on the lowest floor it can live on. */
const floors: House["floors"] = [
  ["ground", ["Approval", "ApprovalError", "internal/text", "internal/fields", "internal/augment", "internal/paths"]],
  ["floor 1", [
    "internal/transcript",
    "internal/textIndex",
    "internal/trust",
    "internal/repeatedIds",
    "internal/exchange",
    "internal/asking",
    "internal/enclosing",
    "internal/presentation",
    "internal/canonical",
    "internal/chunks",
    "internal/join",
    "internal/mcpDefinition",
    "internal/mcpGuardError",
    "internal/mcpNames",
    "internal/mcpResult",
    "internal/matcher*",
    "internal/memoryGuard",
    "internal/covering",
    "internal/config*",
    "internal/strictest",
    "internal/cryptography",
    "internal/nativeCryptography",
    "internal/gate",
    "internal/abandon",
    "internal/approvalId",
    "internal/bodies",
    "internal/expiries",
    "internal/orderedKeys",
    "internal/liveness",
    "internal/journalEntry",
    "internal/journalRecords",
    "internal/atomicStore*",
    "internal/prepare",
    "internal/results",
    "internal/spans",
    "internal/hostedCall",
    "internal/hostedSeal",
    "internal/deferral",
    "internal/interaction",
    "internal/suspensionRecords",
    "internal/webhook*",
    "internal/elicitationForm",
    "internal/elicitationAnswer",
    "internal/elicitationStdio",
    "internal/elicitationRounds",
    "internal/elicitation",
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
    "internal/mcpHints",
    "internal/mcpToolkit",
    "ApprovalPolicy",
    "ApprovalController",
    "DeferredTool",
    "Webhook"
  ]],
  ["floor 3", [
    "internal/environment",
    "internal/turn",
    "internal/receivedCalls",
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
    "internal/suspending",
    "internal/answering",
    "internal/resuming",
    "internal/execution",
    "internal/providerPrompt",
    "internal/model",
    "internal/wrap",
    "internal/protectChat",
    "internal/elicitationToolkit"
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
