/** Writes down which test files are done, so that what hung in one is not run again with the others. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import type { Reporter, TestModule } from "vitest/node"

export default class DoneReporter implements Reporter {
  onTestModuleEnd(module: TestModule): void {
    Fs.appendFileSync(
      Path.join(process.env["MUTATION_DIRECTORY"] ?? "", `done-${process.env["MUTATION_CHUNK"]}`),
      `${module.moduleId}\n`
    )
  }
}
