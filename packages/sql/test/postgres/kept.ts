/** Everything that a process of these tests keeps, in the database of a URL: `postgres://…`, or the path of a file. */
import type { ApprovalError, Store } from "@assent/ai"
import { SqlApproval } from "@assent/sql"
import { Effect, Layer, Redacted } from "effect"
import type { SqlError } from "effect/sql/SqlError"

/** The same for all of them. */
export const seal = { key: "a key of the program, of 32 bytes or more" }

/** A server that has lost a process lets go of what it had locked. */
const startupParameters = { idle_in_transaction_session_timeout: "2s" }

export const layer = (
  url: string,
  options: SqlApproval.PgOptions = {}
): Layer.Layer<Store.Store, Store.StoreError | ApprovalError.ApprovalError | SqlError> =>
  url.startsWith("postgres:")
    ? Layer.provide(
      SqlApproval.layerPg({ seal, ...options }),
      // Not loaded by the many processes that have a file.
      Layer.unwrap(Effect.map(
        Effect.promise(() => import("@effect/sql-pg/PgClient")),
        (PgClient) => PgClient.layer({ url: Redacted.make(url), startupParameters })
      ))
    )
    : SqlApproval.layer({ filename: url, seal, ...options })
