/** `npm run web` itself: its own agent, tools and login, as a process over a folder of its own. */
import * as ChildProcess from "node:child_process"
import { once } from "node:events"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as Readline from "node:readline"
import { compiled } from "./build.ts"

export interface Program {
  readonly url: string
  /** What its tools did, in their order. */
  readonly ran: () => ReadonlyArray<{ readonly tool: string; readonly params: Readonly<Record<string, unknown>> }>
  readonly close: () => Promise<void>
}

const main = Path.join(import.meta.dirname, "../main.ts")

export const start = async (): Promise<Program> => {
  const data = Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-web-"))
  const child = ChildProcess.spawn(
    process.execPath,
    ["--conditions=@assent/source", main, "--port", "0", "--data", data, "--pace", "0", "--step", "2000"],
    {
      stdio: ["ignore", "pipe", "inherit"],
      // It is made of its sources; what Node makes of these takes a second, and is kept.
      env: { ...process.env, NODE_COMPILE_CACHE: compiled }
    }
  )
  const ended = once(child, "exit")
  process.once("exit", () => child.kill())
  const url = await new Promise<string>((resolve, reject) => {
    void ended.then(([code]) => reject(new Error(`It ended with ${code}.`)))
    Readline.createInterface({ input: child.stdout }).on("line", (line) => {
      const [address] = /http:\S+(?=\/$)/.exec(line) ?? []
      if (address !== undefined) resolve(address)
    })
  })
  return {
    url,
    ran: () => {
      const file = Path.join(data, "ran.log")
      const lines = Fs.existsSync(file) ? Fs.readFileSync(file, "utf8").trim().split("\n") : []
      return lines.map((line) => JSON.parse(line))
    },
    close: async () => {
      child.kill("SIGTERM")
      await ended
      Fs.rmSync(data, { recursive: true })
    }
  }
}
