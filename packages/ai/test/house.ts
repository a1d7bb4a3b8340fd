/**
 * What every package of this house keeps: a module imports only from its own floor and the floors below, never in a circle,
 * and every export of a public module says what it is. `architecture.test.ts` and `documentation.test.ts` of each package
 * tell their floors and what they may import.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Path from "node:path"
import { declaredNames, importsOf, isNode, type Node, readModules, type SourceModule } from "./source.ts"

const maxLines = 500

export interface House {
  readonly source: string
  /** Lowest first. A `*` at the end stands for any text. */
  readonly floors: ReadonlyArray<readonly [floor: string, modules: ReadonlyArray<string>]>
  /** The highest floor that `testing/*`, which stands beside the house, may use; without one, it may use none. */
  readonly testingMayUse?: string | undefined
  /** In words, and for each specifier of another package. */
  readonly dependsOn: string
  readonly mayImport: (specifier: string, name: string) => boolean
}

const matches = (pattern: string, name: string): boolean =>
  pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern

const isTesting = (name: string): boolean => name.startsWith("testing/")

const isLocal = (specifier: string): boolean => specifier.startsWith(".")

/** The first circle found, as the modules on it in order. */
const findCycle = (graph: ReadonlyMap<string, ReadonlyArray<string>>): ReadonlyArray<string> | undefined => {
  const done = new Set<string>()
  const visit = (name: string, path: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name]
    if (done.has(name)) return undefined
    for (const next of graph.get(name) ?? []) {
      const cycle = visit(next, [...path, name])
      if (cycle !== undefined) return cycle
    }
    done.add(name)
    return undefined
  }
  for (const name of graph.keys()) {
    const cycle = visit(name, [])
    if (cycle !== undefined) return cycle
  }
  return undefined
}

/** The tests of a package's architecture; further ones may be added for each of the modules returned. */
export const describeHouse = ({ dependsOn, floors, mayImport, source, testingMayUse }: House) => {
  const modules = readModules(source)
  const floorOf = (name: string): number =>
    floors.findIndex(([, patterns]) => patterns.some((pattern) => matches(pattern, name)))
  const graph = new Map(modules.map((module) => [
    module.name,
    importsOf(module).filter(isLocal).map((specifier) =>
      Path.posix.join(Path.posix.dirname(module.name), specifier).replace(/\.ts$/, "")
    )
  ]))

  describe("architecture", () => {
    it("there are modules to look at", () => {
      assert.isAbove(modules.length, 0)
    })

    it("no module imports in a circle", () => {
      const cycle = findCycle(graph)
      assert.isUndefined(cycle, cycle?.join(" → "))
    })

    describe.each(modules.map((module) => [module.name, module] as const))("%s", (name, module) => {
      it("stands on a floor", () => {
        assert.isTrue(
          isTesting(name) || floorOf(name) >= 0,
          `src/${name}.ts stands on no floor: list it in \`floors\` in this package's test/architecture.test.ts, on the ` +
            "lowest floor it can live on (DESIGN.md §2)"
        )
      })

      it("imports only from its own floor and below", () => {
        if (!isTesting(name) && floorOf(name) < 0) return
        const top = isTesting(name) ? floors.findIndex(([floor]) => floor === testingMayUse) : floorOf(name)
        for (const imported of graph.get(name)!.filter((imported) => graph.has(imported))) {
          if (isTesting(imported)) {
            assert.isTrue(
              isTesting(name),
              `src/${name}.ts imports ${imported}: the library never imports its test tools`
            )
          } else {
            assert.isAtMost(
              floorOf(imported),
              top,
              `src/${name}.ts imports ${imported}, which stands on ${floors[floorOf(imported)]?.[0]}`
            )
          }
        }
      })

      it(`depends on ${dependsOn} alone`, () => {
        const foreign = importsOf(module).filter((specifier) => !isLocal(specifier) && !mayImport(specifier, name))
        assert.deepStrictEqual(foreign, [])
      })

      it(`is at most ${maxLines} lines long`, () => {
        assert.isAtMost(module.text.trimEnd().split("\n").length, maxLines, `split src/${name}.ts by concept`)
      })
    })
  })
  return modules
}

/** The specifiers from which more than types is imported. */
export const valueImportsOf = (module: SourceModule): ReadonlyArray<string> =>
  module.parsed.module.staticImports
    .filter((entry) => entry.entries.length === 0 || entry.entries.some((part) => !part.isType))
    .map((entry) => entry.moduleRequest.value)

// The exported declarations without a doc comment, or with one that lacks its category or its version.
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

/** Every export of a public module says what it is. Whether it says so well is for a reader to judge. */
export const describeDocumentation = (source: string): void => {
  const modules = readModules(source).filter(({ name }) => !name.includes("internal/") && !name.endsWith("index"))
  describe("documentation", () => {
    it.each(modules.map((module) => [module.name, module] as const))(
      "%s: every export has a doc comment with its category and version",
      (_, module) => {
        assert.deepStrictEqual(undocumented(module), [])
      }
    )
  })
}
