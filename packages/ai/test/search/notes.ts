/**
 * What the model is told in the user's role without a user having said it (law L7): results that came late, and that it was
 * cut short. Written from the laws (DESIGN §5), not from the engine.
 */
import type { Prompt } from "../../src/index.ts"

/** Whether a message of a prompt is such a note. */
export const isNote = (message: Prompt.Message): boolean => textsOf(message).some((text) => opening.test(text))

const opening = /^<(late-tool-result|message-cut)>\n/

const textsOf = (message: Prompt.Message): ReadonlyArray<string> =>
  message.role === "user" ? message.content.flatMap((part) => part.type === "text" ? [part.text] : []) : []

/** What a note says of a call. */
export interface Late {
  readonly tool: string
  readonly toolCallId: string
  readonly isFailure: boolean
  readonly result?: unknown
  readonly output?: ReadonlyArray<unknown>
  /** Of what ended without a result of its tool. */
  readonly outcome?: "denied" | "interrupted"
}

/** What a prompt tells late, in its order. */
export const lateIn = ({ content }: Prompt.Prompt): ReadonlyArray<Late> =>
  content.flatMap(textsOf).flatMap((text) => {
    const [start, , json, end, ...more] = text.split("\n")
    return start === "<late-tool-result>" && end === "</late-tool-result>" && more.length === 0
      ? [JSON.parse(json!) as Late]
      : []
  })

/** Whether the model has said something that the program lets it go on with, or sends it again as it stands. */
export const isPrefilled = ({ content }: Prompt.Prompt): boolean => {
  const last = content.at(-1)
  return last?.role === "assistant" && says(last)
}

const says = ({ content }: Prompt.AssistantMessage): boolean =>
  content.some((part) =>
    part.type !== "tool-approval-request" && (part.type !== "tool-result" || part.providerExecuted === true)
  )

/** Whether the last who said anything in a prompt is the model: nothing but answers and results stands behind it. */
export const endsWithModel = ({ content }: Prompt.Prompt): boolean =>
  content.findLast((message) => message.role === "assistant" ? says(message) : message.role !== "tool")?.role ===
    "assistant"
