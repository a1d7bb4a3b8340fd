/**
 * A chat whose turns have approvals, whatever service they find: each of its functions runs upstream's with the engine
 * around the language model of its context.
 */
import type * as Chat from "effect/ai/Chat"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import * as Bounds from "../bounds.ts"
import * as Bounded from "../history/bounded.ts"
import * as Cut from "../history/cut.ts"
import * as Wrap from "./wrap.ts"

type Turn = (options: never) => Effect.Effect<unknown, unknown, LanguageModel.LanguageModel>
type StreamTurn = (options: never) => Stream.Stream<unknown, unknown, LanguageModel.LanguageModel>

// Upstream's Chat keeps what was said of a stream that fails or is left. That it was cut short is to be known in another
// process too, and by who reads what was saved (law L7).
const markCut = (chat: Chat.Chat | Chat.Persisted, from: number) =>
  Effect.flatMap(Ref.get(chat.history), (history) => {
    const at = Cut.recognize(history.content)
    // What was said before stays the object it is.
    const marked = at === undefined ? history : Cut.markFrom(history, from)
    if (marked === history) return Effect.void
    return Effect.andThen(
      Ref.update(chat.history, (now) => now === history ? marked : now),
      "save" in chat ? Effect.ignore(chat.save) : Effect.void
    )
  })

export const protect = <C extends Chat.Chat>(chat: C): C => {
  const turn = (f: Turn): Turn => (options) =>
    Effect.updateService(f(options), LanguageModel.LanguageModel, Wrap.wrapDefault)
  const streamTurn = (f: StreamTurn): StreamTurn => (options) =>
    Stream.unwrap(
      Effect.zipWith(LanguageModel.LanguageModel, Ref.get(chat.history), (model, { content }) =>
        Stream.provideService(f(options), LanguageModel.LanguageModel, Wrap.wrapDefault(model)).pipe(
          Stream.ensuring(markCut(chat, content.length))
        ))
    )
  // Upstream's overloads infer tools, errors and services from the options; providing another service of the same tag
  // changes none of them.
  return {
    ...chat,
    generateText: turn(chat.generateText as unknown as Turn),
    generateObject: turn(chat.generateObject as unknown as Turn),
    streamText: streamTurn(chat.streamText as unknown as StreamTurn)
  } as unknown as C
}

const known = new WeakMap<Chat.Chat, Chat.Chat>()

/** One chat is always protected as the same other one, and one that is protected is left as it is. */
export const protectOnce = <C extends Chat.Chat>(chat: C): C => {
  const found = known.get(chat) as C | undefined
  if (found !== undefined) return found
  const made = protect(chat)
  known.set(chat, made)
  known.set(made, made)
  return made
}

/** A chat whose history comes from elsewhere: what of it is out of bounds is left out (law L17). */
export const imported = <C extends Chat.Chat>(chat: C): Effect.Effect<C> =>
  Effect.as(
    Ref.update(chat.history, (history) => Bounded.prompt(history, Bounds.maxResultBytes)),
    protectOnce(chat)
  )

/** What keeps chats, whose chats are protected. */
export const protectPersistence = (persistence: Chat.Persistence.Service): Chat.Persistence.Service => ({
  get: (chatId, options) => Effect.flatMap(persistence.get(chatId, options), imported),
  getOrCreate: (chatId, options) => Effect.flatMap(persistence.getOrCreate(chatId, options), imported)
})
