/** The store that all processes of a plan share, and how it fails them. */
import { Context, Effect } from "effect"
import { Store } from "../../src/index.ts"
import type * as Intercept from "../store/intercept.ts"
import type * as Plan from "./plan.ts"

export type Method = Intercept.Operation | "atomically"

export interface Storage {
  readonly store: Store.Store
  /** What the store does from now on. */
  readonly set: (step: Plan.Store) => void
  /** Carries out an operation as the store does at the moment. */
  readonly act: <A, E, R>(
    method: Method,
    key: string,
    operation: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | Store.StoreError, R>
}

export const works: Plan.Store = { _tag: "Store", how: "works", skip: 0, count: 0 }

/** Where everything of a plan is kept: in memory, if the search does not say otherwise. */
export const MakeStore = Context.Reference<Effect.Effect<Store.Store>>("@assent/ai/test/search/MakeStore", {
  defaultValue: () => Store.makeMemory()
})

// Of these a full store has to make a row, of the others it does not.
const makes: ReadonlySet<Method> = new Set([
  "conversations.write",
  "requests.open",
  "requests.suspend",
  "remembered.insert",
  "owners.beat"
])

const isAbout = (only: Plan.Store["only"], method: Method): boolean => {
  switch (only) {
    case undefined:
      return true
    case "remembered":
      return method.startsWith("remembered.")
    case "waiting":
      return waiting.has(method)
  }
}

const waiting: ReadonlySet<Method> = new Set([
  "atomically",
  "requests.suspend",
  "requests.advance",
  "requests.deliver",
  "requests.told",
  "requests.due"
])

/** Makes a store that says when it fails. */
export const make = Effect.fnUntraced(function*(
  onTrouble: (how: Plan.Store["how"], method: Method) => void
): Effect.fn.Return<Storage> {
  const store = yield* yield* MakeStore
  let { count, how, only, skip }: Plan.Store = works

  const next = (method: Method, isNew: boolean): Plan.Store["how"] => {
    // What a full store knows can be read and replaced.
    if (how === "works" || !isAbout(only, method) || (how === "full" && !makes.has(method) && !isNew)) return "works"
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
      ;({ count, how, only, skip } = step)
    },
    act: (method, key, operation) =>
      Effect.gen(function*() {
        const isNew = method === "requests.decide" && (yield* store.requests.get(key)) === undefined
        const now = next(method, isNew)
        const failed = new Store.StoreError({
          operation: method,
          reason: now === "full" ? "Full" : "Unavailable",
          description: "The store of the plan does not work."
        })
        switch (now) {
          case "works":
            return yield* operation
          case "loses":
            return yield* Effect.andThen(operation, Effect.fail(failed))
          default:
            return yield* failed
        }
      })
  }
})
