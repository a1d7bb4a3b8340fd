/**
 * Every statement that is given to SQLite for a file passes a function: counted, failed, or never come back from. It stands
 * before `node:sqlite` itself, so nothing of this package, or of effect/sql, gets past it.
 */
import { Effect, type Scope } from "effect"
import * as Fs from "node:fs"
import { DatabaseSync, StatementSync } from "node:sqlite"

/** Decides what becomes of a statement; `run` carries it out. */
export type Watcher = <A>(sql: string, run: () => A, database: DatabaseSync) => A

const watchers = new Map<string, Watcher>()
const databases = new WeakMap<StatementSync, DatabaseSync>()

const databasePrototype = { exec: DatabaseSync.prototype.exec, prepare: DatabaseSync.prototype.prepare }
const statementPrototype = { all: StatementSync.prototype.all, iterate: StatementSync.prototype.iterate }

const watched = <A>(database: DatabaseSync | undefined, sql: string, run: () => A): A => {
  const watcher = database === undefined ? undefined : watchers.get(database.location() ?? "")
  return database === undefined || watcher === undefined ? run() : watcher(sql, run, database)
}

const install = (): void => {
  DatabaseSync.prototype.exec = function(sql) {
    return watched(this, sql, () => databasePrototype.exec.call(this, sql))
  }
  DatabaseSync.prototype.prepare = function(...args) {
    const statement = databasePrototype.prepare.apply(this, args)
    databases.set(statement, this)
    return statement
  }
  StatementSync.prototype.all = function(...args: Array<unknown>) {
    return watched(databases.get(this), this.sourceSQL, () => Reflect.apply(statementPrototype.all, this, args))
  }
  StatementSync.prototype.iterate = function(...args: Array<unknown>) {
    return watched(databases.get(this), this.sourceSQL, () => Reflect.apply(statementPrototype.iterate, this, args))
  }
}

const uninstall = (): void => {
  Object.assign(DatabaseSync.prototype, databasePrototype)
  Object.assign(StatementSync.prototype, statementPrototype)
}

/** As long as the scope. `filename` has no symbolic link in it. */
export const watch = (filename: string, watcher: Watcher): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      if (watchers.size === 0) install()
      watchers.set(filename, watcher)
    }),
    () =>
      Effect.sync(() => {
        watchers.delete(filename)
        if (watchers.size === 0) uninstall()
      })
  )

/**
 * At one of the statements, before it or after it, the process says "stopped" and does nothing more, until it is killed. Only
 * those count of which `counts` says so.
 */
export const stopAt = (number: number, side: string, counts: (sql: string) => boolean = () => true): Watcher => {
  let count = 0
  const stop = (): void => {
    Fs.writeSync(1, "stopped\n")
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  }
  return (sql, run) => {
    const isIt = counts(sql) && ++count === number
    if (isIt && side === "before") stop()
    const result = run()
    if (isIt && side === "after") stop()
    return result
  }
}

/** What `node:sqlite` throws. */
export const sqliteError = (code: number, message: string): Error =>
  Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR", errcode: code, errstr: message })

/** Whether a statement begins with one of the words. */
export const begins = (sql: string, ...words: ReadonlyArray<string>): boolean =>
  words.some((word) => sql.trimStart().toUpperCase().startsWith(word))
