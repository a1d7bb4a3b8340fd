/** Two servers over one SQLite file, of which each may stop and start again at any moment. */
import { SqlApproval } from "@assent/sql"
import * as Layer from "effect/Layer"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { serve, type Server, type ServerOptions } from "../server.ts"

export interface Cluster {
  /** For each page one of them, wherever it is by then. */
  readonly servers: readonly [Server, Server]
  readonly restart: (index: number) => Promise<void>
  readonly deleted: () => ReadonlyArray<string>
  readonly dispose: () => Promise<void>
}

export const make = (options: ServerOptions): Cluster => {
  const folder = Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-pages-"))
  const filename = Path.join(folder, "approvals.db")
  const ended: Array<Server> = []
  const start = () => serve({ ...options, services: Layer.orDie(SqlApproval.layer({ filename })) })
  const running: [Server, Server] = [start(), start()]
  const at = (index: 0 | 1): Server => ({
    // One that stops before it has started answers nobody: over a network that is a connection that fails.
    handler: (request) =>
      running[index].handler(request).catch(() => {
        throw new TypeError("the network was cut")
      }),
    dispose: () => running[index].dispose(),
    get deleted() {
      return running[index].deleted
    }
  })
  return {
    servers: [at(0), at(1)],
    restart: async (index) => {
      const before = running[index]!
      running[index as 0 | 1] = start()
      ended.push(before)
      await before.dispose()
    },
    deleted: () => [...ended, ...running].flatMap(({ deleted }) => deleted),
    dispose: async () => {
      await Promise.all(running.map((server) => server.dispose()))
      Fs.rmSync(folder, { recursive: true })
    }
  }
}
