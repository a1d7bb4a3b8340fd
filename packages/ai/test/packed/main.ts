/**
 * The packages as they are published: `npm run check:packed`. Packs them, unpacks them in a folder that has nothing else
 * but what they say they need, and does there what a newcomer does: compiles the programs of the READMEs, with strict
 * settings, our declarations included, and runs those that need no key. Ends with 1, and says what is wrong.
 */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Path, Schema, Stream } from "effect"
import { ChildProcess } from "effect/process"

class NotAsPublished extends Schema.TaggedError<NotAsPublished>()("NotAsPublished", { message: Schema.String }) {}

const packages = ["ai", "ai-sdk", "openai", "shell", "terminal"]

/** What the READMEs tell people to install beside them, and what TypeScript needs to know of Node. */
const installed = ["effect", "@effect/platform-node", "@ai-sdk/anthropic", "@types/node"]

const Manifest = Schema.fromJsonString(
  Schema.Struct({ dependencies: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)) })
)

const options = {
  target: "ES2023",
  lib: ["ES2023", "DOM"],
  module: "NodeNext",
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
  declaration: true,
  types: ["node"],
  rootDir: ".",
  outDir: "out"
}

const run = Effect.fnUntraced(function*(cwd: string, command: string, args: ReadonlyArray<string>, succeeds = true) {
  let output = ""
  const exitCode = yield* ChildProcess.make(command, args, { cwd, extendEnv: true, stdin: "ignore" }).pipe(
    Effect.flatMap((handle) =>
      Effect.andThen(
        Stream.runForEach(Stream.decodeText(handle.all), (text) => Effect.sync(() => output += text)),
        handle.exitCode
      )
    ),
    Effect.scoped
  )
  if ((exitCode === 0) === succeeds) return output
  return yield* new NotAsPublished({ message: `${command} ${args.join(" ")} ended with ${exitCode}:\n${output}` })
})

const expect = (what: boolean, message: string) => what ? Effect.void : Effect.fail(new NotAsPublished({ message }))

const main = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.resolve(yield* path.fromFileUrl(new URL(import.meta.url)), "../../../../..")
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "assent-packed-" })
  const modules = path.join(folder, "node_modules")

  const link = Effect.fnUntraced(function*(name: string, into: string) {
    yield* fs.makeDirectory(path.dirname(path.join(into, name)), { recursive: true })
    yield* fs.symlink(path.join(root, "node_modules", name), path.join(into, name))
  })

  // ===========================================================================
  // What is packed
  // ===========================================================================

  yield* run(root, "npm", [
    "pack",
    ...packages.map((name) => `--workspace=packages/${name}`),
    "--pack-destination",
    folder
  ])
  const packed = yield* fs.readDirectory(folder)
  yield* Effect.forEach(installed, (name) => link(name, modules))
  const imports: Array<string> = []
  for (const name of packages) {
    const directory = path.join(modules, "@assent", name)
    yield* fs.makeDirectory(directory, { recursive: true })
    const file = packed.find((file) => file.startsWith(`assent-${name}-`)) ?? name
    yield* run(folder, "tar", ["-xzf", file, "--strip-components=1", "-C", directory])
    const manifest = yield* Schema.decodeEffect(Manifest)(
      yield* fs.readFileString(path.join(directory, "package.json"))
    )
    for (const dependency of Object.keys(manifest.dependencies ?? {})) {
      yield* link(dependency, path.join(directory, "node_modules"))
    }
    const files = yield* fs.readDirectory(directory, { recursive: true })
    for (const file of ["LICENSE", "README.md"]) {
      yield* expect(files.includes(file), `@assent/${name} is packed without ${file}`)
    }
    yield* expect(!files.some((file) => file.endsWith(".tsbuildinfo")), `@assent/${name} has a build's notes in it`)
    for (const file of files) {
      const [, module] = /^dist\/(.*)\.js$/.exec(file) ?? []
      if (module === undefined) continue
      yield* expect(files.includes(`src/${module}.ts`), `@assent/${name} has ${file}, which has no source any more`)
      const specifier = JSON.stringify(`@assent/${name}/${module}`.replace(/\/index$/, ""))
      imports.push(
        module.split("/").includes("internal")
          ? `if (await import(${specifier}).then(() => true, () => false)) throw new Error(${specifier} + " is public")`
          : `await import(${specifier})`
      )
    }
  }
  yield* fs.writeFileString(path.join(folder, "imports.mjs"), imports.join("\n"))
  yield* run(folder, process.execPath, ["imports.mjs"])

  // ===========================================================================
  // What a newcomer does with it
  // ===========================================================================

  const readmes = ["README.md", ...packages.map((name) => `packages/${name}/README.md`)]
  const programs: Array<string> = []
  // Vercel's own declarations do not compile with `exactOptionalPropertyTypes`; ours beside them do.
  const onVercel: Array<string> = []
  const printed = new Map<string, string | undefined>()
  for (const readme of readmes) {
    const text = yield* fs.readFileString(path.join(root, readme))
    // What a program prints may stand right behind it.
    for (const [, program = "", prints] of text.matchAll(/^```ts\n([^]*?)^```\n(?:\n```text\n([^]*?)^```$)?/gm)) {
      if (!program.includes(`from "@assent/`)) continue
      const file = `${path.dirname(readme).split("/").at(-1)}-${programs.length}`.replace(/^\./, "readme")
      programs.push(file)
      if (program.includes(`from "@ai-sdk/`)) onVercel.push(file)
      printed.set(file, prints)
      yield* fs.writeFileString(path.join(folder, `${file}.ts`), program)
    }
  }
  yield* fs.copyFile(path.join(root, "packages/ai/test/packed/library.ts"), path.join(folder, "library.ts"))
  yield* fs.writeFileString(path.join(folder, "package.json"), JSON.stringify({ type: "module" }))
  const compile = Effect.fnUntraced(function*(name: string, skipLibCheck: boolean, files: ReadonlyArray<string>) {
    yield* fs.writeFileString(
      path.join(folder, name),
      JSON.stringify({ compilerOptions: { ...options, skipLibCheck }, files: files.map((file) => `${file}.ts`) })
    )
    yield* run(folder, path.join(root, "node_modules/.bin/tsc"), ["--project", name])
  })
  yield* compile("tsconfig.json", false, ["library", ...programs.filter((file) => !onVercel.includes(file))])
  yield* compile("tsconfig.vercel.json", true, onVercel)
  const declared = yield* fs.readFileString(path.join(folder, "out/library.d.ts"))
  yield* expect(!declared.includes("internal"), `a type is named by an internal module:\n${declared}`)

  const ran: Array<string> = []
  for (const [file, prints] of printed) {
    if (prints === undefined) continue
    const output = yield* run(folder, process.execPath, [`out/${file}.js`])
    yield* expect(output.endsWith(prints), `${file} prints:\n${output}`)
    ran.push(file)
  }
  const hello = yield* run(folder, process.execPath, ["out/readme-0.js"])
  yield* expect(hello.endsWith("debug.log is gone; thesis.txt stays.\n"), `hello prints:\n${hello}`)
  const terminal = programs.filter((file) => file.startsWith("terminal"))
  for (const file of terminal) {
    const output = yield* run(folder, process.execPath, [`out/${file}.js`], false)
    yield* expect(output.includes("NoTerminal: Nobody can be asked"), `${file} prints:\n${output}`)
  }
  yield* expect(terminal.length > 0 && ran.length > 1, `too few programs ran: ${[...terminal, ...ran].join(" ")}`)
  yield* Console.log(`Packed: ${packages.join(", ")}; ${imports.length} modules, ${programs.length} programs.`)
})

main.pipe(Effect.scoped, Effect.provide(NodeServices.layer), NodeRuntime.runMain)
