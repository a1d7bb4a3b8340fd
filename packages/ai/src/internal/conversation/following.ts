/** A turn that is being taken in this process, for whoever follows it. */
import * as Prompt from "effect/ai/Prompt"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import * as ConversationStore from "../../ConversationStore.ts"
import * as Saying from "../held/saying.ts"
import type * as ConversationTurn from "../held/turn.ts"
import type { TurnTaken } from "../kept/turns.ts"
import * as Naming from "./naming.ts"

/** Whoever follows what is taken of a conversation. */
export interface Followers {
  /** From here on it is found. */
  readonly begin: (turn: ConversationTurn.Turn) => void
  /** How it has ended, with everything written. */
  readonly end: (exit: Exit.Exit<unknown, unknown>) => void
}

export const make = ({ key, store }: ConversationTurn.Place): Followers => {
  let end = (_: Exit.Exit<unknown, unknown>): void => {}
  return {
    begin: (turn) => {
      const forget = store.turns.begin(key.id, () => taken(turn))
      end = (exit) => {
        forget()
        const isLeft = Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
        Saying.end(turn.saying, isLeft ? Exit.fail(left) : exit)
      }
    },
    end: (exit) => end(exit)
  }
}

export const taken = ({ from, history, saying }: ConversationTurn.Turn): TurnTaken => ({
  messageId: idAt(history, from),
  parts: Saying.parts(saying),
  outcome: Saying.exitOf(saying)
})

/** One that was over when it began: everything that was said leaves what waits as it is. */
export const ended = (turn: ConversationTurn.Turn, outcome: unknown): TurnTaken => ({
  messageId: idAt(turn.history, turn.from),
  parts: Stream.empty,
  outcome: Effect.succeed(outcome)
})

/** The id of the message that stands there, or will. */
export const idAt = ({ content }: Prompt.Prompt, position: number): string =>
  Naming.messageIdOf(content[position] ?? nobodys, position)

const nobodys: Prompt.Message = Prompt.makeMessage("assistant", { content: [] })

export const left = new ConversationStore.ConversationError({
  reason: "Cancelled",
  description:
    "The turn did not come to its end: whoever took it left, or their process ended. What it did before is in the" +
    " history."
})
