/** Vercel's `ai`, with the secret that signs its requests. */
import { generateText, type ModelMessage, tool } from "ai"
import { z } from "zod"
import type { Contestant } from "../measure.ts"
import { versionOf } from "../versions.ts"
import * as Work from "../work.ts"

type Model = Exclude<Parameters<typeof generateText>[0]["model"], string>
type ModelV4 = Extract<Model, { readonly specificationVersion: "v4" }>
type Result = Awaited<ReturnType<ModelV4["doGenerate"]>>

const usage: Result["usage"] = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 }
}

/** As the mock model of `ai/test`, but it keeps nothing of what it was asked: that would be measured too. */
const makeModel = (calls: number): ModelV4 => ({
  specificationVersion: "v4",
  provider: "bench",
  modelId: "bench",
  supportedUrls: {},
  doGenerate: async ({ prompt }) => {
    if (prompt.length === 1) {
      return {
        content: Array.from({ length: calls }, (_, index) => ({
          type: "tool-call",
          toolCallId: `call-${index}`,
          toolName: "DeleteFile",
          input: Work.paramsOf(index)
        })),
        finishReason: { unified: "tool-calls", raw: "tool-calls" },
        usage,
        warnings: []
      }
    }
    const last = prompt.at(-1)!
    let results = 0
    if (typeof last.content !== "string") {
      for (const part of last.content) if (part.type === "tool-result") results++
    }
    Work.expect("results that the model is told of", results, calls)
    return {
      content: [{ type: "text", text: Work.finalText }],
      finishReason: { unified: "stop", raw: "stop" },
      usage,
      warnings: []
    }
  },
  doStream: () => Promise.reject(new Error("Nothing is streamed here."))
})

const tools = {
  DeleteFile: tool({
    description: "Deletes a file",
    inputSchema: z.object({ path: z.string(), force: z.boolean() }),
    execute: async (params) => Work.deleteFile(params)
  })
}

const common = {
  tools,
  toolApproval: { DeleteFile: "user-approval" },
  experimental_toolApprovalSecret: Work.key,
  maxRetries: 0
} as const

const user: ModelMessage = { role: "user", content: Work.question }

const library = "ai"
const version = versionOf("ai")

export const asks = (calls: number): Contestant => {
  const model = makeModel(calls)
  return {
    library,
    version,
    prepare: async (operations) => () =>
      Work.expectRuns(operations, 0, async () => {
        for (let i = 0; i < operations; i++) {
          const { content } = await generateText({ ...common, model, messages: [user] })
          Work.expect("requests", content.filter(({ type }) => type === "tool-approval-request").length, calls)
        }
      })
  }
}

const resumes = (calls: number, approved: boolean): Contestant => {
  const model = makeModel(calls)
  return {
    library,
    version,
    prepare: async (operations) => {
      const histories: Array<Array<ModelMessage>> = []
      for (let i = 0; i < operations; i++) {
        const { content, response } = await generateText({ ...common, model, messages: [user] })
        histories.push([user, ...response.messages, {
          role: "tool",
          content: content.flatMap((part) =>
            part.type === "tool-approval-request"
              ? [{
                type: "tool-approval-response",
                approvalId: part.approvalId,
                approved,
                ...(approved ? undefined : { reason: Work.denialReason })
              }]
              : []
          )
        }])
      }
      return () =>
        Work.expectRuns(operations, approved ? calls : 0, async () => {
          for (const messages of histories) {
            const { text } = await generateText({ ...common, model, messages })
            Work.expect("text", text, Work.finalText)
          }
        })
    }
  }
}

export const approves = (calls: number): Contestant => resumes(calls, true)
export const denies = (calls: number): Contestant => resumes(calls, false)
