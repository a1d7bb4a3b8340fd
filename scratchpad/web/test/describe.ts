/** The scenarios as tests of a page. */
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, it } from "vitest"
import { launch } from "./browser.ts"
import { coming } from "./scenarios/coming.ts"
import { deciding } from "./scenarios/deciding.ts"
import { killed } from "./scenarios/killed.ts"
import { inMarkup } from "./scenarios/markup.ts"
import { together } from "./scenarios/together.ts"
import { play, playAsProcess, type Setting } from "./theatre.ts"

export const describeScenarios = (page: Omit<Setting, "browser">): void => {
  let browser: Browser
  beforeAll(async () => void (browser = await launch()))
  afterAll(() => browser.close())
  const setting: Setting = { ...page, browser: () => browser }

  describe(page.driver.name, () => {
    for (const scenario of killed) it.concurrent(scenario.name, () => playAsProcess(setting, scenario))
    for (const scenario of [...deciding, ...together, ...coming, ...inMarkup]) {
      it.concurrent(scenario.name, () => play(setting, scenario))
    }
  })
}
