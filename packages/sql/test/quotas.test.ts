import { Effect } from "effect"
import { makeFilename, makeStore } from "./database.ts"
import { describeQuotas } from "./quotas.ts"

describeQuotas("SQLite", (tenantBytes) =>
  Effect.gen(function*() {
    const options = {
      filename: yield* makeFilename,
      synchronous: "NORMAL",
      yieldAfterWrite: true,
      tenantBytes
    } as const
    return yield* Effect.forEach([1, 2, 3], () => Effect.map(makeStore(options), ({ store }) => store))
  }))
