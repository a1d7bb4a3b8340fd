/**
 * Every export of a public module says what it is. Whether it says so well is for a reader to judge.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Path from "node:path"
import { declaredNames, isNode, type Node, readModules, type SourceModule } from "../../ai/test/source.ts"

const publicModules = readModules(Path.join(import.meta.dirname, "../src"))
  .filter(({ name }) => !name.includes("internal/") && !name.endsWith("index"))

/** The exported declarations without a doc comment, or with one that lacks its category or its version. */
const undocumented = (module: SourceModule): ReadonlyArray<string> => {
  const seen = new Set<string>()
  return (module.parsed.program.body as unknown as ReadonlyArray<Node>).flatMap((statement) => {
    if (statement.type !== "ExportNamedDeclaration" || !isNode(statement.declaration)) return []
    // Overloads share the comment of the first.
    const names = declaredNames(statement).filter((name) => !seen.has(name))
    for (const name of names) seen.add(name)
    const comment = docComment(module, statement)
    return comment.includes("@internal") || (comment.includes("@category") && comment.includes("@since")) ? [] : names
  })
}

const docComment = (module: SourceModule, statement: Node): string => {
  const comment = module.parsed.comments.findLast((comment) =>
    comment.type === "Block" && comment.end <= statement.start
  )
  return comment !== undefined && comment.value.startsWith("*") &&
      // Between the two only blanks and line comments, such as a lint directive.
      /^\s*$/.test(module.text.slice(comment.end, statement.start).replace(/\/\/.*$/gm, ""))
    ? comment.value
    : ""
}

describe("documentation", () => {
  it.each(publicModules.map((module) => [module.name, module] as const))(
    "%s: every export has a doc comment with its category and version",
    (_, module) => {
      assert.deepStrictEqual(undocumented(module), [])
    }
  )
})
