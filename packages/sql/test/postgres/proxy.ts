/** Stands between processes and a server, as a network does: it can lose what they say, and cut what they have. */
import { once } from "node:events"
import * as Net from "node:net"
import * as Server from "./server/server.ts"

export interface Proxy {
  readonly url: string
  /**
   * From now on nothing arrives, in either direction, and nobody is told. When it does again, connections of which something was
   * lost are reset, as they are by whatever stands in a network and has forgotten them.
   */
  readonly lose: (isLost: boolean) => void
  /** The connections that there are by now are half open: nothing of them arrives any more, and nobody is ever told. */
  readonly forget: () => void
  /** Ends every connection at once. */
  readonly reset: () => void
  readonly close: () => Promise<void>
}

export interface Hooks {
  /** What a client has said, as one piece: whether to pass it on. */
  readonly onSaid?: (() => boolean) | undefined
  /** The answer to it. */
  readonly onAnswered?: (() => boolean) | undefined
}

export const start = async (port: number, { onAnswered, onSaid }: Hooks = {}): Promise<Proxy> => {
  const sockets = new Set<Net.Socket>()
  const broken = new Set<Net.Socket>()
  const forgotten = new WeakSet<Net.Socket>()
  let isLost = false
  const proxy = Net.createServer((client) => {
    const server = Net.connect(port, "127.0.0.1")
    for (const [from, to, hook] of [[client, server, onSaid], [server, client, onAnswered]] as const) {
      sockets.add(from)
      from.setNoDelay(true)
      from.on("data", (chunk) => {
        if (forgotten.has(from)) return
        if (isLost) broken.add(from).add(to)
        else if (hook?.() !== false) to.write(chunk)
      })
      from.on("error", () => to.destroy())
      from.on("close", () => {
        sockets.delete(from)
        // Nobody is told who cannot be reached.
        if (isLost) broken.add(to)
        else if (!forgotten.has(to)) to.destroy()
      })
    }
  })
  proxy.listen(0, "127.0.0.1")
  await once(proxy, "listening")
  const address = proxy.address()
  const reset = () => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  return {
    url: Server.urlOf(typeof address === "object" && address !== null ? address.port : 0),
    lose: (lost) => {
      isLost = lost
      if (lost) return
      for (const socket of broken) socket.resetAndDestroy()
      broken.clear()
    },
    forget: () => {
      for (const socket of sockets) forgotten.add(socket)
    },
    reset,
    close: async () => {
      reset()
      proxy.close()
      await once(proxy, "close")
    }
  }
}
