/** A tab of a browser as wide as a phone or a desk. */
import type { launch } from "../../../scratchpad/web/test/browser.ts"

export type Browser = Awaited<ReturnType<typeof launch>>
export type Tab = Awaited<ReturnType<Browser["newPage"]>>

export const widths = { phone: 390, desk: 1280 } as const
export const themes = ["light", "dark"] as const

export interface Look {
  readonly width: number
  readonly theme?: (typeof themes)[number]
}

export const withTab = async (browser: Browser, { theme, width }: Look, use: (tab: Tab) => Promise<void>) => {
  const tab = await browser.newPage({
    viewport: { width, height: 844 },
    ...theme === undefined ? {} : { colorScheme: theme }
  })
  try {
    await use(tab)
  } finally {
    await tab.close()
  }
}

/** Searches for a word, and gives where the results lead. */
export const search = async (tab: Tab, word: string): Promise<ReadonlyArray<string>> => {
  await tab.locator("button[data-open-modal]:enabled").waitFor()
  await tab.keyboard.press("Control+k")
  await tab.locator("dialog input").fill(word)
  const results = tab.locator(".pagefind-ui__result-link")
  await results.first().waitFor()
  return results.evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? ""))
}
