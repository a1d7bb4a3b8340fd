/** A turn that was stopped: what it asks is taken back after its end, by whichever server was told to stop it. */
import { ConversationStore } from "@assent/ai"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type { Conversation } from "./conversation.ts"

export const isStop = (cause: Cause.Cause<unknown>): boolean => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  return error instanceof ConversationStore.ConversationError && error.reason === "Cancelled"
}

/**
 * Waits until that is taken back, which is a turn of its own. A turn whose process has died ends in the same way, and then nobody takes
 * anything back.
 */
export const untilTakenBack = (
  { read }: Conversation,
  isAskedIn: (approvalId: string) => boolean = () => true
): Effect.Effect<void> =>
  read.pipe(
    Effect.repeat({
      schedule: Schedule.spaced("50 millis"),
      until: ({ isTurnTaken, pending }) => !isTurnTaken && !pending.some(({ approvalId }) => isAskedIn(approvalId))
    }),
    Effect.timeoutOption("2 seconds"),
    Effect.exit,
    Effect.asVoid
  )
