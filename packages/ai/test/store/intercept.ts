/** A store whose every operation passes one function, which may fail it, lose it, delay it or count it. */
import { Store } from "@assent/ai"
import { Effect } from "effect"

/** An operation by its group and its name, `"requests.decide"`; `"sweep"` is in no group. */
export type Operation =
  | `conversations.${keyof Store.Conversations}`
  | `requests.${keyof Store.Requests}`
  | `remembered.${keyof Store.RememberedAnswers}`
  | `owners.${keyof Store.Owners}`
  | `events.${keyof Store.Events}`
  | `readers.${keyof Store.Readers}`
  | "sweep"

/**
 * Decides what becomes of an operation. `key` is the nonce, id or digest it is about, or of several the first; `run` carries
 * it out, which may be done before a failure too: then it happened, and nobody was told.
 */
export type Interceptor = <A>(
  operation: Operation,
  key: string,
  run: Effect.Effect<A, Store.StoreError>
) => Effect.Effect<A, Store.StoreError>

/** The store with the function before each operation. `atomically` stays as it is: what fails inside undoes the rest. */
export const intercept = (store: Store.Store, by: Interceptor): Store.Store => {
  const group = <Group extends object>(name: string, operations: Group): Group => {
    const entries = Object.entries(operations).map(([operation, run]) => [
      operation,
      Effect.isEffect(run)
        ? by(`${name}.${operation}` as Operation, "", run as Effect.Effect<unknown, Store.StoreError>)
        : (...args: ReadonlyArray<unknown>) => by(`${name}.${operation}` as Operation, keyOf(args), run(...args))
    ])
    return Object.fromEntries(entries)
  }
  return Store.make({
    isShared: store.isShared,
    atomically: store.atomically,
    conversations: group("conversations", store.conversations),
    requests: group("requests", store.requests),
    remembered: group("remembered", store.remembered),
    owners: group("owners", store.owners),
    events: group("events", store.events),
    readers: group("readers", store.readers),
    sweep: (limit) => by("sweep", "", store.sweep(limit))
  })
}

/** What a test fails an operation with. */
export const failure = (operation: Operation, reason: Store.StoreError["reason"] = "Unavailable"): Store.StoreError =>
  new Store.StoreError({ operation, reason, description: `The store failed: ${operation}.` })

const keyOf = ([first]: ReadonlyArray<unknown>): string => {
  if (typeof first === "string") return first
  if (Array.isArray(first)) return keyOf(first)
  const named = (first ?? {}) as { readonly nonce?: string; readonly id?: string; readonly scope?: string }
  return named.nonce ?? named.id ?? named.scope ?? ""
}

/** A store whose process can be cut off from it, as by a crash: nothing it writes arrives any more. */
export const cuttable = (store: Store.Store) => {
  let isCut = false
  return {
    cut: () => void (isCut = true),
    store: intercept(store, (operation, _, run) => Effect.suspend(() => isCut ? Effect.fail(failure(operation)) : run))
  }
}

/** A store whose process, once it is silent, cannot say any more that it lives. */
export const silenceable = (store: Store.Store) => {
  let isSilent = false
  return {
    silence: () => void (isSilent = true),
    store: intercept(
      store,
      (operation, _, run) => isSilent && operation === "owners.beat" ? Effect.fail(failure(operation)) : run
    )
  }
}
