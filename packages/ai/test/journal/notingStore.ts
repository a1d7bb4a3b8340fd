/** A store in memory that says what was written to it. */
import { Effect } from "effect"
import { Store } from "../../src/index.ts"
import { intercept } from "../store/intercept.ts"

const reads: ReadonlySet<string> = new Set(["requests.get", "owners.get"])

export const make = Effect.map(Store.makeMemory(), (store) => {
  const writes: Array<string> = []
  const noting = intercept(store, (operation, key, run) =>
    reads.has(operation)
      ? run
      : Effect.tap(run, () => Effect.sync(() => writes.push(`${operation} ${key}`))))
  return { store: noting, writes }
})
