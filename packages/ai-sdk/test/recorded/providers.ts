/**
 * The providers' own packages, each answering with a recording in place of the network.
 */
import { createAmazonBedrock } from "@ai-sdk/amazon-bedrock"
import { createAnthropic } from "@ai-sdk/anthropic"
import { createGoogle } from "@ai-sdk/google"
import { createGroq } from "@ai-sdk/groq"
import { createMistral } from "@ai-sdk/mistral"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import type { LanguageModelV4 } from "@ai-sdk/provider"
import { createXai } from "@ai-sdk/xai"
import type { Format } from "./exchange.ts"

const apiKey = "no key is needed"

/** A model of a format whose requests are answered by `fetch`. */
export const model = (format: Format, fetch: typeof globalThis.fetch): LanguageModelV4 => {
  switch (format) {
    case "anthropic":
      return createAnthropic({ apiKey, fetch })("claude-sonnet-4-5")
    case "bedrock":
      return createAmazonBedrock({ region: "us-east-1", apiKey, fetch })("us.amazon.nova-pro-v1:0")
    case "google":
      return createGoogle({ apiKey, fetch })("gemini-2.5-pro")
    case "google-interactions":
      return createGoogle({ apiKey, fetch }).interactions("gemini-2.5-flash")
    case "groq":
      return createGroq({ apiKey, fetch })("openai/gpt-oss-120b")
    case "mistral":
      return createMistral({ apiKey, fetch })("mistral-large-latest")
    case "openai-chat":
      return createOpenAI({ apiKey, fetch }).chat("gpt-4o")
    case "openai-responses":
      return createOpenAI({ apiKey, fetch }).responses("gpt-5")
    case "openai-compatible":
    // The package of xAI speaks its Responses API alone.
    case "xai-chat":
      return createOpenAICompatible({ name: "recorded", baseURL: "https://recorded.test/v1", apiKey, fetch })("model")
    case "xai-responses":
      return createXai({ apiKey, fetch }).responses("grok-4")
  }
}
