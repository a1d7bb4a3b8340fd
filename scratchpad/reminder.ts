/**
 * A tool that waits for a moment. The first reminder fires while the program runs; the second while it does not, and so
 * it fires as soon as a program runs again, and says how late it is.
 */
import { Conversation, DeferredTool, Interaction, SuspensionStore, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { SqlApproval } from "@assent/sql"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Deferred, Effect, FileSystem, Layer, Schema } from "effect"
import * as Story from "./waiting/story.ts"

const Remind = DeferredTool.make("Remind", {
  description: "Reminds the user of something",
  parameters: { of: Schema.String, inSeconds: Schema.Number },
  success: Schema.String,
  state: Schema.String,
  interactions: { later: Interaction.timer }
})

const toolkit = Toolkit.make(Remind)

const Handlers = toolkit.toLayer({
  Remind: DeferredTool.handler(Remind, {
    start: ({ inSeconds, of }) => Remind.suspend.later({ after: `${inSeconds} seconds`, prompt: of }, of),
    resume: {
      later: ({ dueAt, firedAt }, of) =>
        Effect.succeed(`It is time: ${of}!${firedAt - dueAt > 400 ? " I am late, I was not running." : ""}`)
    }
  })
})

const remind = (of: string, inSeconds: number) => [
  ScriptedModel.toolCall({ id: `call-${of}`, name: "Remind", params: { of, inSeconds } })
]

/** One run of the program: everything it has comes from the file. */
const run = <A, E>(
  turns: ReadonlyArray<ScriptedModel.Turn>,
  use: Effect.Effect<A, E, Layer.Success<ReturnType<typeof Program>>>
) =>
(filename: string) => Effect.provide(use, Program(turns, filename))

const Program = (turns: ReadonlyArray<ScriptedModel.Turn>, filename: string) =>
  Layer.mergeAll(
    Handlers,
    ScriptedModel.layer({ turns }),
    SqlApproval.layer({ filename })
  )

const open = Conversation.make({ id: "reminders", toolkit })

/** Watches for timers until the conversation has said something. */
const wakened = Effect.gen(function*() {
  const conversation = yield* open
  const woken = yield* Deferred.make<Effect.Success<typeof conversation.wake>>()
  const watching = SuspensionStore.watchTimers(
    ({ scope }) =>
      scope.conversation === conversation.id
        ? Effect.flatMap(conversation.wake, (outcome) => Deferred.succeed(woken, outcome))
        : Effect.void,
    { interval: "50 millis" }
  )
  return yield* Effect.raceFirst(watching, Deferred.await(woken))
})

const first = run(
  [remind("tea", 0.3), Story.lastResult, remind("the cake", 0.2)],
  Effect.gen(function*() {
    const conversation = yield* open
    yield* Story.line("you", "Remind me of the tea.")
    yield* Story.waits(yield* conversation.send("Remind me of the tea."))
    yield* Story.says(yield* wakened, "It is time: tea!")
    yield* Story.line("you", "And of the cake.")
    yield* Story.waits(yield* conversation.send("And of the cake."))
  })
)

const second = run([Story.lastResult], Effect.flatMap(wakened, (turn) => Story.says(turn, "the cake! I am late")))

const program = Effect.gen(function*() {
  const directory = yield* FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "reminder-" }))
  const filename = `${directory}/reminders.db`
  yield* first(filename)
  yield* Story.line("", "… the program stops, the cake is done, the program starts …")
  yield* Effect.sleep("700 millis")
  yield* second(filename)
})

program.pipe(Effect.scoped, Effect.provide(NodeServices.layer), NodeRuntime.runMain)
