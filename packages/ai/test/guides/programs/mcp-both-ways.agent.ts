// An agent with the tools of a real MCP server: reads run, writes ask.
import { Approval, ApprovalController, Conversation, McpApproval, McpClient, McpProtocol } from "@assent/ai"
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
    // A toolkit as an effect: each turn lists the tools again.
    const conversation = yield* Conversation.make({ id: "shopping", toolkit: files })
    const outcome = yield* conversation.send("Make a shopping list of my notes.")
    for (const part of outcome.content) {
      if (part.type !== "tool-result") continue
      yield* Console.log(part.isFailure ? `${part.name}: ${JSON.stringify(part.result)}` : `${part.name} ran`)
    }
    yield* Console.log(outcome.text)
  }).pipe(Effect.provide(Files))
})

// A person stands here.
const Person = ApprovalController.layerInteractive((request) => {
  console.log(`May I? ${request.description}`)
  return Approval.deny(request, "Leave my notes alone.")
})
await Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(Layer.mergeAll(Model, Person, NodeServices.layer))))
