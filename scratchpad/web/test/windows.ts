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
  /** Whose browser has no other window. */
  readonly isAlone: boolean
}

export interface Windows {
  /**
   * One that nobody else uses now, in a browser in which nobody else than this person was. Its other windows notice what is
   * done to the whole of it, as to its network or its cookies, where it does not stand alone.
   */
  readonly take: (person: string, isAlone: boolean) => Promise<Window>
  /** It may be used again: all that was done in it came to its end. */
  readonly giveBack: (person: string, window: Window) => Promise<void>
  readonly close: (window: Window) => Promise<void>
  /** One that nobody uses afterwards. */
  readonly open: (options?: BrowserContextOptions) => Promise<BrowserContext>
}

/** A machine that does much else is slow, and nothing is wrong with the page. */
const patience = 20_000

export const make = (browser: () => Browser): Windows => {
  const free = new Map<string, Array<Window>>()
  const contexts = new Map<string, Promise<BrowserContext>>()

  const open: Windows["open"] = (options = {}) =>
    browser().newContext({ reducedMotion: "reduce", viewport: { width: 800, height: 600 }, ...options })

  const openFor = async (person: string): Promise<BrowserContext> => {
    const context = await open()
    await context.addCookies([{ name: "person", value: encodeURIComponent(person), url: "http://127.0.0.1" }])
    return context
  }

  const contextOf = (person: string): Promise<BrowserContext> => {
    const context = contexts.get(person) ?? openFor(person)
    contexts.set(person, context)
    return context
  }

  const close: Windows["close"] = ({ context, isAlone, page }) => isAlone ? context.close() : page.close()

  return {
    open,
    close,
    take: async (person, isAlone) => {
      const used = isAlone ? undefined : free.get(person)?.pop()
      if (used !== undefined) return used
      const context = await (isAlone ? openFor(person) : contextOf(person))
      return { context, page: await newPage(context), isAlone }
    },
    giveBack: async (person, window) => {
      if (window.isAlone) return close(window)
      free.set(person, [...free.get(person) ?? [], window])
    }
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
