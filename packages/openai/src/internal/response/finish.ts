/** How a response ended, and what it cost. */
import type * as Response from "effect/ai/Response"
import type * as Responses from "openai/resources/responses/responses"
import * as Metadata from "../metadata.ts"

/** What a response asked for before it ended. */
export interface Asked {
  /** Calls of tools that the program runs. */
  readonly localCalls: boolean
  /** Calls that OpenAI runs once somebody has approved them. */
  readonly approvals: boolean
  /** Whether the model said in place of an answer that it gives none. */
  readonly refused: boolean
}

export const metadata = (response: Responses.Response): Response.ResponseMetadataPartEncoded => ({
  type: "response-metadata",
  id: response.id,
  modelId: response.model,
  ...(Number.isFinite(response.created_at)
    ? { timestamp: new Date(response.created_at * 1000).toISOString() }
    : undefined)
})

export const part = (response: Responses.Response, asked: Asked): Response.FinishPartEncoded => {
  const serviceTier = response.service_tier ?? undefined
  const incompleteReason = response.incomplete_details?.reason
  return {
    type: "finish",
    reason: reason(response, asked),
    usage: usage(response.usage),
    ...(serviceTier === undefined && incompleteReason === undefined
      ? undefined
      : { metadata: { openai: Metadata.json({ serviceTier, incompleteReason }) } })
  }
}

export const reason = (response: Responses.Response, asked: Asked): Response.FinishReason => {
  switch (response.status) {
    case "failed":
    case "cancelled":
      return "error"
    case "queued":
    case "in_progress":
      return "other"
  }
  switch (response.incomplete_details?.reason) {
    case undefined:
      // Whoever sees a pause asks somebody before anything else; calls beside it have run by then.
      return response.status === "incomplete"
        ? "other"
        : asked.approvals
        ? "pause"
        : asked.localCalls
        ? "tool-calls"
        : asked.refused
        ? "content-filter"
        : "stop"
    case "max_output_tokens":
      return "length"
    case "content_filter":
      return "content-filter"
    default:
      return "other"
  }
}

export const usage = (usage: Responses.ResponseUsage | undefined): Response.FinishPartEncoded["usage"] => {
  if (usage === undefined || usage === null) return { inputTokens: {}, outputTokens: {} }
  const cached = usage.input_tokens_details?.cached_tokens
  const written = usage.input_tokens_details?.cache_write_tokens
  const reasoning = usage.output_tokens_details?.reasoning_tokens
  return {
    inputTokens: {
      uncached: usage.input_tokens - (cached ?? 0),
      total: usage.input_tokens,
      cacheRead: cached,
      cacheWrite: written
    },
    outputTokens: {
      total: usage.output_tokens,
      text: usage.output_tokens - (reasoning ?? 0),
      reasoning
    }
  }
}
