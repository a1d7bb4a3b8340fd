/**
 * What can go wrong with an `AtomicStore`, in sentences that say what happened, why, and what to do.
 */
import type * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"

/** What went wrong, before it is known in which operation. */
export interface Failure {
  readonly reason: "Full" | "Unavailable" | "Corrupt"
  readonly description: string
}

const codeOf = (error: PlatformError.PlatformError): string =>
  Predicate.hasProperty(error.reason.cause, "code") && Predicate.isString(error.reason.cause.code)
    ? error.reason.cause.code
    : error.reason._tag

const failed = (tag: "AlreadyExists" | "NotFound") => (error: PlatformError.PlatformError): boolean =>
  error.reason._tag === tag

export const isNotFound = failed("NotFound")
export const isAlreadyExists = failed("AlreadyExists")

const passing = new Set([
  "EAGAIN",
  "EBUSY",
  "EMFILE",
  "ENFILE",
  "ENOMEM",
  "ETIMEDOUT",
  "Busy",
  "TimedOut",
  "WouldBlock"
])

export const unreadable = (file: string) => (error: PlatformError.PlatformError): Failure =>
  passing.has(codeOf(error))
    ? unavailable(`"${file}" could not be read just now (${codeOf(error)}). Nothing was changed. Try again.`)
    : {
      reason: "Corrupt",
      description: `"${file}" cannot be read (${codeOf(error)}), so what it says is unknown. Nothing was changed.` +
        " Check its owner and permissions."
    }

export const notARecord = (file: string): Failure => ({
  reason: "Corrupt",
  description: `"${file}" does not hold the record it should: something else changed it, or the disk lost a part of` +
    " it. Nothing was changed. Restore the file from a backup, or stop every process that uses the store and remove" +
    " the folder it is in, which forgets what was decided."
})

export const unwritable = (file: string) => (error: PlatformError.PlatformError): Failure =>
  codeOf(error) === "ENOSPC" || codeOf(error) === "EDQUOT"
    ? {
      reason: "Full",
      description: `There is no room left to write "${file}" (${codeOf(error)}). Nothing was decided. Make room.`
    }
    : unavailable(
      `"${file}" could not be written (${codeOf(error)}). Nothing was decided. Check that the directory exists and` +
        " may be written to."
    )

export const unavailable = (description: string): Failure => ({ reason: "Unavailable", description })

export const unsettled = (directory: string): Failure =>
  unavailable(`"${directory}" kept changing while it was being used. Nothing was decided. Try again.`)

/** Why `put` refuses a key; the same in memory. */
export const putOverDecision =
  "The key was written with putIfAbsent, so its value is a decision that must not be overwritten. Nothing was" +
  " changed. Use compareAndSet, or another key."
