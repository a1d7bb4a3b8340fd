import { Effect } from "effect"
import { describeQuotas } from "../quotas.ts"
import { makePrefix, makeStore } from "./database.ts"

describeQuotas("PostgreSQL", (tenantBytes) => {
  const prefix = makePrefix()
  return Effect.forEach([1, 2, 3], () => Effect.map(makeStore({ prefix, tenantBytes }), ({ store }) => store))
})
