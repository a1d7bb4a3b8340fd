/**
 * Asked in one process, answered in another. `ask <dir>` saves the conversation and ends; `resume <dir> approve` or
 * `deny:reason` goes on with it, and however often that happens, also at once, the file is deleted once. What the
 * processes share is a database in the folder, which has the key that seals approvals.
 *
 * With no arguments it plays the whole story, each step in a process of its own, and ends with 1 if a file was not
 * deleted exactly once.
 */
import { Approval, Chat, LanguageModel, Prompt, Response, Tool, Toolkit } from "@assent/ai"
import { ScriptedApprover, ScriptedModel } from "@assent/ai/testing"
import { SqlApproval } from "@assent/sql"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Layer, Ref, Result, Schema } from "effect"
import { Argument, CliError, Command } from "effect/cli"
import { ChildProcess, ChildProcessSpawner } from "effect/process"

// =============================================================================
// The agent
// =============================================================================

const DeleteFile = Tool.make("DeleteFile", {
  description: "Deletes a file, for good",
  parameters: { path: Schema.String },
  success: Schema.Struct({ deletedBy: Schema.Int }),
  needsApproval: true
})

const toolkit = Toolkit.make(DeleteFile)

/** Logs that it deletes, so that a second time would be seen, and takes its time, so that two of them would meet. */
const Handlers = (dir: string) =>
  toolkit.toLayer(Effect.map(FileSystem.FileSystem, (fs) => ({
    DeleteFile: ({ path }) =>
      fs.writeFileString(`${dir}/deleted.log`, `process ${process.pid}: ${path}\n`, { flag: "a" }).pipe(
        Effect.andThen(Effect.sleep("300 millis")),
        Effect.andThen(fs.remove(`${dir}/${path}`)),
        Effect.as({ deletedBy: process.pid }),
        Effect.orDie
      )
  })))

/** Reads the conversation, as a provider does: without a result it calls the tool, with one it says what it sees. */
const Model = ScriptedModel.layer({
  turns: [({ prompt }) => {
    const message = prompt.content.findLast(({ role }) => role === "tool")
    const part = message?.role === "tool" ? message.content[0] : undefined
    return part?.type === "tool-result"
      ? `The result is ${JSON.stringify(part.result)}`
      : [ScriptedModel.toolCall({ id: "call-1", name: "DeleteFile", params: { path: "report.txt" } })]
  }]
})

const Agent = (dir: string) =>
  Layer.mergeAll(
    Model.pipe(LanguageModel.approval()),
    Handlers(dir)
  ).pipe(Layer.provideMerge(SqlApproval.layer({ filename: `${dir}/approvals.db` })))

// =============================================================================
// The two processes
// =============================================================================

const say = (text: string) => Console.log(`   process ${process.pid}: ${text}`)

const complain = (userMessage: string) => (cause: unknown) => new CliError.UserError({ cause, userMessage })

const ask = Effect.fn("ask")(function*(dir: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(dir, { recursive: true })
  yield* fs.writeFileString(`${dir}/report.txt`, "last year's report\n")

  const chat = yield* Chat.empty
  const turn = yield* chat.generateText({ prompt: "Please delete the report.", toolkit })
  yield* fs.writeFileString(`${dir}/chat.json`, yield* chat.exportJson)
  for (const request of Response.approvalRequests(turn)) yield* say(`May I? ${request.description}`)
})

type Step = Exclude<ScriptedApprover.ParsedStep, "ignore">

/** Leaves the saved conversation as it is: like the history that a page sends, it may come again. */
const resume = Effect.fn("resume")(function*(dir: string, step: Step) {
  const fs = yield* FileSystem.FileSystem
  const saved = yield* Effect.mapError(fs.readFileString(`${dir}/chat.json`), complain(`First: ask ${dir}`))
  const chat = yield* Chat.fromJson(saved)
  const { pending } = LanguageModel.collectToolApprovals((yield* Ref.get(chat.history)).content)
  const answers = pending.map((request) =>
    step === "approve" ? Approval.approve(request) : Approval.deny(request, step === "deny" ? undefined : step.deny)
  )
  const turn = yield* chat.generateText({ prompt: Prompt.approvalResponses(answers), toolkit })
  yield* say(turn.text)
})

// =============================================================================
// The story
// =============================================================================

const story = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const dir = yield* fs.makeTempDirectoryScoped({ prefix: "deferred-" })

  const start = (...args: ReadonlyArray<string>) =>
    spawner.exitCode(ChildProcess.make(process.execPath, [...process.execArgv, process.argv[1]!, ...args], {
      stdin: "ignore",
      stdout: "inherit",
      stderr: "inherit"
    })).pipe(
      Effect.filterOrFail((code) => code === 0, (code) => new StoryFailed({ message: `A process ended with ${code}.` }))
    )
  const check = Effect.fnUntraced(function*(dir: string) {
    const log = yield* Effect.orElseSucceed(fs.readFileString(`${dir}/deleted.log`), () => "")
    const times = log.split("\n").length - 1
    if (times !== 1 || (yield* fs.exists(`${dir}/report.txt`))) {
      return yield* new StoryFailed({ message: `The file was deleted ${times} times:\n${log}` })
    }
    yield* Console.log("   The file was deleted once.")
  })

  yield* Console.log("1. A process asks, saves the conversation, and ends.")
  yield* start("ask", `${dir}/first`)
  yield* Console.log("2. Another one goes on with the answer.")
  yield* start("resume", `${dir}/first`, "approve")
  yield* Console.log("3. The same answer comes again, to a third one.")
  yield* start("resume", `${dir}/first`, "approve")
  yield* check(`${dir}/first`)
  yield* Console.log("4. There is a second request.")
  yield* start("ask", `${dir}/second`)
  yield* Console.log("5. Two processes get its answer at once.")
  const both = start("resume", `${dir}/second`, "approve")
  yield* Effect.all([both, both], { concurrency: 2 })
  yield* check(`${dir}/second`)
})

class StoryFailed extends Schema.TaggedError<StoryFailed>()("StoryFailed", { message: Schema.String }) {}

// =============================================================================
// The command line
// =============================================================================

const dir = Argument.String("dir").pipe(Argument.withDescription("A folder of this conversation's own"))

const answer = Argument.String("answer").pipe(
  Argument.withDescription("approve, deny or deny:reason"),
  Argument.mapEffect((text): Effect.Effect<Step, CliError.CliError> => {
    const steps = ScriptedApprover.parse(text)
    if (Result.isFailure(steps)) return Effect.fail(new CliError.ValidationError({ message: steps.failure }))
    const [step] = steps.success
    return step === undefined || step === "ignore"
      ? Effect.fail(new CliError.ValidationError({ message: "The answer is approve, deny or deny:reason." }))
      : Effect.succeed(step)
  })
)

/** A process's share in the story. */
const withAgent = <A, E, R>(dir: string, effect: Effect.Effect<A, E, R>) => Effect.provide(effect, Agent(dir))

const deferred = Command.make("deferred", {}, () => Effect.scoped(story)).pipe(
  Command.withDescription("Plays the whole story, or one step of it"),
  Command.withSubcommands([
    Command.make("ask", { dir }, ({ dir }) => withAgent(dir, ask(dir))),
    Command.make("resume", { dir, answer }, ({ answer, dir }) => withAgent(dir, resume(dir, answer)))
  ])
)

Command.run(deferred, { version: "0.0.0" }).pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
