/**
 * OpenAI for Effect AI programs, on the official SDK, with hosted MCP approvals.
 *
 * @since 0.1.0
 */
export * as OpenAiClient from "./OpenAiClient.ts"
export * as OpenAiLanguageModel from "./OpenAiLanguageModel.ts"
export * as OpenAiTool from "./OpenAiTool.ts"
export * as OpenAiToolSchema from "./OpenAiToolSchema.ts"
