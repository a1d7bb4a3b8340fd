/** Plays one scenario in a browser, and checks at its end what must be so after every one. */
import type { Browser, BrowserContext, BrowserContextOptions } from "playwright-core"
import { assert } from "vitest"
import * as Stage from "./stage.ts"
import * as Tab from "./tab.ts"

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
  readonly act: (play: Play) => Promise<void>
}

export interface KillableScenario {
  readonly name: string
  readonly act: (play: Play & { readonly stage: Stage.Killable }) => Promise<void>
}

export interface Setting {
  readonly browser: () => Browser
  readonly driver: Tab.Driver
  readonly folder: () => string
  readonly options?: BrowserContextOptions
}

const shots = process.env["SCREENSHOTS"]

const playOn = async <S extends Stage.Stage>(
  { browser, driver, options }: Setting,
  stage: S,
  name: string,
  act: (play: Play & { readonly stage: S }) => Promise<void>
): Promise<void> => {
  const contexts = new Map<string, BrowserContext>()
  const tabs: Array<Tab.Tab> = []
  let shot = 0
  const ran = () => stage.said.all.flatMap((word) => word.startsWith("ran ") ? [word.slice("ran ".length)] : [])
  try {
    await act({
      stage,
      ran,
      tab: async (person = "Ada") => {
        let context = contexts.get(person)
        if (context === undefined) {
          context = await browser().newContext({
            reducedMotion: "reduce",
            viewport: { width: 800, height: 600 },
            ...options
          })
          await context.addCookies([{ name: "person", value: encodeURIComponent(person), url: stage.url }])
          contexts.set(person, context)
        }
        const tab = await Tab.open(driver, context, { url: stage.url, chat: "chat-1" })
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
  } finally {
    await Promise.all(Array.from(contexts.values(), (context) => context.close()))
    await stage.close()
  }
}

export const play = async (setting: Setting, { act, name }: Scenario): Promise<void> =>
  playOn(setting, await Stage.inProcess(setting.folder()), name, act)

export const playAsProcess = async (setting: Setting, { act, name }: KillableScenario): Promise<void> =>
  playOn(setting, await Stage.asProcess(setting.folder()), name, act)
