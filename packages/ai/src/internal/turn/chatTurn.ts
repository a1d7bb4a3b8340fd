/**
 * One turn of a chat. Upstream's Chat keeps what was said when a turn has come to its end; what ran in one that has not is
 * kept here, or the next turn's model would not know of it (law L2).
 */
import * as Chat from "effect/ai/Chat"
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Ref from "effect/Ref"
import * as ApprovalError from "../../ApprovalError.ts"
import * as Recorder from "../environment/recorder.ts"
import * as Cut from "../history/cut.ts"
import * as Said from "../history/said.ts"

type Messages = ReadonlyArray<Prompt.Message>

/** What was said to the model in a turn that failed, and stands in the history as it was left. */
export interface Unanswered {
  readonly said: Messages
  readonly history: Prompt.Prompt
}

export interface ChatTurn {
  /** What is new in it: nothing, where the turn before it failed and is taken again. */
  readonly prompt: Prompt.Prompt
  readonly recorder: Recorder.Recorder
  /** When upstream has kept what it keeps; a stream has not come to its end where its reader left. */
  readonly end: (exit: Exit.Exit<unknown, unknown>, isWhole: boolean) => Effect.Effect<Unanswered | undefined>
}

export const begin = Effect.fnUntraced(function*(
  chat: Chat.Chat | Chat.Persisted,
  said: Prompt.Prompt,
  { isStream, unanswered }: { readonly isStream: boolean; readonly unanswered: Unanswered | undefined }
): Effect.fn.Return<ChatTurn> {
  const before = yield* Ref.get(chat.history)
  const isAgain = unanswered !== undefined && unanswered.history === before && !isAnswered(before) &&
    isSame(unanswered.said, said.content)
  const prompt = isAgain ? Prompt.empty : said
  const keep = (history: Prompt.Prompt) =>
    Effect.andThen(Ref.set(chat.history, history), "save" in chat ? chat.save : Effect.void)
  const historyOf = (parts: Recorder.Record["parts"]) =>
    Prompt.fromMessages([...before.content, ...prompt.content, ...Said.messages(parts)])
  const record = Recorder.make((parts) => Effect.mapError(Effect.suspend(() => keep(historyOf(parts))), () => unkept))
  // That a stream was cut short is to be known in another process too, and by who reads what was saved (law L7).
  const marked = (now: Prompt.Prompt, history: Prompt.Prompt) =>
    isStream && Cut.recognize(now.content) !== undefined
      ? Cut.markFrom(history, before.content.length + prompt.content.length)
      : history
  const finish = Effect.flatMap(Ref.get(chat.history), (now) => {
    const history = marked(now, now)
    return history === now ? Effect.void : Effect.ignore(keep(history))
  })
  const leave = Effect.gen(function*() {
    const now = yield* Ref.get(chat.history)
    const history = marked(now, record.kept > 0 ? historyOf(record.parts) : now)
    if (history !== now) yield* Effect.ignore(keep(history))
    const added = history.content.slice(before.content.length)
    return isAgain || added.includes(prompt.content[0]!) ? { said: said.content, history } : undefined
  })
  return {
    prompt,
    recorder: record,
    end: (exit, isWhole) => {
      if (isWhole) return isStream ? Effect.as(finish, undefined) : Effect.undefined
      // What it says is in the error, for whoever gets that to put into the history (law L12). A handler's own is none.
      return Exit.isFailure(exit) && record.kept > 0 && record.isInError
        ? Effect.as(Effect.ignore(keep(before)), undefined)
        : leave
    }
  }
})

// Said to the same chat at the same place, it is what was said before.
const isSame = (before: Messages, said: Messages): boolean =>
  said.length > 0 && said.length === before.length &&
  said.every((message, index) => message.role === "user" && wordsOf(message) === wordsOf(before[index]!))

// Upstream writes a name of its own into messages that it has kept.
const wordsOf = ({ content, options, role }: Prompt.Message): string =>
  JSON.stringify([role, content, { ...options, [Chat.Persistence.key]: undefined }])

// A turn may fail when all was said, as where it cannot be saved.
const isAnswered = ({ content }: Prompt.Prompt): boolean => {
  const last = content.at(-1)
  return last?.role === "assistant" && !Cut.isCut(last) && !last.content.some(({ type }) => type === "tool-call")
}

const unkept = ApprovalError.make(
  new ApprovalError.JournalUnavailable({ description: "what the model said could not be kept." })
)
