/**
 * The end of a transaction over a network. The client waits for the answer to a COMMIT or a ROLLBACK for as long as the
 * network says nothing, and nobody can interrupt that; here they are given up, and with them their connection, as everything
 * else is that nobody answers.
 */
import * as Effect from "effect/Effect"
import type * as SqlConnection from "effect/sql/SqlConnection"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import * as Runtime from "../sqlite/runtime.ts"

const bounded = new WeakSet<SqlConnection.Connection>()

// Those of a savepoint within it too.
const ends = /^(commit|rollback|savepoint|release)\b/i

/**
 * To be called within the transaction, with its connection: a thing of this transaction alone, or of all that follow. `timeout`
 * is in milliseconds of real time.
 */
export const bound = (connection: SqlConnection.Connection, timeout: number): void => {
  if (bounded.has(connection)) return
  bounded.add(connection)
  const inTime = <A>(text: string, effect: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
    ends.test(text)
      ? Effect.raceFirst(
        Effect.interruptible(effect),
        Effect.interruptible(Effect.flatMap(Runtime.pause(timeout), () => Effect.fail(unanswered)))
      )
      : effect
  const { execute, executeRaw, executeUnprepared } = connection
  // The client has no other way to say how its own statements are carried out.
  Object.assign(connection, {
    execute: (...args: Parameters<typeof execute>) => inTime(args[0], execute.apply(connection, args)),
    executeRaw: (...args: Parameters<typeof executeRaw>) => inTime(args[0], executeRaw.apply(connection, args)),
    executeUnprepared: (...args: Parameters<typeof executeUnprepared>) =>
      inTime(args[0], executeUnprepared.apply(connection, args))
  })
}

const message = "The server has not answered"
const unanswered = new SqlError({
  reason: new ConnectionError({ message, operation: "query", cause: new Error(message) })
})
