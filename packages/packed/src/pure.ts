/**
 * Says of each call that a module makes while it is loaded that nothing but its value matters, so that a bundler drops
 * what a program does not use: schemas, services and functions are made by such calls. effect is published so too.
 */
import { parseSync } from "vite"

interface Node {
  readonly type: string
  readonly start: number
  readonly [key: string]: unknown
}

const isNode = (u: unknown): u is Node =>
  typeof u === "object" && u !== null && typeof (u as Partial<Node>).type === "string"

/** What stands in it is carried out later, or never. */
const isLater = ({ static: isStatic, type }: Node): boolean =>
  /Function/.test(type) || /^TS(?!As|Satisfies|NonNull)/.test(type) ||
  (type === "PropertyDefinition" && isStatic !== true)

function* callsIn(node: Node): Generator<number> {
  if (isLater(node)) return
  if (node.type === "CallExpression" || node.type === "NewExpression") yield node.start
  for (const child of Object.values(node).flat()) {
    if (isNode(child)) yield* callsIn(child)
  }
}

/** The module's text with a mark before each of them. A call that is a statement by itself is there for its effect. */
export const markPure = (file: string, code: string): string => {
  const { program } = parseSync(file, code, { sourceType: "module" })
  const statements: ReadonlyArray<Node> = program.body.map((statement) => ({ ...statement }))
  const calls = new Set(
    statements.flatMap((statement) => statement.type === "ExpressionStatement" ? [] : [...callsIn(statement)])
  )
  let marked = ""
  let end = 0
  for (const start of [...calls].toSorted((one, other) => one - other)) {
    marked += `${code.slice(end, start)}/*#__PURE__*/ `
    end = start
  }
  return marked + code.slice(end)
}
