/**
 * A transaction over a network. The client waits for the answer to a BEGIN, a COMMIT or a ROLLBACK for as long as the network
 * says nothing, and nobody can interrupt that; here they are given up, and with them their connection, as everything else is
 * that nobody answers. So a connection whose other end is gone without a word does not keep its place in the pool.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type * as SqlClient from "effect/sql/SqlClient"
import type * as SqlConnection from "effect/sql/SqlConnection"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import * as Runtime from "../sqlite/runtime.ts"

// Those of a savepoint within it too.
const controls = /^(begin|commit|rollback|savepoint|release)\b/i
const begins = /^begin\b/i
const commits = /^commit\b/i

/** The outermost one, of which every statement that begins or ends something has so many milliseconds of real time. */
export const withTransaction = <A, E, R>(
  sql: SqlClient.SqlClient,
  timeout: number,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError, R> =>
  Effect.flatMap(Scope.make(), (scope) =>
    Effect.flatMap(Scope.provide(sql.reserve, scope), (connection) => {
      bound(connection, timeout, {
        begun: Effect.withFiber((fiber) =>
          Effect.sync(() => fiber.setContext(Context.omit(sql.transactionService)(fiber.context)))
        ),
        committed: Scope.close(scope, Exit.void)
      })
      // Before the outermost level, which is 0: the client takes this connection for it, and no other.
      return Effect.provideService(sql.withTransaction(effect), sql.transactionService, [connection, -1])
    }).pipe(Effect.onExit((exit) => Scope.close(scope, exit))))

interface Steps {
  /** Nothing that happens after it may use its connection, which was given to it and to nothing else. */
  readonly begun: Effect.Effect<void>
  /** What happens after it may need a connection, so that is given back. */
  readonly committed: Effect.Effect<void>
}

const bound = (connection: SqlConnection.Connection, timeout: number, { begun, committed }: Steps): void => {
  const inTime = <A>(text: string, effect: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> => {
    if (!controls.test(text)) return effect
    const answered = Runtime.within(effect, timeout, unanswered)
    if (begins.test(text)) return Effect.tap(answered, begun)
    return commits.test(text) ? Effect.ensuring(answered, committed) : answered
  }
  const { execute, executeRaw, executeUnprepared } = connection
  // The client has no other way to say how its own statements are carried out; the connection is made anew for each lease.
  Object.assign(connection, {
    execute: (...args: Parameters<typeof execute>) => inTime(args[0], execute.apply(connection, args)),
    executeRaw: (...args: Parameters<typeof executeRaw>) => inTime(args[0], executeRaw.apply(connection, args)),
    executeUnprepared: (...args: Parameters<typeof executeUnprepared>) =>
      inTime(args[0], executeUnprepared.apply(connection, args))
  })
}

const message = "The server has not answered"
const unanswered = Exit.fail(
  new SqlError({
    reason: new ConnectionError({ message, operation: "query", cause: new Error(message) })
  })
)
