/** How often somebody may post, and how a turn is stopped. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as RateLimiter from "effect/persistence/RateLimiter"
import * as Limiting from "../src/internal/limiting.ts"
import { chunksOf, get, post, saying } from "./posting.ts"
import { call, card, cards, gate, history, open, serve, type Server, type ServerOptions, until } from "./server.ts"

let count = 0

const story = async (options: ServerOptions, tell: (server: Server, id: string) => Promise<void>) => {
  const server = serve(options)
  try {
    await tell(server, `limits-${++count}`)
  } finally {
    await server.dispose()
  }
}

const stop = (server: Server, id: string, headers: Record<string, string> = { "content-type": "application/json" }) =>
  server.handler(new Request(`http://localhost/api/chat/${id}/stop`, { method: "POST", headers, body: "{}" }))

const once = { limit: 1, window: "1 hour" } as const

describe("how often somebody may post", () => {
  it("who posts too often is told in a sentence when to try again, and others are not held up", () =>
    story({ turns: [], rateLimit: once }, async (server, id) => {
      await chunksOf(await post(server, saying(id, "Hi.")))
      const refused = await post(server, saying(id, "Hi again."))
      assert.deepStrictEqual([refused.status, refused.headers.get("retry-after")], [429, "3600"])
      assert.strictEqual(
        await refused.text(),
        "That was too much in a short time, so nothing was done. Try again in 3600 seconds."
      )
      assert.strictEqual((await post(server, saying(id, "Hi."), { headers: { "x-person": "bob" } })).status, 200)
      assert.strictEqual((await get(server, id)).status, 200)
      const users = (await history(server, id)).filter(({ role }) => role === "user")
      assert.deepStrictEqual(users.map(({ parts }) => parts[0]), [{ type: "text", text: "Hi.", state: "done" }])
    }))

  it("a click that comes too often opens the card again, and nothing is posted for ever", () =>
    story({ turns: [[call("c1", "a")]], rateLimit: once }, async (server, id) => {
      const page = open(server, { id })
      await page.chat.sendMessage({ text: "Clean up." })
      await page.chat.addToolApprovalResponse({ id: card(page, "a").approval.id, approved: true })
      await page.settled()
      assert.lengthOf(page.posts, 2)
      assert.deepStrictEqual(cards(page).map(({ state }) => state), ["approval-requested"])
      assert.match(page.errors[0]?.message ?? "", /^That was too much in a short time/)
      assert.deepStrictEqual(server.deleted, [])
    }))

  it("what is posted ahead counts as well", () =>
    story({ turns: [], rateLimit: once }, async (server, id) => {
      const ahead = () =>
        server.handler(
          new Request(`http://localhost/api/chat/${id}/details`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: "{}"
          })
        )
      assert.deepStrictEqual([(await ahead()).status, (await ahead()).status], [204, 429])
    }))

  const ada = { person: { id: "ada" }, scope: { principal: "team" } }

  const limiterOf = (consume: RateLimiter.RateLimiter["consume"]) =>
    Effect.provideService(Limiting.make(once), RateLimiter.RateLimiter, {
      consume
    } as RateLimiter.RateLimiter)

  it.effect("the program's own limiter counts, each person of each tenant for themselves", () =>
    Effect.gen(function*() {
      const keys: Array<string> = []
      const limiter = yield* limiterOf(({ key, limit }) => {
        keys.push(key)
        return Effect.succeed({ delay: Duration.zero, limit, remaining: 0, resetAfter: Duration.zero })
      })
      for (const who of [ada, { ...ada, person: { id: "bob" } }, { ...ada, scope: { tenant: "t" } }, { scope: {} }]) {
        assert.isUndefined(yield* limiter.wait(who))
      }
      assert.strictEqual(new Set(keys).size, 4)
    }))

  it.effect("a limiter that is down stops nobody", () =>
    Effect.gen(function*() {
      const reason = new RateLimiter.RateLimitStoreError({ message: "down" })
      const limiter = yield* limiterOf(() => Effect.fail(new RateLimiter.RateLimiterError({ reason })))
      assert.isUndefined(yield* limiter.wait(ada))
    }))
})

describe("Stop", () => {
  it("stops what goes on, for whoever reads it, and gives the conversation as it stands", () => {
    const { before } = gate()
    let begun = 0
    return story(
      { turns: [[call("c1", "a"), call("c2", "b")]], before: () => (begun++, before()) },
      async (server, id) => {
        const ada = open(server, { id })
        await ada.chat.sendMessage({ text: "Clean up." })
        const bob = open(server, { id, person: "bob", messages: await history(server, id) })
        for (const path of ["a", "b"]) {
          void ada.chat.addToolApprovalResponse({ id: card(ada, path).approval.id, approved: true })
        }
        await until(() => begun === 2)
        void bob.chat.resumeStream()
        await until(() => bob.chat.status === "streaming")
        await ada.chat.stop()
        const stopped = await stop(server, id)
        assert.deepStrictEqual([stopped.status, stopped.headers.get("cache-control")], [200, "no-store"])
        ada.chat.messages = await stopped.json() as any
        await bob.settled()
        assert.deepStrictEqual(server.deleted, [])
        assert.deepStrictEqual([...ada.errors, ...bob.errors].map(({ message }) => message), [
          "Somebody stopped it. What it did before is in the history."
        ])
        for (const page of [ada, bob]) {
          assert.deepStrictEqual(cards(page).map(({ state }) => state), ["output-error", "output-error"])
        }
        assert.strictEqual((await get(server, `${id}/stream`)).status, 200)
      }
    )
  })

  it("takes back what is asked: nobody said no, and the model may ask again", () =>
    story({ turns: [[call("c1", "a")], [call("c2", "a")]] }, async (server, id) => {
      const ada = open(server, { id })
      await ada.chat.sendMessage({ text: "Clean up." })
      ada.chat.messages = await (await stop(server, id)).json() as any
      assert.deepStrictEqual(cards(ada).map(({ state }) => state), ["output-error"])
      await ada.chat.sendMessage({ text: "Do clean up." })
      assert.strictEqual(cards(ada).at(-1).state, "approval-requested")
    }))

  it("is for whoever sees the conversation, and no form of another site can do it", () =>
    story({ turns: [[call("c1", "a")]] }, async (server, id) => {
      await chunksOf(await post(server, saying(id, "Clean up.")))
      assert.strictEqual((await stop(server, id, { "content-type": "text/plain" })).status, 415)
      const json = { "content-type": "application/json" }
      assert.strictEqual((await stop(server, id, { ...json, "x-person": "nobody" })).status, 401)
      const stranger = await stop(server, id, { ...json, "x-principal": "eve" })
      assert.deepStrictEqual([stranger.status, await stranger.json()], [200, []])
      assert.strictEqual(cards({ chat: { messages: await history(server, id) } })[0].state, "approval-requested")
    }))

  it("is never refused for its number", () =>
    story({ turns: [], rateLimit: once }, async (server, id) => {
      await chunksOf(await post(server, saying(id, "Hi.")))
      for (let tries = 0; tries < 3; tries++) assert.strictEqual((await stop(server, id)).status, 200)
    }))
})
