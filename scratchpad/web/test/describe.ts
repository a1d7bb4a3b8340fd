/** The scenarios as tests of a page. */
import { describe, it } from "vitest"
import { coming } from "./scenarios/coming.ts"
import { deciding } from "./scenarios/deciding.ts"
import { killed } from "./scenarios/killed.ts"
import { inMarkup } from "./scenarios/markup.ts"
import { together } from "./scenarios/together.ts"
import { play, playAsProcess, type Scenario, type Setting } from "./theatre.ts"

export const describeScenarios = (setting: Setting, own: ReadonlyArray<Scenario> = []) =>
  describe.concurrent(setting.driver.name, () => {
    for (const scenario of killed) it(scenario.name, () => playAsProcess(setting, scenario))
    for (const scenario of [...deciding, ...together, ...coming, ...inMarkup, ...own]) {
      it(scenario.name, () => play(setting, scenario))
    }
  })
