/** All tests in one process with one browser: a second one of either takes longer than it saves. */
import type { Browser } from "playwright-core"
import { afterAll, beforeAll } from "vitest"
import { launch } from "./browser.ts"
import { folder } from "./build.ts"
import * as Chat from "./chatDriver.ts"
import { describeScenarios } from "./describe.ts"
import * as Page from "./pageDriver.ts"
import { describeServed } from "./served.ts"

let browser: Browser
beforeAll(async () => void (browser = await launch()))
afterAll(() => browser.close())

describeServed(() => browser)
describeScenarios({ browser: () => browser, driver: Page.driver, folder: () => Page.folder })
describeScenarios({ browser: () => browser, driver: Chat.driver, folder: () => folder })
