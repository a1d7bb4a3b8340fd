/**
 * Of which text of a file a diff was made: kept beside the presentation and not in it, so that nobody can say it but who
 * read the file. From it and the diff the new text can be made again.
 */

export interface Origin {
  readonly path: string
  /** As the diff has it: with line feeds alone, where each line ends in a carriage return as well. */
  readonly before: string
  readonly isCrlf: boolean
  /** When it was begun to be read, by {@link now}. */
  readonly since: number
}

const origins = new WeakMap<object, Origin>()

/** Remembers of what a presentation was made, for as long as it lives. */
export const keep = <Presentation extends object>(presentation: Presentation, origin: Origin): Presentation => {
  origins.set(presentation, origin)
  return presentation
}

export const of = (presentation: object): Origin | undefined => origins.get(presentation)

/** Whether each line of both texts, if it ends, ends in a carriage return and a line feed, and there are no others. */
export const areCrlf = (before: string, after: string): boolean =>
  [before, after].every((text) => !/(?<!\r)\n|\r(?!\n)/.test(text)) &&
  [before, after].some((text) => text.includes("\r"))

/** The same text as a diff has it that says of its lines how they end. */
export const withoutReturns = (text: string): string => text.replaceAll("\r\n", "\n")

/** The new text of which the presentation was made, by what is drawn of it. */
export const textOf = (diff: string, { before, isCrlf, path }: Origin): string | undefined => {
  const text = rebuild(diff, before, path)
  return isCrlf ? text?.replaceAll("\n", "\r\n") : text
}

let moments = 0

/** A moment of this process, later than all that were before it. */
export const now = (): number => ++moments

// As the diff was made: only a line feed ends a line.
const lines = (text: string): ReadonlyArray<string> => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

const noNewline = "\\ No newline at end of file"

// Each range in its only spelling: of one line, the count is left out.
const hunk = /^@@ -(0|[1-9]\d*)(?:,(0|[2-9]|[1-9]\d+))? \+(0|[1-9]\d*)(?:,(0|[2-9]|[1-9]\d+))? @@$/

/** The first line of a range, from 0. One without lines is named by the line before it. */
const startOf = (start: string, count: number): number => Number(start) - (count === 0 ? 0 : 1)

/**
 * The new text, by the unified diff of a file called `name` and the old text; `undefined` where these do not belong
 * together in every line and number, or a line would look as if it ended where it does not. Linear in what it is given.
 */
export const rebuild = (diff: string, before: string, name: string): string | undefined => {
  if (diff === "") return before
  const header = `--- ${name}\n+++ ${name}\n`
  if (!diff.startsWith(header) || !diff.endsWith("\n")) return undefined
  const rows = diff.slice(header.length, -1).split("\n")
  const old = lines(before)
  const made: Array<string> = []
  let at = 0
  let row = 0
  while (row < rows.length) {
    const [, oldStart, oldCount = "1", newStart, newCount = "1"] = hunk.exec(rows[row++]!) ?? []
    if (oldStart === undefined || newStart === undefined) return undefined
    const start = startOf(oldStart, Number(oldCount))
    if (start < at || start > old.length) return undefined
    while (at < start) made.push(old[at++]!)
    if (startOf(newStart, Number(newCount)) !== made.length) return undefined
    const [oldEnd, newEnd] = [at + Number(oldCount), made.length + Number(newCount)]
    if (at === oldEnd && made.length === newEnd) return undefined
    while (at < oldEnd || made.length < newEnd) {
      const shown = rows[row++]
      if (shown === undefined) return undefined
      const isOpen = rows[row] === noNewline
      if (isOpen) row++
      const line = shown.slice(1) + (isOpen ? "" : "\n")
      const sign = shown.slice(0, 1)
      if (sign !== "+" && (sign !== "-" && sign !== " " || old[at++] !== line)) return undefined
      if (sign !== "-") made.push(line)
      if (at > oldEnd || made.length > newEnd) return undefined
    }
  }
  while (at < old.length) made.push(old[at++]!)
  return made.slice(0, -1).every((line) => line.endsWith("\n")) ? made.join("") : undefined
}
