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
  const asked = content.filter((part) => part.type === "tool-approval-request").map((part) => part.approvalId)
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
    hosted: calls.filter((call) => call.providerExecuted === true).map((call) => ({
      key: call.toolCallId,
      value: Json.params(call.input)
    })),
    asked,
    results: content.filter((part) => part.type === "tool-result").map((part) => ({
      key: part.toolCallId,
      value: part.result
    })),
    sources: content.filter((part) => part.type === "source").flatMap((part) =>
      part.sourceType === "url" ? [{ key: part.url, value: part.title }] : []
    ),
    files: Json.present(
      content.map((part) => part.type === "file" && part.data.type === "data" ? String(part.data.data) : undefined)
    ),
    // The interface has no word for a response that waits; effect/ai has.
    finish: asked.length > 0 ? "pause" : rest.finishReason.unified,
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
const together = (
  parts: ReadonlyArray<LanguageModelV4StreamPart>
): { readonly content: ReadonlyArray<LanguageModelV4Content>; readonly rest: Rest } => {
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
        rest = { ...rest, response: { ...rest.response, ...part } }
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
  return { content, rest }
}

/** What the package itself says of the answer, and the names of the tools that the provider ran. */
export interface Asked {
  readonly answer: Answer
  readonly content: ReadonlyArray<LanguageModelV4Content>
  readonly hosted: ReadonlyArray<string>
}

/** A model that keeps what the package answered, on its way to whoever asked. */
export const watched = (
  model: LanguageModelV4
): { readonly model: LanguageModelV4; readonly asked: () => Asked | undefined } => {
  let asked: (() => Asked) | undefined
  return {
    asked: () => asked?.(),
    model: {
      specificationVersion: "v4",
      provider: model.provider,
      modelId: model.modelId,
      supportedUrls: model.supportedUrls,
      doGenerate: async (options) => {
        const result = await model.doGenerate(options)
        asked = () => ({
          answer: answer(result.content, result),
          content: result.content,
          hosted: names(result.content)
        })
        return result
      },
      doStream: async (options) => {
        const result = await model.doStream(options)
        const parts: Array<LanguageModelV4StreamPart> = []
        asked = () => {
          const { content, rest } = together(parts)
          return { answer: answer(content, rest), content, hosted: names(parts) }
        }
        const stream = result.stream.pipeThrough(
          new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
            transform: (part, controller) => {
              parts.push(part)
              controller.enqueue(part)
            }
          })
        )
        return { ...result, stream }
      }
    }
  }
}

/** Asks a model without the bridge. */
export const ask = async (
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  streaming: boolean
): Promise<Asked | undefined> => {
  const { asked, model: watching } = watched(model)
  if (streaming) await (await watching.doStream(options)).stream.pipeTo(new WritableStream())
  else await watching.doGenerate(options)
  return asked()
}

const names = (parts: ReadonlyArray<LanguageModelV4Content | LanguageModelV4StreamPart>): ReadonlyArray<string> => [
  ...new Set(
    parts.flatMap((part) =>
      part.type === "tool-result" || (part.type === "tool-call" && part.providerExecuted === true)
        ? [part.toolName]
        : []
    )
  )
]
