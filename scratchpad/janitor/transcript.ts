/** A conversation's tool calls with their results, and the whole of it for a screen. */
import { Approval, type Prompt, Tool } from "@assent/ai"
import { Option, Predicate, Schema } from "effect"

/** A tool call that has its result; `denied` is the reason of whoever said no. */
export interface Exchange {
  readonly tool: string
  readonly params: unknown
  readonly result: unknown
  readonly isFailure: boolean
  readonly denied: string | undefined
}

export const exchanges = (prompt: Prompt.Prompt): ReadonlyArray<Exchange> => {
  const params = new Map<string, unknown>()
  const found: Array<Exchange> = []
  for (const message of prompt.content) {
    if (message.role === "system") continue
    for (const part of message.content) {
      if (part.type === "tool-call") params.set(part.id, part.params)
      if (part.type !== "tool-result") continue
      const { isFailure, name, result } = part
      found.push({ tool: name, params: params.get(part.id), result, isFailure, denied: deniedReason(part) })
    }
  }
  return found
}

const decodeFailure = Schema.decodeUnknownOption(Tool.ExecutionFailure)

const deniedReason = ({ isFailure, result }: Prompt.ToolResultPart): string | undefined => {
  const failure = isFailure ? Option.getOrUndefined(decodeFailure(result)) : undefined
  return failure?.type === "execution-denied" ? failure.reason : undefined
}

/** The name of the file that a call is about. */
export const fileOf = ({ params }: Exchange): string =>
  Predicate.hasProperty(params, "name") ? String(params.name) : "no file"

/** One line for each part: who, and what. Nothing in it can move the cursor or turn the text around (law L15). */
export const lines = (prompt: Prompt.Prompt): ReadonlyArray<string> =>
  prompt.content.flatMap((message) =>
    message.role === "system" ? [line(message.role, message.content)] : message.content.map((part) => {
      switch (part.type) {
        case "text":
          return line(message.role, part.text)
        case "tool-call":
          return line(message.role, `-> ${Approval.describe(part.name, part.params)}`)
        case "tool-result":
          return line(message.role, `<- ${part.name}: ${JSON.stringify(part.result)}`)
        default:
          return line(message.role, `(${part.type})`)
      }
    })
  )

/** Text in a column of its own. */
export const line = (who: string, text: string): string => {
  const words = Approval.escapeText(text, { multiline: true, maxLength: 400 }).split(/\s+/)
  const rows = [""]
  for (const word of words) {
    const row = rows.at(-1)
    if (row === "") rows[rows.length - 1] = word
    else if (`${row} ${word}`.length > 80 - indent) rows.push(word)
    else rows[rows.length - 1] += ` ${word}`
  }
  return `${who.padEnd(indent)}${rows.join(`\n${" ".repeat(indent)}`)}`
}

const indent = 11
