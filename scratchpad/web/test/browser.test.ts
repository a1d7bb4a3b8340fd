/** All tests in one process with one browser: a second one of either takes longer than it saves. */
import type { Browser } from "playwright-core"
import { afterAll, beforeAll } from "vitest"
import { launch } from "./browser.ts"
import { folder } from "./build.ts"
import * as Chat from "./chatDriver.ts"
import { describeScenarios } from "./describe.ts"
import * as Page from "./pageDriver.ts"
import * as Program from "./program.ts"
import { stopping } from "./scenarios/stopping.ts"
import { describeServed } from "./served.ts"

let browser: Browser
let program: Program.Program
// Before all tests: beside a dozen of them it would take longer to start than any of them waits.
beforeAll(async () => {
  const starting = Program.start()
  browser = await launch()
  program = await starting
})
afterAll(() => Promise.all([browser?.close(), program?.close()]))

describeServed(() => browser, () => program)
describeScenarios({ browser: () => browser, driver: Page.driver, folder: () => Page.folder }, stopping)
describeScenarios({ browser: () => browser, driver: Chat.driver, folder: () => folder })
