/**
 * How many bytes the conversations of one tenant may have together. Where they have as many, no turn begins, nothing runs and
 * nothing begins to wait; what was begun is written, however long it is. What one conversation may have is the rule of
 * `ConversationStore`.
 */
import type * as Store from "@assent/ai/Store"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Database } from "./database.ts"
import * as Problem from "./problem.ts"
import * as Text from "./text.ts"

export interface Options {
  readonly tenantBytes?: number | undefined
}

export interface Quotas {
  /** Whether something of a tenant may begin that is so large, or whose size is not known yet. */
  readonly begin: (
    operation: string,
    tenant: string | undefined,
    more?: number
  ) => Effect.Effect<void, SqlError | Store.StoreError>
}

export const make = ({ sql, tables }: Database, { tenantBytes }: Options): Quotas => ({
  begin: (operation, tenant, more = 1) =>
    tenantBytes === undefined || tenant === undefined ? Effect.void : Effect.flatMap(
      sql<{ readonly bytes: number | null }>`SELECT sum(bytes) AS bytes FROM ${tables.conversation}
        WHERE tenant = ${Text.encode(tenant)}`,
      ([sum]) =>
        Number(sum?.bytes ?? 0) + more > tenantBytes
          ? Effect.fail(Problem.overQuota(operation, "The tenant", tenantBytes))
          : Effect.void
    )
})
