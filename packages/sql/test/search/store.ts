/** The stores of the search over random histories (`npm run laws -- --sqlite`): a database for each plan. */
import type { Store } from "@assent/ai"
import { Effect, Exit, Scope } from "effect"
import { makeStore } from "../database.ts"

/** Makes stores. The database before it is closed with the next: what a plan left behind still uses it until then. */
export const make = Effect.sync((): Effect.Effect<Store.Store> => {
  let before: Scope.Closeable | undefined
  return Effect.gen(function*() {
    if (before !== undefined) yield* Scope.close(before, Exit.void)
    before = yield* Scope.make()
    const { store } = yield* Scope.provide(makeStore(), before)
    return store
  }).pipe(Effect.orDie)
})
