/** A few streams at once; `npm run streams` has five hundred, and measures them. */
import { assert, describe, it } from "@effect/vitest"
import { listening } from "../listening.ts"
import * as Crowd from "./crowd.ts"
import { routesOf } from "./server.ts"

describe("streams", () => {
  it("many are read at once, and one that nobody reads holds up neither them nor its own turn", async () => {
    const server = await listening(routesOf({ words: 20, every: 5, flood: "x".repeat(512 * 1024) }))
    try {
      const leave = await Crowd.neverRead(server.port, "never-read")
      const streams = await Promise.all(
        Array.from({ length: 20 }, (_, index) => Crowd.read(server.port, `read-${index}`))
      )
      assert.deepStrictEqual(streams.map(({ isWhole, words }) => [isWhole, words]), streams.map(() => [true, 20]))
      assert.isTrue(await Crowd.ends(server.port, "never-read", 20_000))
      leave()
    } finally {
      await server.close()
    }
  }, 30_000)
})
