/** The model for the libraries that call it by the interface of Vercel's providers. */
import type { LanguageModel } from "ai"
import * as Work from "./work.ts"

export type ModelV4 = Extract<LanguageModel, { readonly specificationVersion: "v4" }>
type Result = Awaited<ReturnType<ModelV4["doGenerate"]>>
type Options = Parameters<ModelV4["doGenerate"]>[0]
type Part = Awaited<ReturnType<ModelV4["doStream"]>>["stream"] extends ReadableStream<infer A> ? A : never

const usage: Result["usage"] = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 }
}

const answer = ({ prompt }: Options, calls: number): Pick<Result, "content" | "finishReason"> => {
  const last = prompt.at(-1)!
  if (last.role === "user") {
    return {
      content: Array.from({ length: calls }, (_, index) => ({
        type: "tool-call",
        toolCallId: `call-${index}`,
        toolName: "DeleteFile",
        input: Work.paramsOf(index)
      })),
      finishReason: { unified: "tool-calls", raw: "tool-calls" }
    }
  }
  let results = 0
  for (const { content } of prompt) {
    if (typeof content === "string") continue
    for (const part of content) if (part.type === "tool-result") results++
  }
  Work.expect("results that the model is told of", results, calls)
  return {
    content: [{ type: "text", text: Work.finalText }],
    finishReason: { unified: "stop", raw: "stop" }
  }
}

/** As the mock model of `ai/test`, but it keeps nothing of what it was asked: that would be measured too. */
export const makeModel = (calls: number): ModelV4 => ({
  specificationVersion: "v4",
  provider: "bench",
  modelId: "bench",
  supportedUrls: {},
  doGenerate: async (options) => ({ ...answer(options, calls), usage, warnings: [] }),
  doStream: async (options) => {
    const { content, finishReason } = answer(options, calls)
    return {
      stream: streamOf([
        { type: "stream-start", warnings: [] },
        ...content.flatMap((part): ReadonlyArray<Part> =>
          part.type === "text"
            ? [
              { type: "text-start", id: "0" },
              { type: "text-delta", id: "0", delta: part.text },
              { type: "text-end", id: "0" }
            ]
            : part.type === "tool-call"
            ? [part]
            : []
        ),
        { type: "finish", finishReason, usage }
      ])
    }
  }
})

/** One part at a time, as they come from a provider. */
const streamOf = (parts: ReadonlyArray<Part>): ReadableStream<Part> => {
  let next = 0
  return new ReadableStream({
    pull: (controller) => {
      if (next < parts.length) controller.enqueue(parts[next++]!)
      else controller.close()
    }
  })
}
