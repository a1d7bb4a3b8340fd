/** One connection to SQLite, as effect/sql has connections. Whoever holds it is alone with it: see `SqliteClient`. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type * as SqlConnection from "effect/sql/SqlConnection"
import type * as SqlError from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import * as Problem from "./problem.ts"
import * as Runtime from "./runtime.ts"

export interface Options {
  readonly database: DatabaseSync
  /** Real milliseconds for which it is tried again while others use the database. */
  readonly busyTimeout: number
  /** Whether timers and sockets have a turn after each write. */
  readonly yields: boolean
}

export interface Connection extends SqlConnection.Connection {
  readonly commit: Effect.Effect<void, SqlError.SqlError>
  readonly isTransaction: () => boolean
  /** To be called when it is handed to somebody new: what the last one lost is forgotten. */
  readonly hand: () => void
  /** A statement, or several, without parameters and rows. */
  readonly run: (sql: string) => Effect.Effect<void, SqlError.SqlError>
  readonly close: Effect.Effect<void>
}

/** How many prepared statements are kept. */
const maxStatements = 200

const firstPause = 1
const maxPause = 20

const begins = /^\s*begin\b/i
const endsTransaction = /^\s*(commit|rollback)\b(?!\s+to\b)/i
const writes = /^\s*(insert|update|delete|replace)\b/i

type Rows = ReadonlyArray<any>

/** What a statement does to a transaction, which is not asked of every text anew. */
type Kind = "begins" | "ends" | "writes" | "reads"

const kindOf = (sql: string): Kind =>
  begins.test(sql) ? "begins" : endsTransaction.test(sql) ? "ends" : writes.test(sql) ? "writes" : "reads"

const bind = (value: unknown): SQLInputValue => {
  if (value === undefined || value === null) return null
  if (typeof value === "boolean") return value ? 1 : 0
  if (value instanceof Date) return value.toISOString()
  // Whatever else it is, SQLite says that it cannot take it.
  return value as SQLInputValue
}

export const make = ({ busyTimeout, database, yields }: Options): Connection => {
  const statements = new Map<string, StatementSync>()
  let isOpen = true
  // Set between BEGIN and its end. SQLite ends a transaction by itself where the disk is full, for example; what follows
  // in it must not be carried out by itself.
  let begun = false
  let lost: SqlError.SqlError | undefined

  const isTransaction = () => {
    if (!isOpen) return false
    if (typeof database.isTransaction === "boolean") return database.isTransaction
    // Node before 22.16 does not tell; SQLite does not begin one within another.
    try {
      database.exec("BEGIN")
    } catch {
      return true
    }
    database.exec("ROLLBACK")
    return false
  }

  const prepare = (sql: string): StatementSync => {
    const known = statements.get(sql)
    if (known !== undefined) {
      statements.delete(sql)
      statements.set(sql, known)
      return known
    }
    const made = database.prepare(sql)
    statements.set(sql, made)
    if (statements.size > maxStatements) {
      const [oldest] = statements.keys()
      if (oldest !== undefined) statements.delete(oldest)
    }
    return made
  }

  /** Where others use the database nothing was done: again, without stopping everybody else in this process. */
  const retrying = <A>(
    operation: string,
    evaluate: () => A,
    mayRepeat: () => boolean = () => true
  ): Effect.Effect<A, SqlError.SqlError> => {
    let until: number | undefined
    let pause = firstPause
    const attempt: Effect.Effect<A, SqlError.SqlError> = Effect.suspend(() => {
      if (lost !== undefined) return Effect.fail(lost)
      try {
        return Effect.succeed(evaluate())
      } catch (cause) {
        const problem = Problem.fromCause(cause, operation)
        const now = performance.now()
        until ??= now + busyTimeout
        if (Problem.isBusy(cause) && now < until && mayRepeat()) {
          pause = Math.min(pause * 1.5, maxPause)
          return Effect.flatMap(Random.next, (part) => Effect.andThen(Runtime.pause(part * pause), attempt))
        }
        if (begun && !isTransaction()) lost = problem
        return Effect.fail(problem)
      }
    })
    return attempt
  }

  const yielding = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    yields ? Effect.uninterruptible(Effect.tap(effect, () => Runtime.turn)) : effect

  const all = (sql: string, params: ReadonlyArray<unknown>): Effect.Effect<Rows, SqlError.SqlError> => {
    const kind = kindOf(sql)
    const rows = retrying<Rows>("execute", () => {
      const rows = prepare(sql).all(...params.map(bind))
      if (kind === "begins" || kind === "ends") begun = kind === "begins"
      return rows
      // A transaction has the lock by then, so who writes in it waits for nobody: that it was not done is not certain.
    }, () => kind !== "writes" || !begun)
    return kind === "writes" && !begun ? yielding(rows) : rows
  }

  const values = (sql: string, params: ReadonlyArray<unknown>) =>
    retrying("execute", () => {
      // Not the kept one: rows as arrays are a property of a statement.
      const statement = database.prepare(sql)
      if (typeof statement.setReturnArrays !== "function") {
        return statement.all(...params.map(bind)).map((row) => Object.values(row))
      }
      statement.setReturnArrays(true)
      return statement.all(...params.map(bind)) as unknown as ReadonlyArray<ReadonlyArray<unknown>>
    })

  const execute: SqlConnection.Connection["execute"] = (sql, params, transform) =>
    transform === undefined ? all(sql, params) : Effect.map(all(sql, params), transform)

  return {
    execute,
    executeRaw: all,
    executeUnprepared: execute,
    executeValues: values,
    executeValuesUnprepared: values,
    executeStream: (sql, params, transform) =>
      Stream.unwrap(
        Effect.map(
          // A statement of its own: the kept one may be carried out again while this is read.
          retrying("stream", () => database.prepare(sql).iterate(...params.map(bind))),
          (rows) =>
            Stream.fromIterable({ [Symbol.iterator]: (): Iterator<any> => rows }, { chunkSize: 128 }).pipe(
              Stream.mapArray((chunk) => {
                const [first, ...rest] = transform === undefined ? chunk : transform(chunk)
                return [first, ...rest]
              }),
              Stream.ensuring(Effect.sync(() => rows.return?.()))
            )
        )
      ),
    commit: Effect.suspend(() =>
      // SQLite would say that there is nothing to commit, and not why.
      yielding(Effect.asVoid(all("COMMIT", [])))
    ),
    isTransaction,
    hand: () => {
      begun = false
      lost = undefined
      // A transaction that could not be ended: what follows must not become a part of it, and never be committed.
      if (!isTransaction()) return
      try {
        database.exec("ROLLBACK")
      } catch (cause) {
        lost = Problem.fromCause(cause, "rollback")
      }
    },
    run: (sql) => retrying("execute", () => database.exec(sql)),
    close: Effect.sync(() => {
      isOpen = false
      statements.clear()
      try {
        database.close()
      } catch {
        // It is closed already.
      }
    })
  }
}
