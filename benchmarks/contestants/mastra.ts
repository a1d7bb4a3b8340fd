/** Mastra's agent; what is asked is kept in its store in memory. */
import { Agent } from "@mastra/core/agent"
import type { MastraModelConfig } from "@mastra/core/llm"
import { Mastra } from "@mastra/core/mastra"
import { InMemoryStore } from "@mastra/core/storage"
import { createTool } from "@mastra/core/tools"
import { z } from "zod"
import type { Holder } from "../heap.ts"
import type { Contestant } from "../measure.ts"
import { makeModel } from "../modelV4.ts"
import { versionOf } from "../versions.ts"
import * as Work from "../work.ts"

const makeAgent = (): Agent => {
  const DeleteFile = createTool({
    id: "DeleteFile",
    description: "Deletes a file",
    inputSchema: z.object({ path: z.string(), force: z.boolean() }),
    outputSchema: z.object({ deleted: z.boolean() }),
    requireApproval: true,
    execute: async (params) => Work.deleteFile(params)
  })
  const agent = new Agent({
    id: "bench",
    name: "bench",
    instructions: "You delete files.",
    // The interface is the same, of another version of the package that has its types.
    model: makeModel(1) as MastraModelConfig,
    tools: { DeleteFile }
  })
  return new Mastra({ agents: { bench: agent }, storage: new InMemoryStore(), logger: false }).getAgent("bench")
}

const library = "@mastra/core"
const version = versionOf("@mastra/core")

/** It asks about one call at a time: about the next, when the one before was answered. */
const ask = async (agent: Agent): Promise<{ readonly runId: string }> => {
  const { finishReason, runId, suspendPayload } = await agent.generate(Work.question)
  Work.expect("why it stopped", finishReason, "suspended")
  Work.expect("what it asks about", suspendPayload?.toolName, "DeleteFile")
  return { runId: runId! }
}

export const asks = (): Contestant => {
  const agent = makeAgent()
  return {
    library,
    version,
    prepare: async (operations) => () =>
      Work.expectRuns(operations, 0, async () => {
        for (let i = 0; i < operations; i++) await ask(agent)
      })
  }
}

/** The program holds the run's name. */
export const keeps = (): Holder => {
  const agent = makeAgent()
  return { library, version, ask: () => ask(agent) }
}

const resumes = (approved: boolean): Contestant => {
  const agent = makeAgent()
  return {
    library,
    version,
    prepare: async (operations) => {
      const asked: Array<Awaited<ReturnType<typeof ask>>> = []
      for (let i = 0; i < operations; i++) asked.push(await ask(agent))
      return () =>
        Work.expectRuns(operations, approved ? 1 : 0, async () => {
          for (const { runId } of asked) {
            const { text } = approved
              ? await agent.approveToolCallGenerate({ runId })
              : await agent.declineToolCallGenerate({ runId, reason: Work.denialReason })
            Work.expect("text", text, Work.finalText)
          }
        })
    }
  }
}

export const approves = (): Contestant => resumes(true)
export const denies = (): Contestant => resumes(false)

/** A stream of text beside a tool that would ask. */
export const streams = (): Contestant => {
  const agent = makeAgent()
  return {
    library,
    version,
    prepare: async (operations) => () =>
      Work.expectRuns(0, 1, async () => {
        for (let i = 0; i < operations; i++) {
          let read = 0
          const { fullStream } = await agent.stream(Work.storyQuestion)
          for await (const part of fullStream) if (part.type === "text-delta") read++
          Work.expect("deltas", read, Work.words.length)
        }
      })
  }
}
