/** A tool that waits for one kind after the other, for tests over random stories: its steps are counted. */
import { Effect, Schema } from "effect"
import { Approval, DeferredTool, Interaction, type Prompt, Toolkit } from "../../src/index.ts"
import * as Support from "./support.ts"

export const kinds = ["text", "verdict", "options", "event", "timer"] as const

export type Kind = (typeof kinds)[number]

/** A tool that waits again and again, each time for the next kind, until it is told the end; it counts its steps. */
export const Chain = DeferredTool.make("Chain", {
  parameters: { id: Schema.String, kinds: Schema.Array(Schema.Literals(kinds)) },
  success: Schema.String,
  state: Schema.Struct({ id: Schema.String, step: Schema.Number, kinds: Schema.Array(Schema.Literals(kinds)) }),
  needsApproval: ({ id }) => id.startsWith("gated"),
  interactions: {
    text: Interaction.askUser,
    verdict: Interaction.getApproval,
    options: Interaction.selectOptions,
    event: Interaction.external(Schema.Number),
    timer: Interaction.timer
  }
})

export const kit = Toolkit.make(Chain, Support.ReadFile)

/** The toolkit with it; the name of each step is added to `steps`. */
export const makeToolkit = (steps: Array<string>) => {
  const wait = (state: DeferredTool.State<typeof Chain>): DeferredTool.Ending<typeof Chain> => {
    switch (state.kinds[state.step]) {
      case "text":
        return Chain.suspend.text({ prompt: "?" }, state)
      case "verdict":
        return Chain.suspend.verdict({ prompt: "?" }, state)
      case "options":
        return Chain.suspend.options({ prompt: "?", options: ["a", "b"] }, state)
      case "event":
        return Chain.suspend.event({}, state)
      case "timer":
        return Chain.suspend.timer({ after: "1 hour" }, state)
      case undefined:
        return Effect.succeed(`${state.id} after ${state.step}`)
    }
  }
  const next = (_: unknown, { id, kinds, step }: DeferredTool.State<typeof Chain>) =>
    Effect.suspend(() => {
      steps.push(`${id} ${step}`)
      return wait({ id, kinds, step: step + 1 })
    })
  return Effect.map(
    Effect.provide(
      kit,
      kit.toLayer({
        Chain: DeferredTool.handler(Chain, {
          start: ({ id, kinds }) =>
            Effect.suspend(() => {
              steps.push(`${id} start`)
              return wait({ id, kinds, step: 0 })
            }),
          resume: { text: next, verdict: next, options: next, event: next, timer: next }
        }),
        ReadFile: ({ path }) => Effect.succeed(path)
      })
    ),
    (toolkit) => toolkit as unknown as Support.AnyToolkit
  )
}

/** An answer that fits. */
export const right = (request: Approval.ApprovalRequest): Approval.ApprovalAnswer => {
  switch (request.awaited?.name as Kind | undefined) {
    case "text":
      return Approval.answer(request, "yes")
    case "options":
      return Approval.answer(request, "a")
    // Counts for nothing in a history.
    case "event":
    case "timer":
      return Approval.answer(request, 1)
    case "verdict":
    case undefined:
      return Approval.approve(request)
  }
}

/** The calls of a history that have no result, by their ids; each result is counted once. */
export const unanswered = (history: Prompt.Prompt): ReadonlyArray<string> => {
  const left: Array<string> = []
  for (const part of Support.partsOf(history)) {
    if (part.type === "tool-call") left.push(part.id)
    else if (part.type === "tool-result" && left.includes(part.id)) left.splice(left.indexOf(part.id), 1)
  }
  return left
}

export const countOf = (history: Prompt.Prompt, type: Prompt.Part["type"]): number =>
  Support.partsOf(history).filter((part) => part.type === type).length
