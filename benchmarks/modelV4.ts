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

const said = ({ prompt }: Options): string | undefined => {
  const last = prompt.at(-1)!
  const part = last.role === "user" ? last.content[0] : undefined
  return part?.type === "text" ? part.text : undefined
}

const answer = (options: Options, calls: number): Pick<Result, "content" | "finishReason"> => {
  const question = said(options)
  if (question !== undefined) {
    return {
      content: Array.from({ length: calls }, (_, index) => ({
        type: "tool-call",
        toolCallId: `call-${index}`,
        toolName: question === Work.draftQuestion ? "DeleteDraft" : "DeleteFile",
        input: Work.paramsOf(index)
      })),
      finishReason: { unified: "tool-calls", raw: "tool-calls" }
    }
  }
  const { content } = options.prompt.at(-1)!
  let results = 0
  if (typeof content !== "string") {
    for (const part of content) if (part.type === "tool-result") results++
  }
  Work.expect("results that the model is told of", results, calls)
  return {
    content: [{ type: "text", text: Work.finalText }],
    finishReason: { unified: "stop", raw: "stop" }
  }
}

const textParts = (deltas: ReadonlyArray<string>): ReadonlyArray<Part> => [
  { type: "text-start", id: "0" },
  ...deltas.map((delta): Part => ({ type: "text-delta", id: "0", delta })),
  { type: "text-end", id: "0" }
]

const story = textParts(Work.words)

/** As the mock model of `ai/test`, but it keeps nothing of what it was asked: that would be measured too. */
export const makeModel = (calls: number): ModelV4 => ({
  specificationVersion: "v4",
  provider: "bench",
  modelId: "bench",
  supportedUrls: {},
  doGenerate: async (options) => ({ ...answer(options, calls), usage, warnings: [] }),
  doStream: async (options) => {
    const isStory = said(options) === Work.storyQuestion
    const { content, finishReason } = isStory
      ? { content: [], finishReason: { unified: "stop" as const, raw: "stop" } }
      : answer(options, calls)
    return {
      stream: streamOf([
        { type: "stream-start", warnings: [] },
        ...(isStory ?
          story :
          content.flatMap((part): ReadonlyArray<Part> =>
            part.type === "text" ? textParts([part.text]) : part.type === "tool-call" ? [part] : []
          )),
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
