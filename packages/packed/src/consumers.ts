/**
 * Whoever compiles against the packages: with TypeScript 7 and 5.9, as Node resolves and as bundlers do, with and without
 * `exactOptionalPropertyTypes`, and with our declarations checked too. What they export in turn has declarations that name
 * nothing which the packages close, and the other TypeScript reads these.
 */
import { Effect, FileSystem, Path } from "effect"
import { type Packed, specifierOf } from "./pack.ts"
import { expect, expectNone, run } from "./run.ts"

const strictest = {
  target: "ES2023",
  lib: ["ES2023", "DOM", "DOM.Iterable"],
  strict: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
  declaration: true,
  types: ["node"],
  rootDir: "."
}

interface Consumer {
  readonly title: string
  readonly typescript: "7" | "5.9"
  readonly options: Readonly<Record<string, unknown>>
}

const nodeNext = { module: "NodeNext", moduleResolution: "NodeNext" }
const bundler = { module: "ESNext", moduleResolution: "Bundler" }

/** Each TypeScript has each resolution, and each resolution is strict about optional properties, and is not. */
const consumers: ReadonlyArray<Consumer> = [
  { title: "7-nodenext", typescript: "7", options: { ...nodeNext, exactOptionalPropertyTypes: true } },
  { title: "7-bundler", typescript: "7", options: { ...bundler, exactOptionalPropertyTypes: false } },
  { title: "5.9-nodenext", typescript: "5.9", options: { ...nodeNext, exactOptionalPropertyTypes: false } },
  { title: "5.9-bundler", typescript: "5.9", options: { ...bundler, exactOptionalPropertyTypes: true } }
]

/** Where the programs of the first consumer are, compiled. */
export const compiled = `out-${consumers[0]!.title}`

/** What upstream exports but leaves out of its declarations. */
const undeclared: ReadonlySet<string> = new Set(["getObjectName", "isEmptyParamsRecord"])

/**
 * A program that exports everything under another name, so that the type of each has to be written down. It is what
 * somebody's library does with one of them.
 */
const everything = Effect.fnUntraced(function*(packages: ReadonlyArray<Packed>, folder: string) {
  const specifiers = packages.flatMap(({ modules, name }) =>
    modules.filter((module) => module !== "index" && module !== "testing/index")
      .map((module) => specifierOf(name, module))
  )
  const lister = `const names = {}
for (const specifier of ${JSON.stringify(specifiers)}) names[specifier] = Object.keys(await import(specifier))
console.log(JSON.stringify(names))`
  const listed: Readonly<Record<string, ReadonlyArray<string>>> = JSON.parse(
    yield* run(folder, process.execPath, ["--input-type=module", "--eval", lister])
  )
  return Object.entries(listed).map(([specifier, names], index) =>
    [
      `import * as Module${index} from "${specifier}"`,
      ...names.filter((name) => !undeclared.has(name)).map((name) =>
        `export const ${name}${index} = Module${index}.${name}`
      )
    ].join("\n")
  ).join("\n")
})

export const check = Effect.fnUntraced(function*(options: {
  readonly root: string
  readonly folder: string
  readonly packages: ReadonlyArray<Packed>
  /** The names of the programs that stand in the folder. */
  readonly programs: ReadonlyArray<string>
}) {
  const { folder, packages, programs, root } = options
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const compilers = {
    "7": path.join(root, "node_modules/typescript"),
    "5.9": path.join(root, "packages/packed/node_modules/typescript")
  }
  for (const name of ["library", "reader"]) {
    yield* fs.copyFile(path.join(import.meta.dirname, `${name}.ts`), path.join(folder, `${name}.ts`))
  }
  yield* fs.writeFileString(path.join(folder, "everything.ts"), yield* everything(packages, folder))

  const compile = Effect.fnUntraced(function*(consumer: Consumer, settings: {
    readonly project: string
    readonly files: ReadonlyArray<string>
    readonly options: Readonly<Record<string, unknown>>
  }) {
    const project = path.join(folder, `tsconfig.${settings.project}.json`)
    const compilerOptions = { ...strictest, ...consumer.options, ...settings.options }
    const files = settings.files.map((file) => `${file}.ts`)
    yield* fs.writeFileString(project, JSON.stringify({ compilerOptions, files }))
    const tsc = path.join(compilers[consumer.typescript], "bin/tsc")
    const version = yield* run(folder, process.execPath, [tsc, "--version"])
    yield* expect(version.includes(` ${consumer.typescript}.`), `${consumer.title} is compiled by ${version}`)
    yield* run(folder, process.execPath, [tsc, "--project", project])
  })

  const others = yield* Effect.filter(
    programs,
    (program) =>
      Effect.map(
        fs.readFileString(path.join(folder, `${program}.ts`)),
        (text) => /from "@(ai-sdk|modelcontextprotocol|effect\/vitest)\b/.test(text)
      )
  )
  const ours = programs.filter((program) => !others.includes(program))

  yield* Effect.forEach(consumers, (consumer) => {
    const outDir = `out-${consumer.title}`
    const files = ["library", "everything", ...ours]
    return Effect.gen(function*() {
      yield* compile(consumer, { project: consumer.title, files, options: { outDir } })
      // Vercel's own declarations, for one, do not compile with `exactOptionalPropertyTypes`; ours beside them do.
      const options = { outDir, skipLibCheck: true }
      yield* compile(consumer, { project: `${consumer.title}.others`, files: others, options })
      for (const file of ["library", "everything"]) {
        const declared = yield* fs.readFileString(path.join(folder, outDir, `${file}.d.ts`))
        yield* expectNone(
          declared.split("\n").filter((line) => /\binternal\b|node_modules/.test(line))
            .map((line) => `${consumer.title}: a declaration names what is closed: ${line.trim()}`)
        )
      }
    })
  }, { concurrency: 2, discard: true })

  // A library, by the declarations that the other TypeScript wrote of it.
  yield* Effect.forEach(consumers, (consumer) => {
    const writer = consumers.find((other) =>
      other.typescript !== consumer.typescript && other.options["module"] === consumer.options["module"]
    )!
    return compile(consumer, {
      project: `reads-${writer.title}`,
      files: ["reader"],
      options: { noEmit: true, paths: { "#library": [`./out-${writer.title}/library.d.ts`] } }
    })
  }, { concurrency: 2, discard: true })
  return consumers.map(({ title }) => title)
})
