/**
 * Assent's engine with a model that follows a script, and a person at this terminal: one scene after the other, as they are
 * named. What ran, with which parameters, what the journal says, and what the model was told goes into a file.
 */
import * as Approval from "@assent/ai/Approval"
import * as ApprovalJournal from "@assent/ai/ApprovalJournal"
import * as ApprovalMemory from "@assent/ai/ApprovalMemory"
import * as ApprovalPresentation from "@assent/ai/ApprovalPresentation"
import * as ApprovalSeal from "@assent/ai/ApprovalSeal"
import * as DeferredTool from "@assent/ai/DeferredTool"
import * as Interaction from "@assent/ai/Interaction"
import * as LanguageModel from "@assent/ai/LanguageModel"
import * as SuspensionStore from "@assent/ai/SuspensionStore"
import * as ScriptedModel from "@assent/ai/testing/ScriptedModel"
import * as Tool from "@assent/ai/Tool"
import * as Toolkit from "@assent/ai/Toolkit"
import * as TerminalController from "@assent/terminal/TerminalController"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { randomBytes } from "node:crypto"
import * as Fs from "node:fs"

const [, , output, ...scenes] = process.argv

const tell = (what: object) => Effect.sync(() => Fs.appendFileSync(output!, `${JSON.stringify(what)}\n`))

const WriteFile = Tool.make("WriteFile", {
  parameters: { path: Schema.String, content: Schema.NonEmptyString },
  success: Schema.String,
  needsApproval: ({ content, path }) =>
    Effect.map(
      ApprovalPresentation.diff({ path, before: "one\ntwo\n", after: content }),
      (presentation) => Approval.needsApproval({ presentation, reason: "It changes a file." })
    )
})

const Run = Tool.make("Run", { parameters: { command: Schema.String }, success: Schema.String, needsApproval: true })

const Trip = Schema.Struct({
  name: Schema.String.check(Schema.isPattern(/^[A-Z]/, { expected: "a name with a capital letter" })),
  nights: Schema.Int,
  board: Schema.Literals(["none", "half", "full"]),
  window: Schema.Boolean,
  note: Schema.optionalKey(Schema.String)
})

const Book = DeferredTool.make("Book", {
  parameters: { city: Schema.String },
  success: Schema.String,
  state: Schema.Array(Schema.String),
  interactions: {
    why: Interaction.askUser,
    boss: Interaction.getApproval,
    train: Interaction.selectOptions,
    extras: Interaction.selectMany,
    trip: Interaction.form(Trip)
  }
})

const toolkit = Toolkit.make(WriteFile, Run, Book)

const Handlers = toolkit.toLayer({
  WriteFile: (params) => Effect.as(tell({ ran: "WriteFile", params }), "written"),
  Run: (params) => Effect.as(tell({ ran: "Run", params }), "ran"),
  Book: DeferredTool.handler(Book, {
    start: ({ city }) => Book.suspend.why({ prompt: `Why ${city}?\nBe honest.` }, [city]),
    resume: {
      why: (why, said) => Book.suspend.boss({ prompt: `May they go? "${why}"` }, [...said, why]),
      boss: ({ approved, note }, said) =>
        approved
          ? Book.suspend.train({
            prompt: "Which train?",
            options: ["7:00", { value: "9:00", label: "nine", description: "with a change in Ulm" }]
          }, [...said, String(note)])
          : Effect.succeed(`no: ${note}`),
      train: (train, said) =>
        Book.suspend.extras({ prompt: "Anything else?", options: ["seat", "bike", "lunch"] }, [...said, train]),
      extras: (extras, said) => Book.suspend.trip({ prompt: "Tell more." }, [...said, extras.join("+")]),
      trip: (trip, said) => Effect.as(tell({ ran: "Book", said, trip }), "booked")
    }
  })
})

const call = (name: string, params: object, id = "call-1") => ScriptedModel.toolCall({ id, name, params })

const write = (path: string, id?: string) => call("WriteFile", { path, content: "one\n2\n" }, id)

const turns: Record<string, ReadonlyArray<ReadonlyArray<ReturnType<typeof call>>>> = {
  approve: [[write("src/app.ts")]],
  deny: [[write("src/app.ts")]],
  edit: [[write("src/app.ts")]],
  // Four calls in turn: the third and fourth are asked only if nothing that was remembered covers them.
  session: [[write("src/ui/a.ts")], [write("src/ui/b.ts")], [write("src/c.ts")]],
  same: [[call("Run", { command: "ls" })], [call("Run", { command: "ls" })], [call("Run", { command: "ls -a" })]],
  tool: [[call("Run", { command: "ls" })], [call("Run", { command: "date" })]],
  batch: [[write("a.txt", "call-1"), call("Run", { command: "ls" }, "call-2"), write("b.txt", "call-3")]],
  each: [[call("Run", { command: "ls" }, "call-1"), call("Run", { command: "date" }, "call-2")]],
  book: [[call("Book", { city: "Ulm" })]],
  stop: [[write("src/app.ts", "call-1"), call("Run", { command: "ls" }, "call-2")]],
  on: [[call("Run", { command: "ls" }, "call-1"), call("Run", { command: "pwd" }, "call-2")], [
    call("Run", { command: "date" }, "call-3")
  ]]
}

/** A journal that tells what stands in it, also where a run ends with that. */
const Journal = Layer.effect(
  ApprovalJournal.ApprovalJournal,
  Effect.map(ApprovalJournal.ApprovalJournal, (journal): ApprovalJournal.Service => ({
    ...journal,
    end: (claim, state, reason) =>
      Effect.ensuring(
        journal.end(claim, state, reason),
        Effect.flatMap(Effect.orDie(journal.find(claim)), (entry) =>
          entry === undefined
            ? Effect.void
            : tell({ journal: entry.state, call: claim.toolCallId, reason: entry.reason }))
      )
  }))
).pipe(Layer.provide(ApprovalJournal.layerMemory()))

const Seal = ApprovalSeal.layer({ key: randomBytes(32).toString("base64") })

const controllers: Record<string, TerminalController.Options> = {
  batch: { batch: { unticked: "deny" } },
  each: { batch: { unticked: "ask" } },
  on: { batch: { unticked: "ask" } }
}

const play = (scene: string) =>
  Effect.forEach(turns[scene]!, (calls) =>
    Effect.gen(function*() {
      const { content } = yield* LanguageModel.generateText({ prompt: "Go on.", toolkit }).pipe(
        Effect.provide(ScriptedModel.layer({ turns: [[...calls]] }).pipe(LanguageModel.approval()))
      )
      for (const part of content) {
        if (part.type === "tool-result") yield* tell({ told: part.id, isFailure: part.isFailure, result: part.result })
        if (part.type === "tool-approval-request") yield* tell({ open: part.toolCallId })
      }
    })).pipe(
      // What is remembered in one scene is nothing to another.
      Effect.provideService(Approval.Scope, { conversation: scene }),
      Effect.andThen(tell({ scene })),
      Effect.andThen(Console.log(`-- ${scene} is over --`)),
      scene === "on" ? (self) => self : TerminalController.untilStopped,
      Effect.provide(TerminalController.layer(controllers[scene]))
    )

const program = Effect.gen(function*() {
  yield* Effect.addFinalizer(() => tell({ finalizer: "ran" }))
  for (const scene of scenes) yield* play(scene)
}).pipe(
  Effect.scoped,
  Effect.provide(Layer.mergeAll(Handlers, Journal, Seal, ApprovalMemory.layerSession(), SuspensionStore.layerMemory)),
  Effect.provide(NodeServices.layer)
)

NodeRuntime.runMain(program)
