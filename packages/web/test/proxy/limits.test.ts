/** How often somebody may post. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RateLimiter from "effect/persistence/RateLimiter"
import { get, play, post, type Server, told } from "./server.ts"

const settings = { rateLimit: { limit: 2, window: "1 hour" } } as const

const by = (id: string) => ({ "x-person": id })

const decide = async (server: Server, headers: Record<string, string>) => {
  const { body, headers: sent, status } = await told(post(server, "a/decisions", [], headers))
  return { status, body, retryAfter: sent.get("retry-after") }
}

describe("rate limit", () => {
  it("is each person's own, over all conversations, and says when to try again", async () => {
    let opened = 0
    const server = play({ pending: () => Effect.as(Effect.sync(() => opened++), []) }, { settings })
    for (const id of ["ada", "bob"]) {
      assert.strictEqual((await decide(server, by(id))).status, 200)
      assert.strictEqual((await post(server, "another/decisions", [], by(id))).status, 200)
      const { body, retryAfter, status } = await decide(server, by(id))
      assert.deepStrictEqual([status, body._tag], [429, "TooManyRequests"])
      assert.isTrue(body.retryAfter > 3_500 && body.retryAfter <= 3_600)
      assert.strictEqual(retryAfter, String(body.retryAfter))
      // What is posted too often is not even read.
      assert.strictEqual((await post(server, "a/messages", "{", by(id))).status, 429)
      // To look, and to cancel, is never too much.
      assert.strictEqual((await get(server, "a/messages", by(id))).status, 200)
      assert.strictEqual((await post(server, "a/cancel", {}, by(id))).status, 204)
    }
    assert.strictEqual(opened, 4)
    await server.dispose()
  })

  it("people of the same id are others in another tenant, and who is nobody uses up nobody's", async () => {
    const server = play({}, { settings })
    for (const headers of [{ "x-tenant": "a" }, { "x-tenant": "b" }, { "x-principal": "other" }]) {
      for (const status of [200, 200, 429]) assert.strictEqual((await decide(server, headers)).status, status)
    }
    const nobody = by("nobody")
    for (let times = 0; times < 5; times++) assert.strictEqual((await decide(server, nobody)).status, 401)
    assert.strictEqual((await decide(server, by("ada"))).status, 200)
    await server.dispose()
  })

  it("is counted by the limiter of the program, where it has one", async () => {
    const keys: Array<string> = []
    const Ours = Layer.effect(
      RateLimiter.RateLimiter,
      Effect.map(RateLimiter.make, (limiter): RateLimiter.RateLimiter => ({
        ...limiter,
        consume: (options) => Effect.andThen(Effect.sync(() => keys.push(options.key)), limiter.consume(options))
      }))
    ).pipe(Layer.provide(RateLimiter.layerStoreMemory))
    const server = play({}, { settings, services: Ours })
    for (const status of [200, 200, 429]) assert.strictEqual((await decide(server, by("ada"))).status, status)
    assert.deepStrictEqual(keys, Array.from({ length: 3 }, () => "assent/web [null,\"team\",\"ada\"]"))
    await server.dispose()
  })

  it("L15 one that cannot be asked stops no approval, and tells nobody but the log", async () => {
    const broken = Layer.effect(
      RateLimiter.RateLimiter,
      Effect.map(RateLimiter.make, (limiter): RateLimiter.RateLimiter => ({
        ...limiter,
        consume: () =>
          Effect.fail(
            new RateLimiter.RateLimiterError({
              reason: new RateLimiter.RateLimitStoreError({ message: "redis://:secret@host", cause: "secret" })
            })
          )
      }))
    ).pipe(Layer.provide(RateLimiter.layerStoreMemory))
    const logged: Array<string> = []
    const server = play({}, { settings, services: broken, logged })
    for (let times = 0; times < 3; times++) {
      const response = await told(post(server, "a/decisions", [], by("ada")))
      assert.deepStrictEqual([response.status, response.text], [200, "{\"answers\":[],\"isRunning\":false}"])
    }
    assert.lengthOf(logged, 3)
    await server.dispose()
  })

  it("nobody is counted where none is set", async () => {
    const server = play({})
    for (let times = 0; times < 50; times++) assert.strictEqual((await decide(server, by("ada"))).status, 200)
    await server.dispose()
  })
})
