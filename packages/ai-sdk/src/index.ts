/**
 * Every provider of Vercel's AI SDK for Effect AI programs, with tool approval that can be trusted.
 *
 * @since 0.1.0
 */
export * as AiSdkLanguageModel from "./AiSdkLanguageModel.ts"
export * as AiSdkTool from "./AiSdkTool.ts"
