/** The server dies, and the network loses what is said: nothing that was acknowledged is lost, and nothing is done twice. */
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect } from "effect"
import { setTimeout } from "node:timers/promises"
import * as Crowd from "../crowd/crowd.ts"
import { makePrefix, url } from "./database.ts"
import * as Proxy from "./proxy.ts"
import * as Server from "./server/server.ts"

const bin = process.env["ASSENT_TEST_POSTGRES_BIN"] ?? ""

const report = (what: string, { approvals, took, tries, unknown }: Effect.Success<ReturnType<typeof Crowd.race>>) =>
  Console.log(
    `${what}: ${approvals} approvals in ${Math.round(took)} ms, ${tries} tried again, ${unknown} whose end nobody knows`
  )

describe("four processes that approve", () => {
  it.live("go on when their server was killed, twice, and is there again", () =>
    Effect.scoped(Effect.gen(function*() {
      const server = yield* Effect.acquireRelease(
        Effect.promise(() => Server.start({ bin })),
        (server) => Effect.promise(server.stop)
      )
      const raced = yield* Crowd.race({
        url: server.url,
        prefix: "assent_",
        processes: 4,
        approvals: 400,
        mayBeUnknown: true,
        meanwhile: Effect.promise(async () => {
          for (const _ of ["first", "second"]) {
            await setTimeout(1_000)
            await server.kill()
            await setTimeout(500)
            await server.start()
          }
        })
      })
      yield* report("a server that is killed", raced)
      assert.deepStrictEqual(raced.problems, [])
      assert.isAbove(raced.tries, 0)
    })), 600_000)

  it.live(
    "go on when the network has lost what they said, and when it has cut them off",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const proxy = yield* Effect.acquireRelease(
          Effect.promise(() => Proxy.start(Number(new URL(url).port))),
          (proxy) => Effect.promise(proxy.close)
        )
        const raced = yield* Crowd.race({
          url: proxy.url,
          direct: url,
          prefix: makePrefix(),
          processes: 4,
          approvals: 400,
          mayBeUnknown: true,
          meanwhile: Effect.promise(async () => {
            await setTimeout(500)
            proxy.reset()
            await setTimeout(500)
            proxy.lose(true)
            await setTimeout(3_000)
            proxy.lose(false)
          })
        })
        yield* report("a network that fails", raced)
        assert.deepStrictEqual(raced.problems, [])
        assert.isAbove(raced.tries, 0)
      })),
    600_000
  )
})
