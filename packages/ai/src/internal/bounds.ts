/**
 * How deep and how large a value may be that enters a history or a store (law L17). What is nested too deep can be held,
 * and written while there is room on the stack, and cannot be written the next time; so depth is counted, and never found
 * out by trying.
 *
 * A value is looked at as `JSON.stringify` would write it, without writing it: one pass, which ends where the bound is.
 */

export interface Bounds {
  /** How many objects and arrays may stand inside each other. */
  readonly depth: number
  /** Bytes of UTF-8, as JSON. */
  readonly bytes: number
}

/** What of a value is out of bounds; what contains itself, or cannot be read, has none: it cannot be written. */
export type Excess = "depth" | "bytes" | "unwritable"

const maxDepth = 512

/** The parameters of a call, as long as those that are sealed may be (law L4). */
export const params: Bounds = { depth: maxDepth, bytes: 1_048_576 }

/** What a person, a webhook or a program answers, each field by itself: it may be the parameters of a call. */
export const answer: Bounds = params

/**
 * The result of a call, where the program says nothing else. OpenAI takes texts of 10,485,760 characters, and a request to
 * Claude has 32 MB for a whole history.
 */
export const maxResultBytes = 10_485_760

export const result = (bytes: number): Bounds => ({ depth: maxDepth, bytes })

// What stands around parameters and results, in a part or in what we write beside one.
const frameDepth = 16

/** What stands beside a part. A provider's sealed reasoning is long, and our own holds parameters. */
export const metadata: Bounds = { depth: maxDepth + frameDepth, bytes: maxResultBytes }

/** What somebody says in a conversation that is kept, files included: no request to Claude has more than 32 MB. */
export const prompt: Bounds = { depth: maxDepth + frameDepth, bytes: 33_554_432 }

/** What an imported history is cut down to before anything reads it, so that what is too deep is seen to be. */
export const readable: Bounds["depth"] = maxDepth + 4 * frameDepth

/** What of the value is out of bounds; `undefined` if nothing is. */
export const check = (value: unknown, bounds: Bounds): Excess | undefined => {
  if (typeof value !== "object" && typeof value !== "string" || value === null) return undefined
  try {
    const roughly = walk(value, bounds, false)
    return roughly === "perhaps" ? walk(value, bounds, true) as Excess | undefined : roughly
  } catch {
    // A getter, a proxy or a `toJSON` that throws. What it threw may hold the value, so it is not repeated.
    return "unwritable"
  }
}

/** What is wrong with it, to be put behind "it is" or "they are". */
export const describe = (excess: Excess, { bytes, depth }: Bounds): string => {
  switch (excess) {
    case "depth":
      return `nested deeper than ${Math.min(depth, maxDepth)} levels`
    case "bytes":
      return `larger than ${sizes.get(bytes) ?? `${bytes.toLocaleString("en")} bytes`} as JSON`
    case "unwritable":
      return "not JSON"
  }
}

/**
 * A copy of JSON that ends at a depth: what would be deeper is `null`. The value itself where nothing is deeper.
 */
export const cutBelow = (root: unknown, depth: number): unknown => {
  if (check(root, { depth, bytes: Number.POSITIVE_INFINITY }) !== "depth") return root
  const copies: Array<readonly [from: object, to: Record<string, unknown>, depth: number]> = []
  const copyOf = (value: unknown, at: number): unknown => {
    if (typeof value !== "object" || value === null) return value
    if (at >= depth) return null
    // As JSON has it: a key is its object's own, whatever it is called.
    const copy = Array.isArray(value) ? [] : Object.create(null)
    copies.push([value, copy, at])
    return copy
  }
  const copy = copyOf(root, 0)
  for (let next = copies.pop(); next !== undefined; next = copies.pop()) {
    const [from, to, at] = next
    for (const [key, value] of Object.entries(from)) to[key] = copyOf(value, at + 1)
  }
  return copy
}

// =============================================================================
// Internals
// =============================================================================

const sizes: ReadonlyMap<number, string> = new Map([
  [params.bytes, "1 MiB (1,048,576 bytes)"],
  [maxResultBytes, "10 MiB (10,485,760 bytes)"],
  [prompt.bytes, "32 MiB (33,554,432 bytes)"]
])

/** An object or array whose values are being looked at. */
interface Frame {
  readonly value: Readonly<Record<string, unknown>>
  /** `undefined` for an array. */
  readonly keys: ReadonlyArray<string> | undefined
  at: number
  written: number
}

// Roughly: what is surely written is counted, and how much more there may be of texts and numbers. Most values are so far
// from the bound that no text has to be read. Exactly: what `JSON.stringify` writes.
const walk = (root: unknown, { bytes, depth }: Bounds, exactly: boolean): Excess | "perhaps" | undefined => {
  const frames: Array<Frame> = []
  let size = 0
  let slack = 0
  let next = root
  while (true) {
    const value = asWritten(next)
    switch (typeof value) {
      case "string":
        if (exactly) size += textBytes(value, bytes - size)
        else {
          size += value.length + 2
          slack += value.length * 5
        }
        break
      case "number":
        if (exactly) size += Number.isFinite(value) ? String(value).length : 4
        else {
          size += 1
          slack += 24
        }
        break
      case "object": {
        if (value === null) {
          size += 4
          break
        }
        if (ArrayBuffer.isView(value)) {
          size += Math.ceil(value.byteLength / 3) * 4 + 2
          break
        }
        // This also ends cycles: the first way down is as deep as any.
        if (frames.length >= depth) return isCycle(frames) ? "unwritable" : "depth"
        const keys = Array.isArray(value) ? undefined : Object.keys(value)
        // Every value of an array takes at least one byte, and so do those between them.
        size += 2 + (Array.isArray(value) ? Math.max(0, value.length - 1) : 0)
        frames.push({ value: value as Frame["value"], keys, at: 0, written: 0 })
        break
      }
      case "boolean":
        size += value ? 4 : 5
        break
      default:
        // What is no JSON is null in an array, and is told by whoever writes it.
        size += 4
    }
    if (size > bytes) return "bytes"
    const key = advance(frames)
    const frame = frames[frames.length - 1]
    if (frame === undefined) return size + slack > bytes ? "perhaps" : undefined
    next = frame.value[key!]
    if (frame.keys === undefined) continue
    size += frame.written++ === 0 ? 1 : 2
    if (exactly) size += textBytes(key as string, bytes - size)
    else {
      size += (key as string).length + 2
      slack += (key as string).length * 5
    }
  }
}

const isCycle = (frames: ReadonlyArray<Frame>): boolean =>
  new Set(frames.map(({ value }) => value)).size < frames.length

/** The key of the next value that is written; `undefined` when there are no frames left. */
const advance = (frames: Array<Frame>): string | number | undefined => {
  while (frames.length > 0) {
    const frame = frames[frames.length - 1]!
    const { keys, value } = frame
    if (keys === undefined) {
      if (frame.at < (value as unknown as ReadonlyArray<unknown>).length) return frame.at++
    } else {
      while (frame.at < keys.length) {
        const key = keys[frame.at++]!
        const type = typeof value[key]
        if (type !== "undefined" && type !== "function" && type !== "symbol") return key
      }
    }
    frames.pop()
  }
  return undefined
}

const asWritten = (value: unknown): unknown =>
  typeof value === "object" && value !== null && "toJSON" in value && typeof value.toJSON === "function"
    ? value.toJSON()
    : value

/** The bytes of a text as `JSON.stringify` writes it, quotes included; more than `max` once it is more. */
const textBytes = (text: string, max: number): number => {
  let bytes = text.length + 2
  for (let i = 0; i < text.length && bytes <= max; i++) {
    const unit = text.charCodeAt(i)
    if (unit === 0x22 || unit === 0x5c) bytes += 1
    else if (unit < 0x20) bytes += unit === 8 || unit === 9 || unit === 10 || unit === 12 || unit === 13 ? 1 : 5
    else if (unit < 0x80) continue
    else if (unit < 0x800) bytes += 1
    else if (unit < 0xd800 || unit > 0xdfff) bytes += 2
    else {
      const following = unit < 0xdc00 ? text.charCodeAt(i + 1) : 0
      if (following >= 0xdc00 && following <= 0xdfff) {
        bytes += 2
        i++
        // Half of a pair is written as an escape.
      } else bytes += 5
    }
  }
  return bytes
}
