/** A PostgreSQL server for tests: in a folder of its own, which is removed when it is stopped. */
import * as ChildProcess from "node:child_process"
import { once } from "node:events"
import * as Fs from "node:fs"
import * as Net from "node:net"
import * as Os from "node:os"
import * as Path from "node:path"
import { setTimeout } from "node:timers/promises"

export interface Options {
  /** The folder of its programs. */
  readonly bin: string
  /** Whether what is committed is on the disk; otherwise it is in memory, where no test cuts the power. */
  readonly isDurable?: boolean | undefined
  readonly settings?: Readonly<Record<string, string>> | undefined
  /** By which command it is started, such as one of a network namespace, which root may give. */
  readonly by?: ReadonlyArray<string> | undefined
  /** Whom else it trusts, beside this machine. */
  readonly trusts?: string | undefined
}

export interface Server {
  readonly port: number
  readonly url: string
  /** The folder of its socket, which can be reached whatever the network is. */
  readonly socket: string
  /** `kill -9`, of all that it consists of. */
  readonly kill: () => Promise<void>
  readonly start: () => Promise<void>
  /** For good. */
  readonly stop: () => Promise<void>
}

/** It does not run as root. */
const user: { readonly uid?: number; readonly gid?: number } = process.getuid?.() === 0
  ? { uid: 65_534, gid: 65_534 }
  : {}

const freePort = async (): Promise<number> => {
  const server = Net.createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  return typeof address === "object" && address !== null ? address.port : 0
}

export const urlOf = (port: number): string => `postgres://postgres@127.0.0.1:${port}/postgres`

export const start = async ({ bin, by = [], isDurable = false, settings = {}, trusts }: Options): Promise<Server> => {
  const inMemory = !isDurable && Fs.existsSync("/dev/shm") ? "/dev/shm" : Os.tmpdir()
  const folder = Fs.mkdtempSync(Path.join(inMemory, "assent-postgres-"))
  if (user.uid !== undefined && user.gid !== undefined) Fs.chownSync(folder, user.uid, user.gid)
  const data = Path.join(folder, "data")
  const run = (program: string, args: ReadonlyArray<string>) =>
    ChildProcess.spawn(Path.join(bin, program), args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"], ...user })
  const runBy = ([command = "", ...rest]: ReadonlyArray<string>, args: ReadonlyArray<string>) => {
    const drop = user.uid === undefined
      ? []
      : ["setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"]
    return ChildProcess.spawn(command, [...rest, ...drop, Path.join(bin, "postgres"), ...args], {
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"]
    })
  }
  const initdb = run("initdb", ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"])
  let said = ""
  initdb.stderr.on("data", (chunk) => said += chunk)
  const [code] = await once(initdb, "close")
  if (code !== 0) throw new Error(`initdb has ended with ${code}: ${said}`)
  if (trusts !== undefined) Fs.appendFileSync(Path.join(data, "pg_hba.conf"), `host all all ${trusts} trust\n`)
  const port = await freePort()
  const all = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: folder,
    port: String(port),
    max_connections: "200",
    shared_buffers: "64MB",
    ...(isDurable ? {} : { fsync: "off", full_page_writes: "off" }),
    ...settings
  }
  const args = ["-D", data, ...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`])]

  let running: ChildProcess.ChildProcess | undefined
  const ended = async (child: ChildProcess.ChildProcess) => {
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
  }
  const begin = async (): Promise<void> => {
    // What is left of one that was killed may need a moment to find that out.
    for (let tries = 0; tries < 100; tries++) {
      const child = by.length === 0 ? run("postgres", args) : runBy(by, args)
      let log = ""
      const isReady = await new Promise<boolean>((resolve) => {
        child.stderr.on("data", (chunk) => {
          if (log.length < 10_000) log += chunk
          if (String(chunk).includes("ready to accept connections")) resolve(true)
        })
        child.once("exit", () => resolve(false))
      })
      if (isReady) {
        running = child
        return
      }
      if (!/shared memory block|lock file|in use/.test(log)) throw new Error(`The server has not started: ${log}`)
      await setTimeout(100)
    }
    throw new Error("The server has not started again.")
  }
  const end = async (signal: NodeJS.Signals) => {
    const child = running
    running = undefined
    if (child === undefined) return
    child.kill(signal)
    await ended(child)
  }
  await begin()
  return {
    port,
    url: urlOf(port),
    socket: folder,
    kill: () => end("SIGKILL"),
    start: begin,
    stop: async () => {
      // At once, without writing down what is removed next.
      await end("SIGQUIT")
      Fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
    }
  }
}
