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

/** Piece by piece, until nothing is left to reclaim. */
export const round = (database: Database, store: Pick<Store.Store, "sweep">): Effect.Effect<void, Store.StoreError> =>
  Effect.flatMap(
    Effect.zipWith(store.sweep(rows), giveBack(database), (reclaimed, isMore) => reclaimed > 0 || isMore),
    (isMore) => isMore ? Effect.andThen(Runtime.idle(rest), round(database, store)) : Effect.void
  )

/** As long as the scope. What cannot be reclaimed now is reclaimed later; nothing of it keeps a process alive. */
export const start = (database: Database, store: Store.Store): Effect.Effect<void, never, Scope.Scope> =>
  Runtime.idle(interval).pipe(
    Effect.andThen(
      Effect.catch(
        round(database, store),
        ({ message }) => Effect.logDebug(`Assent could not reclaim rows: ${message}`)
      )
    ),
    Effect.forever,
    Effect.forkScoped,
    Effect.asVoid
  )
