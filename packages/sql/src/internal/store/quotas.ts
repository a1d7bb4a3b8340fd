/**
 * How many bytes the conversations of one tenant may have together. Where they have as many, no turn begins, nothing runs and
 * nothing begins to wait; what was begun is written, however long it is. What one conversation may have is the rule of
 * `ConversationStore`.
 */
import type * as Store from "@assent/ai/Store"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { Database } from "./database.ts"
import * as Problem from "./problem.ts"
import * as Text from "./text.ts"

export interface Options {
  readonly tenantBytes?: number | undefined
}

export interface Quotas {
  /** Whether something of a tenant may begin, whose size is not known yet. */
  readonly begin: (operation: string, tenant: string | undefined) => Effect.Effect<void, SqlError | Store.StoreError>
  /**
   * Of what the row of a conversation was written with that begins a turn: a column of what is returned, which waits for every
   * other turn of the tenant that begins at the same moment, and what has to be found out after it. So that of several that
   * would fit alone those begin that fit together.
   */
  readonly turn: (tenant: string | undefined) => {
    readonly alone: Fragment
    readonly check: Effect.Effect<void, SqlError | Store.StoreError>
  } | undefined
}

export const make = (database: Database, { tenantBytes }: Options): Quotas => {
  const { dialect, prefix, sql, tables } = database
  const held = (tenant: string) =>
    Effect.map(
      sql<{ readonly bytes: number | null }>`SELECT sum(bytes) AS bytes FROM ${tables.conversation}
        WHERE tenant = ${Text.encode(tenant)}`,
      ([sum]) => Number(sum?.bytes ?? 0)
    )
  const fits = (operation: string, bytes: number, limit: number) =>
    bytes > limit ? Effect.fail(Problem.overQuota(operation, "The tenant", limit)) : Effect.void
  return {
    begin: (operation, tenant) =>
      tenantBytes === undefined || tenant === undefined
        ? Effect.void
        : Effect.flatMap(held(tenant), (bytes) => fits(operation, bytes + 1, tenantBytes)),
    turn: (tenant) =>
      tenantBytes === undefined || tenant === undefined ? undefined : {
        alone: dialect.locked(sql, `${prefix}tenant ${Text.encode(tenant)}`),
        check: Effect.flatMap(held(tenant), (bytes) => fits("conversations.write", bytes, tenantBytes))
      }
  }
}
