/** How vitest runs the tests of this workspace: of one package, or of all of them at once. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { pathToFileURL } from "node:url"
import { defineConfig } from "vitest/config"
import { write } from "./ai-docs/rewrite.ts"
import { extract } from "./examples/extract.ts"

const workspace = Path.join(import.meta.dirname, "../../..")

const compiled = Path.join(workspace, "node_modules/.cache/node")

/** For the programs that tests start: they load what others have compiled, and need not look for it. */
const started = {
  NODE_COMPILE_CACHE: compiled,
  NODE_OPTIONS: [
    process.env["NODE_OPTIONS"],
    `--import=${pathToFileURL(Path.join(import.meta.dirname, "resolving.ts")).href}`
  ].join(" ")
}

// Without "module": under it `@smithy/core`, which Bedrock's package needs, has files for bundlers that Node cannot read.
const conditions = ["@assent/source", "node", "import", "default"]

const configuration = (name: string, root: string, packages: ReadonlyArray<string>) => {
  // Here and not in a `globalSetup`, because vitest looks for test files before it runs that.
  for (const directory of packages) {
    extract({ source: Path.join(directory, "src"), generated: Path.join(directory, "test/examples/generated") })
    const documents = Path.join(directory, "test/ai-docs")
    if (Fs.existsSync(documents)) write(Path.join(documents, "generated"))
  }
  // For the workers as well, which read every source by themselves: what was compiled before is not compiled again.
  process.env["NODE_COMPILE_CACHE"] ??= compiled
  return defineConfig({
    root,
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      name,
      include: packages.map((directory) => Path.posix.join(Path.relative(root, directory), "test/**/*.test.ts")),
      // Those need a server: `npm run test:postgres`.
      exclude: ["**/node_modules/**", "**/test/postgres/**"],
      // Node reads the sources as a program does. Through Vite each access to an import is a call, and so is each stack.
      experimental: { viteModuleRunner: false, nodeLoader: false },
      // Modules are loaded once and not for each file: half of the time was that. So no test may lean on a fresh one.
      isolate: false,
      // By itself vitest leaves one core alone: of two, that is half of the machine.
      maxWorkers: "100%",
      coverage: {
        include: packages.map((directory) => Path.posix.join(Path.relative(root, directory), "src/**/*.ts"))
      },
      env: started
    }
  })
}

/** Sources are read without a build, and the examples of doc comments are tests. */
export const defineProject = (name: string, directory: string) => configuration(name, directory, [directory])

/**
 * All packages as one project: vitest starts workers for each project anew, and each of them loads Effect and the sources
 * again and runs them cold.
 */
export const defineWorkspace = (...packages: ReadonlyArray<string>) =>
  configuration("assent", workspace, packages.map((name) => Path.join(workspace, "packages", name)))
