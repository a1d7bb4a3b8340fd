/** The bodies of a conversation's requests as a text for review, in which every byte of them stands. */
import * as Fs from "node:fs"
import * as Path from "node:path"

/**
 * A body with line breaks and spaces between its tokens: each field of its own on a line, and each item of its lists. Nothing
 * else is changed, so {@link unfold} gives the body back.
 */
export const fold = (body: string): string => {
  const lines: Array<string> = []
  let line = ""
  let depth = 0
  let quoted = false
  const lists: Array<boolean> = []
  const breakLine = (indent: number) => {
    lines.push(line)
    line = " ".repeat(indent)
  }
  for (let index = 0; index < body.length; index++) {
    const character = body[index]!
    const isFolded = !quoted && (depth === 1 || (depth === 2 && lists[1] === true))
    if (quoted && character === "\\") {
      line += character + body[++index]!
      continue
    }
    if (character === "\"") quoted = !quoted
    if (!quoted && (character === "}" || character === "]")) {
      if (isFolded) breakLine(depth - 1)
      depth--
      lists.pop()
    }
    line += character
    if (!quoted && (character === "{" || character === "[")) {
      lists.push(character === "[")
      depth++
      if (depth === 1 || (depth === 2 && character === "[")) breakLine(depth)
    } else if (isFolded && character === ",") breakLine(depth)
  }
  lines.push(line)
  return lines.join("\n")
}

export const unfold = (text: string): string => text.replace(/\n */g, "")

export interface Turn {
  /** What was said before the request. */
  readonly after: string
  readonly body: string
}

export const render = (title: string, turns: ReadonlyArray<Turn>): string =>
  [title, ...turns.map(({ after, body }, index) => `${index + 1}. ${after}\n\n${fold(body)}`)].join("\n\n") + "\n"

const fileOf = (name: string): string => Path.join(import.meta.dirname, `${name}.txt`)

export const read = (name: string): string => Fs.existsSync(fileOf(name)) ? Fs.readFileSync(fileOf(name), "utf8") : ""

export const write = (name: string, text: string): void => Fs.writeFileSync(fileOf(name), text)
