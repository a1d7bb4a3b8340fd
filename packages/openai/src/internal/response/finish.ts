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
  ...(typeof response.id === "string" ? { id: response.id } : undefined),
  ...(typeof response.model === "string" ? { modelId: response.model } : undefined),
  ...(isDate(response.created_at) ? { timestamp: new Date(response.created_at * 1000).toISOString() } : undefined)
})

const isDate = (seconds: unknown): boolean => typeof seconds === "number" && Math.abs(seconds) < 8.64e12

export const part = (response: Responses.Response, asked: Asked): Response.FinishPartEncoded => {
  const serviceTier = response.service_tier ?? undefined
  const incompleteReason = response.incomplete_details?.reason
  const moderation = response.moderation ?? undefined
  // Azure's, which the SDK does not know.
  const contentFilters = "content_filters" in response ? response.content_filters ?? undefined : undefined
  const openai = Metadata.json({ serviceTier, incompleteReason, moderation, contentFilters })
  return {
    type: "finish",
    reason: reason(response, asked),
    usage: usage(response.usage),
    ...(Object.keys(openai).length === 0 ? undefined : { metadata: { openai } })
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

/** What a server does not count, or counts as no number, is not there. */
export const usage = (usage: Responses.ResponseUsage | null | undefined): Response.FinishPartEncoded["usage"] => {
  const input = counted(usage?.input_tokens)
  const output = counted(usage?.output_tokens)
  const cached = counted(usage?.input_tokens_details?.cached_tokens)
  const written = counted(usage?.input_tokens_details?.cache_write_tokens)
  const reasoning = counted(usage?.output_tokens_details?.reasoning_tokens)
  return {
    inputTokens: {
      uncached: input === undefined ? undefined : input - (cached ?? 0),
      total: input,
      cacheRead: cached,
      cacheWrite: written
    },
    outputTokens: {
      total: output,
      text: output === undefined ? undefined : output - (reasoning ?? 0),
      reasoning
    }
  }
}

const counted = (tokens: unknown): number | undefined =>
  typeof tokens === "number" && Number.isSafeInteger(tokens) ? tokens : undefined
