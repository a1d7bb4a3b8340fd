/** What a webhook answers to whom, and what it takes: once, and only what fits. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { Approval, Store, SuspensionStore, Webhook } from "../../src/index.ts"
import * as Cryptography from "../../src/internal/seal/cryptography.ts"
import { failure, intercept } from "../store/intercept.ts"
import * as S from "./support.ts"

/** A hook that wakes nobody: for what is answered at the door. */
const still: Webhook.Options = { wake: () => Effect.void }

const isOpen = (world: S.World) => Effect.map(world.conversation.pending("webhook"), (open) => open.length === 1)

describe("a webhook", () => {
  it.effect("takes one answer, wakes the conversation, and the tool goes on with it as its schema reads it", () =>
    Effect.gen(function*() {
      const world = yield* S.makeWorld()
      const woken: Array<SuspensionStore.Suspension> = []
      const hook: Webhook.Options = { wake: (suspension) => Effect.sync(() => woken.push(suspension)) }
      const answered = yield* S.call(world, hook)
      assert.strictEqual(answered.status, 202)
      assert.strictEqual(answered.headers.get("cache-control"), "no-store")
      yield* Effect.yieldNow
      assert.deepStrictEqual(woken.map(({ scope }) => scope.conversation), ["c1"])
      const outcome = yield* world.conversation.wake
      assert.strictEqual(outcome?._tag === "Completed" && outcome.text, "Paid.")
      assert.deepStrictEqual(world.paid, [{ id: "p-1", amount: 20 }])
    }))

  it.effect("reads the token from the path, with or without a query, or from the header", () =>
    Effect.gen(function*() {
      for (const way of ["path", "query", "header", "header wins"] as const) {
        const world = yield* S.makeWorld()
        const token = Redacted.value(world.token)
        const headers = { authorization: `Bearer ${token}` }
        const { status } = yield* S.call(
          world,
          still,
          way === "path"
            ? {}
            : way === "query"
            ? { path: `${token}?from=us#there` }
            : { headers, path: way === "header" ? "" : "something" }
        )
        assert.strictEqual(status, 202, way)
      }
    }))

  it.effect("knows no token but the one: 404 for every other, in the same words", () =>
    Effect.gen(function*() {
      const world = yield* S.makeWorld()
      const token = Redacted.value(world.token)
      const others = [
        yield* S.call(world, still, { path: Redacted.value(yield* Webhook.makeToken) }),
        yield* S.call(world, still, { path: token.slice(1) }),
        yield* S.call(world, still, { path: token.toLowerCase() === token ? "x" : token.toLowerCase() }),
        yield* S.call(world, still, { path: "" }),
        yield* S.call(world, still, { path: "x".repeat(2_000) }),
        yield* S.call(world, still, { headers: { authorization: "Basic abc" } }),
        yield* S.call(world, still, { path: yield* Cryptography.sha256(`@assent/ai/Webhook ${token}`) }),
        yield* S.call(world, still, { path: (yield* world.conversation.pending())[0]!.approvalId }),
        yield* S.call(world, still, { path: "unknown", body: "no JSON" })
      ]
      for (const other of others) {
        assert.deepStrictEqual([other.status, other.body], [404, `{"error":"There is no request at this address."}`])
      }
      assert.isTrue(yield* isOpen(world))
    }))

  it.effect("asks the store for no token that can be none", () =>
    Effect.gen(function*() {
      const world = yield* S.makeWorld()
      let looks = 0
      const findWebhook: typeof world.suspensions.findWebhook = (digest) =>
        Effect.suspend(() => (looks++, world.suspensions.findWebhook(digest)))
      const looking = { ...world, suspensions: { ...world.suspensions, findWebhook } }
      for (const none of [{ path: "" }, { path: "x".repeat(513) }, { headers: { authorization: "Basic abc" } }]) {
        assert.strictEqual((yield* S.call(looking, still, none)).status, 404)
      }
      assert.strictEqual(looks, 0)
      assert.strictEqual((yield* S.call(looking, still, { path: "x".repeat(512) })).status, 404)
      assert.strictEqual(looks, 1)
    }))

  it.effect("takes POST alone", () =>
    Effect.gen(function*() {
      const world = yield* S.makeWorld()
      for (const method of ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
        const answered = yield* S.call(world, still, { method })
        assert.strictEqual(answered.status, 405, method)
        assert.strictEqual(answered.headers.get("allow"), "POST")
      }
      assert.strictEqual((yield* S.call(world, still)).status, 202)
    }))

  it.effect("refuses what is no JSON, and what does not fit; the request stays open for what does", () =>
    Effect.gen(function*() {
      const world = yield* S.makeWorld()
      const bad: ReadonlyArray<BodyInit> = [
        "",
        "{",
        "{}",
        "null",
        "[]",
        `"paid"`,
        `{"id":"p-1"}`,
        `{"id":1,"amount":"20"}`,
        `{"id":"p-1","amount":20}`,
        `{"id":"p-1","amount":"20","more":"\\ud800"}`,
        `{"id":"p-1","amount":"20","more":1e999}`,
        `{"id":"${"x".repeat(21)}","amount":"20"}`,
        new Uint8Array([0xff, 0xfe, 0x7b])
      ]
      for (const body of bad) {
        const { status } = yield* S.call(world, still, { body })
        assert.strictEqual(status, 400, String(body))
      }
      assert.isTrue(yield* isOpen(world))
      assert.strictEqual((yield* S.call(world, still)).status, 202)
    }))

  it.effect("refuses what only the tool's schema can tell, where it knows the tool; the tool does where it does not", () =>
    Effect.gen(function*() {
      const odd = JSON.stringify({ id: "p-1", amount: "21" })
      const world = yield* S.makeWorld()
      const known: Webhook.Options = { ...still, toolkit: S.toolkit }
      assert.strictEqual((yield* S.call(world, known, { body: odd })).status, 400)
      assert.strictEqual((yield* S.call(world, known)).status, 202)
      const other = yield* S.makeWorld()
      assert.strictEqual((yield* S.call(other, still, { body: odd })).status, 202)
      yield* other.conversation.wake
      assert.deepStrictEqual(other.paid, [])
      assert.match(JSON.stringify(yield* other.conversation.history), /cannot be used any more: (?!undefined)/)
    }))

  it.effect("bounds what it reads: 413 by what is said of its length, and by its length", () =>
    Effect.gen(function*() {
      const world = yield* S.makeWorld()
      const large = JSON.stringify({ id: "p-1", amount: "20", more: "x".repeat(300 * 1024) })
      const streamed = new Blob([large]).stream()
      assert.strictEqual((yield* S.call(world, still, { body: large })).status, 413)
      assert.strictEqual((yield* S.call(world, still, { body: streamed })).status, 413)
      assert.strictEqual((yield* S.call(world, { ...still, maxBodySize: S.good.length - 1 })).status, 413)
      const broken = new ReadableStream({ pull: () => Promise.reject(new Error("the connection is lost")) })
      assert.strictEqual((yield* S.call(world, still, { body: broken })).status, 400)
      assert.isTrue(yield* isOpen(world))
      const exact = yield* S.makeWorld()
      assert.strictEqual((yield* S.call(exact, { ...still, maxBodySize: S.good.length })).status, 202)
      assert.strictEqual((yield* S.call(world, { ...still, maxBodySize: "1 MiB" }, { body: large })).status, 202)
    }))

  it.effect("says 409 once it was answered, and 410 once the tool has gone on; the first answer stands", () =>
    Effect.gen(function*() {
      const world = yield* S.makeWorld()
      yield* S.call(world, still)
      const second = yield* S.call(world, still, { body: JSON.stringify({ id: "p-2", amount: "22" }) })
      assert.strictEqual(second.status, 409)
      yield* world.conversation.wake
      assert.deepStrictEqual(world.paid, [{ id: "p-1", amount: 20 }])
      assert.strictEqual((yield* S.call(world, still)).status, 410)
    }))

  it.effect("says 410 where nothing waits any more: expired, denied or cancelled", () =>
    Effect.gen(function*() {
      const expired = yield* S.makeWorld({ expiresIn: 60_000 })
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* S.call(expired, still)).status, 410)
      const denied = yield* S.makeWorld()
      yield* denied.conversation.decide(Approval.deny((yield* denied.conversation.pending())[0]!, "no"))
      assert.strictEqual((yield* S.call(denied, still)).status, 410)
      const cancelled = yield* S.makeWorld()
      yield* cancelled.conversation.cancel()
      yield* cancelled.conversation.send("Go on.")
      assert.strictEqual((yield* S.call(cancelled, still)).status, 410)
    }))

  it.effect("says 503 where its store cannot be asked, and nothing is taken", () =>
    Effect.gen(function*() {
      let broken = false
      const store = intercept(
        yield* Store.makeMemory(),
        (operation, _, run) => Effect.suspend(() => broken ? Effect.fail(failure(operation)) : run)
      )
      const world = yield* S.makeWorld({ store })
      broken = true
      const answered = yield* S.call(world, still)
      assert.strictEqual(answered.status, 503)
      assert.notInclude(answered.body, "The store failed")
      broken = false
      assert.strictEqual((yield* S.call(world, still)).status, 202)
    }))
})

describe("a wake", () => {
  it.effect("that fails, or dies, never undoes the acceptance; watchTimers tries again until one succeeds", () =>
    Effect.gen(function*() {
      for (const failure of [Effect.fail("busy"), Effect.die(new Error("broken"))]) {
        const world = yield* S.makeWorld()
        assert.strictEqual((yield* S.call(world, { wake: () => failure })).status, 202)
        yield* Effect.yieldNow
        yield* Effect.yieldNow
        const look = (wake: () => Effect.Effect<unknown, unknown>) =>
          Effect.provideService(
            SuspensionStore.wakeDue(wake),
            SuspensionStore.SuspensionStore,
            world.suspensions
          )
        let woken = 0
        const wake = Effect.suspend((): Effect.Effect<unknown, unknown> =>
          ++woken === 1 ? Effect.fail("busy again") : world.conversation.wake
        )
        yield* look(() => wake)
        yield* look(() => wake)
        yield* look(() => wake)
        assert.strictEqual(woken, 2)
        assert.deepStrictEqual(world.paid, [{ id: "p-1", amount: 20 }])
      }
    }))

  it.effect("that succeeded is not called again, nor is one where nothing was answered", () =>
    Effect.gen(function*() {
      const world = yield* S.makeWorld()
      const look = Effect.provideService(
        SuspensionStore.wakeDue(() => Effect.die("woken")),
        SuspensionStore.SuspensionStore,
        world.suspensions
      )
      yield* look
      yield* S.call(world, still)
      for (let i = 0; i < 20; i++) yield* Effect.yieldNow
      assert.deepStrictEqual(yield* world.suspensions.due({ now: Number.MAX_SAFE_INTEGER }), [])
    }))
})

describe("an address", () => {
  it.effect("is the base with the token, and shows neither", () =>
    Effect.gen(function*() {
      const token = yield* Webhook.makeToken
      assert.match(Redacted.value(token), /^[\w-]{43}$/)
      for (const base of ["https://a.example/hooks", "https://a.example/hooks/", new URL("https://a.example/hooks")]) {
        const address = Webhook.address(base, token)
        assert.strictEqual(Redacted.value(address), `https://a.example/hooks/${Redacted.value(token)}`)
        assert.notInclude(`${address} ${JSON.stringify(address)}`, Redacted.value(token))
      }
    }))
})
