/**
 * A chat whose turns have approvals, whatever service they find: each of its functions runs upstream's with the engine
 * around the language model of its context.
 */
import type * as Chat from "effect/ai/Chat"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Ref from "effect/Ref"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as Bounds from "../bounds.ts"
import * as Recorder from "../environment/recorder.ts"
import * as Bounded from "../history/bounded.ts"
import * as ChatTurn from "./chatTurn.ts"
import * as Wrap from "./wrap.ts"

type Options = { readonly prompt: Prompt.RawInput }
type Turn = (options: never) => Effect.Effect<unknown, unknown, LanguageModel.LanguageModel>
type StreamTurn = (options: never) => Stream.Stream<unknown, unknown, LanguageModel.LanguageModel>

export const protect = <C extends Chat.Chat>(chat: C): C => {
  // Around upstream's own: the turn that comes next begins with what is kept of this one.
  const line = Semaphore.makeUnsafe(1)
  let unanswered: ChatTurn.Unanswered | undefined
  const begin = (options: Options, isStream: boolean) =>
    Effect.suspend(() => ChatTurn.begin(chat, Prompt.make(options.prompt), { isStream, unanswered }))
  const end = (turn: ChatTurn.ChatTurn, exit: Exit.Exit<unknown, unknown>, isWhole: boolean) =>
    Effect.map(turn.end(exit, isWhole), (left) => {
      unanswered = left
    })
  const turn = (f: Turn): Turn => (options: Options) =>
    line.withPermit(
      Effect.flatMap(begin(options, false), (turn) =>
        Effect.updateService(
          f({ ...options, prompt: turn.prompt } as never),
          LanguageModel.LanguageModel,
          Wrap.wrapDefault
        )
          .pipe(
            Effect.provideService(Recorder.Recorder, turn.recorder),
            Effect.onExit((exit) => end(turn, exit, Exit.isSuccess(exit)))
          ))
    )
  const streamTurn = (f: StreamTurn): StreamTurn => (options: Options) =>
    Stream.unwrap(Effect.gen(function*() {
      yield* Effect.acquireRelease(line.take(1), () => line.release(1), { interruptible: true })
      const model = yield* LanguageModel.LanguageModel
      const turn = yield* begin(options, true)
      let isWhole = false
      return Stream.provideService(
        f({ ...options, prompt: turn.prompt } as never),
        LanguageModel.LanguageModel,
        Wrap.wrapDefault(model)
      ).pipe(
        Stream.provideService(Recorder.Recorder, turn.recorder),
        // Whoever has the finish has all there is, and may stop reading.
        Stream.mapArray((chunk) => {
          isWhole ||= chunk.some(isFinish)
          return chunk
        }),
        Stream.onEnd(Effect.sync(() => {
          isWhole = true
        })),
        Stream.onExit((exit) => end(turn, exit, isWhole))
      )
    }))
  // Upstream's overloads infer tools, errors and services from the options; providing another service of the same tag
  // changes none of them.
  return {
    ...chat,
    generateText: turn(chat.generateText as unknown as Turn),
    generateObject: turn(chat.generateObject as unknown as Turn),
    streamText: streamTurn(chat.streamText as unknown as StreamTurn)
  } as unknown as C
}

const isFinish = (part: unknown): boolean => Predicate.hasProperty(part, "type") && part.type === "finish"

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
