/** Conversations with a provider that runs tools itself, and asks: for the tests of L9. */
import { Effect, Schema } from "effect"
import {
  ApprovalController,
  ApprovalPolicy,
  LanguageModel,
  type Prompt,
  type Response,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"

export const Mcp = Tool.providerDefined({
  id: "test.mcp",
  customName: "Mcp",
  providerName: "mcp",
  parameters: Schema.Struct({ name: Schema.String, path: Schema.String }),
  success: Schema.String
})()

export const allowed = { allowProviderApprovals: ["mcpr_1", "mcpr_2", "mcpr_3"] }

export const request = (approvalId: string, toolCallId: string): Response.ToolApprovalRequestPartEncoded => ({
  type: "tool-approval-request",
  approvalId,
  toolCallId
})

/** A hosted call that the provider asks about, and says what it is: a tool of the MCP server "github". */
export const asking = (index: number, tool = "create_issue") => [
  ScriptedModel.toolCall({
    id: `mcp_${index}`,
    name: "Mcp",
    params: { name: tool, path: `p${index}` },
    providerExecuted: true,
    metadata: { assent: { source: "mcp.github", toolName: `mcp.github.${tool}`, params: { path: `p${index}` } } }
  }),
  request(`mcpr_${index}`, `mcp_${index}`)
]

export const done = (index: number) =>
  ScriptedModel.toolResult({ id: `mcp_${index}`, name: "Mcp", result: `did p${index}` })

export const begin = Effect.fnUntraced(function*(
  way: C.Way,
  turns: C.StartOptions["turns"],
  approval?: LanguageModel.ApprovalOptions
) {
  const runs: Array<string> = []
  const toolkit = yield* C.withHandlers(Toolkit.make(Mcp, C.DeleteFile, C.ReadFile), {
    DeleteFile: ({ path }) => Effect.sync(() => (runs.push(`delete ${path}`), { deleted: path })),
    ReadFile: ({ path }) => Effect.sync(() => (runs.push(`read ${path}`), path))
  })
  const chat = yield* C.start({
    way,
    toolkit,
    turns,
    approval,
    script: { strict: allowed },
    make: (script) => LanguageModel.make(script.params, approval)
  })
  return { chat, runs }
})

export const withPolicy = (policy: Parameters<typeof ApprovalPolicy.make>[0]) =>
  Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.make(policy))

export const withController = (callback: Parameters<typeof ApprovalController.interactive>[0]) =>
  Effect.provideService(ApprovalController.ApprovalController, ApprovalController.interactive(callback))

/** The approval parts a prompt holds. */
export const approvals = (prompt: Prompt.Prompt) =>
  prompt.content.flatMap((message) =>
    typeof message.content === "string" ? [] : message.content.flatMap((part) =>
      part.type === "tool-approval-request"
        ? [`request ${part.approvalId}`]
        : part.type === "tool-approval-response"
        ? [`${part.approved ? "approve" : "deny"} ${part.approvalId} ${part.reason ?? ""}`.trim()]
        : []
    )
  )
