/** Vercel's `ai`, with the secret that signs its requests. */
import { generateText, type ModelMessage, streamText, tool } from "ai"
import { z } from "zod"
import type { Holder } from "../heap.ts"
import type { Contestant } from "../measure.ts"
import { makeModel, type ModelV4 } from "../modelV4.ts"
import { versionOf } from "../versions.ts"
import * as Work from "../work.ts"

const deleteFile = tool({
  description: "Deletes a file",
  inputSchema: z.object({ path: z.string(), force: z.boolean() }),
  execute: async (params) => Work.deleteFile(params)
})

const common = {
  tools: { DeleteFile: deleteFile, DeleteDraft: deleteFile },
  toolApproval: { DeleteFile: "user-approval" },
  experimental_toolApprovalSecret: Work.key,
  maxRetries: 0
} as const

const library = "ai"
const version = versionOf("ai")

const contestant = (calls: number, prepare: (operations: number, model: ModelV4) => Promise<Prepared>): Contestant => {
  const model = makeModel(calls)
  return {
    library,
    version,
    prepare: async (operations) => {
      const { all, runs } = await prepare(operations, model)
      return () => Work.expectRuns(runs, calls, all)
    }
  }
}

interface Prepared {
  readonly runs: number
  readonly all: () => Promise<void>
}

/** The same each time, without anything made ready. */
const again = (calls: number, runs: number, one: (model: ModelV4) => Promise<void>): Contestant =>
  contestant(calls, async (operations, model) => ({
    runs: runs * operations,
    all: async () => {
      for (let i = 0; i < operations; i++) await one(model)
    }
  }))

const user = (text: string): ModelMessage => ({ role: "user", content: text })

const ask = (model: ModelV4) => generateText({ ...common, model, messages: [user(Work.question)] })

export const asks = (calls: number): Contestant =>
  again(calls, 0, async (model) => {
    const { content } = await ask(model)
    Work.expect("requests", content.filter(({ type }) => type === "tool-approval-request").length, calls)
  })

/** The program holds the messages. */
export const holds = (): Holder => {
  const model = makeModel(1)
  return {
    library,
    version,
    ask: async () => [user(Work.question), ...(await ask(model)).response.messages]
  }
}

const resumes = (calls: number, approved: boolean, before: () => ReadonlyArray<ModelMessage>): Contestant =>
  contestant(calls, async (operations, model) => {
    const histories: Array<Array<ModelMessage>> = []
    for (let i = 0; i < operations; i++) {
      const { content, response } = await ask(model)
      histories.push([...before(), user(Work.question), ...response.messages, {
        role: "tool",
        content: content.flatMap((part) =>
          part.type === "tool-approval-request" ? [answer(part.approvalId, approved)] : []
        )
      }])
    }
    return {
      runs: approved ? operations : 0,
      all: async () => {
        for (const messages of histories) {
          const { text } = await generateText({ ...common, model, messages })
          Work.expect("text", text, Work.finalText)
        }
      }
    }
  })

const answer = (approvalId: string, approved: boolean) => ({
  type: "tool-approval-response" as const,
  approvalId,
  approved,
  ...(approved ? undefined : { reason: Work.denialReason })
})

export const approves = (calls: number): Contestant => resumes(calls, true, () => [])
export const denies = (calls: number): Contestant => resumes(calls, false, () => [])

/** One call that is approved, at the end of so many messages, which were just read. */
export const approvesBehind = (messages: number): Contestant => resumes(1, true, () => history(messages))

/** One call of a tool that asks nobody, beside one that does. */
export const runs = (): Contestant =>
  again(1, 1, async (model) => {
    const { toolResults } = await generateText({ ...common, model, messages: [user(Work.draftQuestion)] })
    Work.expect("results", toolResults.length, 1)
  })

/** A stream of text beside a tool that would ask. */
export const streams = (): Contestant =>
  again(1, 0, async (model) => {
    let read = 0
    for await (const part of streamText({ ...common, model, messages: [user(Work.storyQuestion)] }).fullStream) {
      if (part.type === "text-delta") read++
    }
    Work.expect("deltas", read, Work.words.length)
  })

/** One message in four is an answer of a person, with what came of it. */
const history = (messages: number): ReadonlyArray<ModelMessage> =>
  Array.from({ length: messages / 4 }, (_, index): ReadonlyArray<ModelMessage> => {
    const call = { toolCallId: `settled-${index}`, toolName: "DeleteFile" }
    const approvalId = `approval-${index}`
    return [
      user(`Delete file ${index}.`),
      {
        role: "assistant",
        content: [
          { type: "tool-call", ...call, input: { path: `/tmp/${index}`, force: true } },
          // As long as a signature is.
          { type: "tool-approval-request", approvalId, toolCallId: call.toolCallId, signature: "x".repeat(43) }
        ]
      },
      {
        role: "tool",
        content: [
          answer(approvalId, true),
          { type: "tool-result", ...call, output: { type: "json", value: { deleted: true } } }
        ]
      },
      { role: "assistant", content: [{ type: "text", text: `File ${index} is gone.` }] }
    ]
  }).flat()
