/** Histories by hand, and what is sent of them. */
import { Effect } from "effect"
import { Prompt } from "../../src/index.ts"
import * as Support from "./support.ts"

export const text = (text: string) => Prompt.textPart({ text })
export const user = (words: string) => Prompt.userMessage({ content: [text(words)] })
export const assistant = (...content: ReadonlyArray<Prompt.AssistantMessagePart>) =>
  Prompt.assistantMessage({ content })
export const tool = (...content: ReadonlyArray<Prompt.ToolMessagePart>) => Prompt.toolMessage({ content })
export const call = (id: string, path = id) => Support.callPart(id, "ReadFile", { path })
export const result = (id: string, result: unknown, assent?: unknown) =>
  Prompt.toolResultPart({
    id,
    name: "ReadFile",
    result,
    isFailure: false,
    providerExecuted: false,
    ...(assent === undefined ? undefined : { options: { assent: assent as never } })
  })
export const search = (id: string) =>
  Prompt.toolCallPart({ id, name: "Search", params: { query: id }, providerExecuted: true })
export const found = (id: string, words = `found ${id}`) =>
  Prompt.toolResultPart({ id, name: "Search", result: words, isFailure: false, providerExecuted: true })

/** What of a history the provider gets, and what the turn gave. */
export const send = (mode: Support.Mode, history: ReadonlyArray<Prompt.Message>, prompt?: Prompt.RawInput) =>
  Effect.gen(function*() {
    const tools = yield* Support.makeTools()
    const script = yield* Support.answering
    const turn = yield* Support.takeTurn(mode, {
      model: script.model,
      toolkit: tools.toolkit,
      history: Prompt.fromMessages(history),
      ...(prompt === undefined ? undefined : { prompt })
    })
    const requests = yield* script.requests
    return { tools, turn, sent: requests.at(-1)?.prompt }
  })

/** The results a prompt holds, in order: of the provider's own calls and of ours. */
export const results = (prompt: Prompt.Prompt | undefined) =>
  Support.partsOf(prompt ?? Prompt.empty).flatMap((part) => part.type === "tool-result" ? [part.result] : [])
