/**
 * A provider that does what providers do, and nothing else: it reads the whole prompt into the form of a request, and
 * answers with parts that were written beforehand, a stream part by part.
 */
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

export interface Answer {
  readonly generated: ReadonlyArray<Response.PartEncoded>
  readonly streamed: ReadonlyArray<Response.StreamPartEncoded>
}

/** Upstream's service over this provider; `answer` is asked with the messages of the request. */
export const makeModel = (
  answer: (messages: ReadonlyArray<Prompt.Message>) => Answer
): Effect.Effect<LanguageModel.LanguageModel> =>
  LanguageModel.make({
    generateText: ({ prompt }) =>
      Effect.sync(() => {
        send(prompt)
        return answer(prompt.content).generated.slice()
      }),
    streamText: ({ prompt }) =>
      Stream.suspend(() => {
        send(prompt)
        return Stream.fromArrays(...answer(prompt.content).streamed.map((part) => [part]))
      })
  })

/** How many items all requests had, so that they are not made in vain. */
export let sent = 0

const send = (prompt: Prompt.Prompt): void => {
  const items: Array<{ readonly role: string; readonly type: string; readonly value: unknown }> = []
  for (const { content, role } of prompt.content) {
    if (typeof content === "string") {
      items.push({ role, type: "text", value: content })
      continue
    }
    for (const part of content) {
      switch (part.type) {
        case "text":
        case "reasoning":
          items.push({ role, type: part.type, value: part.text })
          break
        case "tool-call":
          items.push({ role, type: "function_call", value: [part.id, part.name, part.params] })
          break
        case "tool-result":
          items.push({ role, type: "function_call_output", value: [part.id, part.result] })
          break
        default:
          items.push({ role, type: part.type, value: part })
      }
    }
  }
  sent += items.length
}

const finish = (reason: Response.FinishReason): Response.FinishPartEncoded => ({
  type: "finish",
  reason,
  usage: {
    inputTokens: { uncached: 10, total: 10, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 5, text: 5, reasoning: 0 }
  }
})

/** An answer in text, streamed in so many deltas. */
export const text = (words: ReadonlyArray<string>): Answer => ({
  generated: [{ type: "text", text: words.join("") }, finish("stop")],
  streamed: [
    { type: "text-start", id: "text-1" },
    ...words.map((delta) => ({ type: "text-delta", id: "text-1", delta }) as const),
    { type: "text-end", id: "text-1" },
    finish("stop")
  ]
})

export interface Call {
  readonly id: string
  readonly name: string
  readonly params: unknown
}

/** An answer that calls tools. */
export const calls = (calls: ReadonlyArray<Call>): Answer => {
  const parts = calls.map((call) => ({ type: "tool-call", ...call }) as const)
  return {
    generated: [...parts, finish("tool-calls")],
    streamed: [
      ...parts.flatMap((part) => [
        { type: "tool-params-start", id: part.id, name: part.name } as const,
        { type: "tool-params-delta", id: part.id, delta: JSON.stringify(part.params) } as const,
        { type: "tool-params-end", id: part.id } as const,
        part
      ]),
      finish("tool-calls")
    ]
  }
}
