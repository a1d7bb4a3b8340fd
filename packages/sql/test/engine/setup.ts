/** Has every store of the engine's tests be a database, and notes which test used one. */
import { Store } from "@assent/ai"
import { Effect, Scope } from "effect"
import { afterEach, beforeEach } from "vitest"
import { type Interceptor, intercept } from "../../../ai/test/store/intercept.ts"
import { makeStore } from "../database.ts"
import { exceptions } from "./exceptions.ts"
import * as Memory from "./memory.ts"

declare module "vitest" {
  interface TaskMeta {
    /** How many operations the test made on databases. */
    operations?: number
  }
}

let operations = 0

const counted: Interceptor = (_, __, run) =>
  Effect.suspend(() => {
    operations++
    return run
  })

Memory.database.current = {
  // Nobody closes them, as nobody closes a store in memory: each goes with whoever held it.
  make: Effect.flatMap(Scope.make(), (scope) => Scope.provide(makeStore({ filename: ":memory:" }), scope)).pipe(
    Effect.orDie,
    Effect.map(({ store }) => Store.make({ ...intercept(store, counted), isShared: false }))
  )
}

beforeEach(({ task }) => {
  operations = 0
  if (exceptions.some(({ test }) => test === task.fullTestName)) task.fails = true
})

afterEach(({ task }) => {
  task.meta.operations = operations
})
