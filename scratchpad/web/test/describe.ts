/** The scenarios as tests of a page. */
import { afterAll, beforeAll, describe, it } from "vitest"
import { coming } from "./scenarios/coming.ts"
import { deciding } from "./scenarios/deciding.ts"
import { killed } from "./scenarios/killed.ts"
import { inMarkup } from "./scenarios/markup.ts"
import { together } from "./scenarios/together.ts"
import * as Stage from "./stage.ts"
import { play, type Scenario, type Setting } from "./theatre.ts"

export const describeScenarios = (setting: Setting, folder: string, own: ReadonlyArray<Scenario> = []) =>
  describe.concurrent(setting.driver.name, () => {
    let server: Stage.Server
    beforeAll(async () => {
      server = await Stage.inProcess(folder)
    })
    afterAll(() => server.close())
    for (const scenario of killed) {
      it(scenario.name, async () => play(setting, await Stage.asProcess(folder), scenario))
    }
    for (const scenario of [...deciding, ...together, ...coming, ...inMarkup, ...own]) {
      it(scenario.name, () => play(setting, server.stage(), scenario))
    }
  })
