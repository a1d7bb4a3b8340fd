/**
 * Where in a text something stands: the line of each key and item of JSON, YAML or TOML.
 *
 * The texts have been read by a parser already. What is not found here, as what a YAML alias stands for, has the line of
 * what it stands in; so a wrong guess costs a person a look, and nothing else.
 */

export type Format = "json" | "yaml" | "toml"

export type Step = string | number

export interface Lines {
  /** The line of a path, or of the nearest part of it that has one. */
  readonly lineOf: (path: ReadonlyArray<Step>) => number | undefined
  /** Paths that are written twice. */
  readonly duplicates: ReadonlyArray<{ readonly path: ReadonlyArray<Step>; readonly line: number }>
}

export const locate = (text: string, format: Format): Lines => {
  const lines = new Map<string, number>()
  const duplicates: Array<{ readonly path: ReadonlyArray<Step>; readonly line: number }> = []
  const record: Recorder = (path, line) => {
    const key = JSON.stringify(path)
    if (lines.has(key)) duplicates.push({ path, line })
    else lines.set(key, line)
  }
  const source = text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n")
  if (format === "json") readFlow({ text: source, index: 0, line: 1 }, [], ":", record, 0)
  else if (format === "yaml") readYaml(source, record)
  else readToml(source, record)
  return {
    duplicates,
    lineOf: (path) => {
      for (let length = path.length; length > 0; length--) {
        const line = lines.get(JSON.stringify(path.slice(0, length)))
        if (line !== undefined) return line
      }
      return undefined
    }
  }
}

type Recorder = (path: ReadonlyArray<Step>, line: number) => void

interface Cursor {
  readonly text: string
  index: number
  line: number
}

// =============================================================================
// Flow collections: JSON, `{ … }` and `[ … ]` of YAML and TOML
// =============================================================================

const maxDepth = 64

const advance = (cursor: Cursor): string => {
  const character = cursor.text[cursor.index++] ?? ""
  if (character === "\n") cursor.line++
  return character
}

const skipBlanks = (cursor: Cursor, comments: boolean): void => {
  while (cursor.index < cursor.text.length) {
    const character = cursor.text[cursor.index]!
    if (comments && character === "#") {
      while (cursor.index < cursor.text.length && cursor.text[cursor.index] !== "\n") cursor.index++
    } else if (!/\s/.test(character)) return
    else advance(cursor)
  }
}

const readQuoted = (cursor: Cursor): string => {
  const quote = advance(cursor)
  const triple = cursor.text.startsWith(quote + quote, cursor.index)
  const end = triple && cursor.text[cursor.index + 2] !== undefined ? quote + quote + quote : quote
  let content = ""
  if (end.length === 3) cursor.index += 2
  while (cursor.index < cursor.text.length) {
    if (cursor.text.startsWith(end, cursor.index)) {
      cursor.index += end.length
      break
    }
    const character = advance(cursor)
    content += character
    if (character === "\\" && quote === "\"") content += advance(cursor)
  }
  return quote === "\"" ? unescape(content) : content.replaceAll("''", "'")
}

const unescape = (content: string): string => {
  try {
    return String(JSON.parse(`"${content}"`))
  } catch {
    return content
  }
}

/** A value at the cursor, and everything in it. */
const readFlow = (
  cursor: Cursor,
  path: ReadonlyArray<Step>,
  separator: ":" | "=",
  record: Recorder,
  depth: number
): void => {
  skipBlanks(cursor, true)
  const open = cursor.text[cursor.index]
  if (open === "\"" || open === "'") return void readQuoted(cursor)
  if ((open !== "{" && open !== "[") || depth > maxDepth) {
    while (cursor.index < cursor.text.length && !/[,\]}\n]/.test(cursor.text[cursor.index]!)) cursor.index++
    return
  }
  advance(cursor)
  for (let position = 0; cursor.index < cursor.text.length; position++) {
    skipBlanks(cursor, true)
    const character = cursor.text[cursor.index] ?? ""
    if (character === "]" || character === "}" || character === "") {
      advance(cursor)
      return
    }
    const before = cursor.index
    if (open === "[") {
      record([...path, position], cursor.line)
      readFlow(cursor, [...path, position], separator, record, depth + 1)
    } else {
      const line = cursor.line
      const keys = readKeys(cursor, separator)
      record([...path, ...keys], line)
      if (cursor.text[cursor.index] === separator) advance(cursor)
      readFlow(cursor, [...path, ...keys], separator, record, depth + 1)
    }
    skipBlanks(cursor, true)
    if (cursor.text[cursor.index] === "," || cursor.index === before) advance(cursor)
  }
}

const readKeys = (cursor: Cursor, separator: ":" | "="): ReadonlyArray<string> => {
  const keys: Array<string> = []
  while (cursor.index < cursor.text.length) {
    skipBlanks(cursor, false)
    const character = cursor.text[cursor.index]
    if (character === "\"" || character === "'") keys.push(readQuoted(cursor))
    else {
      const end = separator === "=" ? /[=.\]}\n]/ : /[:}\n]/
      const start = cursor.index
      while (cursor.index < cursor.text.length && !end.test(cursor.text[cursor.index]!)) cursor.index++
      keys.push(cursor.text.slice(start, cursor.index).trim())
    }
    skipBlanks(cursor, false)
    if (separator !== "=" || cursor.text[cursor.index] !== ".") break
    cursor.index++
  }
  return keys
}

// =============================================================================
// YAML in blocks
// =============================================================================

interface Block {
  readonly kind: "map" | "list"
  readonly indent: number
  readonly path: ReadonlyArray<Step>
  next: number
}

const readYaml = (text: string, record: Recorder): void => {
  const lines = text.split("\n")
  const starts: Array<number> = [0]
  for (const line of lines) starts.push(starts.at(-1)! + line.length + 1)
  const blocks: Array<Block> = []
  let pending: ReadonlyArray<Step> = []
  let index = 0

  const enter = (kind: Block["kind"], indent: number): Block => {
    for (let top = blocks.at(-1); top !== undefined; top = blocks.at(-1)) {
      if (top.indent < indent) break
      if (top.indent === indent && (top.kind === kind || top.kind === "map")) break
      blocks.pop()
    }
    const top = blocks.at(-1)
    if (top?.indent === indent && top.kind === kind) return top
    const block: Block = { kind, indent, path: pending, next: 0 }
    blocks.push(block)
    return block
  }

  /** What stands at a column of the line; `index` is moved past what goes on below. */
  const readNode = (content: string, indent: number): void => {
    if (content === "-" || content.startsWith("- ")) {
      const block = enter("list", indent)
      pending = [...block.path, block.next++]
      record(pending, index + 1)
      const rest = content.slice(1).trimStart()
      if (rest !== "" && !rest.startsWith("#")) readNode(rest, indent + content.length - rest.length)
      return
    }
    const key = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#"'{[][^#]*?)\s*:(?:\s+(.*))?$/.exec(content)
    if (key === null) return readValue(content, pending, indent)
    const block = enter("map", indent)
    const name = key[1]!
    pending = [
      ...block.path,
      /^["']/.test(name)
        ? readQuoted({ text: name, index: 0, line: 1 })
        // What YAML reads as nothing is a name without letters.
        : /^(?:~|null)$/i.test(name)
        ? ""
        : name
    ]
    record(pending, index + 1)
    readValue(key[2] ?? "", pending, indent)
  }

  const readValue = (value: string, path: ReadonlyArray<Step>, indent: number): void => {
    const anchored = /^&\S+\s+/.exec(value)
    const start = anchored === null ? value : value.slice(anchored[0].length)
    if (/^[|>]/.test(start)) {
      while (index + 1 < lines.length && (lines[index + 1]!.trim() === "" || indentOf(lines[index + 1]!) > indent)) {
        index++
      }
    } else if (/^[{["']/.test(start)) {
      // What is read is the end of its line.
      const offset = starts[index]! + lines[index]!.trimEnd().length - start.length
      const cursor: Cursor = { text, index: offset, line: index + 1 }
      readFlow(cursor, path, ":", record, 0)
      index = Math.max(index, cursor.line - 1)
    }
  }

  for (; index < lines.length; index++) {
    const content = lines[index]!.trimStart()
    if (!content.startsWith("---")) readNode(content.trimEnd(), indentOf(lines[index]!))
  }
}

const indentOf = (line: string): number => line.length - line.trimStart().length

// =============================================================================
// TOML
// =============================================================================

const readToml = (text: string, record: Recorder): void => {
  const cursor: Cursor = { text, index: 0, line: 1 }
  const counts = new Map<string, number>()
  let table: ReadonlyArray<Step> = []

  const resolve = (keys: ReadonlyArray<string>): ReadonlyArray<Step> =>
    keys.reduce<ReadonlyArray<Step>>((path, key) => {
      const next = [...path, key]
      const count = counts.get(JSON.stringify(next))
      return count === undefined ? next : [...next, count]
    }, [])

  while (cursor.index < text.length) {
    skipBlanks(cursor, true)
    if (cursor.index >= text.length) return
    const line = cursor.line
    if (text[cursor.index] === "[") {
      const list = text[cursor.index + 1] === "["
      cursor.index += list ? 2 : 1
      const keys = readKeys(cursor, "=")
      if (list) {
        const path = [...resolve(keys.slice(0, -1)), ...keys.slice(-1)]
        const key = JSON.stringify(path)
        counts.set(key, (counts.get(key) ?? -1) + 1)
      }
      table = resolve(keys)
      record(table, line)
    } else {
      const path = [...table, ...readKeys(cursor, "=")]
      record(path, line)
      if (text[cursor.index] === "=") cursor.index++
      readFlow(cursor, path, "=", record, 0)
    }
    while (cursor.index < text.length && text[cursor.index] !== "\n") cursor.index++
  }
}
