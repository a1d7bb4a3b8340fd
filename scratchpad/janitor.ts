/**
 * An agent tidies a folder of real files, and asks before it deletes one. `npm start` asks you;
 * `npm start -- --answers approve,deny:"keep it"` answers for you. With `--openai` its model is OpenAI's, if there is an
 * OPENAI_API_KEY; without one, OpenAI's SDK talks to a server in this process, which plays the API.
 */
import { ApprovalJournal, ApprovalSeal, Chat, Prompt } from "@assent/ai"
import { ScriptedApprover, StrictProvider } from "@assent/ai/testing"
import { TerminalController } from "@assent/terminal"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Layer, Option, Ref, Result, Runtime, Schema, Stream } from "effect"
import { CliError, Command, Flag } from "effect/cli"
import * as assert from "node:assert"
import { randomBytes } from "node:crypto"
import * as Models from "./janitor/models.ts"
import * as Person from "./janitor/person.ts"
import * as Tools from "./janitor/tools.ts"
import * as Transcript from "./janitor/transcript.ts"

// Nothing here outlives the process, and this says so. Left out, it is the same with a warning.
const Approvals = Layer.merge(
  ApprovalSeal.layer({ key: randomBytes(32).toString("base64") }),
  ApprovalJournal.layerMemory()
)

/** Turn after turn, until the agent calls no more tools. */
const converse = Effect.fnUntraced(function*(toolkit: Models.Player["toolkit"]) {
  const chat = yield* Chat.empty
  let prompt: Prompt.RawInput = "Please delete the two files that I need least."
  yield* Console.log(Transcript.line("you", prompt))
  while (true) {
    let text = ""
    let reason = ""
    yield* Stream.runForEach(chat.streamText({ prompt, toolkit }), (part) => {
      if (part.type === "finish") reason = part.reason
      if (part.type === "text-start") text = ""
      if (part.type === "text-delta") text += part.delta
      if (part.type === "text-end") return Console.log(`\n${Transcript.line("agent", text)}`)
      return Effect.void
    })
    if (reason !== "tool-calls") return yield* Ref.get(chat.history)
    prompt = Prompt.empty
  }
})

/** Everything, in a folder that is gone afterwards. What became of the files is what the folder says, not the agent. */
const tidy = Effect.fnUntraced(function*({ note, toolkit }: Models.Player) {
  const folder = yield* Tools.Folder
  const before = yield* folder.list
  if (note !== undefined) yield* Console.log(`${note}\n`)
  yield* Console.log(`An agent tidies ${folder.root}\n`)

  const history = yield* converse(toolkit)
  yield* Console.log("\nThe conversation, as a provider receives and accepts it:\n")
  for (const line of Transcript.lines(history)) yield* Console.log(line)

  yield* Console.log("\nWhat became of the files:\n")
  const deletes = Transcript.exchanges(history).filter(({ tool }) => tool === "DeleteFile")
  const deleted = deletes.filter(({ refused }) => refused === undefined).map(({ path }) => path)
  const left = yield* folder.list
  for (const path of deleted) yield* Console.log(Transcript.line("deleted", path))
  for (const { path, refused } of deletes) {
    if (refused !== undefined) yield* Console.log(Transcript.line("denied", `${path}: "${refused}"`))
  }
  for (const path of left) yield* Console.log(Transcript.line("left", path))

  // The model has had the last word: it is for somebody else to go on.
  assert.deepStrictEqual(StrictProvider.check(history, { allowPrefill: true }), [])
  assert.deepStrictEqual(left, before.filter((path) => !deleted.includes(path)))
  return folder.root
})

class Complaint extends Schema.TaggedError<Complaint>()("Complaint", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 2
  override get [CliError.userMessage]() {
    return this.message
  }
}

const flags = {
  answers: Flag.String("answers").pipe(
    Flag.withDescription("Answers in your place, such as approve,deny:\"keep it\"; what they leave open is denied"),
    Flag.optional
  ),
  openai: Flag.Boolean("openai").pipe(
    Flag.withDescription("Through OpenAI's SDK: to OpenAI with OPENAI_API_KEY, else to a server on this computer"),
    Flag.withDefault(false)
  )
}

const janitor = Command.make("janitor", flags, ({ answers, openai }) =>
  Effect.gen(function*() {
    const atTerminal = Option.isNone(answers) && process.stdin.isTTY && process.stdout.isTTY
    const player = openai ? yield* Models.openai : Models.scripted
    const steps = ScriptedApprover.parse(Option.getOrElse(answers, () => player.answers))
    if (Result.isFailure(steps)) return yield* new Complaint({ message: steps.failure })
    if (Option.isNone(answers) && !atTerminal) yield* Console.log("No terminal to ask at: the answers are examples.\n")

    const person = atTerminal ? Person.atTerminal : Person.scripted(steps.success)
    const tidied = TerminalController.untilStopped(tidy(player))
    const root = yield* Effect.provide(tidied, [player.model, Approvals, Tools.layer, person]).pipe(
      // Such as a key that OpenAI does not know.
      Effect.catchTag("AiError", ({ message }) => new Complaint({ message }))
    )
    const remains = yield* FileSystem.FileSystem.use((fs) => fs.exists(root))
    yield* Console.log(Transcript.line("folder", remains ? "still there" : "removed"))
  }))

// A terminal or pipe that is closed ends this as Ctrl-C does, so that the folder is removed.
const stop = () => process.kill(process.pid, "SIGTERM")
process.once("SIGHUP", stop)
process.stdout.once("error", stop)

Command.run(janitor, { version: "0.0.0" }).pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
