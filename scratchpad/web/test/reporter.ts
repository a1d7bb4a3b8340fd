/** Ends with the line that every runner of this workspace ends with. */
import type { Reporter, TestModule } from "vitest/node"

export default class Closing implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>): void {
    const results = modules.flatMap((one) => Array.from(one.children.allTests(), (test) => test.result().state))
    const passed = results.filter((state) => state === "passed").length
    // A file that could not be read has no tests, and is none that passed.
    const failed = results.filter((state) => state === "failed").length +
      modules.filter((one) => one.errors().length > 0).length
    process.on("exit", () => console.log(`${passed} passed, ${failed} failed`))
  }
}
