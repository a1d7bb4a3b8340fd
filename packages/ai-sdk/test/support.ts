/** What the tests of the bridge say in the provider interface's words. */
import type * as Provider from "@ai-sdk/provider"
import { convertArrayToReadableStream, MockLanguageModelV3, MockLanguageModelV4 } from "ai/test"

export const usage: Provider.LanguageModelV4Usage = {
  inputTokens: { total: 30, noCache: 18, cacheRead: 10, cacheWrite: 2 },
  outputTokens: { total: 9, text: 5, reasoning: 4 }
}

export const finishReason = (
  unified: Provider.LanguageModelV4FinishReason["unified"]
): Provider.LanguageModelV4FinishReason => ({ unified, raw: undefined })

/** A whole response; one with a call of ours ends for that. */
export const response = (
  content: ReadonlyArray<Provider.LanguageModelV4Content>,
  rest?: Partial<Provider.LanguageModelV4GenerateResult>
): Provider.LanguageModelV4GenerateResult => ({
  content: [...content],
  finishReason: finishReason(content.some(isLocalCall) ? "tool-calls" : "stop"),
  usage,
  warnings: [],
  ...rest
})

const isLocalCall = (content: Provider.LanguageModelV4Content): boolean =>
  content.type === "tool-call" && content.providerExecuted !== true

export const text = (text: string): Provider.LanguageModelV4Text => ({ type: "text", text })

export const call = (
  toolCallId: string,
  toolName: string,
  input: unknown,
  rest?: Partial<Provider.LanguageModelV4ToolCall>
): Provider.LanguageModelV4ToolCall => ({
  type: "tool-call",
  toolCallId,
  toolName,
  input: JSON.stringify(input),
  ...rest
})

export const stream = (
  parts: ReadonlyArray<Provider.LanguageModelV4StreamPart>
): Provider.LanguageModelV4StreamResult => ({ stream: convertArrayToReadableStream([...parts]) })

export const finish = (
  unified: Provider.LanguageModelV4FinishReason["unified"] = "stop"
): Provider.LanguageModelV4StreamPart => ({ type: "finish", finishReason: finishReason(unified), usage })

/** The same response as a stream. */
export const streamed = (
  content: ReadonlyArray<Provider.LanguageModelV4Content>
): ReadonlyArray<Provider.LanguageModelV4StreamPart> => [
  { type: "stream-start", warnings: [] },
  ...content.flatMap((part, index): ReadonlyArray<Provider.LanguageModelV4StreamPart> => {
    const id = `${index}`
    switch (part.type) {
      case "text":
      case "reasoning":
        return [
          { type: `${part.type}-start`, id },
          ...(part.text.match(/.{1,4}/gs) ?? []).map((delta) => ({ type: `${part.type}-delta`, id, delta }) as const),
          {
            type: `${part.type}-end`,
            id,
            ...(part.providerMetadata === undefined ? undefined : { providerMetadata: part.providerMetadata })
          }
        ]
      case "tool-call":
        return [
          {
            type: "tool-input-start",
            id: part.toolCallId,
            toolName: part.toolName,
            ...(part.providerExecuted === undefined ? undefined : { providerExecuted: part.providerExecuted })
          },
          { type: "tool-input-delta", id: part.toolCallId, delta: part.input },
          { type: "tool-input-end", id: part.toolCallId },
          part
        ]
      default:
        return [part]
    }
  }),
  finish(content.some(isLocalCall) ? "tool-calls" : "stop")
]

/** A model that plays these responses one after the other, whole or streamed. */
export const playing = (
  responses: ReadonlyArray<ReadonlyArray<Provider.LanguageModelV4Content>>,
  provider = "mock.chat"
): MockLanguageModelV4 => {
  let played = 0
  const next = () => responses[played++] ?? []
  return new MockLanguageModelV4({
    provider,
    doGenerate: async () => response(next()),
    doStream: async () => stream(streamed(next()))
  })
}

/** The same of the earlier interface. */
export const playingEarlier = (
  responses: ReadonlyArray<ReadonlyArray<Provider.LanguageModelV3Content>>
): MockLanguageModelV3 => {
  let played = 0
  return new MockLanguageModelV3({
    provider: "mock.chat",
    doGenerate: async () => ({
      content: [...(responses[played++] ?? [])],
      finishReason: { unified: "stop", raw: undefined },
      usage,
      warnings: []
    })
  })
}

/** What a model was asked, whole or streamed, without the signal. */
export const asked = (
  model: MockLanguageModelV4 | MockLanguageModelV3,
  index = 0
): Provider.LanguageModelV4CallOptions => {
  const calls = [...model.doGenerateCalls, ...model.doStreamCalls] as Array<Provider.LanguageModelV4CallOptions>
  const { abortSignal: _, ...options } = calls.at(index)!
  return options
}
