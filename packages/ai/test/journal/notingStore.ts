/** A store in memory that says what was written to it. */
import { Effect } from "effect"
import { AtomicStore } from "../../src/index.ts"

export const make = Effect.map(AtomicStore.makeMemory(), (store) => {
  const writes: Array<string> = []
  const noting: AtomicStore.AtomicStore = {
    ...store,
    put: (key, value, options) => Effect.tap(store.put(key, value, options), () => Effect.sync(() => writes.push(key))),
    compareAndSet: (key, version, value) =>
      Effect.tap(store.compareAndSet(key, version, value), () => Effect.sync(() => writes.push(key)))
  }
  return { store: noting, writes }
})
