/**
 * Turns the `@example` blocks of doc comments into tests: `generated/<Module>/<export>.ts` holds one example as a
 * module of its own, so that its imports, types and top-level `await` are just what a reader would write, and
 * `generated/<Module>.test.ts` runs them. Nothing in `generated` is kept in git.
 *
 * - A line `expression // => expected` asserts that the expression deep-equals `expected`; so does
 *   `const name = expression // => expected` for the variable. It is Node's strict equality: chai's takes two errors
 *   with the same message for equal, whatever their fields.
 * - An example keeps the line numbers of its source, so that an error in `generated/Approval/deny.ts` at line 200 is
 *   to be fixed at line 200 of `src/Approval.ts`.
 * - An example that cannot be read becomes a test that fails: it never keeps the other tests from running.
 *
 * It runs when vitest loads its configuration, and before `npm run check:types`.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { declaredNames, importsOf, isNode, type Node, parse, readModules, type SourceModule, walk } from "../source.ts"

export interface Example {
  /** The export the comment stands before, `Outer.member` inside a declaration, or `module`. */
  readonly name: string
  readonly line: number
  readonly code: string
}

const isExample = /^@example\b/

/** The examples of one module, in the order of the file. */
export const examples = (module: SourceModule): ReadonlyArray<Example> =>
  module.parsed.comments.flatMap((comment) => {
    if (comment.type !== "Block" || !comment.value.startsWith("*")) return []
    const first = lineOf(module.text, comment.start)
    const lines = `/*${comment.value}`.split("\n").map((line) => line.replace(/^\s*(\/\*\*|\*) ?/, "").trimEnd())
    if (!lines.some((line) => isExample.test(line))) return []
    // It reads the tree of the module, which takes most of the time of all this.
    const name = documentedName(module, comment.end)
    return lines.flatMap((line, index) => {
      if (!isExample.test(line)) return []
      const rest = lines.slice(index + 1)
      const end = rest.findIndex((line) => /^@[a-z]/i.test(line))
      const block = (end < 0 ? rest : rest.slice(0, end)).map((line) => line.startsWith("```") ? "" : line)
      return [{ name, line: first + index + 1, code: block.join("\n").replaceAll("*\\/", "*/").trimEnd() }]
    })
  })

/** An example as a module: assertions written out, and as many lines before it as in the source. */
export const compile = (example: Example): string => {
  const { comments, program } = parse("example.ts", example.code)
  const nodes = [...walk(program as unknown as Node)]
  let code = example.code
  const failures: Array<string> = []
  // From the end, so that the positions before an edit stay true.
  for (const comment of comments.toReversed()) {
    const expected = /^\s*=>\s*(.*)$/.exec(comment.value)?.[1]
    if (comment.type !== "Line" || expected === undefined) continue
    const statement = nodes.findLast((node) =>
      (node.type === "ExpressionStatement" || node.type === "VariableDeclaration") &&
      node.end <= comment.start && /^[ \t]*$/.test(example.code.slice(node.end, comment.start))
    )
    const name = statement?.type === "VariableDeclaration" ? declaredNames(statement).at(-1) : undefined
    if (statement === undefined || (statement.type === "VariableDeclaration" && name === undefined)) {
      failures.push(`"// =>${comment.value.trim().slice(2)}" does not stand after an expression or a variable`)
      continue
    }
    const source = example.code.slice(statement.start, statement.end).replace(/;\s*$/, "")
    const asserted = name === undefined
      ? `$assert.deepStrictEqual<unknown>(${source}, ${expected})`
      : `${source}; $assert.deepStrictEqual<unknown>(${name}, ${expected})`
    code = code.slice(0, statement.start) + asserted + code.slice(statement.end)
  }
  return [
    `import * as $assert from "node:assert"; void $assert // Written by ../../extract.ts: do not edit.`,
    "\n".repeat(Math.max(example.line - 3, 0)),
    code,
    ...failures.map((failure) => `throw new Error(${JSON.stringify(failure)})`),
    ""
  ].join("\n")
}

/** Brings `options.generated` up to date with `options.source`; files that are right already are not touched. */
export const extract = (options: { readonly source: string; readonly generated: string }): void => {
  const files = new Map<string, string>()
  for (const module of readModules(options.source)) {
    const depth = "../".repeat(module.name.split("/").length)
    const error = module.parsed.errors[0]
    const tests = error === undefined ? [] : [
      `  it("parses", () => { throw new Error(${
        JSON.stringify(`${module.file}: ${error.message}\n${error.codeframe}`)
      }) })`
    ]
    const used = new Set<string>()
    const imported = new Set<string>()
    for (const example of examples(module)) {
      let title = example.name
      for (let count = 2; used.has(title.toLowerCase()); count++) title = `${example.name} ${count}`
      used.add(title.toLowerCase())
      const file = `${module.name}/${title.replaceAll(" ", "-")}.ts`
      files.set(file, compile(example))
      for (const specifier of importsOf({ ...module, parsed: parse("example.ts", example.code) })) {
        imported.add(specifier)
      }
      tests.push(
        `  it(${JSON.stringify(title)}, () => import(${
          JSON.stringify(`./${Path.posix.basename(module.name)}/${Path.posix.basename(file)}`)
        }))`
      )
    }
    if (tests.length > 0) {
      files.set(
        `${module.name}.test.ts`,
        [
          `// Written by ${depth}extract.ts: do not edit.`,
          `import { describe, it } from "vitest"`,
          // Loaded before the clock of the first test runs.
          ...Array.from(imported, (specifier) => `import ${JSON.stringify(specifier)}`),
          "",
          `describe(${JSON.stringify(module.name)}, () => {`,
          ...tests,
          "})",
          ""
        ].join("\n")
      )
    }
  }
  Fs.mkdirSync(options.generated, { recursive: true })
  for (const file of Fs.readdirSync(options.generated, { recursive: true, encoding: "utf8" })) {
    if (file.endsWith(".ts") && !files.has(file.split(Path.sep).join("/"))) {
      Fs.rmSync(Path.join(options.generated, file), { force: true })
    }
  }
  for (const [file, text] of files) {
    const path = Path.join(options.generated, file)
    if (Fs.existsSync(path) && Fs.readFileSync(path, "utf8") === text) continue
    Fs.mkdirSync(Path.dirname(path), { recursive: true })
    // Written aside and renamed: a test run beside this one never reads half a file.
    const aside = `${path}.${process.pid}`
    Fs.writeFileSync(aside, text)
    Fs.renameSync(aside, path)
  }
}

const lineOf = (text: string, position: number): number => text.slice(0, position).split("\n").length

const documentedName = (module: SourceModule, end: number): string => {
  const statement = (module.parsed.program.body as unknown as ReadonlyArray<Node>).find((node) => node.end > end)
  const name = statement === undefined ? undefined : declaredNames(statement)[0]
  if (statement === undefined || name === undefined) return "module"
  if (statement.start >= end) return name
  for (const node of walk(statement)) {
    const key = node.start >= end ? node.key ?? node.id : undefined
    if (isNode(key) && typeof key.name === "string") return `${name}.${key.name}`
  }
  return name
}

if (import.meta.main) {
  const directory = import.meta.dirname
  extract({ source: Path.join(directory, "../../src"), generated: Path.join(directory, "generated") })
}
