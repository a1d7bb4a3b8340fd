/** What a database says went wrong, as a store says it: what happened, why, and what to do. */
import * as Store from "@assent/ai/Store"
import type { SqlError } from "effect/sql/SqlError"

const advice = {
  Full: "The disk has no room left. Nothing was written. Make room.",
  Busy: "Other processes used the database for too long. Nothing was changed. Try again.",
  Corrupt: "The database is damaged, or is none. Nothing was changed. Restore it from a backup.",
  Unavailable: "Nothing was changed."
}

/** Where an answer is missing, the database may have done it all the same. */
const unknown = "Whether it was written is not known. Look at what is there before you do it again."

type Reason = keyof typeof advice

/** SQLite's primary codes, and what an operating system calls the same. */
const reasons: ReadonlyMap<unknown, Reason> = new Map<unknown, Reason>([
  [13, "Full"],
  ["ENOSPC", "Full"],
  ["EDQUOT", "Full"],
  [5, "Busy"],
  [6, "Busy"],
  [11, "Corrupt"],
  [26, "Corrupt"],
  // PostgreSQL: no room on the disk, and pages or indexes that are damaged.
  ["53100", "Full"],
  ["XX001", "Corrupt"],
  ["XX002", "Corrupt"]
])

/** The memory that processes share about the log is a file too, which could not be made larger. */
const sharedMemoryFull = 4874

const codeOf = ({ reason: { cause } }: SqlError): unknown =>
  typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined

/** A table or a column is not there, or not any more: PostgreSQL's codes, and what SQLite says of it. */
const missing: ReadonlyArray<unknown> = ["42P01", "42703"]
const missingText = /^no such (table|column)\b|has no column named/

/** The tables were changed while this version ran, by one that it cannot work beside. */
const isOutdated = (error: SqlError): boolean => missing.includes(codeOf(error)) || missingText.test(error.message)

const reasonOf = (error: SqlError): Reason => {
  switch (error.reason._tag) {
    case "LockTimeoutError":
    case "DeadlockError":
    case "SerializationError":
    case "StatementTimeoutError":
      return "Busy"
  }
  const code = codeOf(error)
  if (code === sharedMemoryFull) return "Full"
  return reasons.get(typeof code === "number" ? code & 0xff : code) ?? "Unavailable"
}

/** A connection that was there, and not one that could not be made. */
const isLost = ({ reason }: SqlError): boolean => reason._tag === "ConnectionError" && reason.operation === "query"

// What the client says of PostgreSQL's errors is that there was one.
const messageOf = ({ message, reason: { cause } }: SqlError): string =>
  (cause instanceof Error && "severity" in cause ? cause.message : message).replace(/\.$/, "")

export const fromSqlError = (operation: string) => (error: SqlError): Store.StoreError => {
  if (isOutdated(error)) return corrupt(operation, "The database")
  const reason = reasonOf(error)
  const description = reason === "Unavailable" && isLost(error)
    ? `The connection to the database was lost: ${messageOf(error)}. ${unknown}`
    : reason === "Unavailable"
    ? `The database could not do it: ${messageOf(error)}. ${advice.Unavailable}`
    : advice[reason]
  return new Store.StoreError({ operation, reason, description })
}

export const tooLate = (operation: string, milliseconds: number): Store.StoreError =>
  new Store.StoreError({
    operation,
    reason: "Unavailable",
    description: `The database has not answered for ${milliseconds} milliseconds. ${unknown}`
  })

export const corrupt = (operation: string, what: string): Store.StoreError =>
  new Store.StoreError({
    operation,
    reason: "Corrupt",
    description: `${what} cannot be read: it is of a later version of this library, or something else changed it.` +
      " Nothing was changed. Use the version that wrote it, or restore the database from a backup."
  })

export const noPostgres = new Store.StoreError({
  operation: "open",
  reason: "Unavailable",
  description: "The client is not one of PostgreSQL. For a file of SQLite there is SqlApproval.layer."
})

export const forgotten = (operation: string): Store.StoreError =>
  new Store.StoreError({
    operation,
    reason: "Forgotten",
    description:
      "What became of the request is not known any more, because its time was over by the clock of a process that" +
      " uses the database. Nothing was changed. Ask again, and see that the clocks of all processes are right."
  })

export const leftOut = (count: number): string =>
  `Assent left ${
    count === 1 ? "a request" : `${count} requests`
  } out of what waits for a decision: a later version of it` +
  " wrote them. Use that version to see them."

export const overQuota = (operation: string, what: string, bytes: number): Store.StoreError =>
  new Store.StoreError({
    operation,
    reason: "Full",
    description:
      `${what} holds the ${bytes} bytes that it may. Nothing was written. Remove what is over, or raise the quota.`
  })

export const noPlace = (operation: string): Store.StoreError =>
  new Store.StoreError({
    operation,
    reason: "Unavailable",
    description: "What came after that cannot be found: it is not what an event gave as `cursor`. Begin without one."
  })

export const noPage = (operation: string): Store.StoreError =>
  new Store.StoreError({
    operation,
    reason: "Unavailable",
    description: "The page after that cannot be found: it is not what a page gave as `next`. Begin with the first."
  })
