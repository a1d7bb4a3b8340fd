/** docs/approvals-later.md and docs/tools-that-wait.md show these programs, and what their processes print. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ChildProcess from "node:child_process"
import { once } from "node:events"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { makeFilename } from "../database.ts"

const read = (page: string) => Fs.readFileSync(Path.join(import.meta.dirname, `../../../../docs/${page}.md`), "utf8")

const shows = (page: string, program: string) => {
  const file = Path.join(import.meta.dirname, program)
  assert.include(read(page), `\`\`\`ts\n${Fs.readFileSync(file, "utf8")}\`\`\``)
}

const run = (folder: string, program: string, args: ReadonlyArray<string>) =>
  Effect.promise(() =>
    new Promise<string>((resolve, reject) => {
      ChildProcess.execFile(
        process.execPath,
        ["--conditions=@assent/source", Path.join(import.meta.dirname, program), ...args],
        { cwd: folder, env: { ...process.env, ASSENT_APPROVAL_KEY: undefined, NO_COLOR: "1" }, timeout: 25_000 },
        (error, stdout, stderr) => error === null ? resolve(stdout) : reject(new Error(`${stdout}\n${stderr}`))
      )
    })
  )

/** The sessions of a page: each command, and what stands below it. */
const sessionsOf = (page: string) => read(page).match(/(?<=^```text\n)\$ [^]*?(?=^```$)/gm) ?? []

/** The words of a command line; one with spaces stands in quotes. */
const wordsOf = (line: string) => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word = ""]) => quoted ?? word)

describe.concurrent("docs/approvals-later.md", () => {
  it("shows the program that is run here", () => shows("approvals-later", "refunds.ts"))

  it.effect("each process of it prints what the page says", () =>
    Effect.gen(function*() {
      const folder = Path.dirname(yield* makeFilename)
      const [session = ""] = sessionsOf("approvals-later")
      const commands = session.match(/(?<=^\$ node refunds\.ts ).*$/gm) ?? []
      assert.isAtLeast(commands.length, 8)
      const printed: Array<string> = []
      for (const command of commands) {
        printed.push(`$ node refunds.ts ${command}\n${yield* run(folder, "refunds.ts", wordsOf(command))}`)
      }
      assert.strictEqual(printed.join(""), session)
      assert.deepStrictEqual(Fs.readdirSync(folder), ["approvals.db"])
    }), 120_000)
})

describe.concurrent("docs/tools-that-wait.md", () => {
  it("shows the program that is run here", () => shows("tools-that-wait", "shop.ts"))

  it.effect(
    "each process of it prints what the page says, and the server what comes by itself",
    () =>
      Effect.gen(function*() {
        const folder = Path.dirname(yield* makeFilename)
        const [talk = "", served = ""] = sessionsOf("tools-that-wait")
        const addresses: Array<string> = []
        const printed: Array<string> = []
        for (const command of talk.match(/(?<=^\$ node shop\.ts ).*$/gm) ?? []) {
          const output = yield* run(folder, "shop.ts", wordsOf(command))
          const shown = output.replace(/(?<=payments\/)[\w-]{43}/, (token) => {
            addresses.push(token)
            return "…"
          })
          printed.push(`$ node shop.ts ${command}\n${shown}`)
        }
        assert.strictEqual(printed.join(""), talk)
        assert.lengthOf(addresses, 2)
        const server = yield* serving(folder)
        const call = () =>
          Effect.promise(() =>
            fetch(`${server.url}/payments/${addresses[0]}`, {
              method: "POST",
              headers: { "content-type": "application/json" },
              body: JSON.stringify({ reference: "P-17" })
            }).then(async (response) => `${response.status} ${await response.text()}`)
          )
        assert.strictEqual(yield* call(), `202 {"accepted":true}`)
        assert.match(yield* call(), /^4/)
        const lines = served.split("\n").filter((line) => /^\d: /.test(line)).toSorted()
        assert.lengthOf(lines, 2)
        yield* Effect.promise(() => server.until((output) => lines.every((line) => output.includes(line))))
        assert.deepStrictEqual(server.printed().match(/^\d: .*$/gm)?.toSorted(), lines)
      }),
    120_000
  )
})

/** `node shop.ts serve`, until the test ends. */
const serving = (folder: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const child = ChildProcess.spawn(
        process.execPath,
        ["--conditions=@assent/source", Path.join(import.meta.dirname, "shop.ts"), "serve"],
        { cwd: folder, env: { ...process.env, ASSENT_APPROVAL_KEY: undefined, NO_COLOR: "1", PORT: "0" } }
      )
      let output = ""
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => output += text)
      const until = (holds: (output: string) => boolean) =>
        new Promise<void>((resolve, reject) => {
          const look = () => holds(output) ? resolve() : undefined
          child.stdout.on("data", look)
          child.once("exit", () => reject(new Error(output)))
          look()
        })
      await until((output) => /Listening on \S+/.test(output))
      const [, url = ""] = /Listening on (\S+)/.exec(output) ?? []
      const ended = once(child, "exit")
      return { url, until, printed: () => output, end: () => (child.kill("SIGTERM"), ended) }
    }),
    ({ end }) => Effect.promise(end)
  )
