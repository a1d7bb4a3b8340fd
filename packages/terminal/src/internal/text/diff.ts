/**
 * Changes as they are shown: with signs, which are readable without colour, and in colour.
 */
import * as TextDiff from "effect/TextDiff"
import * as Safe from "./safe.ts"
import type { Row, Style } from "./style.ts"

const styleOf = (line: string): Style | undefined =>
  line.startsWith("+++") || line.startsWith("---")
    ? "bold"
    : line.startsWith("@@")
    ? "primary"
    : line.startsWith("+")
    ? "added"
    : line.startsWith("-")
    ? "removed"
    : undefined

/** The lines of an escaped unified diff. */
export const colored = (diff: string): ReadonlyArray<Row> =>
  diff.replace(/\n$/, "").split("\n").map((text) => [{ text, style: styleOf(text) }])

/** What changed from one text to another. */
export const between = (before: string, after: string): ReadonlyArray<Row> => {
  const edits = TextDiff.lines(`${before}\n`, `${after}\n`, { maxEdits: 1_000 })
  return colored(Safe.lines(TextDiff.unified(edits, { fromFile: "proposed", toFile: "edited" })))
}
