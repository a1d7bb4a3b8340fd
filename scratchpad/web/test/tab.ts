/** One tab of a browser, as a person uses it: by what it reads aloud. What goes wrong in it is kept. */
import type { BrowserContext, Locator, Page, Request } from "playwright-core"
import * as Windows from "./windows.ts"

/** How two pages differ for who uses them. */
export interface Driver {
  readonly name: string
  /** Waits until a conversation is there. */
  readonly isLoaded: (page: Page, chat: string) => Promise<void>
  readonly edit: (card: Locator, fields: Fields) => Promise<void>
  readonly deny: (card: Locator, why: string | undefined) => Promise<void>
  readonly answer: (card: Locator, fields: Fields) => Promise<void>
  /** Shows what a card that is over says. */
  readonly unfold: (card: Locator) => Promise<void>
  /** What is pressed after a post that failed. */
  readonly tryAgain: (page: Page) => Promise<void>
}

export type Fields = Readonly<Record<string, string | boolean>>

export type State =
  | "open"
  | "answered"
  | "running"
  | "done"
  | "failed"
  | "denied"
  | "unknown"
  | "unsent"
  | "sending"
  | "void"

export interface Tab {
  readonly page: Page
  readonly context: BrowserContext
  /** What was posted to the conversation. */
  readonly posts: ReadonlyArray<string>
  /** What somebody did that may post once each. */
  readonly acts: () => number
  /** Errors, warnings and violations of the page's own rules. */
  readonly faults: () => ReadonlyArray<string>
  /** What may go wrong from here on: a network that is gone is told to the console. */
  readonly expect: (fault: RegExp) => void
  readonly card: (words: string) => Locator
  readonly is: (words: string, ...states: ReadonlyArray<State>) => Promise<void>
  readonly reads: (text: string) => Promise<void>
  readonly say: (text: string) => Promise<void>
  /** The same without a mouse, key by key: whatever the page is ready for. */
  readonly type: (text: string) => Promise<void>
  readonly approve: (words: string) => Promise<void>
  /** A double click. */
  readonly approveTwice: (words: string) => Promise<void>
  /** What somebody does who has not seen yet that it was decided: their page may have seen it. */
  readonly approveIfOpen: (words: string) => Promise<void>
  readonly deny: (words: string, why?: string) => Promise<void>
  readonly edit: (words: string, fields: Fields) => Promise<void>
  readonly answer: (words: string, fields: Fields) => Promise<void>
  readonly unfold: (words: string) => Promise<void>
  /** Waits until the page has seen that a post failed, and offers to try again. */
  readonly failsToPost: () => Promise<void>
  readonly tryAgain: () => Promise<void>
  readonly tryAgainTwice: () => Promise<void>
  /** Only our page has a button for that. */
  readonly stop: () => Promise<void>
  readonly reload: () => Promise<void>
  /** Waits until every response to a post has come to its end: what was said in it is kept then. */
  readonly rests: () => Promise<void>
  /** The cards as they stand: what they are called, and their states. */
  readonly cards: () => Promise<ReadonlyArray<string>>
  readonly messages: () => Promise<ReadonlyArray<string>>
  /** Nothing more is heard of it. */
  readonly leave: () => void
}

export const approveIn = (card: Locator): Locator => card.getByRole("button", { name: /^Approve: / })

export const open = async (
  driver: Driver,
  page: Page,
  { chat, url }: { readonly url: string; readonly chat: string }
): Promise<Tab> => {
  const posts: Array<string> = []
  const faults: Array<string> = []
  const expected: Array<RegExp> = []
  let acts = 0
  const inFlight = new Set<Request>()
  let resting: ReadonlyArray<() => void> = []
  const end = (request: Request) => {
    inFlight.delete(request)
    if (inFlight.size > 0) return
    for (const rest of resting) rest()
    resting = []
  }
  const leave = Windows.listen(page, {
    request: (request) => {
      if (request.method() !== "POST") return
      inFlight.add(request)
      if (new URL(request.url()).pathname === "/api/chat") posts.push(request.postData() ?? "")
    },
    end,
    fault: (fault) => faults.push(fault)
  })

  const card = (words: string) => page.getByRole("group", { name: words })

  // What is on the page says more than which locator was waited for.
  const telling = async <A>(what: string, promise: Promise<A>): Promise<A> => {
    try {
      return await promise
    } catch (error) {
      const text = await page.locator("body").innerText({ timeout: 1_000 }).catch(() => "(nothing)")
      const shown = await cards().catch(() => [])
      throw new Error(
        `${what}\n${String(error).split("\n")[0]}\ncards: ${shown.join(", ")}\nfaults: ${faults.join("; ")}\n${text}`,
        {
          cause: error
        }
      )
    }
  }

  const cards = () =>
    page.getByRole("group").evaluateAll((all) =>
      all.flatMap((one) =>
        one.dataset["state"] === undefined ? [] : [`${one.getAttribute("aria-label")} ${one.dataset["state"]}`]
      )
    )

  const act = (what: string, doing: () => Promise<void>) => {
    acts++
    return telling(what, doing())
  }

  const goTo = async () => {
    // A page that is there goes from one conversation to the other by itself, as it does for who goes back.
    if (page.url().startsWith(`${url}/?`)) {
      await page.evaluate((chat) => {
        history.pushState(null, "", `?chat=${chat}`)
        dispatchEvent(new PopStateEvent("popstate"))
      }, chat)
    } else await page.goto(`${url}/?chat=${chat}`)
    await driver.isLoaded(page, chat)
  }

  await telling("open", goTo())
  return {
    page,
    context: page.context(),
    posts,
    acts: () => acts,
    faults: () => faults.filter((fault) => !expected.some((one) => one.test(fault))),
    expect: (fault) => void expected.push(fault),
    card,
    is: (words, ...states) =>
      telling(
        `"${words}" is ${states.join(" or ")}`,
        card(words).and(page.locator(states.map((state) => `[data-state="${state}"]`).join(","))).waitFor()
      ),
    reads: (text) => telling(`reads "${text}"`, page.getByText(text).last().waitFor()),
    say: (text) =>
      act(`say "${text}"`, async () => {
        await page.getByRole("textbox", { name: "Message" }).fill(text)
        await page.getByRole("button", { name: "Send", exact: true }).click()
      }),
    type: (text) =>
      act(`type "${text}"`, async () => {
        await page.getByRole("textbox", { name: "Message" }).pressSequentially(text)
        await page.keyboard.press("Enter")
      }),
    approve: (words) => act(`approve "${words}"`, () => approveIn(card(words)).click()),
    approveTwice: (words) => act(`approve "${words}" twice`, () => approveIn(card(words)).dblclick()),
    approveIfOpen: (words) =>
      act(`approve "${words}"`, async () => {
        if (await approveIn(card(words)).count() > 0) await approveIn(card(words)).click()
      }),
    deny: (words, why) => act(`deny "${words}"`, () => driver.deny(card(words), why)),
    edit: (words, fields) => act(`edit "${words}"`, () => driver.edit(card(words), fields)),
    answer: (words, fields) => act(`answer "${words}"`, () => driver.answer(card(words), fields)),
    unfold: (words) => telling(`unfold "${words}"`, driver.unfold(card(words))),
    failsToPost: () => telling("fails to post", page.getByRole("button", { name: /^Try again/ }).first().waitFor()),
    tryAgain: () => act("try again", () => driver.tryAgain(page)),
    tryAgainTwice: () => act("try again twice", () => page.getByRole("button", { name: /^Try again/ }).dblclick()),
    stop: () => telling("stop", page.getByRole("button", { name: "Stop", exact: true }).click()),
    reload: async () => {
      await page.reload()
      await driver.isLoaded(page, chat)
    },
    rests: () => inFlight.size === 0 ? Promise.resolve() : new Promise((resolve) => resting = [...resting, resolve]),
    cards,
    leave,
    messages: () => page.locator("[data-role]").allInnerTexts()
  }
}

export const fill = async (within: Locator, fields: Fields): Promise<void> => {
  for (const [name, value] of Object.entries(fields)) {
    const field = within.getByLabel(name, { exact: true })
    if (typeof value === "boolean") await field.setChecked(value)
    else await field.fill(value)
  }
}
