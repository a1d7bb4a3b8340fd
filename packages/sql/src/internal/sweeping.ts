/** Reclaims what has expired while a program runs, a bounded piece at a time. */
import type * as Store from "@assent/ai/Store"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Runtime from "./sqlite/runtime.ts"
import type { Database } from "./store/database.ts"
import { giveBack } from "./store/sweep.ts"

const rows = 200

/** Between two pieces others have their turn, and between two rounds there is nothing to do. */
const rest = 20
const interval = 60_000

/** As long as the scope. What cannot be reclaimed now is reclaimed later; nothing of it keeps a process alive. */
export const start = (database: Database, store: Store.Store): Effect.Effect<void, never, Scope.Scope> => {
  const round: Effect.Effect<void, Store.StoreError> = Effect.flatMap(
    Effect.zipWith(store.sweep(rows), giveBack(database), (reclaimed, isMore) => reclaimed > 0 || isMore),
    (isMore) => isMore ? Effect.andThen(Runtime.idle(rest), round) : Effect.void
  )
  return Runtime.idle(interval).pipe(
    Effect.andThen(Effect.catch(round, ({ message }) => Effect.logDebug(`Assent could not reclaim rows: ${message}`))),
    Effect.forever,
    Effect.forkScoped,
    Effect.asVoid
  )
}
