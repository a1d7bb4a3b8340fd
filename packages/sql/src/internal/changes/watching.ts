/** What other processes write into a file of SQLite: that they did, and not what. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as SqlClient from "effect/sql/SqlClient"
import * as Runtime from "../sqlite/runtime.ts"
import * as Hub from "./hub.ts"

/** Real milliseconds: soon after somebody began to wait or something has changed, and then less and less often. */
const shortest = 25
const longest = 250

/** Looks as long as somebody waits, and only then. A look takes a few microseconds. */
export const start = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient
): Effect.fn.Return<Hub.Hub, never, Scope.Scope> {
  let pause = shortest
  let begun: (() => void) | undefined
  const hub = Hub.make(() => {
    pause = shortest
    begun?.()
  })
  const awaited = Effect.callback<void>((resume) => {
    if (hub.isAwaited()) return resume(Effect.void)
    begun = () => resume(Effect.void)
    return Effect.sync(() => {
      begun = undefined
    })
  })
  let known: unknown
  const look = Effect.map(
    sql<{ readonly data_version: unknown }>`PRAGMA data_version`,
    ([row]) => {
      const isAnother = known !== undefined && row?.data_version !== known
      known = row?.data_version
      if (isAnother) hub.tell(Hub.all)
      pause = isAnother ? shortest : Math.min(pause * 1.5, longest)
    }
  )
  yield* Effect.ignore(look)
  yield* awaited.pipe(
    Effect.andThen(Effect.suspend(() => Runtime.idle(pause))),
    Effect.andThen(Effect.ignore(look)),
    Effect.forever,
    Effect.forkScoped
  )
  return hub
})
