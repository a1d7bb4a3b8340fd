/** Packs the packages, and unpacks them in a folder that has nothing else but what they say they need. */
import { Effect, FileSystem, Path, Schema } from "effect"
import { expect, expectNone, run } from "./run.ts"

/** What the READMEs tell people to install beside them, and what TypeScript needs to know of Node. */
const installed = ["effect", "@effect/platform-node", "@effect/sql-pg", "@ai-sdk/anthropic", "@types/node"]

const Manifest = Schema.fromJsonString(
  Schema.Struct({
    private: Schema.optionalKey(Schema.Boolean),
    dependencies: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
  })
)

/** A package, unpacked. */
export interface Packed {
  readonly name: string
  readonly tarball: string
  readonly directory: string
  /** The paths of its files, from its directory. */
  readonly files: ReadonlyArray<string>
  /** The paths of its modules that a program may import, such as `testing/index`. */
  readonly modules: ReadonlyArray<string>
}

/** How a program names a module of a package. */
export const specifierOf = (name: string, module: string): string => `@assent/${name}/${module}`.replace(/\/index$/, "")

const isInternal = (module: string): boolean => module.split("/").includes("internal")

export const pack = Effect.fnUntraced(function*(root: string, folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const modules = path.join(folder, "node_modules")

  const link = Effect.fnUntraced(function*(name: string, into: string) {
    yield* fs.makeDirectory(path.dirname(path.join(into, name)), { recursive: true })
    yield* fs.symlink(path.join(root, "node_modules", name), path.join(into, name))
  })

  const readManifest = (directory: string) =>
    Effect.flatMap(fs.readFileString(path.join(directory, "package.json")), Schema.decodeEffect(Manifest))

  const unpack = Effect.fnUntraced(function*(name: string, tarball: string) {
    const directory = path.join(modules, "@assent", name)
    yield* fs.makeDirectory(directory, { recursive: true })
    yield* run(folder, "tar", ["-xzf", tarball, "--strip-components=1", "-C", directory])
    const { dependencies = {} } = yield* readManifest(directory)
    for (const dependency of Object.keys(dependencies)) {
      yield* link(dependency, path.join(directory, "node_modules"))
    }
    const files = yield* fs.readDirectory(directory, { recursive: true })
    const compiled = files.flatMap((file) => /^dist\/(.*)\.js$/.exec(file)?.[1] ?? [])
    const missing = ["LICENSE", "README.md", "CHANGELOG.md", ...name === "ai" ? ["docs/guide.md"] : []].filter((file) =>
      !files.includes(file)
    )
    yield* expectNone(missing.map((file) => `@assent/${name} is packed without ${file}`))
    yield* expect(!files.some((file) => file.endsWith(".tsbuildinfo")), `@assent/${name} has a build's notes in it`)
    yield* expectNone(
      // What is behind the public modules of @assent/ai is put together anew each time.
      compiled.filter((module) => !files.includes(`src/${module}.ts`) && !(name === "ai" && isInternal(module)))
        .map((module) => `@assent/${name} has dist/${module}.js, which has no source any more`)
    )
    yield* fs.writeFileString(
      path.join(folder, `import-${name}.mjs`),
      compiled.map((module) => {
        const specifier = JSON.stringify(specifierOf(name, module))
        return isInternal(module)
          ? `if (await import(${specifier}).then(() => true, () => false)) throw new Error(${specifier} + " is public")`
          : `await import(${specifier})`
      }).join("\n")
    )
    const packed: Packed = {
      name,
      tarball: path.join(folder, tarball),
      directory,
      files,
      modules: compiled.filter((module) => !isInternal(module)).toSorted()
    }
    return packed
  })

  const names = (yield* fs.readDirectory(path.join(root, "packages"))).toSorted()
  const published = yield* Effect.filter(
    names,
    (name) => Effect.map(readManifest(path.join(root, "packages", name)), (manifest) => manifest.private !== true)
  )
  yield* run(root, "npm", [
    "pack",
    ...published.map((name) => `--workspace=packages/${name}`),
    "--pack-destination",
    folder
  ])
  const tarballs = yield* fs.readDirectory(folder)
  yield* Effect.forEach(installed, (name) => link(name, modules))
  const unpacked = yield* Effect.forEach(
    published,
    (name) => unpack(name, tarballs.find((file) => file.startsWith(`assent-${name}-`)) ?? name)
  )
  for (const { name } of unpacked) yield* run(folder, process.execPath, [`import-${name}.mjs`])
  return unpacked
})
