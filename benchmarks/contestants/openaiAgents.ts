/** OpenAI's agents; what is asked stands in a state in memory. */
import { Agent, type Model, type ModelResponse, run, setTracingDisabled, tool, Usage } from "@openai/agents"
import { z } from "zod"
import type { Holder } from "../heap.ts"
import type { Contestant } from "../measure.ts"
import { versionOf } from "../versions.ts"
import * as Work from "../work.ts"

// What it would send to OpenAI is not measured.
setTracingDisabled(true)

const usage = new Usage({ inputTokens: 10, outputTokens: 5, totalTokens: 15, requests: 1 })

const makeModel = (calls: number): Model => ({
  getResponse: async ({ input }): Promise<ModelResponse> => {
    if (typeof input === "string") throw new Error("It is no list of items.")
    const results = input.filter((item) => item.type === "function_call_result").length
    if (results === 0) {
      return {
        usage,
        output: Array.from({ length: calls }, (_, index) => ({
          type: "function_call",
          callId: `call-${index}`,
          name: "DeleteFile",
          status: "completed",
          arguments: Work.paramsOf(index)
        }))
      }
    }
    Work.expect("results that the model is told of", results, calls)
    return {
      usage,
      output: [{
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: Work.finalText }]
      }]
    }
  },
  getStreamedResponse: async function*() {
    for (const delta of Work.words) yield { type: "output_text_delta", delta }
    yield {
      type: "response_done",
      response: {
        id: "response",
        usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
        output: [{
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: Work.words.join("") }]
        }]
      }
    }
  }
})

const makeAgent = (calls: number) =>
  new Agent({
    name: "bench",
    model: makeModel(calls),
    tools: [tool({
      name: "DeleteFile",
      description: "Deletes a file",
      parameters: z.object({ path: z.string(), force: z.boolean() }),
      needsApproval: true,
      execute: async (params) => Work.deleteFile(params)
    })]
  })

type BenchAgent = ReturnType<typeof makeAgent>

const library = "@openai/agents"
const version = versionOf("@openai/agents")

const ask = async (agent: BenchAgent, calls: number) => {
  const { interruptions, state } = await run(agent, Work.question)
  Work.expect("requests", interruptions.length, calls)
  return { interruptions, state }
}

export const asks = (calls: number): Contestant => {
  const agent = makeAgent(calls)
  return {
    library,
    version,
    prepare: async (operations) => () =>
      Work.expectRuns(operations, 0, async () => {
        for (let i = 0; i < operations; i++) await ask(agent, calls)
      })
  }
}

/** The program holds the state. */
export const holds = (): Holder => {
  const agent = makeAgent(1)
  return { library, version, ask: async () => (await ask(agent, 1)).state }
}

const resumes = (calls: number, approved: boolean): Contestant => {
  const agent = makeAgent(calls)
  return {
    library,
    version,
    prepare: async (operations) => {
      const states: Array<Awaited<ReturnType<typeof ask>>["state"]> = []
      for (let i = 0; i < operations; i++) {
        const { interruptions, state } = await ask(agent, calls)
        for (const one of interruptions) {
          if (approved) state.approve(one)
          else state.reject(one, { message: Work.denialReason })
        }
        states.push(state)
      }
      return () =>
        Work.expectRuns(operations, approved ? calls : 0, async () => {
          for (const state of states) {
            const { finalOutput } = await run(agent, state)
            Work.expect("text", finalOutput, Work.finalText)
          }
        })
    }
  }
}

export const approves = (calls: number): Contestant => resumes(calls, true)
export const denies = (calls: number): Contestant => resumes(calls, false)

/** A stream of text beside a tool that would ask. */
export const streams = (): Contestant => {
  const agent = makeAgent(1)
  return {
    library,
    version,
    prepare: async (operations) => () =>
      Work.expectRuns(0, 1, async () => {
        for (let i = 0; i < operations; i++) {
          let read = 0
          for await (const event of await run(agent, Work.storyQuestion, { stream: true })) {
            if (event.type === "raw_model_stream_event" && event.data.type === "output_text_delta") read++
          }
          Work.expect("deltas", read, Work.words.length)
        }
      })
  }
}
