// An agent with the tools of a real MCP server: reads run, writes ask.
import { Approval, ApprovalController, Chat, McpApproval, McpClient, McpProtocol, Prompt } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Layer } from "effect"
import { ChildProcess } from "effect/process"
import { fileURLToPath } from "node:url"

const server = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"))

// Any provider's model stands here.
const call = (name: string, params: unknown) => [ScriptedModel.toolCall({ id: name, name, params })]
const Model = ScriptedModel.layer({
  turns: [
    call("files__read_text_file", { path: "notes.md" }),
    call("files__write_file", { path: "notes.md", content: "Milk.\n" }),
    "I left your notes alone."
  ]
})

const program = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  yield* fs.writeFileString(`${folder}/notes.md`, "Milk, and bread.\n")
  const Files = McpClient.layerStdio({
    name: "my-agent",
    version: "1.0.0",
    command: ChildProcess.make(process.execPath, [server, folder]),
    protocol: McpProtocol.v2025_11_25
  })

  yield* Effect.gen(function*() {
    // The name is yours. Only servers that you name can be trusted when they say that a tool only reads.
    const files = McpApproval.guard(yield* McpClient.McpClient, { name: "files", trust: ["files"] })
    const chat = yield* Chat.empty
    let prompt: Prompt.RawInput = "Make a shopping list of my notes."
    let turn
    do {
      turn = yield* chat.generateText({ prompt, toolkit: yield* files }) // lists the tools again for each turn
      for (const { isFailure, name } of turn.toolResults) {
        yield* Console.log(`${isFailure ? "not run" : "ran"}: ${name}`)
      }
      prompt = Prompt.empty
    } while (turn.finishReason === "tool-calls")
    yield* Console.log(turn.text)
  }).pipe(Effect.provide(Files))
})

// A person stands here.
const Person = ApprovalController.layerInteractive((request) => {
  console.log(`May I? ${request.description}`)
  return Approval.deny(request, "Leave my notes alone.")
})
await Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(Layer.mergeAll(Model, Person, NodeServices.layer))))
