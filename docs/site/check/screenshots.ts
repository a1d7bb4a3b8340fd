/** Pictures of the built site: a page of each kind, on a phone and on a desk, in light and dark. */
import * as Path from "node:path"
import { launch } from "../../../scratchpad/web/test/browser.ts"
import { generated } from "../build/page.ts"
import { serve } from "./served.ts"
import { search, themes, widths, withTab } from "./tab.ts"

const folder = Path.join(generated, "screenshots")

/** The top of a page, as far as a reader comes in a few screens. */
const height = 3200

const pages = {
  home: "",
  programs: "guides/agents-inside-agents/",
  laws: "guides/the-laws/",
  tables: "guides/what-is-kept-from-whom/",
  "language-model": "reference/ai/languagemodel/",
  approval: "reference/ai/approval/",
  "not-found": "no-such-page/"
}

/** Gives the folder with the pictures. */
export const take = async (): Promise<string> => {
  const { address, close } = await serve(0)
  const browser = await launch()
  for (const theme of themes) {
    for (const width of Object.values(widths)) {
      const fileOf = (name: string) => Path.join(folder, `${name}-${width}-${theme}.png`)
      await withTab(browser, { width, theme }, async (tab) => {
        for (const [name, page] of Object.entries(pages)) {
          await tab.goto(`${address}${page}`)
          await tab.screenshot({ path: fileOf(name), fullPage: true, clip: { x: 0, y: 0, width, height } })
        }
        await tab.goto(address)
        await search(tab, "restart")
        await tab.screenshot({ path: fileOf("search") })
      })
    }
  }
  await browser.close()
  close()
  return folder
}
