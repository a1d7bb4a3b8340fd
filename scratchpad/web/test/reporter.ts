/** Ends with the line that every runner of this workspace ends with. */
import type { Reporter, TestModule, TestSuite } from "vitest/node"

export default class Closing implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>): void {
    const results = modules.flatMap((one) => Array.from(one.children.allTests(), (test) => test.result().state))
    const passed = results.filter((state) => state === "passed").length
    // A file or a group that could not begin has no tests of which any failed, and is none that passed.
    const groups: ReadonlyArray<TestModule | TestSuite> = modules.flatMap((one) => [one, ...one.children.allSuites()])
    const failed = results.filter((state) => state === "failed").length +
      groups.filter((one) => one.errors().length > 0).length
    process.on("exit", () => console.log(`${passed} passed, ${failed} failed`))
  }
}
