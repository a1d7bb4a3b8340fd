/**
 * The house of DESIGN.md §2: a module imports from its own wing and the floors below, and never in a circle. What each wing
 * is for stands in AGENTS.md.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Path from "node:path"
import { describeHouse, type House } from "./house.ts"
import { importsOf } from "./source.ts"

/**
 * One numbering of wings and public modules, lowest first. A new module goes to the wing of its concept and is not listed; a
 * new public module stands on the lowest floor it can live on. The ground of DESIGN.md is 0 and 1 here, its floor 1 is 2 to
 * 4, its floor 2 is 5 and 6, its floor 3 is 7 to 11, its floor 4 is 12 and its floor 5 is 13.
 */
const floors: House["floors"] = [
  ["floor 0", [
    "internal/abandon",
    "internal/answering",
    "internal/approving",
    "internal/augment",
    "internal/bounds",
    "internal/brief",
    "internal/denial",
    "internal/fields",
    "internal/logging",
    "internal/permits",
    "internal/requirements",
    "internal/shutdown",
    "internal/states",
    "internal/text",
    "internal/seal/",
    "Approver",
    // Upstream's, as they are.
    "AiError",
    "AnthropicStructuredOutput",
    "Decision",
    "DecisionModel",
    "EmbeddingModel",
    "IdGenerator",
    "McpClientError",
    "McpProtocol",
    "McpSchema",
    "McpTest",
    "Model",
    "OpenAiStructuredOutput",
    "ResponseIdTracker",
    "Telemetry",
    "Tokenizer"
  ]],
  ["floor 1", ["Approval", "ApprovalError", "internal/posted", "internal/store/"]],
  ["floor 2", [
    "ApprovalEvents",
    "ApprovalPresentation",
    "ApprovalSeal",
    "Interaction",
    "Prompt",
    "Store",
    "internal/agent/",
    "internal/matcher/"
  ]],
  ["floor 3", [
    "ApprovalMatcher",
    "internal/matching",
    "internal/memory",
    "internal/remembered",
    "internal/config/",
    "internal/journal/",
    "internal/kept/",
    "internal/tool/",
    "internal/waiting/"
  ]],
  ["floor 4", [
    "ApprovalConfig",
    "ApprovalJournal",
    "ApprovalMemory",
    "internal/rememberedRows",
    "ConversationStore",
    "Response",
    "SuspensionStore",
    "Tool"
  ]],
  ["floor 5", ["DeferredTool", "OpenRequests", "Webhook", "internal/asking/", "internal/history/", "internal/policy/"]],
  ["floor 6", ["ApprovalController", "ApprovalPolicy", "internal/mcp/"]],
  ["floor 7", ["internal/decide/", "internal/environment/"]],
  ["floor 8", ["internal/gather/"]],
  ["floor 9", ["internal/run/"]],
  ["floor 10", ["internal/guard/", "internal/hosted/"]],
  ["floor 11", ["internal/elicitation/", "internal/held/", "internal/turn/"]],
  ["floor 12", ["LanguageModel", "McpApproval", "McpClient", "Toolkit", "internal/conversation/"]],
  ["floor 13", ["AgentTool", "Chat", "Conversation", "McpServer"]],
  ["index", ["index"]]
]

const modules = describeHouse({
  source: Path.join(import.meta.dirname, "../src"),
  floors,
  testing: {
    floors: [
      ["ground", ["testing/Consent", "testing/ScriptedTurn", "testing/StrictProvider"]],
      ["floor 1", ["testing/ScriptedApprover", "testing/ScriptedModel"]],
      ["index", ["testing/index"]]
    ],
    mayUse: "floor 6"
  },
  dependsOn: "effect",
  mayImport: (specifier) => /^effect(\/|$)/.test(specifier)
})

describe("the table of decisions", () => {
  it("internal/decide/ is pure: it imports nothing of effect, and nothing of ours but itself", () => {
    const pure = modules.filter(({ name }) => name.startsWith("internal/decide/"))
    assert.isNotEmpty(pure)
    const foreign = pure.flatMap((module) =>
      importsOf(module).filter((specifier) => !/^\.\/[^/]+\.ts$/.test(specifier)).map((specifier) =>
        `${module.name} imports ${specifier}`
      )
    )
    assert.strictEqual(foreign.join("\n"), "")
  })
})
