/** The built site in a browser: on a phone and on a desk, in light and dark, with the eyes of axe, and its search. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { violationsIn } from "../../../scratchpad/web/test/accessible.ts"
import { launch } from "../../../scratchpad/web/test/browser.ts"
import * as Links from "../build/links.ts"
import { serve } from "./served.ts"
import { type Browser, search, type Tab, themes, widths, withTab } from "./tab.ts"

const pages = Links.files().filter((file) => file.endsWith("index.html")).map((file) =>
  file.replace(/index\.html$/, "")
)

/** One of each kind. */
const kinds = [
  "",
  "guides/agents-inside-agents/",
  "guides/the-laws/",
  "guides/troubleshooting/",
  "packages/ai/",
  "reference/ai/approval/",
  "reference/ai/tool/",
  "contributing/",
  "no-such-page/"
]

let browser: Browser
let site: Awaited<ReturnType<typeof serve>>
beforeAll(async () => {
  browser = await launch()
  site = await serve(0)
})
afterAll(() => {
  site.close()
  return browser.close()
})

describe.each(Object.entries(widths))("on a %s", (_, width) => {
  it("no page is wider than the screen, and no tag on one is unknown", () =>
    withTab(browser, { width }, async (tab) => {
      const wrong: Array<string> = []
      for (const page of pages) {
        await tab.goto(`${site.address}${page}`, { waitUntil: "domcontentloaded" })
        const wide = await tab.evaluate<number>(
          "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        const unknown = await tab.evaluate<ReadonlyArray<string>>(
          "[...document.querySelectorAll('main *')].filter((e) => e instanceof HTMLUnknownElement).map((e) => e.localName)"
        )
        if (wide > 0) wrong.push(`${page} is ${wide} pixels too wide`)
        if (unknown.length > 0) wrong.push(`${page} has ${unknown.join(", ")}`)
      }
      assert.isAbove(pages.length, 50)
      assert.deepStrictEqual(wrong, [])
    }))

  it.each(themes)(
    "axe finds nothing, %s",
    (theme) =>
      withTab(browser, { width, theme }, async (tab) => {
        for (const page of kinds) {
          await tab.goto(`${site.address}${page}`)
          assert.deepStrictEqual(await violationsIn(tab), [], page)
        }
        await search(tab, "restart")
        assert.deepStrictEqual(await violationsIn(tab), [], "search")
      })
  )
})

describe("search", () => {
  it.each([
    ["backup", "guides/what-is-kept-from-whom/"],
    ["setNeedsApproval", "reference/ai/tool/"]
  ])("finds %s", (word, place) =>
    withTab(browser, { width: widths.desk }, async (tab) => {
      await tab.goto(site.address)
      const found = await search(tab, word)
      assert.isTrue(found.some((href) => href.includes(`/${place}`)), found.join(" "))
    }))
})

describe("with keys alone", () => {
  const focused = (tab: Tab) =>
    tab.evaluate<{ readonly text: string; readonly outlined: boolean; readonly inView: boolean }>(`(() => {
      const element = document.activeElement
      const { bottom, top } = element.getBoundingClientRect()
      return {
        text: element.textContent.trim(),
        outlined: getComputedStyle(element).outlineStyle !== "none",
        inView: bottom > 0 && top < innerHeight
      }
    })()`)

  it("the first key skips what stands before the text", () =>
    withTab(browser, { width: widths.desk }, async (tab) => {
      await tab.goto(`${site.address}guides/the-laws/`)
      await tab.keyboard.press("Tab")
      assert.deepStrictEqual(await focused(tab), { text: "Skip to content", outlined: true, inView: true })
      await tab.keyboard.press("Enter")
      await tab.keyboard.press("Tab")
      assert.deepStrictEqual(await focused(tab), { text: "L1", outlined: true, inView: true })
    }))

  it("whatever is focused is seen", () =>
    withTab(browser, { width: widths.desk }, async (tab) => {
      await tab.goto(`${site.address}reference/ai/tool/`)
      const seen = new Set<string>()
      for (;;) {
        await tab.keyboard.press("Tab")
        if (await tab.evaluate("document.activeElement === document.body")) break
        const { inView, outlined, text } = await focused(tab)
        assert.isTrue(inView && outlined, text)
        seen.add(text)
      }
      assert.isAbove(seen.size, 80)
    }))

  it("the page that is read is in view in the sidebar", () =>
    withTab(browser, { width: widths.desk }, async (tab) => {
      await tab.goto(`${site.address}reference/web/uimessagestream/`)
      const place = await tab.locator("#starlight__sidebar [aria-current=page]").boundingBox()
      assert.isTrue(place !== null && place.y > 0 && place.y < 844, JSON.stringify(place))
    }))
})
