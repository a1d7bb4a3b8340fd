/**
 * The packages as they are published: `npm run check:packed`. Packs them, unpacks them in a folder that has nothing else
 * but what they say they need, asks publint and attw about them, and does there what a newcomer does: reads their pages,
 * compiles the programs on these, with each TypeScript and with our declarations included, and runs those that need no
 * key. Ends with 1, and says what is wrong.
 */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Path } from "effect"
import * as Consumers from "./consumers.ts"
import * as Newcomer from "./newcomer.ts"
import { pack } from "./pack.ts"
import * as Publishable from "./publishable.ts"
import * as Weight from "./weight.ts"

const main = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.resolve(import.meta.dirname, "../../..")
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "assent-packed-" })

  const packages = yield* pack(root, folder)
  const entrypoints = yield* Effect.forEach(packages, Publishable.check)
  yield* Newcomer.checkPages(root, packages)
  const weight = yield* Weight.check(folder)
  const programs = yield* Newcomer.writePrograms({ root, folder, packages })
  const consumers = yield* Consumers.check({ root, folder, packages, programs: [...programs.keys()] })
  yield* Newcomer.runPrograms(folder, programs)
  yield* Console.log(
    `Packed: ${packages.map(({ name }) => name).join(", ")}; ${
      entrypoints.reduce((sum, one) => sum + one, 0)
    } modules, ` +
      `${programs.size} programs, TypeScript ${consumers.join(", ")}. ` +
      `More than effect's own: ${weight.gzip} bytes of gzip in a bundle, ${weight.modules} modules on import.`
  )
})

main.pipe(Effect.scoped, Effect.provide(NodeServices.layer), NodeRuntime.runMain)
