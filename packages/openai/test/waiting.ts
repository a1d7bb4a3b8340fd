/** A call of an MCP server that OpenAI asks about, as it stands in a history. */
import { Prompt } from "@assent/ai"

export const waiting = (id: string, more?: { readonly arguments?: string; readonly approvalRequestId?: string }) =>
  Prompt.toolCallPart({
    id,
    name: "OpenAiMcp",
    params: {},
    providerExecuted: true,
    options: {
      openai: {
        itemId: "mcpr_1",
        itemType: "mcp_approval_request",
        serverLabel: "dice",
        name: "roll",
        arguments: "{}",
        ...more
      }
    }
  })
