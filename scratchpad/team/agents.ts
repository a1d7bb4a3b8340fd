/**
 * The team: a lead who pays nothing, a researcher who only looks, and a treasurer whose payments two people must approve. What
 * is paid stands in a file, so that a second time would show.
 */
import { AgentTool, Approval, ApprovalPresentation, type Prompt, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { Context, Effect, FileSystem, Schema } from "effect"

/** Where payments are written. */
export class Office extends Context.Service<Office, { readonly directory: string }>()("Office") {}

// =============================================================================
// The researcher
// =============================================================================

const Search = Tool.make("Search", {
  description: "Looks up what something costs",
  parameters: { what: Schema.String },
  success: Schema.String
})

const Researcher = AgentTool.make("Researcher", {
  description: "Finds out what something costs",
  parameters: { question: Schema.String },
  success: Schema.String
})

const library = Toolkit.make(Search)

const prices: Readonly<Record<string, number>> = { lamp: 120, chair: 300 }

const LibraryHandlers = library.toLayer({
  Search: ({ what }) => Effect.succeed(prices[what] === undefined ? "nobody sells that" : `${prices[what]}`)
})

// =============================================================================
// The treasurer
// =============================================================================

const Pay = Tool.make("Pay", {
  description: "Pays money",
  parameters: { to: Schema.String, amount: Schema.Number },
  success: Schema.String,
  needsApproval: ({ amount, to }) =>
    Approval.needsApproval({
      presentation: ApprovalPresentation.text(`Pay $${amount} to ${to}`),
      // One of each list.
      approvers: [["grace"], ["kim"]]
    })
})

const Treasurer = AgentTool.make("Treasurer", {
  description: "Pays what the lead asks for, if it is allowed to",
  parameters: { for: Schema.String, amount: Schema.Number },
  success: Schema.String
})

const treasury = Toolkit.make(Pay)

const TreasuryHandlers = treasury.toLayer(Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const { directory } = yield* Office
  return {
    Pay: ({ amount, to }) =>
      Effect.as(
        Effect.orDie(fs.writeFileString(`${directory}/paid`, `${amount} to ${to}\n`, { flag: "a" })),
        `paid ${amount} to ${to}`
      )
  }
}))

// =============================================================================
// The lead
// =============================================================================

/** What the lead can do: ask the other two. Neither its tools nor its answers are theirs. */
export const toolkit = Toolkit.make(Researcher, Treasurer)

export const Handlers = toolkit.toLayer(Effect.gen(function*() {
  const looking = yield* Effect.provide(library, LibraryHandlers)
  const paying = yield* Effect.provide(treasury, TreasuryHandlers)
  return {
    Researcher: AgentTool.handler(Researcher, {
      toolkit: looking,
      instructions: "You are the researcher.",
      prompt: ({ question }) => question,
      limits: { steps: 5 }
    }),
    Treasurer: AgentTool.handler(Treasurer, {
      toolkit: paying,
      instructions: "You are the treasurer.",
      prompt: ({ amount, for: what }) => `Pay ${amount} for the ${what}.`,
      limits: { steps: 5, time: "1 hour" }
    })
  }
}))

// =============================================================================
// The model: what each of them does follows from what it was told, and from the results it has seen
// =============================================================================

const textOf = (message: Prompt.Message | undefined): string =>
  message?.role === "system"
    ? message.content
    : message?.role === "user"
    ? message.content.map((part) => part.type === "text" ? part.text : "").join("")
    : ""

const call = (name: string, params: unknown) => [ScriptedModel.toolCall({ id: `call-${name}`, name, params })]

export const Model = ScriptedModel.layer({
  turns: [],
  afterLastTurn: ({ prompt: { content } }) => {
    const at = content.findLastIndex(({ role }) => role === "user")
    const task = textOf(content[at])
    const results = content.slice(at).flatMap((message) => message.role === "tool" ? message.content : [])
      .flatMap((part) => part.type === "tool-result" ? [part] : [])
    const last = results.at(-1)
    const said = last === undefined ? "" : last.isFailure ? "it was not done" : String(last.result)
    const what = Object.keys(prices).find((name) => task.includes(name)) ?? "thing"
    switch (textOf(content[0])) {
      case "You are the researcher.":
        return results.length === 0 ? call("Search", { what }) : said
      case "You are the treasurer.":
        return results.length === 0
          ? call("Pay", { to: "Lamps & Chairs Ltd", amount: Number(/\d+/.exec(task)?.[0]) })
          : said
      default:
        if (!task.startsWith("Buy")) return "As you wish. Nothing is bought."
        return results.length === 0
          ? call("Researcher", { question: `What does a ${what} cost?` })
          : results.length === 1
          ? call("Treasurer", { for: what, amount: Number(said) })
          : `The ${what}: ${said}.`
    }
  }
})
