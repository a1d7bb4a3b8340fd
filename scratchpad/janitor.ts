/**
 * An agent tidies a folder of real files, and asks before it deletes one. `npm start` asks you;
 * `npm start -- --answers approve,deny:"keep it"` answers for you.
 */
import { Approval, ApprovalJournal, ApprovalSeal, Chat, LanguageModel, Prompt } from "@assent/ai"
import { ScriptedApprover, ScriptedModel, StrictProvider } from "@assent/ai/testing"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Layer, Option, Ref, Result, Runtime, Schema, Stream } from "effect"
import { CliError, Command, Flag } from "effect/cli"
import { randomBytes } from "node:crypto"
import { agent } from "./janitor/agent.ts"
import * as Person from "./janitor/person.ts"
import * as Tools from "./janitor/tools.ts"
import * as Transcript from "./janitor/transcript.ts"

// With a provider of yours this is `AnyProvider.model("its-model").pipe(LanguageModel.approval())`.
const Model = ScriptedModel.layer({ turns: [agent], afterLastTurn: "repeat" }).pipe(LanguageModel.approval())

// Without these two lines the key is random too, with a warning: approvals end with the process, as here they may.
const Approvals = Layer.mergeAll(
  ApprovalSeal.layer({ key: randomBytes(32).toString("base64") }),
  ApprovalJournal.layerMemory()
)

/** Turn after turn, until the agent calls no more tools, or the person has left. */
const converse = Effect.fnUntraced(function*(chat: Chat.Chat) {
  let prompt: Prompt.RawInput = "Please delete the two files that I need least."
  yield* Console.log(Transcript.line("you", prompt))
  while (true) {
    let text = ""
    let calls = 0
    yield* Stream.runForEach(chat.streamText({ prompt, toolkit: Tools.toolkit }), (part) => {
      switch (part.type) {
        case "text-delta":
          text += part.delta
          return Effect.void
        case "text-end":
          return Console.log(Transcript.line("agent", text))
        case "tool-call":
          calls += 1
          return Console.log(Transcript.line("", `-> ${Approval.describe(part.name, part.params)}`))
        default:
          return Effect.void
      }
    })
    const last = Transcript.exchanges(yield* Ref.get(chat.history)).at(-1)
    if (calls === 0 || last?.denied === Person.leaving) return
    prompt = Prompt.empty
  }
})

class Unexpected extends Schema.TaggedError<Unexpected>()("Unexpected", { message: Schema.String }) {}

/** The conversation as a provider is sent it, and what became of the files: as the folder says, not the agent. */
const conclude = Effect.fnUntraced(function*(history: Prompt.Prompt, before: ReadonlyArray<string>) {
  const list = (files: ReadonlyArray<string>) => files.length === 0 ? "nothing" : files.join(", ")
  const deletes = Transcript.exchanges(history).filter(({ tool }) => tool === "DeleteFile")
  const ran = deletes.filter(({ isFailure }) => !isFailure).map(Transcript.fileOf)
  const left = yield* Tools.Folder.use((folder) => folder.list)

  yield* Console.log("\nThe transcript, as a provider is sent it:\n")
  yield* Effect.forEach(Transcript.lines(history), (line) => Console.log(line))
  yield* Console.log("\nWhat became of it:\n")
  yield* Console.log(Transcript.line("ran", list(ran)))
  for (const call of deletes.filter(({ denied }) => denied !== undefined)) {
    yield* Console.log(Transcript.line("denied", `${Transcript.fileOf(call)} (${call.denied})`))
  }
  yield* Console.log(Transcript.line("left", list(left)))

  const violations = StrictProvider.check(history)
  if (violations.length > 0) return yield* new Unexpected({ message: `A provider refuses this: ${violations[0]!.rule}` })
  if (list(left) !== list(before.filter((name) => !ran.includes(name)))) {
    return yield* new Unexpected({ message: "The folder is not what the transcript says." })
  }
})

const tidy = Effect.gen(function*() {
  const folder = yield* Tools.Folder
  const before = yield* folder.list
  yield* Console.log(`An agent tidies ${folder.path}\n`)
  const chat = yield* Chat.empty
  yield* converse(chat)
  yield* conclude(yield* Ref.get(chat.history), before)
  return folder.path
})

class WrongAnswers extends Schema.TaggedError<WrongAnswers>()("WrongAnswers", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 2
  override get [CliError.userMessage]() {
    return this.message
  }
}

const answers = Flag.String("answers").pipe(
  Flag.withDescription("Answers instead of you, such as approve,deny:\"keep it\"; more questions are denied"),
  Flag.optional
)

const janitor = Command.make(
  "janitor",
  { answers },
  Effect.fnUntraced(function*({ answers }) {
    const atTerminal = Option.isNone(answers) && process.stdin.isTTY && process.stdout.isTTY
    const steps = ScriptedApprover.parse(Option.getOrElse(answers, () => "approve,deny:keep it"))
    if (Result.isFailure(steps)) return yield* new WrongAnswers({ message: steps.failure })
    if (Option.isNone(answers) && !atTerminal) yield* Console.log("No terminal, so these are example answers.\n")

    const folder = yield* tidy.pipe(
      Effect.provide([Model, Approvals, Tools.layer, atTerminal ? Person.atTerminal : Person.scripted(steps.success)])
    )
    const fs = yield* FileSystem.FileSystem
    yield* Console.log(Transcript.line("folder", (yield* fs.exists(folder)) ? "still there" : "removed"))
  })
).pipe(Command.withDescription("Tidies a folder, and asks before it deletes a file"))

Command.run(janitor, { version: "0.0.0" }).pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
