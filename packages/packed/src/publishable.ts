/** What publint and attw say of a tarball. */
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core"
import { filterProblems } from "@arethetypeswrong/core/problems"
import { Effect, FileSystem } from "effect"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { type Packed, specifierOf } from "./pack.ts"
import { expectNone } from "./run.ts"

/**
 * The packages are ES modules and nothing else, on purpose: effect is, and two copies of a module, one for `require`,
 * would be two kinds of tools. So what attw says of `require` and of the resolution of Node 10 is no problem of theirs:
 * the profile that its command line calls `esm-only`.
 */
const resolutions = ["node16-esm", "bundler"] as const

export const check = Effect.fnUntraced(function*(packed: Packed) {
  const fs = yield* FileSystem.FileSystem
  const bytes = yield* fs.readFile(packed.tarball)
  const linted = yield* Effect.promise(() =>
    publint({ level: "suggestion", strict: true, pack: { tarball: bytes.slice().buffer } })
  )
  const entrypoints = packed.modules.map((module) =>
    `.${specifierOf(packed.name, module).slice(`@assent/${packed.name}`.length)}`
  )
  const types = yield* Effect.promise(() => checkPackage(createPackageFromTarballData(bytes), { entrypoints }))
  const problems = types.types === false
    ? [`@assent/${packed.name} has no types`]
    : resolutions.flatMap((resolutionKind) =>
      filterProblems(types, { resolutionKind }).map((problem) => `@assent/${packed.name}: ${JSON.stringify(problem)}`)
    )
  yield* expectNone([
    ...linted.messages.map((message) => `@assent/${packed.name}: ${formatMessage(message, linted.pkg ?? {}) ?? ""}`),
    ...problems
  ])
  return entrypoints.length
})
