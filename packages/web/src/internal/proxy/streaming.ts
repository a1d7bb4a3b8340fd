/** A turn as it is sent: what it says from its beginning, and how it ended. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import type { Conversation, Turn } from "./conversation.ts"
import * as Deciding from "./deciding.ts"
import type * as Errors from "./errors.ts"
import * as Failures from "./failures.ts"
import type { Part } from "./model.ts"
import * as Parts from "./parts.ts"

export interface Options {
  readonly conversation: Conversation
  /** What was posted with it, for whoever posted it. */
  readonly posted: Pick<Deciding.Sorted, "ids" | "refused">
  readonly heartbeat: Duration.Duration
}

/** Who leaves it does not end the turn. It fails with a sentence, whatever the turn failed of. */
export const of = (
  turn: Turn,
  { conversation, heartbeat, posted }: Options
): Stream.Stream<Part, Errors.TurnFailed> => {
  const ending = Effect.gen(function*() {
    const outcome = yield* turn.outcome
    Deciding.refuseAll(posted.refused, outcome)
    const end: Part = {
      type: "turn-end",
      outcome: outcome._tag,
      text: outcome.text,
      pending: yield* conversation.pending(),
      answers: yield* Deciding.fates(conversation, posted)
    }
    return end
  })
  return Stream.make<[Part]>({ type: "turn-start", messageId: turn.messageId }).pipe(
    Stream.concat(Stream.flattenIterable(Stream.map(turn.parts, Parts.ofResponse))),
    Stream.concat(Stream.fromEffect(ending)),
    Stream.catchCause((cause) => Stream.fromEffect(Effect.flip(Failures.ofTurn(cause)))),
    Stream.merge(beating(heartbeat), { haltStrategy: "left" })
  )
}

const beating = (heartbeat: Duration.Duration): Stream.Stream<Part> =>
  Stream.map(Stream.fromSchedule(Schedule.spaced(heartbeat)), () => ({ type: "heartbeat" }))
