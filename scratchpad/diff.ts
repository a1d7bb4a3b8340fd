/**
 * A tool that shows what it would do: the person sees a diff, and not a megabyte of parameters. When the file changes
 * before the approval arrives, nothing is overwritten: the call is asked about again, with the diff that is true now.
 */
import { Approval, ApprovalPresentation, Chat, LanguageModel, Prompt, Response, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Layer, Path, Schema } from "effect"

class Refused extends Schema.TaggedError<Refused>()("Refused", { message: Schema.String }) {}

const program = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const root = yield* fs.makeTempDirectoryScoped()
  const path = `${root}/poem.txt`
  yield* fs.writeFileString(path, "Roses are red,\nviolets are green.\n")

  const EditFile = Tool.make("EditFile", {
    parameters: { name: Schema.String, content: Schema.String },
    success: Schema.String,
    dependencies: [FileSystem.FileSystem, Path.Path],
    needsApproval: true
  })
  const ShownEditFile = Tool.present(
    EditFile,
    ({ content, name }) => ApprovalPresentation.fileDiff({ root, path: name, after: content, covers: ["content"] })
  )

  const toolkit = Toolkit.make(ShownEditFile)
  const Handlers = toolkit.toLayer({
    EditFile: ({ content }) => Effect.as(Effect.orDie(fs.writeFileString(path, content)), "written")
  })
  const edit = (id: string, second: string) =>
    ScriptedModel.toolCall({
      id,
      name: "EditFile",
      params: { name: "poem.txt", content: `Roses are red,\n${second}\n` }
    })
  const Model = ScriptedModel.layer({
    turns: [
      [edit("call-1", "violets are blue.")],
      // It reads that the file has changed, and tries again.
      [edit("call-2", "violets are blue, as you say.")],
      "Done."
    ]
  }).pipe(LanguageModel.approval())

  const conversation = Effect.gen(function*() {
    const chat = yield* Chat.empty
    let turn = yield* chat.generateText({ prompt: "Fix the poem.", toolkit })
    let asked = 0
    while (Response.isWaiting(turn)) {
      const requests = Response.approvalRequests(turn)
      for (const { params, presentation, toolName } of requests) {
        // What the diff covers, as the engine has found by making it anew, need not be read besides.
        const rest = Object.entries(params ?? {}).filter(([name]) => presentation?.covers?.includes(name) !== true)
        yield* Console.log(`May I? ${toolName} ${JSON.stringify(Object.fromEntries(rest))}\n\n${presentation?.content}`)
      }
      if (++asked === 1) {
        yield* Console.log("(While the person thinks, somebody else writes to the file.)\n")
        yield* fs.writeFileString(path, "Roses are red,\nviolets are violet.\n")
      }
      const answers = requests.map((request) => Approval.approve(request))
      turn = yield* chat.generateText({ prompt: Prompt.approvalResponses(answers), toolkit })
      for (const { encodedResult } of turn.toolResults) yield* Console.log(`=> ${JSON.stringify(encodedResult)}\n`)
    }
    if (asked !== 2) return yield* new Refused({ message: `The person was asked ${asked} times.` })
    yield* Console.log(yield* fs.readFileString(path))
  })
  yield* Effect.provide(conversation, Layer.merge(Handlers, Model))
}).pipe(Effect.scoped)

program.pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
