/**
 * Every export of a public module says what it is. Whether it says so well is for a reader to judge.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Path from "node:path"
import { declaredNames, isNode, type Node, readModules, type SourceModule } from "./source.ts"

const publicModules = readModules(Path.join(import.meta.dirname, "../src"))
  .filter(({ name }) => !name.startsWith("internal/") && name !== "index" && name !== "testing/index")

/** The exported declarations, without a doc comment just before the first of their name (overloads share one). */
const undocumented = (module: SourceModule): ReadonlyArray<string> => {
  const seen = new Set<string>()
  return (module.parsed.program.body as unknown as ReadonlyArray<Node>).flatMap((statement) => {
    if (statement.type !== "ExportNamedDeclaration" || !isNode(statement.declaration)) return []
    const names = declaredNames(statement).filter((name) => !seen.has(name))
    for (const name of names) seen.add(name)
    return hasDocComment(module, statement) ? [] : names
  })
}

const hasDocComment = (module: SourceModule, statement: Node): boolean => {
  const comment = module.parsed.comments.findLast((comment) =>
    comment.type === "Block" && comment.end <= statement.start
  )
  return comment !== undefined && comment.value.startsWith("*") &&
    // Between the two only blanks and line comments, such as a lint directive.
    /^\s*$/.test(module.text.slice(comment.end, statement.start).replace(/\/\/.*$/gm, ""))
}

describe("documentation", () => {
  it.each(publicModules.map((module) => [module.name, module] as const))(
    "%s: every export has a doc comment",
    (_, module) => {
      assert.deepStrictEqual(undocumented(module), [])
    }
  )
})
