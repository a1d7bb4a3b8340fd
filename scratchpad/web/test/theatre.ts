/** Plays one scenario in a browser, and checks at its end what must be so after every one. */
import { assert } from "vitest"
import type * as Stage from "./stage.ts"
import * as Tab from "./tab.ts"
import * as Windows from "./windows.ts"

export interface Play {
  readonly stage: Stage.Stage
  /** A tab of somebody's own browser; tabs of one person share it. */
  readonly tab: (person?: string) => Promise<Tab.Tab>
  /** How often each tool ran. */
  readonly ran: () => ReadonlyArray<string>
  readonly shoot: (tab: Tab.Tab, name: string) => Promise<void>
}

export interface Scenario {
  readonly name: string
  /** What is done to a browser as a whole, nobody else is to notice. */
  readonly isAlone?: boolean
  readonly act: (play: Play) => Promise<void>
}

export interface KillableScenario {
  readonly name: string
  readonly act: (play: Play & { readonly stage: Stage.Killable }) => Promise<void>
}

export interface Setting {
  readonly windows: Windows.Windows
  readonly driver: Tab.Driver
}

const shots = process.env["SCREENSHOTS"]

export const play = async <S extends Stage.Stage>(
  { driver, windows }: Setting,
  stage: S,
  { act, isAlone = false, name }: Omit<Scenario, "act"> & {
    readonly act: (play: Play & { readonly stage: S }) => Promise<void>
  }
): Promise<void> => {
  const taken = new Map<string, Windows.Window>()
  const tabs: Array<Tab.Tab> = []
  let shot = 0
  const ran = () => stage.said.all.flatMap((word) => word.startsWith("ran ") ? [word.slice("ran ".length)] : [])
  try {
    await act({
      stage,
      ran,
      tab: async (person = "Ada") => {
        const known = taken.get(person)
        const window = known ?? await windows.take(person, isAlone)
        taken.set(person, window)
        const page = known === undefined ? window.page : await Windows.newPage(window.context)
        const tab = await Tab.open(driver, page, stage)
        tabs.push(tab)
        return tab
      },
      shoot: async ({ page }, what) => {
        if (shots === undefined) return
        const path = `${shots}/${driver.name} ${name} ${++shot} ${what}.png`.replaceAll(/[^\w./-]+/g, "-")
        await page.screenshot({ path, fullPage: true })
      }
    })
    const all = ran()
    assert.deepStrictEqual(all.filter((one, index) => all.indexOf(one) !== index), [], "no tool runs twice")
    for (const tab of tabs) {
      assert.deepStrictEqual(tab.faults(), [], "the console says nothing")
      assert.isAtMost(tab.posts.length, tab.acts(), "no more is posted than somebody did")
    }
    for (const tab of tabs) tab.leave()
    for (const [person, window] of taken) await windows.giveBack(person, window)
  } catch (error) {
    await Promise.all(Array.from(taken.values(), windows.close))
    throw error
  } finally {
    await stage.close()
  }
}
