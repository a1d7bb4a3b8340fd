/** A conversation in every way in which OpenAI may know what was said before. */
import type { Prompt } from "@assent/ai"
import type { OpenAiLanguageModel } from "@assent/openai"
import * as Effect from "effect/Effect"
import * as C from "./conversation.ts"

export const memories = ["store", "store: false", "previous_response_id", "conversation", "tracker"] as const

export type Memory = (typeof memories)[number]

/** A conversation in which every turn is sent as the memory has it. */
export const begin = Effect.fnUntraced(function*(memory: Memory, options: C.StartOptions) {
  const chat = yield* C.start({
    ...options,
    ...(memory === "store: false" ? { config: { store: false, ...options.config } } : undefined),
    tracked: memory === "tracker"
  })
  const conversation = memory === "conversation"
    ? yield* Effect.promise(() => chat.client.client.conversations.create())
    : undefined
  let last: string | undefined
  const configOf = (): OpenAiLanguageModel.ConfigFields | undefined =>
    conversation !== undefined
      ? { conversation: conversation.id }
      : memory === "previous_response_id" && last !== undefined
      ? { previous_response_id: last }
      : undefined
  const send = (prompt: Prompt.RawInput) =>
    Effect.tap(chat.send(prompt, { config: configOf() }), ({ parts }) =>
      Effect.sync(() => {
        last = parts.findLast((part) => part.type === "response-metadata")?.id ?? last
      }))
  return { ...chat, send }
})

/** Whether a request carries the whole history. */
export const sendsAll = (memory: Memory): boolean => memory === "store" || memory === "store: false"
