// An agent at a terminal: it runs commands and writes files, and asks you before each.
import { ApprovalMemory, ApprovalPresentation, Conversation, type Prompt, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { ApprovalMatcher, Shell } from "@assent/shell"
import { TerminalController } from "@assent/terminal"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Layer, Path, Schema } from "effect"
import { Prompt as Ask } from "effect/cli"
import { ChildProcess, ChildProcessSpawner } from "effect/process"

const RunCommand = Tool.make("RunCommand", {
  description: "Runs a command line in this folder",
  parameters: { command: Schema.String },
  success: Schema.String,
  failure: Schema.String,
  failureMode: "return", // the model reads why it failed
  dependencies: [ChildProcessSpawner.ChildProcessSpawner],
  needsApproval: true
})

const WriteFile = Tool.present(
  Tool.make("WriteFile", {
    description: "Writes a file",
    parameters: { path: Schema.String, content: Schema.String },
    success: Schema.String,
    failure: Schema.String,
    failureMode: "return",
    dependencies: [FileSystem.FileSystem, Path.Path],
    needsApproval: true
  }),
  // What you see is what changes. It stands in the place of the parameters that it covers: here, of the whole content.
  ({ content, path }) => ApprovalPresentation.fileDiff({ path, after: content, covers: ["content"] })
)

const toolkit = Toolkit.make(RunCommand, WriteFile)
const Handlers = toolkit.toLayer({
  RunCommand: ({ command }) =>
    ChildProcessSpawner.ChildProcessSpawner.use((spawner) =>
      spawner.string(
        // With this environment, git runs fewer of the programs that a folder's settings name.
        ChildProcess.make("bash", ["-c", command], { env: Shell.environment, extendEnv: true }),
        { includeStderr: true }
      )
    ).pipe(Effect.mapError(({ message }) => message)),
  WriteFile: ({ content, path }) =>
    FileSystem.FileSystem.use((fs) => fs.writeFileString(path, content)).pipe(
      Effect.as("written"),
      Effect.mapError(({ message }) => message)
    )
})

// Any provider's model stands here. This one needs no key: it does what it is told by "run …" and "write <file> <text>".
const answer = ({ prompt }: { readonly prompt: Prompt.Prompt }) => {
  const last = prompt.content.at(-1)
  const id = `call-${prompt.content.length}`
  if (last?.role === "tool") {
    const [result] = last.content.flatMap((part) => part.type === "tool-result" ? [part] : [])
    if (result?.isFailure) return typeof result.result === "string" ? `It failed: ${result.result}` : "As you like."
    return String(result?.result).trim() || "Done."
  }
  const said = last?.role === "user" ? last.content.map((part) => part.type === "text" ? part.text : "").join(" ") : ""
  const [, command] = /^run (.+)$/.exec(said) ?? []
  const [, path, text] = /^write (\S+) (.+)$/.exec(said) ?? []
  if (command !== undefined) return [ScriptedModel.toolCall({ id, name: "RunCommand", params: { command } })]
  if (path === undefined) return "Tell me to run a command, or to write a file: write notes.md Buy milk."
  return [ScriptedModel.toolCall({ id, name: "WriteFile", params: { path, content: `${text}\n` } })]
}
const Model = ScriptedModel.layer({ turns: [answer], afterLastTurn: "repeat" })

const program = Effect.gen(function*() {
  const conversation = yield* Conversation.make({ id: "work", toolkit })
  while (true) {
    const said = yield* Ask.run(Ask.String({ message: "you" })).pipe(
      Effect.catchTag("QuitError", () => Effect.succeed("bye")) // Ctrl-C and Ctrl-D, while nothing runs
    )
    if (said === "bye") return
    yield* conversation.send(said).pipe(
      Effect.flatMap(({ text }) => Console.log(text)),
      Effect.catchTag("AiError", ({ message }) => Console.error(message)) // no network, no key: it goes on
    )
  }
}).pipe(TerminalController.untilStopped)

NodeRuntime.runMain(program.pipe(
  Effect.provide(Layer.mergeAll(
    Model,
    Handlers,
    TerminalController.layer(),
    ApprovalMemory.layerSession(), // lets you say "not asked again in this session"
    ApprovalMatcher.layer() // knows what command lines do, and offers which to remember
  )),
  Effect.provide(NodeServices.layer)
))
