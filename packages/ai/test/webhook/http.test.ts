/** Webhooks over HTTP on this computer: effect's server and router, its web handler, and calls that race. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, FileSystem, Layer, Logger, Redacted, Tracer } from "effect"
import { HttpEffect, HttpRouter, HttpServer } from "effect/http"
import { createServer, request } from "node:http"
import { Store, SuspensionStore, Webhook } from "../../src/index.ts"
import * as Database from "../fixtures/database.ts"
import * as S from "./support.ts"

const post = (url: string, body: string, headers: Record<string, string> = {}) =>
  Effect.promise(async () => {
    const response = await fetch(url, { method: "POST", body, headers })
    return { status: response.status, body: await response.text() }
  })

/** Everything that is logged, and everything that stands in spans. */
const makeEars = () => {
  const heard: Array<string> = []
  const logger = Logger.make(({ cause, date: _, fiber, message }) => {
    heard.push(JSON.stringify([
      message,
      String(cause),
      Object.entries(Logger.formatStructured.log({
        cause,
        date: _,
        fiber,
        logLevel: "Info",
        message
      }))
    ]))
  })
  const spans: Array<Tracer.Span> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  return {
    heard,
    layer: Layer.merge(Logger.layer([logger]), Layer.succeed(Tracer.Tracer, tracer)),
    all: () => heard.join("\n") + spans.map((span) => JSON.stringify([span.name, [...span.attributes]])).join("\n"),
    spans
  }
}

/** A server of its own for a world, and its address. */
const serve = Effect.fnUntraced(function*<E, R>(
  world: S.World,
  options: Webhook.Options<E, R>,
  around: Layer.Layer<never> = Layer.empty
) {
  const app = HttpRouter.serve(
    Webhook.layer("/hooks", options).pipe(
      Layer.provide(Layer.succeed(SuspensionStore.SuspensionStore, world.suspensions))
    ),
    { disableListenLog: true }
  ).pipe(
    Layer.provide(around),
    Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
  )
  const context = yield* Layer.build(app)
  const url = yield* Effect.provideContext(HttpServer.addressFormattedWith(Effect.succeed), context)
  return `${url}/hooks`
})

const storeIn = (directory: string) =>
  Effect.map(Layer.build(Database.layerIn(directory)), (context) => Context.get(context, Store.Store))

const woken = (world: S.World) =>
  Effect.gen(function*() {
    const done = yield* Deferred.make<void>()
    const options: Webhook.Options = {
      wake: () => Effect.andThen(Effect.orDie(world.conversation.wake), Deferred.succeed(done, undefined))
    }
    return { options, done: Deferred.await(done) }
  })

describe("over HTTP", () => {
  it.live("one of many who race is accepted, the others are told so, and the tool goes on once", () =>
    Effect.gen(function*() {
      const directory = yield* FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "webhook-" }))
      for (const store of [yield* Store.makeMemory(), yield* storeIn(directory)]) {
        const world = yield* S.makeWorld({ store })
        const { done, options } = yield* woken(world)
        const base = yield* serve(world, options)
        const url = Redacted.value(Webhook.address(base, world.token))
        const answers = yield* Effect.all(
          Array.from({ length: 12 }, (_, index) => post(url, JSON.stringify({ id: `p-${index}`, amount: "20" }))),
          { concurrency: "unbounded" }
        )
        yield* done
        const statuses = answers.map(({ status }) => status)
        assert.lengthOf(statuses.filter((status) => status === 202), 1)
        assert.isTrue(statuses.every((status) => status === 202 || status === 409 || status === 410), statuses.join())
        const accepted = statuses.indexOf(202)
        assert.deepStrictEqual(world.paid, [{ id: `p-${accepted}`, amount: 20 }])
        const history = JSON.stringify(yield* world.conversation.history)
        assert.include(history, `p-${accepted} of 20`)
        assert.notInclude(history, Redacted.value(world.token))
      }
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  it.live("the same on any server with the web handler", () =>
    Effect.gen(function*() {
      const world = yield* S.makeWorld()
      const { done, options } = yield* woken(world)
      const web = HttpEffect.toWebHandler(
        Effect.provideService(Webhook.handler(options), SuspensionStore.SuspensionStore, world.suspensions)
      )
      const url = Redacted.value(Webhook.address("http://localhost/any/path", world.token))
      const answers = yield* Effect.promise(() =>
        Promise.all(Array.from({ length: 5 }, () => web(new Request(url, { method: "POST", body: S.good }))))
      )
      yield* done
      assert.lengthOf(answers.filter(({ status }) => status === 202), 1)
      assert.lengthOf(world.paid, 1)
    }).pipe(Effect.scoped))

  it.live("a body that is too large is refused, said or unsaid, and the connection serves the next call", () =>
    Effect.gen(function*() {
      const world = yield* S.makeWorld()
      const base = yield* serve(world, { wake: () => Effect.void, maxBodySize: "1 KiB" })
      const url = Redacted.value(Webhook.address(base, world.token))
      assert.strictEqual((yield* post(url, "x".repeat(2_000))).status, 413)
      const chunked = yield* Effect.callback<number | undefined, Error>((resume) => {
        const sent = request(url, { method: "POST" }, (response) => {
          resume(Effect.succeed(response.statusCode))
          response.resume()
        })
        sent.on("error", (error) => resume(Effect.fail(error)))
        sent.write("x".repeat(2_000))
        sent.write("x".repeat(2_000))
        sent.end()
      })
      assert.strictEqual(chunked, 413)
      assert.strictEqual((yield* post(url, S.good)).status, 202)
    }).pipe(Effect.scoped))

  it.live("no token stands in a log or a span: in the header, and in the path where it is untraced", () =>
    Effect.gen(function*() {
      for (const way of ["header", "path"] as const) {
        const ears = makeEars()
        const world = yield* S.makeWorld()
        const token = Redacted.value(world.token)
        const done = yield* Deferred.make<void>()
        const base = yield* serve(
          world,
          { wake: () => Effect.ensuring(Effect.fail(`no, ${token}`), Deferred.succeed(done, undefined)) },
          (way === "path" ? Webhook.layerUntraced("/hooks") : Layer.empty).pipe(Layer.provideMerge(ears.layer))
        )
        const sent = way === "path"
          ? post(`${base}/${token}`, S.good)
          : post(base, S.good, { authorization: `Bearer ${token}` })
        assert.strictEqual((yield* sent).status, 202)
        assert.strictEqual((yield* sent).status, 409)
        assert.strictEqual((yield* post(`${base}/unknown`, S.good)).status, 404)
        yield* Deferred.await(done)
        yield* Effect.sleep("20 millis")
        assert.include(ears.all(), "could not wake its conversation")
        assert.notInclude(ears.all(), token)
        assert.notInclude(ears.all(), "p-1")
        // The ears work: a request that is traced is heard.
        assert.strictEqual(ears.spans.some(({ attributes }) => attributes.has("url.path")), way === "header")
      }
    }).pipe(Effect.scoped))

  it.live("what is kept has no token: neither in the store, nor in a part", () =>
    Effect.gen(function*() {
      const directory = yield* FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "webhook-" }))
      const world = yield* S.makeWorld({ store: yield* storeIn(directory) })
      const token = Redacted.value(world.token)
      const fs = yield* FileSystem.FileSystem
      const names = yield* fs.readDirectory(directory, { recursive: true })
      assert.isNotEmpty(names)
      let kept = ""
      for (const name of names) {
        assert.notInclude(name, token)
        kept += new TextDecoder("latin1").decode(yield* fs.readFile(`${directory}/${name}`))
      }
      assert.notInclude(kept, token)
      assert.include(kept, "the payment", "what waits is there")
      assert.notInclude(JSON.stringify(yield* world.conversation.pending()), token)
      assert.notInclude(JSON.stringify(yield* world.script.requests), token)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
})
