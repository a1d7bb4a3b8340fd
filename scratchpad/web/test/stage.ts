/** The server of a test, in this process or in one of its own that can be killed, and what its tools say. */
import * as ChildProcess from "node:child_process"
import { once } from "node:events"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { importStart, program } from "./build.ts"
import type { Options } from "./server/server.ts"
import { Said, type World } from "./server/world.ts"

export interface Stage {
  readonly url: string
  /** The conversation that is played on it. */
  readonly chat: string
  /** What tools have begun and run, in their order, over all processes. */
  readonly said: Said
  /** Lets what waits for it go on. */
  readonly release: (gate: string) => void
  readonly close: () => Promise<void>
}

export interface Killable extends Stage {
  /** `kill -9`, with what is running and every connection. */
  readonly kill: () => Promise<void>
  /** Another process, at the same address and with the same file. */
  readonly start: () => Promise<void>
}

/** Of conversations that pages begin. */
const unseen: World = { tell: () => {}, wait: () => Promise.resolve() }

/** A server in this process, on which each stage is a conversation of its own. */
export interface Server {
  readonly stage: () => Stage
  readonly close: () => Promise<void>
}

export const inProcess = async (folder: string): Promise<Server> => {
  const worlds = new Map<string, World>()
  const { start } = await importStart()
  const { close, port } = await start((chat) => worlds.get(chat) ?? unseen, { folder, port: 0, filename: ":memory:" })
  return {
    close,
    stage: () => {
      const chat = `chat-${worlds.size + 1}`
      const said = new Said()
      const released = new Said()
      worlds.set(chat, { tell: said.add, wait: released.until })
      return { url: `http://127.0.0.1:${port}`, chat, said, release: released.add, close: async () => {} }
    }
  }
}

export const asProcess = async (folder: string): Promise<Killable> => {
  const said = new Said()
  const directory = NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "assent-browser-"))
  let child: ChildProcess.ChildProcess | undefined
  let port = 0

  const start = async () => {
    const options: Options = { folder, port, filename: NodePath.join(directory, "chat.db"), heartbeat: 250 }
    child = ChildProcess.fork(program, [JSON.stringify(options)], {
      stdio: ["ignore", "inherit", "inherit", "ipc"]
    })
    port = await new Promise<number>((resolve, reject) => {
      child!.on("message", (message: { readonly port?: number; readonly event?: string }) => {
        if (message.port !== undefined) resolve(message.port)
        if (message.event !== undefined) said.add(message.event)
      })
      child!.once("exit", (code) => reject(new Error(`The server ended with ${code}.`)))
    })
  }

  const kill = async () => {
    const dying = child!
    if (dying.exitCode !== null || dying.signalCode !== null) return
    const ended = once(dying, "exit")
    dying.kill("SIGKILL")
    await ended
  }

  await start()
  return {
    url: `http://127.0.0.1:${port}`,
    chat: "chat-1",
    said,
    release: (gate) => void child!.send(gate),
    kill,
    start,
    close: async () => {
      await kill()
      NodeFs.rmSync(directory, { recursive: true })
    }
  }
}
