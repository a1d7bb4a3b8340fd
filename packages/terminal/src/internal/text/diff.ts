/**
 * Changes as they are shown: with signs, which are readable without colour, and in colour.
 */
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
