/**
 * Histories without approvals, well formed as law L7 wants them: any other history the engine rewrites, so that there is
 * nothing to compare.
 */
import { Prompt } from "effect/ai"
import * as Schema from "effect/Schema"
import type * as Scenario from "./scenario.ts"
import * as Tools from "./tools.ts"

const bytes = new Uint8Array([0, 1, 254, 255])

/** What a provider or a program keeps of its own on a part or a message. */
const optionsOf = (some: boolean) => some ? { options: { provider: { cached: true, list: [1, null] } } } : {}

type AssistantItem = Extract<Scenario.HistoryMessage, { readonly role: "assistant" }>["parts"][number]
type CallItem = Extract<AssistantItem, { readonly name: unknown }>
type SpeechItem = Exclude<AssistantItem, CallItem>

const speech = ({ kind, options, text }: SpeechItem) => {
  switch (kind) {
    case "text":
      return Prompt.textPart({ text, ...optionsOf(options) })
    case "reasoning":
      return Prompt.reasoningPart({ text, ...optionsOf(options) })
    case "file":
      return Prompt.filePart({
        mediaType: "image/png",
        data: text.length % 2 === 0 ? bytes : new URL("https://example.com/a.png"),
        ...(options ? { fileName: "a.png" } : {}),
        ...optionsOf(options)
      })
  }
}

const result = (item: CallItem, providerExecuted: boolean): Prompt.ToolResultPart =>
  Prompt.toolResultPart({
    id: item.id,
    name: item.name,
    isFailure: item.result === "failure",
    result: item.result === "null" ? null : { ended: item.result },
    providerExecuted,
    ...(item.result === "modelOutput" ? { modelOutput: [Prompt.textPart({ text: "for the model" })] } : {}),
    ...optionsOf(item.options)
  })

const call = (item: CallItem, providerExecuted: boolean): Prompt.ToolCallPart =>
  Prompt.toolCallPart({
    id: item.id,
    name: item.name,
    params: Tools.paramsOf(item.name, item.params),
    providerExecuted,
    ...optionsOf(item.options)
  })

const assistant = (
  message: Extract<Scenario.HistoryMessage, { readonly role: "assistant" }>
): ReadonlyArray<Prompt.Message> => {
  const content: Array<Prompt.AssistantMessagePart> = []
  const results: Array<Prompt.ToolResultPart> = []
  // An id comes once in a message; two of one id are renamed (law L13).
  const ids = new Set<string>()
  for (const item of message.parts) {
    if (!("name" in item)) {
      content.push(speech(item))
      continue
    }
    if (ids.has(item.id)) continue
    ids.add(item.id)
    content.push(call(item, item.kind === "provider"))
    if (item.kind === "provider") content.push(result(item, true))
    else results.push(result(item, false))
  }
  const answered = message.reversed ? results.toReversed() : results
  return [
    Prompt.assistantMessage({ content, ...optionsOf(message.options) }),
    ...(answered.length === 0 ? [] : [Prompt.toolMessage({ content: answered, ...optionsOf(message.options) })])
  ]
}

export const messagesOf = (history: ReadonlyArray<Scenario.HistoryMessage>): ReadonlyArray<Prompt.Message> =>
  history.flatMap((message): ReadonlyArray<Prompt.Message> => {
    switch (message.role) {
      case "system":
        return [Prompt.systemMessage({ content: message.text, ...optionsOf(message.options) })]
      case "user":
        return [
          Prompt.userMessage({
            content: message.parts.map((part) =>
              speech({ ...part, kind: part.kind === "reasoning" ? "text" : part.kind }) as Prompt.UserMessagePart
            ),
            ...optionsOf(message.options)
          })
        ]
      case "assistant":
        return assistant(message)
    }
  })

export const hasLocalCalls = ({ history, options }: Scenario.Scenario): boolean =>
  options.prompt !== "string" && messagesOf(history).some(({ role }) => role === "tool")

/** The prompt of a case, in one of the forms a program may give it. */
export const promptOf = (scenario: Scenario.Scenario): Prompt.RawInput => {
  const messages = messagesOf(scenario.history)
  switch (scenario.options.prompt) {
    case "string":
      return "Go on."
    case "messages":
      return Schema.encodeSync(Prompt.Prompt)(Prompt.fromMessages(messages)).content
    case "prompt":
      return Prompt.fromMessages(messages)
  }
}
