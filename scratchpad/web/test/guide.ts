/** docs/from-a-web-page.md: its three files as they stand there, built and run as it says, in a folder of their own. */
import * as ChildProcess from "node:child_process"
import { once } from "node:events"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { assert, describe, it } from "vitest"
import { compiled } from "./build.ts"
import * as Windows from "./windows.ts"

const here = Path.join(import.meta.dirname, "guide")

/** The server, until `end`. */
const serve = async (folder: string, port = 0) => {
  const server = ChildProcess.spawn(
    process.execPath,
    ["--conditions=@assent/source", Path.join(here, "server.ts")],
    { cwd: folder, env: { ...process.env, NO_COLOR: "1", NODE_COMPILE_CACHE: compiled, PORT: String(port) } }
  )
  let printed = ""
  const ended = once(server, "exit")
  const url = await new Promise<string>((resolve, reject) => {
    void ended.then(([code]) => reject(new Error(`The server ended with ${code}.\n${printed}`)))
    server.stderr.on("data", (text) => printed += text)
    server.stdout.on("data", (text) => {
      printed += text
      const [, address] = /Listening on (\S+)/.exec(printed) ?? []
      if (address !== undefined) resolve(address)
    })
  })
  return {
    url,
    deleted: () => printed.match(/^deleting .*$/gm) ?? [],
    end: async () => {
      server.kill("SIGTERM")
      await ended
    }
  }
}

export const describeGuide = (windows: Windows.Windows) =>
  describe("docs/from-a-web-page.md", () => {
    it("its page asks, its server is stopped and started, and each card is answered once", async () => {
      const folder = Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-guide-"))
      const { build } = await import("vite")
      await build({ configFile: false, logLevel: "error", root: here, build: { outDir: Path.join(folder, "dist") } })
      const first = await serve(folder)
      const context = await windows.open({})
      try {
        const page = await Windows.newPage(context)
        await page.goto(first.url)
        await page.getByRole("link", { name: "Log in as Ada" }).click()
        await page.getByRole("textbox", { name: "Message" }).fill("Delete debug.log and thesis.txt.")
        await page.getByRole("button", { name: "Send" }).click()
        await page.getByRole("button", { name: "Approve" }).nth(1).waitFor()
        assert.deepStrictEqual(first.deleted(), [])
        await first.end()

        const second = await serve(folder, Number(new URL(first.url).port))
        await page.reload()
        await page.getByRole("button", { name: "Approve" }).first().click()
        await page.getByRole("button", { name: "Deny" }).last().click()
        await page.getByText("It is gone. That one stays.").waitFor()
        assert.deepStrictEqual(second.deleted(), ["deleting debug.log"])
        await page.reload()
        await page.getByText("It is gone. That one stays.").waitFor()
        assert.strictEqual(await page.getByRole("button", { name: "Approve" }).count(), 0)
        await page.getByRole("textbox", { name: "Message" }).fill("Delete old.log.")
        await page.getByRole("button", { name: "Send" }).click()
        await page.getByRole("button", { name: "Approve" }).waitFor()
        await page.getByRole("textbox", { name: "Message" }).fill("Hello.")
        await page.getByRole("button", { name: "Send" }).click()
        await page.getByText("Which file shall I delete?").waitFor()
        assert.strictEqual(await page.getByRole("button", { name: "Approve" }).count(), 0)
        const shots = process.env["SCREENSHOTS"]
        if (shots !== undefined) await page.screenshot({ path: `${shots}/web-guide.png` })
        await second.end()
      } finally {
        await context.close()
        await first.end()
        Fs.rmSync(folder, { recursive: true })
      }
    })
  })
