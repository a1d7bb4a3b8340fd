/**
 * Errors as somebody reads them who meets one in a terminal or a log: what happened, where it was met, and which reason it
 * is. Frames of a runtime say nothing of that, and what is said three times is read by nobody. Every field stays where a
 * program reads it; only what prints an error passes it over.
 */
import * as AiError from "effect/ai/AiError"
import type * as Schema from "effect/Schema"

interface Reason extends Error {
  readonly _tag: string
}

/** An error whose reason is printed with its fields, under its name. */
export const withReason = <E extends Error & { readonly reason: Reason }>(error: E): E => {
  hide(error, ["_tag"])
  hide(error.reason, ["_tag"])
  define(error.reason, { stack: error.reason._tag })
  return define(error, { stack: `${error.name}: ${error.message}${framesOf(error)}` })
}

/**
 * An `AiError` that says its description and nothing before it: upstream's own message begins with the method, and with
 * "Invalid request", where it is the program's configuration or an answer that has to change.
 */
export const toAiError = (
  { message: description, reason: { _tag: tag } }: Error & { readonly reason: Reason },
  place: { readonly module: string; readonly method: string },
  encoded: Schema.MutableJson
): AiError.AiError =>
  withoutFrames(() => {
    const inner = new AiError.InvalidRequestError({ description, metadata: { assent: encoded } })
    const error = AiError.make({ ...place, reason: inner })
    for (const one of [inner, error]) hide(one, Object.keys(one))
    define(inner, { name: "InvalidRequestError", message: description, stack: tag })
    const stack = `AiError: ${description}\n    at ${place.module}.${place.method}`
    return define(error, { name: "AiError", message: description, stack })
  })

// Below the first frame of effect's runtime nothing is the program's own.
const framesOf = ({ stack = "" }: Error): string => {
  const frames: Array<string> = []
  for (const line of stack.split("\n")) {
    if (/Generator\.next|~effect\/|\/effect\/(?:dist|src)\/internal\//.test(line)) break
    if (/^\s+at /.test(line)) frames.push(`\n${line}`)
  }
  return frames.join("")
}

const hide = (error: Error, keys: ReadonlyArray<string>): void => {
  for (const key of keys) Object.defineProperty(error, key, { enumerable: false })
}

const define = <E extends Error>(error: E, properties: Readonly<Record<string, string>>): E => {
  for (const [key, value] of Object.entries(properties)) {
    Object.defineProperty(error, key, { value, configurable: true, writable: true })
  }
  return error
}

// Taking a stack that nobody prints costs more than the rest of the error.
const withoutFrames = <A>(make: () => A): A => {
  const limited = Error as { stackTraceLimit?: number } // not every runtime has it
  const { stackTraceLimit } = limited
  if (stackTraceLimit === undefined) return make()
  limited.stackTraceLimit = 0
  try {
    return make()
  } finally {
    limited.stackTraceLimit = stackTraceLimit
  }
}
