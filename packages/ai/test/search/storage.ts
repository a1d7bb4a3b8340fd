/** The store that all processes of a plan share, and how it fails them. */
import { Effect } from "effect"
import { AtomicStore } from "../../src/index.ts"
import type * as Plan from "./plan.ts"

export type Method = AtomicStore.AtomicStoreError["method"]

export interface Storage {
  readonly store: AtomicStore.AtomicStore
  /** What the store does from now on. */
  readonly set: (step: Plan.Store) => void
  /** Carries out an operation as the store does at the moment. */
  readonly act: <A>(
    method: Method,
    key: string,
    operation: () => Effect.Effect<A, AtomicStore.AtomicStoreError>
  ) => Effect.Effect<A, AtomicStore.AtomicStoreError>
}

export const works: Plan.Store = { _tag: "Store", how: "works", skip: 0, count: 0 }

/** Makes a store that says when it fails. */
export const make = Effect.fnUntraced(function*(
  onTrouble: (how: Plan.Store["how"], method: Method) => void
): Effect.fn.Return<Storage> {
  const store = yield* AtomicStore.makeMemory()
  let { count, how, skip }: Plan.Store = works

  const next = (method: Method): Plan.Store["how"] => {
    // What a full store knows can be read and replaced.
    if (how === "works" || (how === "full" && method !== "putIfAbsent" && method !== "put")) return "works"
    if (skip > 0) {
      skip--
      return "works"
    }
    const now = how
    if (count === 1) how = "works"
    if (count > 0) count--
    onTrouble(now, method)
    return now
  }

  return {
    store,
    set: (step) => {
      ;({ count, how, skip } = step)
    },
    act: (method, key, operation) =>
      Effect.suspend(() => {
        const now = next(method)
        const failed = new AtomicStore.AtomicStoreError({
          method,
          key,
          reason: now === "full" ? "Full" : "Unavailable",
          description: "The store of the plan does not work."
        })
        switch (now) {
          case "works":
            return operation()
          case "loses":
            return Effect.andThen(operation(), Effect.fail(failed))
          default:
            return Effect.fail(failed)
        }
      })
  }
})
