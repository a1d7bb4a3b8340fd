/** How many bytes conversations may have: each, and those of a tenant together. */
import type * as Store from "@assent/ai/Store"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Database } from "./database.ts"
import * as Problem from "./problem.ts"
import * as Text from "./text.ts"

export interface Options {
  readonly conversationBytes?: number | undefined
  readonly tenantBytes?: number | undefined
}

type Checked = Effect.Effect<void, SqlError | Store.StoreError>

export interface Quotas {
  /** Whether a conversation may become so large, by so much. */
  readonly write: (tenant: string | undefined, bytes: number, more: number) => Checked
  /** Whether something may begin that will have to be kept: a run, or waiting. */
  readonly begin: (operation: string, name: Store.RequestName) => Checked
}

/** A quota is not in the way of what ends a turn: a denial, and what stands in the place of a call that is not run. */
const reserve = 64 * 1024
const small = 4 * 1024

export const make = ({ sql, tables }: Database, { conversationBytes, tenantBytes }: Options): Quotas => {
  const { conversation } = tables

  const ofTenant = (tenant: string): Effect.Effect<number, SqlError> =>
    Effect.map(
      sql<{ readonly bytes: number | null }>`SELECT sum(bytes) AS bytes FROM ${conversation}
        WHERE tenant = ${Text.encode(tenant)}`,
      ([sum]) => Number(sum?.bytes ?? 0)
    )

  return {
    write: Effect.fnUntraced(function*(tenant, bytes, more): Effect.fn.Return<void, SqlError | Store.StoreError> {
      if (more <= 0) return
      const room = more <= small ? reserve : 0
      if (conversationBytes !== undefined && bytes > conversationBytes + room) {
        return yield* Problem.overQuota("conversations.write", "The conversation", conversationBytes)
      }
      if (tenantBytes === undefined || tenant === undefined) return
      if ((yield* ofTenant(tenant)) + more > tenantBytes + room) {
        return yield* Problem.overQuota("conversations.write", "The tenant", tenantBytes)
      }
    }),
    begin: Effect.fnUntraced(function*(operation, name): Effect.fn.Return<void, SqlError | Store.StoreError> {
      if (conversationBytes !== undefined && name.conversation !== undefined) {
        const [row] = yield* sql<{ readonly bytes: number }>`SELECT bytes FROM ${conversation}
          WHERE id = ${Text.encode(name.conversation)}`
        if (Number(row?.bytes ?? 0) >= conversationBytes) {
          return yield* Problem.overQuota(operation, "The conversation", conversationBytes)
        }
      }
      if (tenantBytes === undefined || name.tenant === undefined) return
      if ((yield* ofTenant(name.tenant)) >= tenantBytes) {
        return yield* Problem.overQuota(operation, "The tenant", tenantBytes)
      }
    })
  }
}
