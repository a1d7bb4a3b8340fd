/** The titles of tests, as they stand in the sources. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { isNode, type Node, parse, walk } from "../source.ts"

const packages = Path.join(import.meta.dirname, "../../..")

/** What registers a test, by the last name of the callee; its first argument is the title. */
export const registrars = new Set([
  "it",
  "effect",
  "live",
  "prop",
  "everyWay",
  "forEachMode",
  "inEachMode",
  "inOneMode",
  "single",
  "once",
  "test",
  "wrong"
])

/** The text of a title; what is put in at run time is a gap. */
export const textOf = (node: unknown): string | undefined => {
  if (!isNode(node)) return undefined
  if (node.type === "Literal" && typeof node.value === "string") return node.value
  if (node.type !== "TemplateLiteral") return undefined
  return (node.quasis as ReadonlyArray<{ readonly value: { readonly cooked: string } }>)
    .map(({ value }) => value.cooked)
    .join("…")
}

export const nameOf = (node: unknown): unknown => {
  if (!isNode(node)) return undefined
  return node.type === "MemberExpression" && isNode(node.property) ? node.property.name : node.name
}

// A title is given to what registers it, or stands first in a row of a table of cases.
const titleOf = (node: Node): string | undefined => {
  const [first] = (node.type === "ArrayExpression"
    ? node.elements
    : node.type === "CallExpression" && registrars.has(String(nameOf(node.callee)))
    ? node.arguments
    : []) as ReadonlyArray<unknown>
  return textOf(first)
}

/** The path of a file of tests: `laws/L5`, `Tool.test-d`, `house.ts`, or `terminal:stories` of another package. */
export const pathOf = (file: string): string => {
  const [name, of = "ai"] = file.split(":").toReversed() as [string, string?]
  const ending = name.endsWith(".ts") ? "" : name.endsWith(".test-d") ? ".ts" : ".test.ts"
  return Path.join(packages, of, "test", `${name}${ending}`)
}

const known = new Map<string, ReadonlySet<string>>()

/** The titles of the tests in a file; none if there is no such file. */
export const titlesIn = (file: string): ReadonlySet<string> => {
  let titles = known.get(file)
  if (titles !== undefined) return titles
  const path = pathOf(file)
  const text = Fs.existsSync(path) ? Fs.readFileSync(path, "utf8") : ""
  titles = new Set([...walk(parse(path, text).program as unknown as Node)].flatMap((node) => titleOf(node) ?? []))
  known.set(file, titles)
  return titles
}
