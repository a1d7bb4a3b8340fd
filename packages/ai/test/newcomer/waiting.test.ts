/**
 * What a program without types is told whose tools wait, or are agents, and return something else than an Effect: effect
 * would wait for that without end, and the conversation with it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  AgentTool,
  Conversation,
  DeferredTool,
  Interaction,
  LanguageModel,
  type Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"

const Book = DeferredTool.make("Book", {
  parameters: { room: Schema.String },
  success: Schema.String,
  state: Schema.String,
  interactions: { name: Interaction.askUser, soon: Interaction.timer }
})

const Clerk = AgentTool.make("Clerk", { parameters: { room: Schema.String }, success: Schema.String })

const ask = ({ room }: { readonly room: string }) => Book.suspend.name({ prompt: "Who comes?" }, room)

type Given = () => never

/** What each of them says is to be written. */
const places: Record<
  string,
  { readonly tool: Tool.Any; readonly handler: (given: Given) => unknown; readonly says: string }
> = {
  "a tool that begins to wait": {
    tool: Book,
    handler: (given) => DeferredTool.handler(Book, { start: given, resume: { name: given, soon: given } }),
    says: "start: (params)"
  },
  "a tool that goes on": {
    tool: Book,
    handler: (given) => DeferredTool.handler(Book, { start: ask, resume: { name: given, soon: given } }),
    says: "name: (answer, state)"
  },
  "an agent": {
    tool: Clerk,
    handler: (given) =>
      AgentTool.handler(Clerk, { toolkit: Toolkit.empty, prompt: ({ room }) => `Book ${room}.`, result: given }),
    says: "result: (completed)"
  }
}

const returned: Record<string, () => unknown> = {
  "a text": () => "booked",
  "a Promise": () => Promise.resolve("booked"),
  "a Promise that is rejected": () => Promise.reject(new Error("full")),
  nothing: () => undefined
}

describe("what is no Effect", () => {
  for (const [where, { handler, says, tool }] of Object.entries(places)) {
    for (const [what, given] of Object.entries(returned)) {
      it.effect(`${what}, of ${where}, ends the turn with what to write`, () =>
        Effect.gen(function*() {
          const toolkit = Toolkit.make(tool)
          const { model } = yield* ScriptedModel.make({
            turns: [[ScriptedModel.toolCall({ id: "c1", name: tool.name, params: { room: "7" } })], "Done."],
            afterLastTurn: "repeat"
          })
          const handlers = toolkit.toLayer({ [tool.name]: handler(given as Given) } as never)
          const turns = Effect.gen(function*() {
            const conversation = yield* Conversation.make({ id: `${what} of ${where}`, toolkit })
            yield* conversation.send("Book room 7.")
            yield* conversation.send("Ada")
          }).pipe(Effect.provideService(LanguageModel.LanguageModel, model), Effect.provide(handlers))
          const defect = yield* Effect.catchDefect(Effect.as(turns as Effect.Effect<void>, undefined), Effect.succeed)
          assert.instanceOf(defect, Error)
          assert.strictEqual(defect.name, "NotAnEffect")
          assert.include(defect.message, `the handler of "${tool.name}" returned`)
          assert.include(defect.message, ` Write ${says} => Effect.`)
        }))
    }
  }
})
