/**
 * The end of a run: the person has left, every request of the run is denied, and the run ends once that is written down.
 */
import type * as Approval from "@assent/ai/Approval"
import * as ApprovalEvents from "@assent/ai/ApprovalEvents"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"

export interface Stopping {
  /** Whether the person has left. */
  readonly hasLeft: () => boolean
  readonly leave: () => void
  /** Whether the run ends with that; else it goes on, and all that it asks is denied. */
  readonly ends: () => boolean
  /** For as long as something waits for the end of it. */
  readonly ending: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Done once they have, and what was denied is written down. */
  readonly stopped: Effect.Effect<void>
  /** To be used before a denial is given: from then on the run goes on until it is written down. */
  readonly denying: (asked: Approval.ApprovalRequest) => Effect.Effect<void>
  /**
   * What goes on no further than to tell of such a denial: it is written down by then, and the next thing may be a call of
   * the model.
   */
  readonly holding: (events: ApprovalEvents.Service) => ApprovalEvents.Service
}

/** A request that no journal knows of is not waited for, and one that is never written down only so long. */
const patience = "2 seconds"

// Whoever may not decide changes nothing by leaving.
const isToldOf = (event: ApprovalEvents.ApprovalEvent, ids: ReadonlySet<string>): boolean =>
  (event._tag === "Changed" || event._tag === "Refused") && ids.has(event.approvalId)

export const make = (): Stopping => {
  let left = false
  let writing = 0
  let waiting = 0
  const denied = new Set<string>()
  const stopped = Deferred.makeUnsafe<void>()
  const written = Effect.sync(() => {
    writing--
    if (writing === 0) Deferred.doneUnsafe(stopped, Exit.void)
  })
  return {
    hasLeft: () => left,
    leave: () => {
      left = true
    },
    ends: () => waiting > 0,
    ending: (self) =>
      Effect.acquireUseRelease(Effect.sync(() => waiting++), () => self, () => Effect.sync(() => waiting--)),
    stopped: Deferred.await(stopped),
    holding: (events) => ({
      ...events,
      publish: (event) =>
        Effect.andThen(
          events.publish(event),
          Effect.suspend(() => isToldOf(event, denied) ? Effect.never : Effect.void)
        )
    }),
    denying: (asked) =>
      Effect.gen(function*() {
        writing++
        denied.add(asked.approvalId)
        if (asked.source === "program") return yield* written
        const events = yield* ApprovalEvents.ApprovalEvents
        const watched = Deferred.makeUnsafe<void>()
        const watching = Effect.scoped(Effect.flatMap(events.subscribe, (stream) => {
          Deferred.doneUnsafe(watched, Exit.void)
          return Stream.runDrain(Stream.takeUntil(
            stream,
            (event) => event._tag === "Missed" || isToldOf(event, new Set([asked.approvalId]))
          ))
        }))
        yield* watching.pipe(Effect.timeoutOption(patience), Effect.ensuring(written), Effect.forkDetach)
        yield* Deferred.await(watched)
      })
  }
}
