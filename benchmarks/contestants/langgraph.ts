/** The smallest graph of LangGraph that asks before its tool runs: without LangChain's agent and its middleware. */
import { ToolMessage } from "@langchain/core/messages"
import {
  type BaseCheckpointSaver,
  Command,
  END,
  INTERRUPT,
  interrupt,
  isInterrupted,
  MessagesAnnotation,
  START,
  StateGraph
} from "@langchain/langgraph"
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite"
import Database from "better-sqlite3"
import { z } from "zod"
import type { Contestant } from "../measure.ts"
import { versionOf } from "../versions.ts"
import * as Work from "../work.ts"
import { Model } from "./langchain.ts"

const Params = z.object({ path: z.string(), force: z.boolean() })

const makeGraph = (checkpointer: BaseCheckpointSaver) => {
  const model = new Model(1)
  return new StateGraph(MessagesAnnotation)
    .addNode("model", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode("tool", ({ messages }) => {
      const call = messages.at(-1)
      if (call === undefined || !("tool_calls" in call)) throw new Error("Nothing was called.")
      const [{ args, id = "" }] = call.tool_calls as [{ readonly args: unknown; readonly id?: string }]
      const params = Params.parse(args)
      if (interrupt<unknown, string>(params) !== "approve") throw new Error("It was not approved.")
      const content = JSON.stringify(Work.deleteFile(params))
      return { messages: [new ToolMessage({ content, tool_call_id: id, name: "DeleteFile" })] }
    })
    .addEdge(START, "model")
    .addConditionalEdges("model", ({ messages }) => messages.at(-1)?.text === Work.finalText ? END : "tool")
    .addEdge("tool", "model")
    .compile({ checkpointer })
}

let threads = 0

export const decidesOnSqlite = (filename: string, synchronous: "FULL" | "NORMAL"): Contestant => {
  const database = new Database(filename)
  database.pragma(`synchronous = ${synchronous}`)
  const graph = makeGraph(new SqliteSaver(database))
  return {
    library: "langgraph",
    version: versionOf("@langchain/langgraph"),
    prepare: async (operations) => {
      const asked: Array<{ readonly configurable: { readonly thread_id: string } }> = []
      for (let i = 0; i < operations; i++) {
        const config = { configurable: { thread_id: `thread-${threads++}` } }
        const turn = await graph.invoke({ messages: [{ role: "user", content: Work.question }] }, config)
        Work.expect("requests", isInterrupted(turn) ? turn[INTERRUPT].length : 0, 1)
        asked.push(config)
      }
      return () =>
        Work.expectRuns(operations, 1, async () => {
          for (const config of asked) {
            const { messages } = await graph.invoke(new Command({ resume: "approve" }), config)
            Work.expect("text", messages.at(-1)?.text, Work.finalText)
          }
        })
    },
    close: async () => database.close()
  }
}
