/**
 * docs/from-a-web-page.md: its files stand there as they are, and its server, a process of its own, does over HTTP what the
 * page says. `npm run test:browser` builds the page and clicks in it.
 */
import { assert, describe, it } from "@effect/vitest"
import * as ChildProcess from "node:child_process"
import { once } from "node:events"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { card, cards, open, type Server, texts } from "../server.ts"

const root = Path.join(import.meta.dirname, "../../../..")
const files = Path.join(root, "scratchpad/web/test/guide")
const page = Fs.readFileSync(Path.join(root, "docs/from-a-web-page.md"), "utf8")

const start = async (cwd: string) => {
  const child = ChildProcess.spawn(
    process.execPath,
    ["--conditions=@assent/source", Path.join(files, "server.ts")],
    { cwd, env: { ...process.env, ASSENT_APPROVAL_KEY: undefined, NO_COLOR: "1", PORT: "0" } }
  )
  const ended = once(child, "exit")
  let printed = ""
  const url = await new Promise<string>((resolve, reject) => {
    void ended.then(([code]) => reject(new Error(`The server ended with ${code}.\n${printed}`)))
    child.stderr.on("data", (text) => printed += text)
    child.stdout.on("data", (text) => {
      printed += text
      const [, address] = /Listening on (\S+)/.exec(printed) ?? []
      if (address !== undefined) resolve(address)
    })
  })
  const { headers } = await fetch(`${url}/login`, { redirect: "manual" })
  const cookie = headers.get("set-cookie")!.split(";")[0]!
  const server: Server = {
    handler: async (request) => {
      const { pathname } = new URL(request.url)
      const body = request.method === "POST" ? { body: await request.text() } : undefined
      return fetch(url + pathname, { method: request.method, headers: { ...typed, cookie }, ...body })
    },
    dispose: async () => {
      child.kill("SIGTERM")
      await ended
    },
    get deleted() {
      return printed.match(/(?<=^deleting ).*$/gm) ?? []
    }
  }
  return { url, server }
}

const typed = { "content-type": "application/json" }

describe("docs/from-a-web-page.md", () => {
  it("shows the three files that are run", () => {
    for (const [file, language] of [["server.ts", "ts"], ["page.tsx", "tsx"], ["index.html", "html"]] as const) {
      assert.include(page, `\`\`\`${language}\n${Fs.readFileSync(Path.join(files, file), "utf8")}\`\`\``, file)
    }
  })

  it("its server asks, outlives a restart, and runs what was approved", async () => {
    const folder = Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-guide-"))
    const first = await start(folder)
    const stranger = await fetch(`${first.url}/api/chat/chat-1`)
    assert.deepStrictEqual([stranger.status, await stranger.text()], [401, "Please log in."])
    const before = open(first.server, { id: "chat-1" })
    await before.chat.sendMessage({ text: "Delete debug.log and thesis.txt." })
    assert.deepStrictEqual(cards(before).map(({ state }) => state), ["approval-requested", "approval-requested"])
    assert.deepStrictEqual(first.server.deleted, [])
    await first.server.dispose()

    const { server } = await start(folder)
    const kept = await (await server.handler(new Request("http://localhost/api/chat/chat-1"))).json()
    const after = open(server, { id: "chat-1", messages: kept })
    await after.chat.addToolApprovalResponse({ id: card(after, "debug.log").approval.id, approved: true })
    await after.chat.addToolApprovalResponse({ id: card(after, "thesis.txt").approval.id, approved: false })
    await after.settled()
    assert.deepStrictEqual(server.deleted, ["debug.log"])
    assert.strictEqual(texts(after).at(-1), "It is gone. That one stays. ")
    await server.dispose()
    Fs.rmSync(folder, { recursive: true })
  }, 60_000)
})
