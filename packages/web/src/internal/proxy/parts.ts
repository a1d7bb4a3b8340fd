/** From the parts of a turn, and of a history, to those that are sent: nothing of a provider, and nothing of a store. */
import { Approver } from "@assent/ai"
import type { Conversation, Prompt, Response } from "@assent/ai"
import * as Base64 from "effect/encoding/Base64"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Requests from "../wire/requests.ts"
import * as Sentences from "../wire/sentences.ts"
import * as Json from "./json.ts"
import type { History, Message, MessagePart, Part } from "./model.ts"

/** What a turn says. */
export const ofResponse = (part: Response.AnyPart): ReadonlyArray<Part> => {
  switch (part.type) {
    case "text":
      return whole("text", part.text)
    case "reasoning":
      return whole("reasoning", part.text)
    case "text-start":
    case "text-end":
    case "reasoning-start":
    case "reasoning-end":
    case "tool-params-end":
      return [{ type: part.type, id: part.id }]
    case "text-delta":
    case "reasoning-delta":
    case "tool-params-delta":
      return [{ type: part.type, id: part.id, delta: part.delta }]
    case "tool-params-start":
      return [{ type: part.type, id: part.id, name: part.name }]
    case "tool-call":
      return [call(part)]
    case "tool-result": {
      const { encodedResult, id, isFailure, metadata, name, preliminary, providerExecuted } = part
      const about = settled(metadata.assent)
      return [{
        type: part.type,
        id,
        name,
        providerExecuted,
        result: Json.of(encodedResult),
        isFailure,
        preliminary,
        ...about
      }]
    }
    case "tool-approval-request":
      return [asked(part.approvalId, part.toolCallId, Requests.ofResponse(part))]
    case "file":
      return [{ type: "file", mediaType: part.mediaType, data: Base64.encode(part.data) }]
    case "source":
      return [source(part)]
    case "finish": {
      const { reason, usage } = part
      return [{
        type: "finish",
        reason,
        ...(usage.inputTokens.total === undefined ? undefined : { inputTokens: usage.inputTokens.total }),
        ...(usage.outputTokens.total === undefined ? undefined : { outputTokens: usage.outputTokens.total })
      }]
    }
    case "error":
      return [{ type: "error", message: Sentences.ofError(part.error) }]
    default:
      return []
  }
}

const whole = (kind: "text" | "reasoning", text: string): ReadonlyArray<Part> => [
  { type: `${kind}-start`, id: kind },
  { type: `${kind}-delta`, id: kind, delta: text },
  { type: `${kind}-end`, id: kind }
]

type Call = Pick<Prompt.ToolCallPart, "id" | "name" | "params" | "providerExecuted">

const call = ({ id, name, params, providerExecuted }: Call) => ({
  type: "tool-call" as const,
  id,
  name,
  providerExecuted,
  params: Json.of(params)
})

const asked = (approvalId: string, toolCallId: string, request: ReturnType<typeof Requests.ofResponse>) => ({
  type: "tool-approval-request" as const,
  approvalId,
  toolCallId,
  ...(request === undefined ? undefined : { request })
})

const decodeDecidedBy = Schema.decodeUnknownOption(Approver.DecidedBy)

const settled = (assent: unknown) => {
  if (!Predicate.isObject(assent)) return undefined
  const { approvalId, decidedBy: by, edits } = assent as { readonly [key: string]: unknown }
  const decidedBy = Option.getOrUndefined(decodeDecidedBy(by))
  return {
    ...(typeof approvalId === "string" ? { approvalId } : undefined),
    ...(decidedBy === undefined ? undefined : { decidedBy }),
    ...(edits === undefined ? undefined : { edits: Json.of(edits) })
  }
}

const source = (part: Response.DocumentSourcePart | Response.UrlSourcePart): Part => {
  const { id, title } = part
  if (part.sourceType === "url") {
    const { href: url, protocol } = part.url
    // A page makes a link of it, and a link to a script is a script.
    return { type: "source", id, title, ...(protocol === "https:" || protocol === "http:" ? { url } : undefined) }
  }
  return {
    type: "source",
    id,
    title,
    mediaType: part.mediaType,
    ...(part.fileName === undefined ? undefined : { fileName: part.fileName })
  }
}

// =============================================================================
// History
// =============================================================================

/** What was said. What a program tells its model beside it is not for whoever asks. */
export const ofReading = ({ isTurnTaken, messages, pending }: Conversation.Reading): History => ({
  messages: messages.flatMap(({ id, message }): ReadonlyArray<Message> => {
    if (message.role === "system") return []
    return [{ id, role: message.role, content: message.content.map(ofPrompt) }]
  }),
  pending,
  isTurnTaken
})

type PromptPart = Exclude<Prompt.Message, Prompt.SystemMessage>["content"][number]

const ofPrompt = (part: PromptPart): MessagePart => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { type: part.type, text: part.text }
    case "file": {
      const { data, fileName, mediaType } = part
      return {
        type: "file",
        mediaType,
        data: typeof data === "string" ? data : data instanceof URL ? data.href : Base64.encode(data),
        ...(fileName === undefined ? undefined : { fileName })
      }
    }
    case "tool-call":
      return call(part)
    case "tool-result": {
      const { id, isFailure, name, options, providerExecuted, result } = part
      return {
        type: part.type,
        id,
        name,
        providerExecuted,
        result: Json.of(result),
        isFailure,
        preliminary: false,
        ...settled(options.assent)
      }
    }
    case "tool-approval-request":
      return asked(part.approvalId, part.toolCallId, Requests.ofHistory(part))
    case "tool-approval-response": {
      const { approvalId, approved, reason } = part
      return { type: part.type, approvalId, approved, ...(reason === undefined ? undefined : { reason }) }
    }
  }
}
