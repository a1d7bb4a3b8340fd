/** The page of this repository as `npm run web` serves it: what only it does, and how it is to people who use no mouse. */
import * as Diagnostics from "node:diagnostics_channel"
import { once } from "node:events"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core"
import { assert, describe, it } from "vitest"
import { createPatientServer } from "../starting.ts"
import { violationsIn } from "./accessible.ts"
import { driver } from "./pageDriver.ts"
import type { Program } from "./program.ts"
import * as Tab from "./tab.ts"
import * as Windows from "./windows.ts"

const shots = process.env["SCREENSHOTS"]

const shoot = async ({ page }: { readonly page: Page }, name: string): Promise<void> => {
  if (shots !== undefined) await page.screenshot({ path: `${shots}/web-${name.replaceAll(" ", "-")}.png` })
}

interface Visit {
  readonly tab: (person?: "ada" | "grace") => Promise<Tab.Tab>
}

export const describeServed = (windows: Windows.Windows, program: () => Promise<Program>) =>
  describe.concurrent("our page as `npm run web` serves it", () => {
    let count = 0

    const logIn = async (context: BrowserContext, person: string): Promise<void> => {
      await context.request.post(`${(await program()).url}/session`, { data: { person } })
    }

    /** A conversation of its own; at its end no tab has anything to complain of. */
    const visit = async (act: (visit: Visit) => Promise<void>, isAlone = false): Promise<void> => {
      const chat = `chat-${++count}`
      const { url } = await program()
      const taken: Array<readonly [string, Windows.Window]> = []
      const tabs: Array<Tab.Tab> = []
      try {
        await act({
          tab: async (person = "ada") => {
            const name = person === "ada" ? "Ada" : "Grace"
            const window = await windows.take(name, isAlone)
            taken.push([name, window])
            await logIn(window.context, person)
            const tab = await Tab.open(driver, window.page, { url, chat })
            tabs.push(tab)
            return tab
          }
        })
        for (const tab of tabs) assert.deepStrictEqual(tab.faults(), [])
        for (const tab of tabs) tab.leave()
        for (const [person, window] of taken) await windows.giveBack(person, window)
      } catch (error) {
        await Promise.all(taken.map(([, window]) => windows.close(window)))
        throw error
      }
    }

    /** In a window of their own, in which nobody is logged in. */
    const asStranger = async (
      act: (context: BrowserContext) => Promise<void>,
      options: BrowserContextOptions = {}
    ): Promise<void> => {
      const context = await windows.open(options)
      try {
        await act(context)
      } finally {
        await context.close()
      }
    }

    const ran = async (tool: string, path?: string): Promise<number> =>
      (await program()).ran().filter((one) => one.tool === tool && (path === undefined || one.params["path"] === path))
        .length

    describe("who uses the keyboard alone", () => {
      it("logs in, says something, approves, and is at the next card each time, then at the message field", () =>
        asStranger(async (context) => {
          const page = await Windows.newPage(context)
          await page.goto(`${(await program()).url}/?chat=keyboard`)
          await page.getByRole("heading", { name: "Who are you?" }).waitFor()
          const focused = () =>
            page.evaluate(() =>
              document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? ""
            )
          const tabTo = async (name: RegExp) => {
            for (let presses = 0; presses < 30; presses++) {
              if (name.test(await focused())) return
              await page.keyboard.press("Tab")
            }
            assert.fail(`Tab does not lead to ${name}, but to ${await focused()}`)
          }
          await tabTo(/^Ada$/)
          await page.keyboard.press("Enter")
          await page.getByRole("textbox", { name: "Message" }).waitFor()
          await tabTo(/^Message$/)
          await page.keyboard.type("clean")
          await page.keyboard.press("Enter")
          const cards = page.locator("[data-state=open]")
          await page.getByRole("button", { name: /^Approve all 3/ }).waitFor()
          const names = await cards.evaluateAll((all) => all.map((card) => card.getAttribute("aria-label") ?? ""))
          assert.lengthOf(names, 3)
          for (const [index, name] of names.entries()) {
            const card = page.getByRole("group", { name, exact: true })
            await card.and(page.locator("[data-steady=true]")).waitFor()
            await tabTo(new RegExp(`^Approve: ${name.replaceAll(".", "\\.")}$`))
            await page.keyboard.press("Enter")
            await card.and(page.locator("[data-state=done]")).waitFor()
            const next = names[index + 1] ?? "Message"
            await page.waitForFunction((next) => document.activeElement?.getAttribute("aria-label") === next, next)
          }
          await shoot({ page }, "keyboard")
        }))

      it("denies with a reason by Enter, and comes back from a panel by Escape", () =>
        visit(async ({ tab }) => {
          const ada = await tab()
          await ada.say("poem")
          await ada.is("Change poem.txt", "open")
          await ada.card("Change poem.txt").and(ada.page.locator("[data-steady=true]")).waitFor()
          const button = (word: string) =>
            ada.card("Change poem.txt").getByRole("button", { name: new RegExp(`^${word}: `) })
          await button("Edit").press("Enter")
          await button("Approve as edited").waitFor()
          await ada.page.keyboard.press("Escape")
          await button("Deny").press("Enter")
          await ada.page.keyboard.type("it rhymes already")
          await ada.page.keyboard.press("Enter")
          await ada.is("Change poem.txt", "denied")
          await ada.reads("Denied by Ada: it rhymes already")
        }))
    })

    describe("axe finds nothing", () => {
      const looks: Readonly<Record<string, BrowserContextOptions>> = {
        light: { colorScheme: "light", reducedMotion: "no-preference" },
        dark: { colorScheme: "dark" },
        phone: { viewport: { width: 360, height: 720 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 }
      }

      for (const [look, options] of Object.entries(looks)) {
        it(look, () =>
          asStranger(async (context) => {
            const { url } = await program()
            const chat = `looks-${look}`
            const page = await Windows.newPage(context)
            await page.goto(`${url}/?chat=${chat}`)
            await page.getByRole("heading", { name: "Who are you?" }).waitFor()
            assert.deepStrictEqual(await violationsIn(page), [], "login")

            await page.getByRole("button", { name: "Ada" }).click()
            const ada = await Tab.open(driver, page, { url, chat })
            const check = async (what: string) => {
              await shoot(ada, `${look} ${what}`)
              assert.deepStrictEqual(await violationsIn(ada.page), [], what)
              const [scroll, inner] = await ada.page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
              assert.isAtMost(scroll!, inner!, `${what}: nothing is wider than the page`)
            }
            await check("empty")
            await ada.say("tricks")
            await ada.is("Bakery", "open")
            await ada.card("Bakery").getByRole("button", { name: /^Edit: / }).click()
            await check("editing")
            await ada.say("ask")
            await ada.is("Where shall we go", "open")
            await ada.say("script")
            await ada.is("hello.sh", "open")
            await ada.deny("hello.sh", "no shell")
            await ada.is("hello.sh", "denied")
            await ada.say("mail")
            await ada.is("nobody@example.com", "open")
            await ada.approve("nobody@example.com")
            await ada.is("nobody@example.com", "failed")
            ada.expect(/ERR_INTERNET_DISCONNECTED/)
            await ada.say("import")
            await ada.is("budget", "open")
            await ada.context.setOffline(true)
            await ada.approve("budget")
            await ada.is("budget", "unsent")
            await check("offline")
            assert.deepStrictEqual(ada.faults(), [])
          }, options))
      }
    })

    describe("a hasty hand", () => {
      it("a card takes no click at the moment when it appears", () =>
        visit(async ({ tab }) => {
          const ada = await tab()
          // Whoever was about to click something else there is faster than they can read.
          await ada.page.evaluate(() => {
            new MutationObserver((_, observer) => {
              const button = document.querySelector<HTMLElement>("[data-state=open] button")
              if (button === null) return
              observer.disconnect()
              button.click()
            }).observe(document.body, { childList: true, subtree: true })
          })
          await ada.say("poem")
          await ada.is("Change poem.txt", "open")
          await ada.card("Change poem.txt").and(ada.page.locator("[data-steady=true]")).waitFor()
          assert.lengthOf(ada.posts, 1)
          await ada.is("Change poem.txt", "open")
          await ada.deny("Change poem.txt")
          await ada.is("Change poem.txt", "denied")
        }))
    })

    describe("who may decide", () => {
      it("a card for somebody else has no buttons, and theirs counts", () =>
        visit(async ({ tab }) => {
          const ada = await tab()
          await ada.say("pay 250")
          await ada.is("250", "open")
          await ada.reads("Grace")
          assert.strictEqual(await Tab.approveIn(ada.card("250")).count(), 0)
          await shoot(ada, "for Grace")
          const grace = await tab("grace")
          await grace.approve("250")
          await grace.is("250", "done")
          await grace.reads("Approved by Grace")
          await ada.reload()
          await ada.is("250", "done")
          assert.strictEqual((await program()).ran().filter(({ params }) => params["amount"] === 250).length, 1)
        }))

      it("who was logged out meanwhile finds what they wrote when they are back", () =>
        visit(async ({ tab }) => {
          const ada = await tab()
          ada.expect(/status of 401/)
          await ada.context.clearCookies({ name: "session" })
          await ada.say("poem")
          await ada.page.getByRole("heading", { name: "Who are you?" }).waitFor()
          await ada.page.getByRole("button", { name: "Grace" }).click()
          await ada.page.getByText("Try it").waitFor()
          await ada.page.getByRole("button", { name: "Change person" }).click()
          await ada.page.getByRole("button", { name: "Ada" }).click()
          await ada.reads("Not sent. The page was left before.")
          await ada.tryAgain()
          await ada.is("Change poem.txt", "open")
          assert.lengthOf(ada.posts, 2)
        }, true))

      it("who is logged in nowhere sees nothing and decides nothing", async () => {
        const { url } = await program()
        const anonymous = await fetch(`${url}/api/chat/chat-1`)
        assert.strictEqual(anonymous.status, 401)
        const forged = await fetch(`${url}/api/chat/chat-1`, { headers: { cookie: "session=ada.forged" } })
        assert.strictEqual(forged.status, 401)
      })
    })

    it("answers what was asked of it before its routes were there", async () => {
      const server = createPatientServer()
      await once(server.listen(0, "127.0.0.1"), "listening")
      const begun = new Promise<void>((resolve) =>
        Diagnostics.subscribe("http.server.request.start", (message) => {
          if ((message as { readonly server: Server }).server === server) resolve()
        })
      )
      const { port } = server.address() as AddressInfo
      const asked = fetch(`http://127.0.0.1:${port}`)
      await begun
      server.on("request", (_, response) => response.end("Here I am."))
      assert.strictEqual(await (await asked).text(), "Here I am.")
      assert.strictEqual(await (await fetch(`http://127.0.0.1:${port}`)).text(), "Here I am.")
      server.close()
    })

    describe("the policy", () => {
      it("lets no text become markup or a program, whoever tries", () =>
        visit(async ({ tab }) => {
          const ada = await tab()
          ada.expect(/TrustedHTML|trusted-types|TrustedScript|script-src|Content Security Policy/)
          const tried = await ada.page.evaluate(() => {
            const outcomes: Array<string> = []
            try {
              document.body.insertAdjacentHTML("beforeend", "<b>bold</b>")
              outcomes.push("markup")
            } catch {
              outcomes.push("no markup")
            }
            const script = document.createElement("script")
            try {
              script.textContent = "globalThis.hacked = 1"
              document.body.append(script)
            } catch {
              // Refused before it was there at all.
            }
            outcomes.push("hacked" in globalThis ? "a program" : "no program")
            return outcomes
          })
          assert.deepStrictEqual(tried, ["no markup", "no program"])
        }))

      it("is that of the tests here", async () => {
        const { headers } = await fetch(`${(await program()).url}/`)
        const policy = headers.get("content-security-policy") ?? ""
        for (const rule of ["default-src 'none'", "script-src 'self'", "require-trusted-types-for 'script'"]) {
          assert.include(policy, rule)
        }
        assert.notMatch(policy, /unsafe|\*|https?:/)
      })
    })

    describe("at one stroke", () => {
      it("stops an answer that is being given", () =>
        visit(async ({ tab }) => {
          const ada = await tab()
          await ada.say("slow")
          await ada.is("BackUp", "running")
          await ada.page.getByRole("button", { name: "Stop" }).click()
          await ada.page.getByRole("button", { name: "Send", exact: true }).waitFor()
          await ada.reload()
          await ada.is("BackUp", "failed", "unknown", "void")
          await shoot(ada, "stopped")
        }))

      it("approves for the session what is not asked again then", () =>
        visit(async ({ tab }) => {
          const ada = await tab()
          await ada.say("script")
          await ada.is("hello.sh", "open")
          await ada.card("hello.sh").getByRole("button", { name: /^For this session: / }).click()
          await shoot(ada, "for this session")
          await ada.card("hello.sh").getByRole("button", { name: /^Approve for this session: / }).click()
          await ada.is("hello.sh", "done")
          await ada.say("script")
          await ada.page.locator("[data-state=done]").nth(1).waitFor()
          assert.strictEqual(await ran("WriteFile", "hello.sh"), 2)
        }))
    })
  })
