/**
 * A memory is anybody's code: it may fail, die, throw or never answer. Then it is one that cannot be had, and whoever
 * wanted to know asks (law L1).
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ApprovalError from "../ApprovalError.ts"
import { abandonable } from "./abandon.ts"

/** What a memory says, or fails with `MemoryUnavailable`: the cause is in nobody's way, and told to nobody (law L15). */
export const guarded = <A>(
  ask: () => Effect.Effect<A, ApprovalError.ApprovalError>,
  timeLimit: Duration.Input
): Effect.Effect<A, ApprovalError.ApprovalError> =>
  Effect.suspend(ask).pipe(
    abandonable,
    Effect.timeout(timeLimit),
    Effect.sandbox,
    Effect.mapError(() => unavailable)
  )

const unavailable = ApprovalError.make(
  new ApprovalError.MemoryUnavailable({ description: "The memory failed, or did not answer in time." })
)
