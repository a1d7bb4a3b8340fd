/** A client with the names of the tables, and the operations of a store as effects of its errors. */
import type * as Store from "@assent/ai/Store"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import type { Fragment, Statement } from "effect/sql/Statement"
import * as Runtime from "../sqlite/runtime.ts"
import * as Bounding from "./bounding.ts"
import type { Dialect } from "./dialect.ts"
import * as Problem from "./problem.ts"
import * as Repeating from "./repeating.ts"

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
  readonly dialect: Dialect
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
  /** Within a transaction: waits for whoever has said the same in one, until that is over. */
  readonly lock: (text: string) => Effect.Effect<void, SqlError>
  /** When the outermost transaction is committed; at once where there is none. */
  readonly afterwards: (effect: Effect.Effect<void>) => Effect.Effect<void>
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
interface Begun {
  readonly sql: SqlClient.SqlClient
  isOver: boolean
  /** Somebody else was in the way of it, so that the database undid what it had done. */
  isThwarted: boolean
}

// Of every database that the fiber is inside of, or was.
const Transactions = Context.Reference<ReadonlyArray<Begun>>("@assent/sql/begun", { defaultValue: () => [] })

export interface Options {
  /** Real milliseconds after which an operation is given up, whatever the network does; `undefined` where there is none. */
  readonly timeout: number | undefined
}

export const make = (
  sql: SqlClient.SqlClient,
  dialect: Dialect,
  prefix: string,
  { timeout }: Options = { timeout: undefined }
): Database => {
  const table = (name: TableName) => sql.literal(prefix + name)

  const isWithin = (context: Context.Context<never>) =>
    Context.getOption(context, sql.transactionService)._tag === "Some"

  // The client takes whoever was forked inside for a part of whatever its connection does next, by whomever.
  const leavingWhatIsOver = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber((fiber) =>
      fiber.getRef(Transactions).some((one) => one.sql === sql && one.isOver)
        ? Effect.updateContext(effect, (context: Context.Context<R>) =>
          Context.omit(sql.transactionService)(context) as Context.Context<R>)
        : effect
    )

  // What effect/sql cannot undo, it dies of. Nothing within may go on after that, as nobody knows what is there; the whole
  // fails, as anything fails that the database could not do.
  const begin = <A, E, R>(
    effect: Effect.Effect<A, E, R>,
    transaction: Begun
  ): Effect.Effect<A, E | SqlError, R> =>
    Effect.withFiber((fiber) => {
      const begun = [...fiber.getRef(Transactions).filter((one) => one.sql !== sql), transaction]
      const began = fiber.getRef(SqlClient.BeginTransaction)
      const run = effect.pipe(
        Effect.onExit(() =>
          Effect.sync(() => {
            transaction.isOver = true
          })
        ),
        Effect.provideService(Transactions, begun),
        // What somebody begins within at another database, they begin as they wish.
        Effect.provideService(SqlClient.BeginTransaction, began),
        // Nobody waits for ever for its begin or its end either.
        (all) => timeout === undefined ? sql.withTransaction(all) : Bounding.withTransaction(sql, timeout, all),
        Effect.provideService(SqlClient.BeginTransaction, began ?? dialect.begin)
      )
      return Effect.catchCause(run, (cause) => {
        // Beside the failure for which it was to be undone.
        const defect = cause.reasons.flatMap((reason) => Cause.isDieReason(reason) ? [reason.defect] : []).find(
          isSqlError
        )
        return defect === undefined ? Effect.failCause(cause) : Effect.fail(defect)
      })
    })

  const inTransaction = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
    Effect.withFiber((fiber) => {
      if (isWithin(fiber.context)) return sql.withTransaction(effect)
      return Repeating.repeating(() => {
        const transaction: Begun = { sql, isOver: false, isThwarted: false }
        return { run: begin(effect, transaction), isThwarted: () => transaction.isThwarted }
      })
    })

  const inTime = <A, E, R>(
    operation: string,
    effect: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | Store.StoreError, R> =>
    timeout === undefined ? effect : Effect.withFiber((current) => {
      if (isWithin(current.context)) return effect
      // In a fiber that is not waited for: the client cannot be interrupted while it waits for the answer to a BEGIN.
      return Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(Effect.forkDetach(Effect.interruptible(effect)), (fiber) => {
          const late = Effect.flatMap(
            Runtime.pause(timeout),
            () => Effect.fail(Problem.tooLate(operation, timeout))
          )
          return restore(Effect.raceFirst(Fiber.join(fiber), late)).pipe(
            Effect.onInterrupt(() => Fiber.interrupt(fiber)),
            Effect.tapError(() => Effect.sync(() => fiber.interruptUnsafe()))
          )
        })
      )
    })

  // Of what stands alone, that is repeated; within a transaction, all of that.
  const noting = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.withFiber((fiber) => {
      if (!isWithin(fiber.context)) return Repeating.repeating(() => ({ run: effect, isThwarted: () => false }))
      return Effect.tapError(effect, (error) =>
        Effect.sync(() => {
          if (!Repeating.isThwarted(error)) return
          for (const one of fiber.getRef(Transactions)) if (one.sql === sql) one.isThwarted = true
        }))
    })

  const use: Database["use"] = (operation, run) =>
    leavingWhatIsOver(inTime(
      operation,
      Effect.mapError(
        noting(Effect.clockWith((clock) => run(time(clock.currentTimeMillisUnsafe())))),
        (error) => error._tag === "SqlError" ? Problem.fromSqlError(operation)(error) : error
      )
    ))

  return {
    sql,
    dialect,
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
    lock: (text) =>
      dialect.lock === undefined ?
        Effect.void :
        Effect.withFiber((fiber) =>
          isWithin(fiber.context) ? Effect.asVoid(dialect.lock!(sql, prefix + text)) : Effect.void
        ),
    afterwards: (effect) => leavingWhatIsOver(sql.afterCommit(effect)),
    atomically: <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Store.StoreError, R> =>
      // What the effect fails with is its own, whatever it is.
      inTransaction(Effect.mapError(effect, (error) => new Repeating.Own(error))).pipe(
        Effect.mapError((failure) =>
          failure._tag === "Own" ? failure.error : Problem.fromSqlError("atomically")(failure)
        ),
        (run) => leavingWhatIsOver(inTime("atomically", run))
      )
  }
}

const maxTime = 9e15
const maxRows = 1_000_000
