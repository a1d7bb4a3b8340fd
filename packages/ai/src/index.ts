/**
 * Tool approval that can be trusted, for programs on Effect's AI modules.
 *
 * The AI modules a program uses come from here, extended or as they are, so that nobody mixes two packages by accident.
 *
 * @since 0.1.0
 */
export * as AgentTool from "./AgentTool.ts"
export * as Approval from "./Approval.ts"
export * as ApprovalConfig from "./ApprovalConfig.ts"
export * as ApprovalController from "./ApprovalController.ts"
export * as ApprovalError from "./ApprovalError.ts"
export * as ApprovalEvents from "./ApprovalEvents.ts"
export * as ApprovalJournal from "./ApprovalJournal.ts"
export * as ApprovalMatcher from "./ApprovalMatcher.ts"
export * as ApprovalMemory from "./ApprovalMemory.ts"
export * as ApprovalPolicy from "./ApprovalPolicy.ts"
export * as ApprovalPresentation from "./ApprovalPresentation.ts"
export * as ApprovalSeal from "./ApprovalSeal.ts"
export * as Approver from "./Approver.ts"
export * as Chat from "./Chat.ts"
export * as Conversation from "./Conversation.ts"
export * as ConversationStore from "./ConversationStore.ts"
export * as DeferredTool from "./DeferredTool.ts"
export * as Interaction from "./Interaction.ts"
export * as LanguageModel from "./LanguageModel.ts"
export * as McpApproval from "./McpApproval.ts"
export * as McpServer from "./McpServer.ts"
export * as OpenRequests from "./OpenRequests.ts"
export * as Prompt from "./Prompt.ts"
export * as Response from "./Response.ts"
export * as Store from "./Store.ts"
export * as SuspensionStore from "./SuspensionStore.ts"
export * as Tool from "./Tool.ts"
export * as Toolkit from "./Toolkit.ts"
export * as Webhook from "./Webhook.ts"

export {
  AiError,
  AnthropicStructuredOutput,
  Decision,
  DecisionModel,
  EmbeddingModel,
  IdGenerator,
  McpClient,
  McpClientError,
  McpProtocol,
  McpSchema,
  McpTest,
  Model,
  OpenAiStructuredOutput,
  ResponseIdTracker,
  Telemetry,
  Tokenizer
} from "effect/ai"
