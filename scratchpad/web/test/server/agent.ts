/**
 * An agent whose model understands a few words, so that it knows what to do next from the conversation alone, also after its
 * server was killed: `delete a b`, `mail ann`, `search cats`, `deploy site`, `write TEXT`, `ask`, `seat`, `tell`, `say TEXT`,
 * `both NAME PATH`, `call NAME` and `break`. Where something takes time, it waits until the test lets it go on.
 */
import { AiError, ApprovalPresentation, DeferredTool, Interaction, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { World } from "./world.ts"

const DeleteFile = Tool.make("DeleteFile", {
  parameters: { path: Schema.String },
  success: Schema.Struct({ deleted: Schema.String }),
  needsApproval: true
})

const SendMail = Tool.make("SendMail", {
  parameters: { to: Schema.String },
  success: Schema.String,
  needsApproval: true
})

const Search = Tool.make("Search", { parameters: { words: Schema.String }, success: Schema.String })

const Deploy = Tool.make("Deploy", {
  parameters: { site: Schema.String },
  success: Schema.String,
  failure: Schema.String,
  failureMode: "return",
  needsApproval: true
})

const WriteFile = Tool.present(
  Tool.make("WriteFile", {
    parameters: { path: Schema.String, content: Schema.String },
    success: Schema.String,
    needsApproval: true
  }),
  ({ content, path }) => ApprovalPresentation.diff({ path, before: "old\n", after: `${content}\n` })
)

const Ask = DeferredTool.make("Ask", {
  parameters: { question: Schema.String },
  success: Schema.String,
  interactions: { answer: Interaction.askUser }
})

const BookSeat = DeferredTool.make("BookSeat", {
  parameters: { train: Schema.String },
  success: Schema.String,
  interactions: { seat: Interaction.form(Schema.Struct({ seat: Schema.String, quiet: Schema.Boolean })) }
})

export const toolkit = Toolkit.make(DeleteFile, SendMail, Search, Deploy, WriteFile, Ask, BookSeat)

/** The handlers and the model. */
export const layerOf = ({ tell, wait }: World) => {
  const slowly = (name: string) =>
    Effect.andThen(Effect.sync(() => tell(`begun ${name}`)), Effect.promise(() => wait(name)))
  const ran = (name: string) => Effect.sync(() => tell(`ran ${name}`))

  const Handlers = toolkit.toLayer({
    DeleteFile: ({ path }) => Effect.as(ran(`delete ${path}`), { deleted: path }),
    SendMail: ({ to }) => slowly(`mail ${to}`).pipe(Effect.andThen(ran(`mail ${to}`)), Effect.as(`sent to ${to}`)),
    Search: ({ words }, context) =>
      context.preliminary(`looking for ${words}`).pipe(
        Effect.andThen(slowly(`search ${words}`)),
        Effect.andThen(ran(`search ${words}`)),
        Effect.as(`3 pages about ${words}`)
      ),
    Deploy: ({ site }) => Effect.andThen(ran(`deploy ${site}`), Effect.fail(`The disk of ${site} is full.`)),
    WriteFile: ({ path }) => Effect.as(ran(`write ${path}`), `wrote ${path}`),
    Ask: DeferredTool.handler(Ask, {
      start: ({ question }) => Ask.suspend.answer({ prompt: question }),
      resume: { answer: (answer) => Effect.as(ran(`ask ${answer}`), `They said: ${answer}`) }
    }),
    BookSeat: DeferredTool.handler(BookSeat, {
      start: ({ train }) => BookSeat.suspend.seat({ prompt: `Which seat on the ${train}?` }),
      resume: {
        seat: ({ quiet, seat }) =>
          Effect.as(ran(`seat ${seat} ${quiet}`), `seat ${seat}, ${quiet ? "quiet" : "not quiet"}`)
      }
    })
  })

  const Model = ScriptedModel.layer({
    turns: [],
    afterLastTurn: ({ prompt }) => {
      const last = prompt.content.at(-1)
      const calls = prompt.content.flatMap(({ content }) =>
        typeof content === "string"
          ? []
          : Array.from<{ readonly type: string }>(content).filter(({ type }) => type === "tool-call")
      ).length
      if (last?.role !== "user") return `Finished ${calls}.`
      const text = last.content.map((part) => part.type === "text" ? part.text : "").join("")
      return turnOf(text, { calls, tell, wait })
    }
  })
  return Layer.merge(Handlers, Model)
}

interface Asked extends World {
  /** How many calls were made before. */
  readonly calls: number
}

const turnOf = (text: string, { calls, tell, wait }: Asked): ScriptedModel.Turn => {
  const [word = "", ...words] = text.split(" ")
  const rest = words.join(" ")
  const one = (name: string, params: unknown, index = 0) =>
    ScriptedModel.toolCall({ id: `call-${calls + index + 1}`, name, params })
  switch (word) {
    case "delete":
      return [ScriptedModel.text("Let me clean up."), ...words.map((path, index) => one("DeleteFile", { path }, index))]
    case "both":
      return [one("SendMail", { to: words[0] }), one("DeleteFile", { path: words[1] }, 1)]
    case "mail":
      return [one("SendMail", { to: rest })]
    case "search":
      return [one("Search", { words: rest })]
    case "deploy":
      return [one("Deploy", { site: rest })]
    case "write":
      return [one("WriteFile", { path: "notes.txt", content: rest })]
    case "ask":
      return [one("Ask", { question: "What is the password of the day?" })]
    case "seat":
      return [one("BookSeat", { train: "night train" })]
    case "call":
      return [one(rest, { path: "x" })]
    case "tell":
      return [
        { type: "text-start", id: "story" },
        { type: "text-delta", id: "story", delta: "Once upon a time " },
        ScriptedModel.pause(
          Effect.andThen(Effect.sync(() => tell("begun story")), Effect.promise(() => wait("story")))
        ),
        { type: "text-delta", id: "story", delta: "there was a queue." },
        { type: "text-end", id: "story" }
      ]
    case "break":
      return AiError.make({
        module: "agent",
        method: "streamText",
        reason: new AiError.UnknownError({ description: "the key is sk-secret" })
      })
    default:
      return rest === "" ? `You said ${word}.` : rest
  }
}
