/** The built site in a browser: on a phone and on a desk, in light and dark, with the eyes of axe, and its search. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { violationsIn } from "../../../scratchpad/web/test/accessible.ts"
import { launch } from "../../../scratchpad/web/test/browser.ts"
import * as Links from "../build/links.ts"
import { serve } from "./served.ts"

const pages = Links.files().filter((file) => file.endsWith("index.html")).map((file) =>
  file.replace(/index\.html$/, "")
)

/** One of each kind. */
const kinds = ["", "guides/the-laws/", "guides/troubleshooting/", "packages/ai/", "reference/ai/tool/", "contributing/"]

const widths = [["a phone", 390], ["a desk", 1280]] as const

type Browser = Awaited<ReturnType<typeof launch>>
type Tab = Awaited<ReturnType<Browser["newPage"]>>

let browser: Browser
let address: string
beforeAll(async () => {
  browser = await launch()
  address = await serve(0)
})
afterAll(() => browser.close())

const withTab = async (
  options: { readonly width: number; readonly colorScheme?: "light" | "dark" },
  use: (tab: Tab) => Promise<void>
) => {
  const { width, ...scheme } = options
  const context = await browser.newContext({ viewport: { width, height: 844 }, ...scheme })
  try {
    await use(await context.newPage())
  } finally {
    await context.close()
  }
}

describe.each(widths)("on %s", (_, width) => {
  it("no page is wider than the screen, and no tag on one is unknown", () =>
    withTab({ width }, async (tab) => {
      const wrong: Array<string> = []
      for (const page of pages) {
        await tab.goto(`${address}${page}`, { waitUntil: "domcontentloaded" })
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

  it.each(["light", "dark"] as const)(
    "axe finds nothing, %s",
    (colorScheme) =>
      withTab({ width, colorScheme }, async (tab) => {
        for (const page of kinds) {
          await tab.goto(`${address}${page}`)
          assert.deepStrictEqual(await violationsIn(tab), [], page)
        }
      })
  )
})

describe("search", () => {
  it.each([
    ["backup", "guides/what-is-kept-from-whom/"],
    ["setNeedsApproval", "reference/ai/tool/"]
  ])("finds %s", (word, place) =>
    withTab({ width: 1280 }, async (tab) => {
      await tab.goto(address)
      await tab.locator("button[data-open-modal]").click()
      await tab.locator("dialog input").fill(word)
      await tab.locator(".pagefind-ui__result-link").first().waitFor()
      const found = await tab.locator(".pagefind-ui__result-link").evaluateAll((links) =>
        links.map((link) => link.getAttribute("href") ?? "")
      )
      assert.isTrue(found.some((href) => href.includes(`/${place}`)), found.join(" "))
    }))
})
