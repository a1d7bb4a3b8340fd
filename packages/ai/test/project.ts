/** How vitest runs the tests of a package of this workspace. */
import * as Path from "node:path"
import { defineConfig } from "vitest/config"
import { extract } from "./examples/extract.ts"

const conditions = ["@assent/source", "node", "import", "module", "default"]

/** Sources are read without a build, and the examples of doc comments are tests. */
export const defineProject = (name: string, directory: string) => {
  // Here and not in a `globalSetup`, because vitest looks for test files before it runs that.
  extract({ source: Path.join(directory, "src"), generated: Path.join(directory, "test/examples/generated") })
  return defineConfig({
    root: directory,
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      name,
      include: ["test/**/*.test.ts"],
      // Modules are loaded once and not for each file: half of the time was that. So no test may lean on a fresh one.
      isolate: false,
      // By itself vitest leaves one core alone: of two, that is half of the machine. Said here, as projects do not take it
      // from the workspace.
      maxWorkers: "100%",
      // Programs that tests start load what others have compiled: a third of their time was that.
      env: { NODE_COMPILE_CACHE: Path.join(import.meta.dirname, "../../../node_modules/.cache/node") }
    }
  })
}
