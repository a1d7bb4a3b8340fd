/**
 * JSON with one spelling per value (law L4): what is shown, sealed and run is the parse of one string, so two values
 * that are the same JSON must be the same text, and a value that is not JSON must not become text at all.
 *
 * Keys are sorted by UTF-16 code unit and numbers and strings are written as `JSON.stringify` writes them. Input comes
 * from models and tools, so nothing here may hang, overflow the stack, or build more than it is allowed to return.
 */
import * as Result from "effect/Result"

/** Parameters may be this many bytes of UTF-8 as canonical JSON. */
export const maxParamsBytes = 1_048_576

/** A call id may be this many bytes of UTF-8. */
export const maxToolCallIdBytes = 256

/** A tool name may be this many bytes of UTF-8. */
export const maxToolNameBytes = 128

const maxDepth = 512

/**
 * The canonical JSON of a value. The failure is one sentence for people; it never contains the value.
 *
 * Properties that are `undefined`, and symbol keys, are absent, as in `JSON.stringify`; `toJSON` is not called.
 */
export const canonicalize = (value: unknown): Result.Result<string, string> => {
  const writer: Writer = { out: "", left: maxParamsBytes, properties: 0, problem: undefined }
  try {
    return write(writer, value, 0) ? Result.succeed(writer.out) : Result.fail(writer.problem!)
  } catch {
    // A getter or a proxy that throws. What it threw may hold the value, so it is not repeated.
    return Result.fail("A value cannot be read.")
  }
}

/** Whether an id is not empty, has no lone surrogate, and takes at most `maxBytes` bytes of UTF-8. */
export const isWellFormedId = (id: string, maxBytes: number): boolean =>
  id.length > 0 && id.length <= maxBytes && utf8Length(id, maxBytes) >= 0

// =============================================================================
// Internals
// =============================================================================

interface Writer {
  out: string
  /** How many bytes may still be written. */
  left: number
  /** How many properties were looked at; those that are `undefined` write nothing, but must end too. */
  properties: number
  problem: string | undefined
}

const refuse = (writer: Writer, problem: string): false => {
  writer.problem = problem
  return false
}

const tooLarge = (writer: Writer): false => refuse(writer, "The value is larger than 1 MB (1,048,576 bytes) as JSON.")

const write = (writer: Writer, value: unknown, depth: number): boolean => {
  switch (typeof value) {
    case "string":
      return writeString(writer, value)
    case "number":
      return Number.isFinite(value)
        // `String` writes finite numbers as JSON does, and -0 as 0.
        ? writeAscii(writer, String(value))
        : refuse(writer, "A number is not finite, so it is not JSON.")
    case "boolean":
      return writeAscii(writer, value ? "true" : "false")
    case "object":
      if (value === null) return writeAscii(writer, "null")
      // The limit also ends cycles: the first way down is as deep as any.
      if (depth >= maxDepth) {
        return refuse(writer, `The value is nested deeper than ${maxDepth} levels, or contains itself.`)
      }
      if (Array.isArray(value)) return writeArray(writer, value, depth + 1)
      return isPlainObject(value)
        ? writeObject(writer, value, depth + 1)
        : refuse(writer, "An object is neither a plain object nor an array, so it is not JSON.")
    default:
      return refuse(writer, `A value is ${describeType(value)}, so it is not JSON.`)
  }
}

const writeAscii = (writer: Writer, text: string): boolean => {
  writer.left -= text.length
  if (writer.left < 0) return tooLarge(writer)
  writer.out += text
  return true
}

const writeString = (writer: Writer, text: string): boolean => {
  // No text takes fewer bytes than UTF-16 units: a huge one is refused before it is read.
  if (text.length + 2 > writer.left) return tooLarge(writer)
  if (isPlain(text)) return writeAscii(writer, `"${text}"`)
  const bytes = utf8Length(text, Infinity)
  if (bytes < 0) return refuse(writer, "A text contains half of a surrogate pair, so it is not Unicode.")
  const quoted = JSON.stringify(text)
  // Escapes are ASCII, so what they add in units they add in bytes.
  writer.left -= bytes + quoted.length - text.length
  if (writer.left < 0) return tooLarge(writer)
  writer.out += quoted
  return true
}

/** ASCII that JSON writes as it is, as most keys and texts are. */
const isPlain = (text: string): boolean => {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x20 || unit > 0x7e || unit === 0x22 || unit === 0x5c) return false
  }
  return true
}

const isSorted = (keys: ReadonlyArray<string>): boolean => {
  for (let i = 1; i < keys.length; i++) {
    if (keys[i - 1]! > keys[i]!) return false
  }
  return true
}

const writeArray = (writer: Writer, array: ReadonlyArray<unknown>, depth: number): boolean => {
  // An array's prototype is itself an array, in every realm; the prototype of a subclass is not.
  if (!Array.isArray(Object.getPrototypeOf(array))) {
    return refuse(writer, "An array is an instance of a class, so it is not JSON.")
  }
  if (!writeAscii(writer, "[")) return false
  for (let i = 0; i < array.length; i++) {
    if (i > 0 && !writeAscii(writer, ",")) return false
    if (!write(writer, array[i], depth)) return false
  }
  return writeAscii(writer, "]")
}

const writeObject = (writer: Writer, object: Readonly<Record<string, unknown>>, depth: number): boolean => {
  const keys = Object.keys(object)
  writer.properties += keys.length
  if (writer.properties > maxParamsBytes) return tooLarge(writer)
  if (!isSorted(keys)) keys.sort()
  if (!writeAscii(writer, "{")) return false
  let first = true
  for (const key of keys) {
    const value = object[key]
    if (value === undefined) continue
    if (!first && !writeAscii(writer, ",")) return false
    first = false
    if (!writeString(writer, key)) return false
    if (!writeAscii(writer, ":") || !write(writer, value, depth)) return false
  }
  return writeAscii(writer, "}")
}

// Instances are refused because their meaning is in their class, which JSON loses. The second check is for objects
// of another realm, which have another `Object.prototype`.
const isPlainObject = (value: object): value is Readonly<Record<string, unknown>> => {
  const prototype: object | null = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null ||
    (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf"))
}

const describeType = (value: unknown): string => value === undefined ? "undefined" : `a ${typeof value}`

/** The bytes of a text as UTF-8; -1 if it has a lone surrogate or takes more than `max`. */
export const utf8Length = (text: string, max: number): number => {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) continue
    if (unit < 0x800) bytes += 1
    else if (unit < 0xd800 || unit > 0xdfff) bytes += 2
    else {
      // A pair is two units and four bytes.
      const next = unit < 0xdc00 ? text.charCodeAt(++i) : 0
      if (!(next >= 0xdc00 && next <= 0xdfff)) return -1
      bytes += 2
    }
    if (bytes > max) return -1
  }
  return bytes
}
