/**
 * Several machines: network namespaces of this one, each with an address and a link to the one of the server, which is cut for a
 * while. Where namespaces cannot be made (no Linux, not root) that is said, and two processes with clocks that are days apart,
 * behind a proxy, stand for them.
 */
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect } from "effect"
import * as ChildProcess from "node:child_process"
import { setTimeout } from "node:timers/promises"
import * as Crowd from "../crowd/crowd.ts"
import { makePrefix, url } from "./database.ts"
import * as Proxy from "./proxy.ts"
import * as Server from "./server/server.ts"

const bin = process.env["ASSENT_TEST_POSTGRES_BIN"] ?? ""

const ip = (...args: ReadonlyArray<string>): boolean => ChildProcess.spawnSync("ip", args).status === 0

/** Of this process alone. */
const name = (machine: string): string => `as${process.pid % 100_000}${machine}`

const inside = (machine: string): ReadonlyArray<string> => ["ip", "netns", "exec", name(machine)]

const addressOf = (machine: number, end: number): string => `10.203.${machine}.${end}`

/** The server's, `s`, and two others that reach it and not one another. False where that cannot be done here. */
const build = (): boolean =>
  ["s", "1", "2"].every((machine) =>
    ip("netns", "add", name(machine)) && ip("-n", name(machine), "link", "set", "lo", "up")
  ) &&
  [1, 2].every((machine) => {
    const [near, far] = [name(`n${machine}`), name(`f${machine}`)]
    return ip("-n", name("s"), "link", "add", near, "type", "veth", "peer", "name", far, "netns", name(`${machine}`)) &&
      ip("-n", name("s"), "addr", "add", `${addressOf(machine, 1)}/24`, "dev", near) &&
      ip("-n", name(`${machine}`), "addr", "add", `${addressOf(machine, 2)}/24`, "dev", far) &&
      ip("-n", name("s"), "link", "set", near, "up") && ip("-n", name(`${machine}`), "link", "set", far, "up")
  })

const remove = (): void => {
  for (const machine of ["s", "1", "2"]) ip("netns", "del", name(machine))
}

const options = { processes: 2, approvals: 100, mayBeUnknown: true, apart: 86_400 }

describe("two machines and a server", () => {
  it.live(
    "carry out each approval once, though the link of one is cut for a while and their clocks are days apart",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const isBuilt = yield* Effect.acquireRelease(Effect.sync(build), () => Effect.sync(remove))
        if (!isBuilt) yield* Console.log("Network namespaces cannot be made here, so a proxy stands for the network.")
        const raced = isBuilt ? yield* overLinks : yield* overProxy
        yield* Console.log(`${raced.approvals} approvals in ${Math.round(raced.took)} ms, ${raced.tries} tried again`)
        assert.deepStrictEqual(raced.problems, [])
        assert.isAbove(raced.tries, 0)
      })),
    300_000
  )
})

const overLinks = Effect.gen(function*() {
  const server = yield* Effect.acquireRelease(
    Effect.promise(() =>
      Server.start({ bin, by: inside("s"), trusts: "10.203.0.0/16", settings: { listen_addresses: "*" } })
    ),
    (server) => Effect.promise(server.stop)
  )
  return yield* Crowd.race({
    ...options,
    url: server.url,
    direct: `postgres://postgres@localhost:${server.port}/postgres?host=${encodeURIComponent(server.socket)}`,
    prefix: "assent_",
    machines: [1, 2].map((machine) => ({
      by: inside(String(machine)),
      url: server.url.replace("127.0.0.1", addressOf(machine, 1))
    })),
    meanwhile: Effect.promise(async () => {
      await setTimeout(500)
      ip("-n", name("s"), "link", "set", name("n2"), "down")
      await setTimeout(4_000)
      ip("-n", name("s"), "link", "set", name("n2"), "up")
    })
  })
})

const overProxy = Effect.gen(function*() {
  const proxy = yield* Effect.acquireRelease(
    Effect.promise(() => Proxy.start(Number(new URL(url).port))),
    (proxy) => Effect.promise(proxy.close)
  )
  return yield* Crowd.race({
    ...options,
    url,
    prefix: makePrefix(),
    machines: [{ by: [], url }, { by: [], url: proxy.url }],
    meanwhile: Effect.promise(async () => {
      await setTimeout(500)
      proxy.lose(true)
      await setTimeout(4_000)
      proxy.lose(false)
    })
  })
})
