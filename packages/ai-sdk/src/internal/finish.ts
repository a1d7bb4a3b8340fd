/** How a response ended, what it cost, and what is known of it. */
import type * as Provider from "@ai-sdk/provider"
import type * as Response from "effect/ai/Response"
import * as Metadata from "./metadata.ts"
import type { FinishReason, Usage } from "./models.ts"

export const metadata = (response: Provider.LanguageModelV4ResponseMetadata): Response.ResponseMetadataPartEncoded => {
  const { id, modelId, timestamp } = response
  return {
    type: "response-metadata",
    id,
    modelId,
    timestamp: timestamp instanceof Date && !Number.isNaN(timestamp.getTime()) ? timestamp.toISOString() : undefined
  }
}

export const part = (
  finish: {
    readonly finishReason: FinishReason
    readonly usage: Usage
    readonly providerMetadata?: Provider.SharedV4ProviderMetadata | undefined
  },
  asksApproval: boolean
): Response.FinishPartEncoded => {
  const ours = { finishReason: finish.finishReason.raw, usage: finish.usage.raw }
  const said = ours.finishReason === undefined && ours.usage === undefined ? undefined : ours
  const metadata = Metadata.ofProvider(finish.providerMetadata, said)
  return {
    type: "finish",
    reason: reason(finish.finishReason, asksApproval),
    usage: usage(finish.usage),
    ...(metadata === undefined ? undefined : { metadata })
  }
}

// Whoever sees a pause asks somebody before anything else; calls beside it have run by then.
const reason = ({ unified }: FinishReason, asksApproval: boolean): Response.FinishReason => {
  switch (unified) {
    case "length":
    case "content-filter":
    case "error":
      return unified
    case "stop":
    case "tool-calls":
      return asksApproval ? "pause" : unified
    default:
      return asksApproval ? "pause" : "other"
  }
}

const usage = ({ inputTokens, outputTokens }: Usage): Response.FinishPartEncoded["usage"] => ({
  inputTokens: {
    uncached: count(inputTokens.noCache),
    total: count(inputTokens.total),
    cacheRead: count(inputTokens.cacheRead),
    cacheWrite: count(inputTokens.cacheWrite)
  },
  outputTokens: {
    total: count(outputTokens.total),
    text: count(outputTokens.text),
    reasoning: count(outputTokens.reasoning)
  }
})

// A server may say `null` or `NaN`, which would fail the whole response.
const count = (value: number | undefined): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? Math.round(value) : undefined
