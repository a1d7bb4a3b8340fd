/** LangChain's agent with its middleware for people in the loop; what is kept is kept by one of LangGraph's checkpointers. */
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager"
import { BaseChatModel } from "@langchain/core/language_models/chat_models"
import { AIMessage, AIMessageChunk, type BaseMessage } from "@langchain/core/messages"
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs"
import { type BaseCheckpointSaver, Command, MemorySaver } from "@langchain/langgraph"
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite"
import Database from "better-sqlite3"
import { createAgent, humanInTheLoopMiddleware, tool } from "langchain"
import { z } from "zod"
import type { Holder } from "../heap.ts"
import type { Contestant } from "../measure.ts"
import { versionOf } from "../versions.ts"
import * as Work from "../work.ts"

export class Model extends BaseChatModel {
  readonly #calls: number
  constructor(calls: number) {
    super({})
    this.#calls = calls
  }
  _llmType(): string {
    return "bench"
  }
  override bindTools() {
    return this
  }
  async _generate(messages: Array<BaseMessage>): Promise<ChatResult> {
    const message = this.#answer(messages)
    return { generations: [{ text: message.text, message }] }
  }
  override async *_streamResponseChunks(
    _messages: Array<BaseMessage>,
    _options: this["ParsedCallOptions"],
    manager?: CallbackManagerForLLMRun
  ): AsyncGenerator<ChatGenerationChunk> {
    for (const text of Work.words) {
      yield new ChatGenerationChunk({ text, message: new AIMessageChunk(text) })
      await manager?.handleLLMNewToken(text)
    }
  }
  #answer(messages: ReadonlyArray<BaseMessage>): AIMessage {
    if (messages.at(-1)?.type === "human") {
      return new AIMessage({
        content: "",
        tool_calls: Array.from({ length: this.#calls }, (_, index) => ({
          type: "tool_call",
          id: `call-${index}`,
          name: "DeleteFile",
          args: JSON.parse(Work.paramsOf(index))
        }))
      })
    }
    Work.expect("results", messages.filter((message) => message.type === "tool").length, this.#calls)
    return new AIMessage(Work.finalText)
  }
}

const makeAgent = (calls: number, checkpointer: BaseCheckpointSaver) =>
  createAgent({
    model: new Model(calls),
    tools: [
      tool((params: { readonly path: string; readonly force: boolean }) => JSON.stringify(Work.deleteFile(params)), {
        name: "DeleteFile",
        description: "Deletes a file",
        schema: z.object({ path: z.string(), force: z.boolean() })
      })
    ],
    middleware: [humanInTheLoopMiddleware({ interruptOn: { DeleteFile: true } })],
    checkpointer
  })

type Agent = ReturnType<typeof makeAgent>

const library = "langchain"
const version = versionOf("langchain")

let threads = 0

/** Gives the configuration that finds it again. */
const ask = async (agent: Agent, calls: number) => {
  const config = { configurable: { thread_id: `thread-${threads++}` } }
  const turn: { readonly __interrupt__?: ReadonlyArray<{ readonly value?: unknown }> } = await agent.invoke(
    { messages: [{ role: "user", content: Work.question }] },
    config
  )
  const value = turn.__interrupt__?.[0]?.value as { readonly actionRequests: ReadonlyArray<unknown> } | undefined
  Work.expect("requests", value?.actionRequests.length, calls)
  return config
}

const resume = async (agent: Agent, config: Awaited<ReturnType<typeof ask>>, calls: number, approved: boolean) => {
  const decision = approved ? { type: "approve" } : { type: "reject", message: Work.denialReason }
  const decisions = Array.from({ length: calls }, () => decision)
  const { messages } = await agent.invoke(new Command({ resume: { decisions } }), config)
  Work.expect("text", messages.at(-1)?.text, Work.finalText)
}

export const asks = (calls: number): Contestant => {
  const agent = makeAgent(calls, new MemorySaver())
  return {
    library,
    version,
    prepare: async (operations) => () =>
      Work.expectRuns(operations, 0, async () => {
        for (let i = 0; i < operations; i++) await ask(agent, calls)
      })
  }
}

/** The program holds the thread's name. */
export const keeps = (): Holder => {
  const agent = makeAgent(1, new MemorySaver())
  return { library, version, ask: () => ask(agent, 1) }
}

const resumes = (calls: number, approved: boolean, checkpointer: BaseCheckpointSaver): Contestant => {
  const agent = makeAgent(calls, checkpointer)
  return {
    library,
    version,
    prepare: async (operations) => {
      const asked: Array<Awaited<ReturnType<typeof ask>>> = []
      for (let i = 0; i < operations; i++) asked.push(await ask(agent, calls))
      return () =>
        Work.expectRuns(operations, approved ? calls : 0, async () => {
          for (const config of asked) await resume(agent, config, calls, approved)
        })
    }
  }
}

export const approves = (calls: number): Contestant => resumes(calls, true, new MemorySaver())
export const denies = (calls: number): Contestant => resumes(calls, false, new MemorySaver())

export const decidesOnSqlite = (filename: string, synchronous: "FULL" | "NORMAL"): Contestant => {
  const database = new Database(filename)
  database.pragma(`synchronous = ${synchronous}`)
  return {
    ...resumes(1, true, new SqliteSaver(database)),
    close: async () => database.close()
  }
}

/** A stream of text beside a tool that would ask. */
export const streams = (): Contestant => {
  const agent = makeAgent(1, new MemorySaver())
  return {
    library,
    version,
    prepare: async (operations) => () =>
      Work.expectRuns(0, 1, async () => {
        for (let i = 0; i < operations; i++) {
          let read = 0
          const stream = await agent.stream(
            { messages: [{ role: "user", content: Work.storyQuestion }] },
            { streamMode: "messages", configurable: { thread_id: `thread-${threads++}` } }
          )
          for await (const [chunk] of stream) if (AIMessageChunk.isInstance(chunk) && chunk.text !== "") read++
          Work.expect("deltas", read, Work.words.length)
        }
      })
  }
}
