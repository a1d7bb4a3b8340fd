/**
 * What every package of this house keeps: a module imports from its own wing and the floors below, never in a circle, and
 * every export of a public module says what it is. `architecture.test.ts` and `documentation.test.ts` of each package tell
 * their floors and what they may import.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Path from "node:path"
import { examples } from "./examples/extract.ts"
import { declaredNames, importsOf, isNode, type Node, readModules, type SourceModule } from "./source.ts"

const maxLines = 500

/** How many modules stand side by side in one folder, where a reader still sees what it holds. */
const maxSideBySide = 20

/**
 * Lowest first. What ends in `/` is a wing: a folder with the modules of one concept, which may import each other, and
 * nothing else on their floor. Modules that stand on a floor by themselves may.
 */
export type Floors = ReadonlyArray<readonly [floor: string, wingsAndModules: ReadonlyArray<string>]>

export interface House {
  readonly source: string
  readonly floors: Floors
  /** What stands beside the house: its own floors, and the highest floor of the house it may use; without one, none. */
  readonly testing?: { readonly floors: Floors; readonly mayUse?: string | undefined } | undefined
  /** In words, and for each specifier of another package. */
  readonly dependsOn: string
  readonly mayImport: (specifier: string, name: string) => boolean
}

const isWing = (place: string): boolean => place.endsWith("/")

const matches = (place: string, name: string): boolean => isWing(place) ? name.startsWith(place) : name === place

/** Where a module stands: on which floor, and in which wing if it is in one. */
interface Place {
  readonly floor: number
  readonly wing: string | undefined
}

const placeOf = (floors: Floors, name: string): Place | undefined => {
  for (const [floor, [, places]] of floors.entries()) {
    const place = places.find((place) => matches(place, name))
    if (place !== undefined) return { floor, wing: isWing(place) ? place : undefined }
  }
  return undefined
}

/** Whether what stands at the one place may import what stands at the other, in one house. */
const mayReach = (from: Place, to: Place): boolean =>
  to.floor < from.floor || (to.floor === from.floor && to.wing === from.wing)

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
export const describeHouse = ({ dependsOn, floors, mayImport, source, testing }: House) => {
  const modules = readModules(source)
  const graph = new Map(modules.map((module) => [
    module.name,
    importsOf(module).filter(isLocal).map((specifier) =>
      Path.posix.join(Path.posix.dirname(module.name), specifier).replace(/\.ts$/, "")
    )
  ]))
  const testingFloors = testing?.floors ?? []
  const placeOfModule = (name: string): Place | undefined => placeOf(isTesting(name) ? testingFloors : floors, name)
  const whereIs = (name: string): string => {
    const { floor, wing } = placeOfModule(name)!
    const [title] = (isTesting(name) ? testingFloors : floors)[floor]!
    return wing === undefined ? `on ${title}` : `in ${wing} on ${title}`
  }
  const topOfTesting = floors.findIndex(([floor]) => floor === testing?.mayUse)

  describe("architecture", () => {
    it("there are modules to look at", () => {
      assert.isAbove(modules.length, 0)
    })

    it("no module imports in a circle", () => {
      const cycle = findCycle(graph)
      assert.isUndefined(cycle, cycle?.join(" → "))
    })

    it("every wing and module on a floor is there", () => {
      const places = [...floors, ...testingFloors].flatMap(([, places]) => places)
      const gone = places.filter((place) => !modules.some(({ name }) => matches(place, name)))
      assert.deepStrictEqual(gone, [], "take it out of `floors` in this package's test/architecture.test.ts")
    })

    it(`no folder holds more than ${maxSideBySide} modules side by side, but for the public ones`, () => {
      const folders = modules.map(({ name }) => Path.posix.dirname(name)).filter((folder) => folder !== ".")
      const crowded = [...new Set(folders)].filter((folder) =>
        folders.filter((other) => other === folder).length > maxSideBySide
      )
      assert.deepStrictEqual(crowded, [], "group them in wings, a folder for each concept")
    })

    describe.each(modules.map((module) => [module.name, module] as const))("%s", (name, module) => {
      it("stands on a floor", () => {
        assert.isDefined(
          placeOfModule(name),
          `src/${name}.ts stands on no floor: move it to the wing it belongs to, or list it in \`floors\` in this ` +
            "package's test/architecture.test.ts, on the lowest floor it can live on (DESIGN.md §2)"
        )
      })

      it("imports only from its own wing and from below", () => {
        const place = placeOfModule(name)
        if (place === undefined) return
        for (const imported of graph.get(name)!.filter((imported) => graph.has(imported))) {
          const other = placeOfModule(imported)
          if (isTesting(imported) && !isTesting(name)) {
            assert.fail(`src/${name}.ts imports ${imported}: the library never imports its test tools`)
          }
          const fits = other === undefined ||
            (isTesting(imported) === isTesting(name) ? mayReach(place, other) : other.floor <= topOfTesting)
          assert.isTrue(fits, `src/${name}.ts imports ${imported}, which stands ${whereIs(imported)}`)
        }
      })

      it(`depends on ${dependsOn} alone`, () => {
        const foreign = importsOf(module).filter((specifier) => !isLocal(specifier) && !mayImport(specifier, name))
        assert.deepStrictEqual(foreign, [])
      })

      it(`is at most ${maxLines} lines long, its examples not counted`, () => {
        const ofExamples = examples(module).reduce((sum, { code }) => sum + code.split("\n").length, 0)
        const lines = module.text.trimEnd().split("\n").length - ofExamples
        assert.isAtMost(lines, maxLines, `split src/${name}.ts by concept`)
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

/** An export of a public module, with the comment that says what it is. */
interface Exported {
  readonly name: string
  readonly comment: string
  readonly isSchema: boolean
}

const isSchema = (module: SourceModule, declaration: Node): boolean => {
  const [declarator = declaration] = (declaration.declarations ?? []) as ReadonlyArray<Node>
  const made = declarator.init ?? declarator.superClass
  return isNode(made) && module.text.slice(made.start, made.end).startsWith("Schema.")
}

/** The values a module exports: its own, and those of another module of its package that it names (`export { … } from`). */
const exportedValues = (
  module: SourceModule,
  modules: ReadonlyMap<string, SourceModule>
): ReadonlyArray<Exported> => {
  const found = new Map<string, Exported>()
  for (const statement of module.parsed.program.body as unknown as ReadonlyArray<Node>) {
    if (statement.type !== "ExportNamedDeclaration" || statement.exportKind === "type") continue
    const comment = docComment(module, statement)
    if (isNode(statement.declaration)) {
      const { declaration } = statement
      // Types, interfaces and namespaces hold no value; of a function with overloads, the first is only declared.
      if (declaration.type.startsWith("TS") && declaration.type !== "TSDeclareFunction") continue
      for (const name of declaredNames(statement)) {
        // Overloads share the comment of the first.
        if (!found.has(name)) found.set(name, { name, comment, isSchema: isSchema(module, declaration) })
      }
    } else if (isNode(statement.source) && String(statement.source.value).startsWith(".")) {
      const path = Path.posix.join(Path.posix.dirname(module.name), String(statement.source.value))
      const declared = exportedValues(modules.get(path.replace(/\.ts$/, ""))!, modules)
      for (const { local } of statement.specifiers as ReadonlyArray<{ readonly local: Node }>) {
        const value = declared.find(({ name }) => name === local.name)
        if (value !== undefined) found.set(value.name, { ...value, comment: `${value.comment}\n${comment}` })
      }
    }
  }
  return [...found.values()]
}

/** A schema among the models, errors and reasons is data: it needs no example, for what makes it or takes it has one. */
const isData = ({ comment, isSchema }: Exported): boolean =>
  isSchema && /@category (models|errors|reasons)\b/.test(comment)

/** Every export of a public module says what it is. Whether it says so well is for a reader to judge. */
export const describeDocumentation = (source: string): void => {
  const all = readModules(source)
  const byName = new Map(all.map((module) => [module.name, module]))
  const modules = all.filter(({ name }) => !name.includes("internal/") && !name.endsWith("index"))
  describe("documentation", () => {
    it.each(modules.map((module) => [module.name, module] as const))(
      "%s: every export has a doc comment with its category and version",
      (_, module) => {
        assert.deepStrictEqual(undocumented(module), [])
      }
    )

    it("every doc comment of an export begins with words", () => {
      const wordless = all.flatMap(({ name, parsed }) =>
        parsed.comments.filter(({ value }) => value.includes("@category") && /^[\s*]*@/.test(value))
          .map(({ value }) => `${name}: ${value}`)
      )
      assert.deepStrictEqual(wordless, [])
    })

    it("every example says what comes of it", () => {
      const without = all.flatMap((module) =>
        examples(module).filter(({ code }) => !code.includes("// =>")).map(({ name }) => `${module.name}.${name}`)
      )
      assert.deepStrictEqual(without, [])
    })

    it("whatever is called, provided or put in has an example: each value but data", () => {
      const without = modules.flatMap((module) =>
        exportedValues(module, byName)
          .filter((exported) => !exported.comment.includes("@example") && !isData(exported))
          .filter(({ comment }) => !comment.includes("@internal"))
          .map(({ name }) => `${module.name}.${name}`)
      )
      assert.deepStrictEqual(without, [])
    })
  })
}
