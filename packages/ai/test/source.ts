/**
 * Reads the modules of a package for the tests that are about source text: examples, documentation, architecture.
 *
 * The parser is oxc, through `vite`: TypeScript 7 has no JavaScript API, and vitest brings vite anyway.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { parseSync } from "vite"

type Parsed = ReturnType<typeof parseSync>

/** One module: `name` is its path below `src` without the extension, such as `internal/text`. */
export interface SourceModule {
  readonly name: string
  readonly file: string
  readonly text: string
  readonly parsed: Parsed
}

/** A node of the syntax tree, as far as these tests look into it. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

export const isNode = (u: unknown): u is Node =>
  typeof u === "object" && u !== null && typeof (u as Partial<Node>).type === "string"

/** Every node below (and with) `node`, outermost first. */
export function* walk(node: Node): Generator<Node> {
  yield node
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) yield* walk(child)
    }
  }
}

export const parse = (file: string, text: string): Parsed => parseSync(file, text, { lang: "ts", sourceType: "module" })

/** The modules below `directory`, in the order of their names. */
export const readModules = (directory: string): ReadonlyArray<SourceModule> =>
  Fs.readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))
    .map((path) => path.split(Path.sep).join("/"))
    .toSorted()
    .map((path) => {
      const file = Path.join(directory, path)
      const text = Fs.readFileSync(file, "utf8")
      return { name: path.slice(0, -3), file, text, parsed: parse(file, text) }
    })

/** The specifiers a module imports or re-exports, types and `import()` of a literal included. */
export const importsOf = (module: SourceModule): ReadonlyArray<string> => [
  ...new Set([
    ...module.parsed.module.staticImports.map((entry) => entry.moduleRequest.value),
    ...module.parsed.module.staticExports.flatMap((entry) =>
      entry.entries.flatMap((part) => part.moduleRequest === null ? [] : [part.moduleRequest.value])
    ),
    ...module.parsed.module.dynamicImports.flatMap((entry) => {
      const literal = /^(["'`])(.*)\1$/.exec(module.text.slice(entry.moduleRequest.start, entry.moduleRequest.end))
      return literal === null ? [] : [literal[2]!]
    })
  ])
]

/** The names a top-level statement declares. */
export const declaredNames = (statement: Node): ReadonlyArray<string> => {
  const declaration = isNode(statement.declaration) ? statement.declaration : statement
  const declarators = Array.isArray(declaration.declarations) ? declaration.declarations : [declaration]
  return declarators.flatMap(({ id }: { readonly id?: unknown }) =>
    isNode(id) && typeof id.name === "string" ? [id.name] : []
  )
}
