/** What a conversation says: its tool calls with their results, and all of it for a screen. */
import { Approval, type Prompt, Tool } from "@assent/ai"
import { Option, Predicate, Schema } from "effect"

/** A call with its result. `path` is the file it is about; `refused`, why it did not run. */
export interface Exchange {
  readonly tool: string
  readonly path: string
  readonly result: unknown
  readonly refused: string | undefined
}

export const exchanges = (prompt: Prompt.Prompt): ReadonlyArray<Exchange> => {
  const parts = prompt.content.flatMap(partsOf)
  const paths = new Map(parts.map((part) => part.type === "tool-call" ? [part.id, pathOf(part.params)] : ["", ""]))
  return parts.filter((part) => part.type === "tool-result").map(({ id, isFailure, name, result }) => {
    const reason = Option.match(decodeFailure(result), { onNone: () => String(result), onSome: ({ reason }) => reason })
    return { tool: name, path: paths.get(id) ?? "", result, refused: isFailure ? reason : undefined }
  })
}

const partsOf = (message: Prompt.Message): ReadonlyArray<Prompt.Part> =>
  message.role === "system" ? [] : message.content

export const pathOf = (params: unknown): string => Predicate.hasProperty(params, "path") ? String(params.path) : ""

const decodeFailure = Schema.decodeUnknownOption(Tool.ExecutionFailure)

/** The conversation, a line for each part. */
export const lines = (prompt: Prompt.Prompt): ReadonlyArray<string> =>
  prompt.content.flatMap((message) =>
    partsOf(message).flatMap((part) => {
      switch (part.type) {
        case "text":
          return line(message.role, part.text)
        case "tool-call":
          return line(message.role, cut(`${part.id}: ${Approval.describe(part.name, part.params)}`, 69))
        case "tool-result":
          return line(message.role, `${part.id}: ${clip(JSON.stringify(part.result), 66 - part.id.length)}`)
        case "reasoning":
          return part.text === "" ? [] : line(message.role, clip(part.text, 69))
        default:
          return line(message.role, part.type)
      }
    })
  )

/** Text beside its speaker. Nothing in it can move the cursor or turn what stands around it (law L15). */
export const line = (who: string, text: string): string =>
  who.padEnd(11) + Approval.escapeText(text, { multiline: true }).replaceAll("\n", `\n${" ".repeat(11)}`)

/** The beginning of a text, escaped, in a width. */
export const clip = (text: string, width: number): string => cut(Approval.escapeText(text, { maxLength: width }), width)

const cut = (text: string, width: number): string => text.length > width ? `${text.slice(0, width - 1)}…` : text
