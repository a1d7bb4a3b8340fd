/** A client with the names of the tables, and the operations of a store as effects of its errors. */
import type * as Store from "@assent/ai/Store"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import type { Fragment, Statement } from "effect/sql/Statement"
import * as Problem from "./problem.ts"

/** The version of what stands in the rows of requests, conversations and remembered answers. */
export const format = 1

export const tableNames = [
  "conversation",
  "message",
  "request",
  "remembered",
  "owner",
  "setting",
  "event",
  "reader"
] as const

export type TableName = typeof tableNames[number]

export interface Database {
  readonly sql: SqlClient.SqlClient
  readonly prefix: string
  readonly tables: Readonly<Record<TableName, Fragment>>
  /** One operation; it is given the time. */
  readonly use: <A>(
    operation: string,
    run: (now: number) => Effect.Effect<A, SqlError | Store.StoreError>
  ) => Effect.Effect<A, Store.StoreError>
  /** The same for what is more than one statement. */
  readonly transact: <A>(
    operation: string,
    run: (now: number) => Effect.Effect<A, SqlError | Store.StoreError>
  ) => Effect.Effect<A, Store.StoreError>
  /** All that an effect does, or nothing; in another it is a part of that one. */
  readonly atomically: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Store.StoreError, R>
}

/** Whole milliseconds that every dialect and every number can hold. */
export const time = (milliseconds: number): number => Math.trunc(Math.min(Math.max(milliseconds, -maxTime), maxTime))

/** The same for a time that may be missing, or never come. */
export const optionalTime = (milliseconds: number | undefined): number | null =>
  milliseconds === undefined || milliseconds === Infinity ? null : time(milliseconds)

/** How many rows to read, however the number was come by. */
export const rowLimit = (limit: number): number => Math.trunc(Math.min(Math.max(limit || 0, 0), maxRows))

/** In pieces of which one statement writes each: it may have 32,766 parameters. */
export const batches = <A>(rows: ReadonlyArray<A>): ReadonlyArray<Arr.NonEmptyArray<A>> => Arr.chunksOf(rows, 1_000)

/**
 * A statement whose text is made once, for where that is felt. In place of its parameters it has their names; each time it
 * is given their values.
 */
export const compile = <Row extends object>(
  sql: SqlClient.SqlClient,
  statement: Statement<Row>
): (values: Readonly<Record<string, unknown>>) => Statement<Row> => {
  const [text, names] = statement.compile()
  return (values) => sql.unsafe<Row>(text, names.map((name) => values[String(name)]))
}

/** An outermost transaction; a fiber that was forked in it may outlive it. */
interface Transaction {
  readonly sql: SqlClient.SqlClient
  isOver: boolean
}

// Of every database that the fiber is inside of, or was.
const Begun = Context.Reference<ReadonlyArray<Transaction>>("@assent/sql/begun", { defaultValue: () => [] })

export const make = (sql: SqlClient.SqlClient, prefix: string): Database => {
  const table = (name: TableName) => sql.literal(prefix + name)

  // The client takes whoever was forked inside for a part of whatever its connection does next, by whomever.
  const leavingWhatIsOver = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber((fiber) =>
      fiber.getRef(Begun).some((one) => one.sql === sql && one.isOver)
        ? Effect.updateContext(effect, (context: Context.Context<R>) =>
          Context.omit(sql.transactionService)(context) as Context.Context<R>)
        : effect
    )

  // What effect/sql cannot undo, it dies of. Nothing within may go on after that, as nobody knows what is there; the whole
  // fails, as anything fails that the database could not do.
  const inTransaction = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
    Effect.withFiber((fiber) => {
      if (Context.getOption(fiber.context, sql.transactionService)._tag === "Some") return sql.withTransaction(effect)
      const transaction: Transaction = { sql, isOver: false }
      const begun = [...fiber.getRef(Begun).filter((one) => one.sql !== sql), transaction]
      const run = sql.withTransaction(
        Effect.onExit(Effect.provideService(effect, Begun, begun), () =>
          Effect.sync(() => {
            transaction.isOver = true
          }))
      )
      return Effect.catchCause(run, (cause) => {
        // Beside the failure for which it was to be undone.
        const defect = cause.reasons.flatMap((reason) => Cause.isDieReason(reason) ? [reason.defect] : []).find(
          isSqlError
        )
        return defect === undefined ? Effect.failCause(cause) : Effect.fail(defect)
      })
    })

  const use: Database["use"] = (operation, run) =>
    leavingWhatIsOver(Effect.mapError(
      Effect.clockWith((clock) => run(time(clock.currentTimeMillisUnsafe()))),
      (error) => error._tag === "SqlError" ? Problem.fromSqlError(operation)(error) : error
    ))

  return {
    sql,
    prefix,
    tables: {
      conversation: table("conversation"),
      message: table("message"),
      request: table("request"),
      remembered: table("remembered"),
      owner: table("owner"),
      setting: table("setting"),
      event: table("event"),
      reader: table("reader")
    },
    use,
    transact: (operation, run) => use(operation, (now) => inTransaction(run(now))),
    atomically: <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Store.StoreError, R> =>
      // What the effect fails with is its own, whatever it is.
      inTransaction(Effect.mapError(effect, (error) => ({ _tag: "Own" as const, error }))).pipe(
        Effect.mapError((failure) =>
          failure._tag === "Own" ? failure.error : Problem.fromSqlError("atomically")(failure)
        ),
        leavingWhatIsOver
      )
  }
}

const maxTime = 9e15
const maxRows = 1_000_000
