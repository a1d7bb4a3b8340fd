/** All tests in one process with one browser: a second one of either takes longer than it saves. */
import type { Browser } from "playwright-core"
import { afterAll, beforeAll } from "vitest"
import { launch } from "./browser.ts"
import { folder } from "./build.ts"
import * as Chat from "./chatDriver.ts"
import { describeScenarios } from "./describe.ts"
import { describeGuide } from "./guide.ts"
import * as Page from "./pageDriver.ts"
import * as Program from "./program.ts"
import { hasty } from "./scenarios/hasty.ts"
import { stopping } from "./scenarios/stopping.ts"
import { describeServed } from "./served.ts"
import * as Windows from "./windows.ts"

let browser: Browser
let program: Promise<Program.Program>
// It takes a second or two to start, for which most tests need not wait.
beforeAll(async () => {
  program = Program.start()
  browser = await launch()
})
afterAll(async () => {
  await browser?.close()
  await (await program)?.close()
})

const windows = Windows.make(() => browser)

describeScenarios({ windows, driver: Chat.driver }, folder)
describeServed(windows, () => program)
describeScenarios({ windows, driver: Page.driver }, Page.folder, [...stopping, ...hasty])
describeGuide(windows)
