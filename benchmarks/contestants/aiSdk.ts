/** Vercel's `ai`, with the secret that signs its requests. */
import { generateText, type ModelMessage, tool } from "ai"
import { z } from "zod"
import type { Contestant } from "../measure.ts"
import { makeModel } from "../modelV4.ts"
import { versionOf } from "../versions.ts"
import * as Work from "../work.ts"

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
