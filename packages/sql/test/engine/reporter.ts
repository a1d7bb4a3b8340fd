/** Says how many of the engine's tests used a database, and how many of these passed. */
import type { Reporter, TestModule } from "vitest/node"
import { exceptions } from "./exceptions.ts"
import * as Fs from "node:fs"

export default class EngineReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>) {
    const rows = modules.flatMap((module) => Array.from(module.children.allTests(), (test) => ({ file: module.moduleId, name: test.fullName, ops: test.meta().operations, state: test.result().state, ms: test.diagnostic()?.duration, errors: test.result().errors?.map((e) => e.message) })))
    Fs.writeFileSync(process.env["ENGINE_OUT"] ?? "/tmp/wt/engine.json", JSON.stringify(rows))
  }
}
