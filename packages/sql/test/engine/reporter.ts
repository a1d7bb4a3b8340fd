/** Says how many of the engine's tests used a database, and how many of these passed. */
import type { Reporter, TestModule, Vitest } from "vitest/node"
import { exceptions, whyNot } from "./exceptions.ts"

export default class EngineReporter implements Reporter {
  private vitest: Vitest | undefined = undefined

  onInit(vitest: Vitest) {
    this.vitest = vitest
  }

  async onTestRunEnd(modules: ReadonlyArray<TestModule>) {
    const tests = modules.flatMap((module) => Array.from(module.children.allTests()))
    const names = new Set(tests.map(({ fullName }) => fullName))
    const onSqlite = tests.filter((test) => (test.meta().operations ?? 0) > 0)
    const passed = onSqlite.filter((test) => test.result().state === "passed")
    const excepted = passed.filter(({ fullName }) => whyNot(fullName) !== undefined)
    const count = `${onSqlite.length} of ${tests.length} tests used SQLite`
    console.log(
      `${count}: ${passed.length - excepted.length} passed, ${excepted.length} failed as listed, ` +
        `${onSqlite.length - passed.length} failed.`
    )
    const files = await this.vitest?.globTestSpecifications()
    if (files?.length !== modules.length || this.vitest?.config.testNamePattern !== undefined) return
    for (const name of Object.keys(exceptions)) {
      if (!names.has(name)) fail(`There is no test "${name}" (exceptions.ts).`)
    }
    if (onSqlite.length < atLeast) fail(`They were ${atLeast} at least: is every store still a database?`)
  }
}

const fail = (message: string) => {
  console.error(message)
  process.exitCode = 1
}

/** Some less than there were when this was written. */
const atLeast = 5_000
