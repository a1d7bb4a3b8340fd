/** How `npm run mutation` runs the tests of every package with a sample of mutants in the sources: `test/mutation`. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { defineConfig, mergeConfig } from "vitest/config"
import workspace from "../../vitest.workspace.ts"

const directory = process.env["MUTATION_DIRECTORY"] ?? ""
const files: Record<string, string> = JSON.parse(Fs.readFileSync(Path.join(directory, "files.json"), "utf8"))
const root = Path.join(import.meta.dirname, "../..")
const include: Array<string> = JSON.parse(process.env["MUTATION_TESTS"] ?? "[]")

const shared = mergeConfig(
  workspace,
  defineConfig({
    plugins: [{
      name: "assent:mutants",
      enforce: "pre",
      load: (id) => files[Path.relative(root, id.split("?")[0] ?? id).replaceAll("\\", "/")]
    }],
    test: {
      name: "mutation",
      // The mutants come in by the hook above, of which vitest's own cache knows nothing.
      experimental: { viteModuleRunner: true },
      fsModuleCachePath: Path.join(directory, "cache"),
      runner: Path.join(import.meta.dirname, "test/mutation/runner.ts"),
      maxWorkers: 1,
      fileParallelism: false,
      // A test is run again and again.
      testTimeout: 60_000,
      dangerouslyIgnoreUnhandledErrors: true,
      reporters: [Path.join(import.meta.dirname, "test/mutation/reporter.ts")]
    }
  })
)

export default { ...shared, test: { ...shared.test, include } }
