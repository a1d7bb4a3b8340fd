/** Has every store of the engine's tests be a database, and notes which test used one. */
import { Store } from "@assent/ai"
import { Effect, Scope } from "effect"
import { afterEach, beforeEach } from "vitest"
import { intercept } from "../../../ai/test/store/intercept.ts"
import { makeStore } from "../database.ts"
import { whyNot } from "./exceptions.ts"
import * as Memory from "./memory.ts"

declare module "vitest" {
  interface TaskMeta {
    /** How many operations on databases the test made. */
    operations?: number
  }
}

let operations = 0

// The client's own spans would stand beside those that a test looks for.
const counted = <A, E, R>(operation: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    operations++
    return Effect.withTracerEnabled(operation, false)
  })

Memory.database.current = {
  // Nobody closes them, as nobody closes a store in memory: each goes with whoever held it.
  make: Effect.flatMap(Scope.make(), (scope) => Scope.provide(makeStore({ filename: ":memory:" }), scope)).pipe(
    Effect.withTracerEnabled(false),
    Effect.orDie,
    Effect.map(({ store }) =>
      Store.make({
        ...intercept(store, (_, __, run) => counted(run)),
        isShared: false,
        atomically: (effect) => counted(store.atomically(effect))
      })
    )
  )
}

beforeEach(({ task }) => {
  operations = 0
  // Vitest reads it once the test has ended.
  if (whyNot(task.fullTestName) !== undefined) Object.assign(task, { fails: true })
})

afterEach(({ task }) => {
  task.meta.operations = operations
})
