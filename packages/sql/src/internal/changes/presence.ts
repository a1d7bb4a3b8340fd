/**
 * A session of its own that a process has at a PostgreSQL server, with a lock for each name of its own: as soon as the process
 * has ended, the server lets go of them, and others see that before they have missed a beat.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type * as SqlClient from "effect/sql/SqlClient"
import type * as SqlConnection from "effect/sql/SqlConnection"
import * as Runtime from "../sqlite/runtime.ts"

export interface Presence {
  /** Whether the lock is held by now, by a session that has just answered. */
  readonly keep: (name: string) => Effect.Effect<boolean>
}

interface Session {
  readonly connection: SqlConnection.Connection
  readonly scope: Scope.Closeable
  readonly held: Set<string>
}

/** Real milliseconds, for a connection and for an answer. */
const patience = 1_000

export const start = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient
): Effect.fn.Return<Presence, never, Scope.Scope> {
  let session: Session | undefined
  // There is one session, whoever asks first.
  const permit = Semaphore.makeUnsafe(1)
  const inTime = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A | undefined> =>
    Effect.raceFirst(Effect.catch(effect, () => Effect.undefined), Effect.as(Runtime.pause(patience), undefined))

  const end = Effect.suspend(() => {
    const ended = session
    session = undefined
    if (ended === undefined) return Effect.void
    // The connection goes back to whoever needs one next.
    const unlock = ended.connection.execute("SELECT pg_advisory_unlock_all()::text AS unlocked", [], undefined)
    return Effect.ensuring(inTime(unlock), Scope.close(ended.scope, Exit.void))
  })

  const begin = Effect.gen(function*() {
    const scope = yield* Scope.make()
    const connection = yield* inTime(Scope.provide(sql.reserve, scope))
    if (connection === undefined) yield* Scope.close(scope, Exit.void)
    else session = { connection, scope, held: new Set() }
  })

  yield* Effect.addFinalizer(() => end)
  return {
    keep: (name) =>
      Effect.uninterruptible(Effect.gen(function*() {
        if (session === undefined) yield* begin
        if (session === undefined) return false
        const { connection, held } = session
        const [text, values] = held.has(name)
          ? ["SELECT 1 AS held", []]
          : ["SELECT CASE WHEN pg_try_advisory_lock(hashtextextended($1, 0)) THEN 1 ELSE 0 END AS held", [name]]
        const rows = yield* inTime(connection.execute(text, values, undefined))
        if (rows === undefined) yield* end
        const isHeld = Number(rows?.[0]?.held) === 1
        if (isHeld) held.add(name)
        return isHeld
      })).pipe(permit.withPermit)
  }
})

/** A condition: whether somebody holds the lock of a name, `$name` in a statement. */
export const isHeld = (sql: SqlClient.SqlClient, name: string) =>
  sql`EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1
    AND ((classid::bigint << 32) | objid::bigint) = hashtextextended(${name}, 0)
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`
