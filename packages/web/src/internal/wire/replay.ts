/** A message as the chunks that make it: a client that comes back builds it anew, and then follows what is said. */
import * as Fates from "./fates.ts"
import type { Card } from "./messages.ts"
import type { Chunk, ToolPart, UiMessage, UiPart } from "./model.ts"

/** All of a message, in the order of its parts. */
export const message = (message: UiMessage): ReadonlyArray<Chunk> => behind(message, 0)

/** What stands in it behind so many of its steps. */
export const behind = ({ parts }: UiMessage, steps: number): ReadonlyArray<Chunk> => {
  const chunks: Array<Chunk> = []
  let isInStep = false
  let step = 0
  const leave = () => {
    if (isInStep) chunks.push({ type: "finish-step" })
  }
  for (const [index, part] of parts.entries()) {
    if (part.type === "step-start") step++
    if (steps > 0 && step <= steps) continue
    if (part.type === "step-start") leave()
    isInStep ||= part.type === "step-start"
    chunks.push(...ofPart(part, index))
  }
  leave()
  return chunks
}

const ofPart = (part: UiPart, index: number): ReadonlyArray<Chunk> => {
  switch (part.type) {
    case "step-start":
      return [{ type: "start-step" }]
    case "text":
    case "reasoning": {
      // Those that follow are numbered anew, and must not be taken for this one.
      const id = `${part.type}-before-${index}`
      return [
        { type: `${part.type}-start`, id },
        { type: `${part.type}-delta`, id, delta: part.text },
        { type: `${part.type}-end`, id }
      ]
    }
    case "file":
      return [{ type: "file", mediaType: part.mediaType, url: part.url }]
    case "data-approval":
      return [part]
    default:
      return [
        {
          type: "tool-input-available",
          toolCallId: part.toolCallId,
          toolName: part.type.slice("tool-".length),
          input: part.input,
          ...hostedOf(part)
        },
        ...asking(part),
        ...state(part, part.toolCallId)
      ]
  }
}

const hostedOf = ({ providerExecuted }: ToolPart) => providerExecuted === true ? { providerExecuted } : undefined

const asking = ({ approval, toolCallId }: ToolPart): ReadonlyArray<Chunk> => {
  if (approval === undefined) return []
  const { approved, descriptor, id: approvalId, reason, requestReason } = approval
  return [
    {
      type: "tool-approval-request",
      approvalId,
      toolCallId,
      ...(requestReason === undefined ? undefined : { reason: requestReason }),
      ...(descriptor === undefined ? undefined : { approvalDescriptor: descriptor })
    },
    ...(approved === undefined ? [] : [{
      type: "tool-approval-response" as const,
      approvalId,
      approved,
      ...(reason === undefined ? undefined : { reason })
    }])
  ]
}

const state = (part: ToolPart, toolCallId: string): ReadonlyArray<Chunk> => {
  const { errorText, output } = part
  switch (part.state) {
    case "output-available":
      return [{ type: "tool-output-available", toolCallId, output, ...hostedOf(part) }]
    case "output-error":
      return [{ type: "tool-output-error", toolCallId, errorText: errorText ?? "", ...hostedOf(part) }]
    case "output-denied":
      return [{ type: "tool-output-denied", toolCallId }]
    default:
      return []
  }
}

/**
 * What settles a card that was answered, or opens it again: however that was decided, it never stays answered. `toolCallId`
 * and `approvalId` are those of the card as a page has it, which may be in another message.
 */
export const settling = (
  { fate, part }: Card,
  { approvalId, toolCallId }: { readonly approvalId: string; readonly toolCallId: string }
): ReadonlyArray<Chunk> => {
  const settled = state(part, toolCallId)
  if (settled.length === 0) return asking({ ...part, toolCallId }).slice(0, 1)
  const { approval } = part
  // Who lost is told what was decided instead.
  const decided: ReadonlyArray<Chunk> = approval?.approved === undefined ? [] : [{
    type: "tool-approval-response",
    approvalId,
    approved: approval.approved,
    ...(approval.reason === undefined ? undefined : { reason: approval.reason })
  }]
  return [...decided, ...settled, ...(fate === undefined ? [] : [Fates.part({ ...fate, toolCallId })])]
}
