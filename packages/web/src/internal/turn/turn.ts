/** One turn: what was answered is decided, what was said is said, and all of it goes to whoever reads the turn. */
import type { Approval, Approver } from "@assent/ai"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Logging from "../logging.ts"
import * as Calls from "../wire/calls.ts"
import * as Chunks from "../wire/chunks.ts"
import * as Fates from "../wire/fates.ts"
import * as Messages from "../wire/messages.ts"
import * as Sentences from "../wire/sentences.ts"
import type { Conversation } from "./conversation.ts"
import * as Deciding from "./deciding.ts"
import type { Live } from "./live.ts"

export interface Input {
  readonly conversation: Conversation
  readonly said: Live["said"]
  /** It was said before, and answered. */
  readonly isRepeated: boolean
  readonly answers: ReadonlyArray<Approval.ApprovalAnswer>
  /** Why what was clicked is no answer, by the ids of the requests. */
  readonly withheld: ReadonlyMap<string, string>
  readonly by: Approver.Person | undefined
}

/** The conversation as a page has it after a reload. */
export const read = Effect.fnUntraced(function*(
  conversation: Conversation
): Effect.fn.Return<Messages.Messages, unknown> {
  let history = yield* conversation.history
  for (let tries = 0;; tries++) {
    const pending = yield* conversation.pending()
    // Of two readings, the same history is the same object: what is open is then what is open in it.
    const again = yield* conversation.history
    if (again === history || tries === maxTries) return Messages.make(again.content, pending)
    history = again
  }
})

const maxTries = 10

export const take = (input: Input, live: Live): Effect.Effect<void> => {
  const taking = Effect.gen(function*() {
    const { by, conversation, withheld } = input
    const before = yield* read(conversation)
    // What was never asked here is told by whoever reads the turn for the page that posted it.
    const asked = input.answers.filter(({ approvalId }) => before.cards.has(approvalId))
    const isSettled = ({ approvalId }: Approval.ApprovalAnswer) => Messages.isSettled(before.cards.get(approvalId)!)
    const answers = asked.filter((answer) => !isSettled(answer))
    const decidedAlready = asked.filter(isSettled)
    // What was said is not said again, where its page has not heard the answer, or the turn that was to answer it was cut.
    const isRepeated = input.said !== undefined && (input.isRepeated || Messages.has(before, input.said))
    const isNew = input.said !== undefined && !isRepeated
    const said = isNew && input.said?.text !== before.unanswered ? input.said?.text : undefined
    const answered = new Set(answers.map(({ approvalId }) => approvalId))
    let translator: Chunks.Translator | undefined

    // What follows the answers and what follows the text are two turns, and two messages of the history, in one of the page:
    // its calls are found by what was asked, and not by the ids of another message.
    const beginTwo = () => begin({ messageId: `${Messages.idOf(before.users + 1)}~answered`, current: undefined })

    const begin = ({ current, messageId }: Pick<Messages.Messages, "current" | "messageId">) => {
      live.begin({ messageId, before: current?.message, isRepeated })
      return translator = Chunks.make(current?.calls ?? Calls.make(), answered)
    }

    const beginFirst = () => isNew ? beginTwo() : begin(before)

    // Why an answer did not count stands beside the card, until it is known what becomes of the call.
    const tell = (refused: Iterable<readonly [approvalId: string, reason: string]>) =>
      live.add(
        Array.from(refused).flatMap(([approvalId, reason]) => {
          const card = before.cards.get(approvalId)
          return card === undefined ? [] : [Fates.part(Messages.fateOf(card, approvalId, reason))]
        })
      )

    const run = Effect.gen(function*() {
      let isTaken = false
      if (withheld.size + decidedAlready.length > 0) {
        beginFirst()
        tell(withheld)
        tell(decidedAlready.map(({ approvalId }) => [approvalId, Sentences.decidedAlready]))
      }
      if (answers.length > 0) {
        const translating = translator ?? beginFirst()
        // Whoever looks at it meanwhile sees that it was answered.
        live.add(
          answers.flatMap(({ approvalId, decision }) =>
            before.current?.calls.ofApproval(approvalId)?.shown !== approvalId || decision._tag === "Info"
              ? []
              : [{ type: "tool-approval-response", approvalId, approved: decision._tag === "Approved" }]
          )
        )
        const decided = yield* Deciding.decide(conversation, answers, by)
        isTaken = decided.isTaken
        tell(decided.refused)
        live.add(decided.content.flatMap(translating.next))
      }
      if (said === undefined && isTaken) return
      const parts = conversation.stream(said ?? [])
      yield* Stream.runForEachArray(parts, (some) =>
        Effect.gen(function*() {
          // Which message it is, the history says as soon as the turn has begun.
          const translating = translator ??
            begin(said === undefined ? before : after(before, yield* read(conversation)))
          live.add(some.flatMap(translating.next))
        }))
    })
    yield* Effect.ensuring(
      run,
      Effect.sync(() => {
        if (translator === undefined) begin(before)
        live.add(translator!.end())
      })
    )
    live.end({ error: translator?.error(), finishReason: translator?.finishReason() })
  })
  return Effect.catchCause(
    taking,
    (cause) =>
      Sentences.isStop(cause) ? Effect.sync(() => live.end({ isStopped: true })) : Effect.andThen(
        Cause.hasInterruptsOnly(cause) ? Effect.void : Logging.error("Assent: a turn of a page failed.", cause),
        Effect.sync(() => live.end({ error: Sentences.ofCause(cause) }))
      )
  )
}

// A text may have answered a question of the message before: then it is no message of its own.
const after = (before: Messages.Messages, now: Messages.Messages): Pick<Messages.Messages, "current" | "messageId"> =>
  now.users > before.users ? { messageId: now.messageId, current: undefined } : before
