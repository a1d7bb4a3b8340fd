/**
 * Windows of a browser, each of one person, that tests use one after the other: to begin a process for a page, and to read
 * its programs anew, takes longer than most of what is tested.
 */
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  ConsoleMessage,
  Dialog,
  Page,
  Request
} from "playwright-core"

export interface Window {
  readonly context: BrowserContext
  readonly page: Page
}

export interface Windows {
  /** One that nobody else uses now, and in which nobody else than this person was. */
  readonly take: (person: string) => Promise<Window>
  /** It may be used again: all that was done in it came to its end. */
  readonly giveBack: (person: string, window: Window) => void
  /** One that nobody uses afterwards. */
  readonly open: (options?: BrowserContextOptions) => Promise<BrowserContext>
}

/** A machine that does much else is slow, and nothing is wrong with the page. */
const patience = 20_000

export const make = (browser: () => Browser): Windows => {
  const free = new Map<string, Array<Window>>()

  const open: Windows["open"] = (options = {}) =>
    browser().newContext({ reducedMotion: "reduce", viewport: { width: 800, height: 600 }, ...options })

  return {
    open,
    take: async (person) => {
      const used = free.get(person)?.pop()
      if (used !== undefined) return used
      const context = await open()
      await context.addCookies([{ name: "person", value: encodeURIComponent(person), url: "http://127.0.0.1" }])
      return { context, page: await newPage(context) }
    },
    giveBack: (person, window) => void free.set(person, [...free.get(person) ?? [], window])
  }
}

export const newPage = async (context: BrowserContext): Promise<Page> => {
  const page = await context.newPage()
  page.setDefaultTimeout(patience)
  await page.addInitScript(() => {
    document.addEventListener(
      "securitypolicyviolation",
      ({ blockedURI, violatedDirective }) => console.error(`violates ${violatedDirective}: ${blockedURI}`)
    )
  })
  return page
}

/** What is heard of a page until it is left. */
export interface Listener {
  readonly request: (request: Request) => void
  readonly end: (request: Request) => void
  /** Errors, warnings and violations of the page's own rules. */
  readonly fault: (fault: string) => void
}

export const listen = (page: Page, { end, fault, request }: Listener): () => void => {
  const onConsole = (message: ConsoleMessage) => {
    if (message.type() === "error" || message.type() === "warning") fault(`${message.type()}: ${message.text()}`)
  }
  const onError = (error: Error) => fault(`pageerror: ${error.message}`)
  const onDialog = (dialog: Dialog) => {
    fault(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  }
  page.on("request", request).on("requestfinished", end).on("requestfailed", end)
  page.on("console", onConsole).on("pageerror", onError).on("dialog", onDialog)
  return () => {
    page.off("request", request).off("requestfinished", end).off("requestfailed", end)
    page.off("console", onConsole).off("pageerror", onError).off("dialog", onDialog)
  }
}
