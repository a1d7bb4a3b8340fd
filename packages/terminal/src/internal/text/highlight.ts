/**
 * Code in colour. A grammar may be wrong about what it colours, but it may not change, add or drop a character: its tree
 * counts only if its text is the text that was given.
 */
import * as Result from "effect/Result"
import { common, createLowlight } from "lowlight"
import type { Row, Span, Style } from "./style.ts"

/** Grammars take their time on long texts, and colours help least there. */
const maxLength = 50_000

type Lowlight = ReturnType<typeof createLowlight>
type Node = ReturnType<Lowlight["highlight"]>["children"][number]

let instance: Lowlight | undefined

const lowlight = (): Lowlight => instance ??= createLowlight(common)

const styles: ReadonlyArray<readonly [prefix: string, style: Style]> = [
  ["hljs-comment", "muted"],
  ["hljs-quote", "muted"],
  ["hljs-keyword", "keyword"],
  ["hljs-selector", "keyword"],
  ["hljs-literal", "number"],
  ["hljs-number", "number"],
  ["hljs-string", "string"],
  ["hljs-regexp", "string"],
  ["hljs-title", "title"],
  ["hljs-attr", "title"],
  ["hljs-name", "title"],
  ["hljs-section", "title"],
  ["hljs-built_in", "title"],
  ["hljs-type", "title"]
]

const styleOf = (classes: unknown): Style | undefined => {
  const names: ReadonlyArray<unknown> = Array.isArray(classes) ? classes : []
  return styles.find(([prefix]) => names.some((name) => typeof name === "string" && name.startsWith(prefix)))?.[1]
}

const spansOf = (nodes: ReadonlyArray<Node>, style: Style | undefined): ReadonlyArray<Span> =>
  nodes.flatMap((node) =>
    node.type === "text"
      ? [{ text: node.value, style }]
      : node.type === "element"
      ? spansOf(node.children, styleOf(node.properties["className"]) ?? style)
      : []
  )

/** The lines of an escaped text, in colour where the language is known. */
export const highlight = (text: string, language: string | undefined): ReadonlyArray<Row> => {
  const plain = () => text.split("\n").map((text): Row => [{ text }])
  if (language === undefined || text.length > maxLength || !lowlight().registered(language)) return plain()
  const spans = Result.try(() => spansOf(lowlight().highlight(language, text).children, undefined))
  if (Result.isFailure(spans) || spans.success.map(({ text }) => text).join("") !== text) return plain()
  return inLines(spans.success)
}

const inLines = (spans: ReadonlyArray<Span>): ReadonlyArray<Row> => {
  const lines: Array<Array<Span>> = [[]]
  for (const { style, text } of spans) {
    text.split("\n").forEach((piece, index) => {
      if (index > 0) lines.push([])
      if (piece !== "") lines[lines.length - 1]!.push({ text: piece, style })
    })
  }
  return lines
}

/** The language of a file, by its name. */
export const languageOf = (path: unknown): string | undefined => {
  const extension = typeof path === "string" ? /\.([A-Za-z0-9]{1,10})$/.exec(path)?.[1]?.toLowerCase() : undefined
  return extension !== undefined && lowlight().registered(extension) ? extension : undefined
}
