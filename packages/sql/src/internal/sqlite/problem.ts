/** What SQLite says went wrong, as effect/sql says it. */
import * as SqlError from "effect/sql/SqlError"

/** The number of SQLite's answer, or the name of the operating system's, such as `ENOSPC`. */
export type Code = number | string

const busy = 5
const locked = 6
/** What was read is older than what another has written since: nothing but a new transaction helps. */
const busySnapshot = 517

const codeOf = (cause: unknown): Code | undefined => {
  if (typeof cause !== "object" || cause === null) return undefined
  // `node:sqlite` has the number in `errcode`; its `code` says no more than that it was SQLite.
  if ("errcode" in cause && typeof cause.errcode === "number") return cause.errcode
  return "code" in cause && typeof cause.code === "string" ? cause.code : undefined
}

/** Whether others use it just now, and nothing was done. */
export const isBusy = (cause: unknown): boolean => {
  const code = codeOf(cause)
  return typeof code === "number" && code !== busySnapshot && ((code & 0xff) === busy || (code & 0xff) === locked)
}

/** No more of the cause is kept than its code and its message: a path must not get into a span (law L15). */
export const fromCause = (cause: unknown, operation: string): SqlError.SqlError => {
  const message = cause instanceof Error ? cause.message : String(cause)
  const kept = { code: codeOf(cause), message }
  return new SqlError.SqlError({ reason: SqlError.classifySqliteError(kept, { message, operation }) })
}

/** A file that could not be made or opened. The message of the operating system has its path, so it is left out. */
export const fromFile = (cause: unknown): SqlError.SqlError => {
  const code = codeOf(cause)
  const message = `The file of the database could not be opened (${code ?? "no reason was given"}).`
  return new SqlError.SqlError({
    reason: new SqlError.ConnectionError({ message, operation: "open", cause: { code, message } })
  })
}

/** SQLite takes such a name for a URI, and would keep the database in a file of another name, for everybody to read. */
export const noPath = (): SqlError.SqlError => {
  const message = "The name of the database is a path or \":memory:\", and cannot begin with \"file:\""
  return new SqlError.SqlError({
    reason: new SqlError.ConnectionError({ message, operation: "open", cause: { code: undefined, message } })
  })
}

export const unsupported = (runtime: string): SqlError.SqlError => {
  const message = `@assent/sql needs Node 22.13 or later, which has node:sqlite; this is ${runtime}.`
  return new SqlError.SqlError({
    reason: new SqlError.ConnectionError({ message, operation: "open", cause: { code: undefined, message } })
  })
}
