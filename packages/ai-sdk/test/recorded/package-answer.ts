/**
 * What a provider's package makes of an answer, without the bridge: to tell what the bridge loses from what it never got.
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart
} from "@ai-sdk/provider"
import type { Answer } from "./answer.ts"
import { empty } from "./answer.ts"
import * as Json from "./json.ts"

/** The signature that a provider put on a part, whatever it calls it. */
export const signature = (metadata: unknown): string | undefined => {
  for (const provider of Object.values(metadata as object ?? {})) {
    for (const key of ["signature", "thoughtSignature", "reasoningEncryptedContent"]) {
      const found = Json.string(provider, key)
      if (found !== undefined && found !== "") return found
    }
  }
  return undefined
}

type Rest = Pick<LanguageModelV4GenerateResult, "finishReason" | "usage" | "response">

const answer = (content: ReadonlyArray<LanguageModelV4Content>, rest: Rest): Answer => {
  const calls = content.filter((part) => part.type === "tool-call")
  return {
    ...empty,
    text: content.map((part) => part.type === "text" ? part.text : "").join(""),
    reasoning: content.map((part) => part.type === "reasoning" ? part.text : "").join(""),
    signatures: Json.present(content.map((part) => signature(part.providerMetadata))),
    calls: calls.filter((call) => call.providerExecuted !== true).map((call) => ({
      id: call.toolCallId,
      name: call.toolName,
      params: Json.params(call.input)
    })),
    hosted: calls.filter((call) => call.providerExecuted === true).map((call) => call.toolCallId),
    results: content.filter((part) => part.type === "tool-result").map((part) => part.toolCallId),
    sources: Json.present(
      content.map((part) => part.type === "source" && part.sourceType === "url" ? part.url : undefined)
    ),
    files: Json.present(
      content.map((part) => part.type === "file" && part.data.type === "data" ? String(part.data.data) : undefined)
    ),
    finish: rest.finishReason.unified,
    usage: {
      input: rest.usage.inputTokens.total,
      output: rest.usage.outputTokens.total,
      cacheRead: rest.usage.inputTokens.cacheRead,
      reasoning: rest.usage.outputTokens.reasoning
    },
    id: rest.response?.id,
    model: rest.response?.modelId
  }
}

/** Puts streamed parts together to the content that they tell of. */
const together = (parts: ReadonlyArray<LanguageModelV4StreamPart>): Answer => {
  const open = new Map<string, { type: "text" | "reasoning"; text: string; providerMetadata?: never }>()
  const content: Array<LanguageModelV4Content> = []
  let rest: Rest = {
    finishReason: { unified: "other", raw: undefined },
    usage: {
      inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: undefined, text: undefined, reasoning: undefined }
    }
  }
  for (const part of parts) {
    switch (part.type) {
      case "text-start":
      case "reasoning-start": {
        const block = { type: part.type === "text-start" ? "text" as const : "reasoning" as const, text: "" }
        open.set(part.id, block)
        content.push(Object.assign(block, part.providerMetadata && { providerMetadata: part.providerMetadata }))
        break
      }
      case "text-delta":
      case "reasoning-delta":
      case "text-end":
      case "reasoning-end": {
        const block = open.get(part.id)
        if (block === undefined) break
        block.text += "delta" in part ? part.delta : ""
        if (part.providerMetadata !== undefined) Object.assign(block, { providerMetadata: part.providerMetadata })
        break
      }
      case "response-metadata":
        rest = { ...rest, response: { ...rest.response, id: part.id, modelId: part.modelId } }
        break
      case "finish":
        rest = { ...rest, finishReason: part.finishReason, usage: part.usage }
        break
      case "error":
        throw part.error
      case "tool-call":
      case "tool-result":
      case "source":
      case "file":
      case "reasoning-file":
      case "custom":
      case "tool-approval-request":
        content.push(part)
        break
    }
  }
  return answer(content, rest)
}

/** What the package itself says of the answer, and the names of the tools that the provider ran. */
export interface Asked {
  readonly answer: Answer
  readonly hosted: ReadonlyArray<string>
}

/** Asks a model without the bridge. */
export const ask = async (
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  streaming: boolean
): Promise<Asked> => {
  if (!streaming) {
    const result = await model.doGenerate(options)
    return { answer: answer(result.content, result), hosted: names(result.content) }
  }
  const { stream } = await model.doStream(options)
  const parts = await Array.fromAsync(stream as unknown as AsyncIterable<LanguageModelV4StreamPart>)
  return { answer: together(parts), hosted: names(parts) }
}

const names = (parts: ReadonlyArray<LanguageModelV4Content | LanguageModelV4StreamPart>): ReadonlyArray<string> => [
  ...new Set(parts.flatMap((part) =>
    part.type === "tool-result" || (part.type === "tool-call" && part.providerExecuted === true) ? [part.toolName] : []
  ))
]
