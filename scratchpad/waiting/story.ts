/** What the examples of tools that wait share: how a turn is told, and what a scripted model reads in its prompt. */
import type { Approval, Prompt } from "@assent/ai"
import { Console, Effect, Schema } from "effect"

/** The story went otherwise than it should: the program ends with 1. */
export class WentWrong extends Schema.TaggedError<WentWrong>()("WentWrong", { message: Schema.String }) {}

interface Turn {
  readonly _tag: "Completed" | "Waiting" | "Limited" | "Stopped"
  readonly text: string
  readonly requests?: ReadonlyArray<Approval.ApprovalRequest>
}

/** What somebody says or does. */
export const line = (who: string, what: string) => Console.log(`${who.padEnd(10)} ${what}`)

/** A turn that is to wait: shows what for, and gives the requests. */
export const waits = Effect.fnUntraced(function*(turn: Turn | undefined, expected = 1) {
  const { requests = [], text } = turn ?? {}
  if (text) yield* line("agent", text)
  for (const { awaited, description, interaction, reason } of requests) {
    yield* line("waits for", `${interaction}: ${description}`)
    if (reason !== undefined) yield* line("", reason)
    for (const { label } of awaited?.options ?? []) yield* line("", `- ${label}`)
  }
  return turn?._tag === "Waiting" && requests.length === expected
    ? requests
    : yield* new WentWrong({ message: `It should wait for ${expected}, and is ${turn?._tag}: ${text}` })
})

/** A turn that is to be done: shows what the agent said last, which is to have these words in it. */
export const says = Effect.fnUntraced(function*(turn: Turn | undefined, words: string) {
  if (turn?._tag !== "Completed" || !turn.text.includes(words)) {
    return yield* new WentWrong({ message: `It should say "${words}", and is ${turn?._tag}: ${turn?.text}` })
  }
  yield* line("agent", turn.text)
})

/** What was to be, is. */
export const expect = (what: boolean, message: string) => what ? Effect.void : Effect.fail(new WentWrong({ message }))

/** The result that the model reads last, in its own words. */
export const lastResult = ({ prompt }: { readonly prompt: Prompt.Prompt }): string => {
  const message = prompt.content.findLast(({ role }) => role === "tool")
  const part = message?.role === "tool" ? message.content.findLast(({ type }) => type === "tool-result") : undefined
  if (part?.type !== "tool-result") return "I have no result."
  return typeof part.result === "string" ? part.result : JSON.stringify(part.result)
}
