/** Senders as they are: who sign what they send, send forms, send slowly, and people who open a link. */
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Redacted, type Schema, Tracer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { createHmac } from "node:crypto"
import { createServer, request } from "node:http"
import { SuspensionStore, Webhook } from "../../src/index.ts"
import * as S from "./support.ts"

const still: Webhook.Options = { wake: () => Effect.void }
const isOpen = (world: S.World) => Effect.map(world.conversation.pending("webhook"), (open) => open.length === 1)
const form = { "content-type": "application/x-www-form-urlencoded" }

describe("a webhook whose sender signs", () => {
  const secret = "shared"
  const hmac = (text: string, encoding: "hex" | "base64") => createHmac("sha256", secret).update(text).digest(encoding)
  const senders: Record<string, readonly [Omit<Webhook.SignatureOptions, "secret">, Record<string, string>]> = {
    GitHub: [
      { header: "X-Hub-Signature-256", prefix: "sha256=" },
      { "x-hub-signature-256": `sha256=${hmac(S.good, "hex")}` }
    ],
    Slack: [
      {
        header: "x-slack-signature",
        prefix: "v0=",
        message: (body, headers) => `v0:${headers["x-slack-request-timestamp"]}:${body}`
      },
      { "x-slack-signature": `v0=${hmac(`v0:17:${S.good}`, "hex")}`, "x-slack-request-timestamp": "17" }
    ],
    Shopify: [{ header: "x-hmac", encoding: "base64" }, { "x-hmac": hmac(S.good, "base64") }]
  }
  for (const [name, [options, headers]] of Object.entries(senders)) {
    it.effect(`as ${name} does: takes what was signed, and nothing else`, () =>
      Effect.gen(function*() {
        const world = yield* S.makeWorld()
        const verify = Webhook.signature({ secret: Redacted.make(secret), ...options })
        const hook: Webhook.Options = { ...still, verify }
        const [header] = Object.keys(headers)
        const forged: ReadonlyArray<S.Call> = [
          {},
          { headers: { ...headers, [header!]: headers[header!]!.replace(/[0-9a-f](?==?$)/i, "Z") } },
          { headers, body: S.good.replace("20", "40") },
          { headers: { ...headers, [header!]: "" } },
          { headers: { ...headers, [header!]: headers[header!]!.slice(0, -2) } }
        ]
        for (const call of forged) {
          const { body, status } = yield* S.call(world, hook, call)
          assert.strictEqual(status, 403)
          assert.notInclude(body, secret)
        }
        assert.isTrue(yield* isOpen(world))
        assert.strictEqual((yield* S.call(world, hook, { headers })).status, 202)
      }))
  }

  it.effect("takes nothing where the check fails or dies", () =>
    Effect.gen(function*() {
      const world = yield* S.makeWorld()
      const checks: ReadonlyArray<readonly [Webhook.Options["verify"], number]> = [
        [() => Effect.fail("the secret"), 403],
        [() => Effect.die("the secret"), 503],
        [() => Effect.succeed("yes" as never), 403]
      ]
      for (const [verify, expected] of checks) {
        const { body, status } = yield* S.call(world, { ...still, verify })
        assert.strictEqual(status, expected)
        assert.notInclude(body, "the secret")
      }
      assert.isTrue(yield* isOpen(world))
    }))
})

describe("a webhook whose sender has words of its own", () => {
  it.effect("reads a form by its fields", () =>
    Effect.gen(function*() {
      const world = yield* S.makeWorld()
      const { status } = yield* S.call(world, still, { headers: form, body: "id=p-1&amount=20" })
      assert.strictEqual(status, 202)
      yield* world.conversation.wake
      assert.deepStrictEqual(world.paid, [{ id: "p-1", amount: 20 }])
    }))

  it.effect("makes the answer of what was sent; what it cannot make one of leaves the request open", () =>
    Effect.gen(function*() {
      const world = yield* S.makeWorld()
      const hook: Webhook.Options = {
        ...still,
        // As Slack sends what was pressed.
        answer: (body) => {
          const { payload } = body as { readonly payload: string }
          return { id: JSON.parse(payload).actions[0].value, amount: "20" }
        }
      }
      const of = (payload: string) =>
        S.call(world, hook, { headers: form, body: new URLSearchParams({ payload }).toString() })
      for (const odd of ["", "{}", "no JSON", "{\"actions\":[]}"]) assert.strictEqual((yield* of(odd)).status, 400)
      assert.isTrue(yield* isOpen(world))
      assert.strictEqual((yield* of("{\"actions\":[{\"value\":\"p-7\"}]}")).status, 202)
      yield* world.conversation.wake
      assert.deepStrictEqual(world.paid, [{ id: "p-7", amount: 20 }])
    }))
})

describe("a link that a person was sent", () => {
  const yes: Schema.Json = { id: "p-1", amount: "20" }
  const page: Webhook.Page = {
    title: "Paid <b>?</b>",
    buttons: [{ label: "Yes & no", answer: yes }, { label: "No", answer: { id: "none", amount: "0" } }]
  }
  const hook: Webhook.Options = { ...still, page }

  it.effect("is a page with buttons; opening it, any number of times and in any way, answers nothing", () =>
    Effect.gen(function*() {
      const world = yield* S.makeWorld()
      for (const path of ["", "?button=0", "?button=0#0"]) {
        const { body, headers, status } = yield* S.call(world, hook, {
          method: "GET",
          path: `${Redacted.value(world.token)}${path}`
        })
        assert.strictEqual(status, 200)
        assert.include(headers.get("content-security-policy")!, "default-src 'none'")
        assert.strictEqual(headers.get("referrer-policy"), "no-referrer")
        assert.strictEqual(headers.get("cache-control"), "no-store")
        assert.include(body, "Paid &lt;b&gt;?&lt;/b&gt;")
        assert.include(body, "the payment")
        assert.include(body, "<button name=\"button\" value=\"0\">Yes &amp; no</button>")
        assert.notInclude(body, Redacted.value(world.token))
      }
      assert.strictEqual((yield* S.call(world, hook, { method: "HEAD" })).status, 405)
      const long: Webhook.Page = { ...page, title: "x".repeat(300), description: "For May,\nas agreed." }
      const { body } = yield* S.call(world, { ...still, page: long }, { method: "GET" })
      assert.include(body, "For May,\nas agreed.")
      assert.notInclude(body, long.title)
      assert.isTrue(yield* isOpen(world))
    }))

  it.effect("is answered by a button, once; then the page says so", () =>
    Effect.gen(function*() {
      const world = yield* S.makeWorld()
      const press = (button: string) => S.call(world, hook, { headers: form, body: `button=${button}` })
      for (const odd of ["2", "-1", "x", "0x0", "", "constructor"]) {
        assert.strictEqual((yield* press(odd)).status, 400, odd)
      }
      assert.isTrue(yield* isOpen(world))
      const thanks = yield* press("0")
      assert.strictEqual(thanks.status, 202)
      assert.include(thanks.body, "Your answer was accepted")
      assert.strictEqual((yield* press("1")).status, 409)
      const again = yield* S.call(world, hook, { method: "GET" })
      assert.strictEqual(again.status, 409)
      assert.include(again.body, "This was answered before")
      yield* world.conversation.wake
      assert.deepStrictEqual(world.paid, [{ id: "p-1", amount: 20 }])
    }))

  it.effect("is not told of a request that there is not", () =>
    Effect.gen(function*() {
      const world = yield* S.makeWorld()
      const { body, status } = yield* S.call(world, hook, { method: "GET", path: "unknown" })
      assert.strictEqual(status, 404)
      assert.notInclude(body, "the payment")
    }))
})

describe("over HTTP", () => {
  const serve = Effect.fnUntraced(function*(world: S.World, options: Webhook.Options) {
    const heard: Array<string> = []
    const logger = Logger.make((entry) => {
      heard.push(JSON.stringify(Logger.formatStructured.log(entry)))
    })
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        const end = span.end.bind(span)
        span.end = (...ended) => {
          end(...ended)
          heard.push(JSON.stringify([span.name, [...span.attributes]]))
        }
        return span
      }
    })
    const app = HttpRouter.serve(
      Webhook.layer("/hooks", options).pipe(
        Layer.provide(Layer.succeed(SuspensionStore.SuspensionStore, world.suspensions))
      ),
      { disableListenLog: true }
    ).pipe(
      Layer.provide(Webhook.layerUntraced("/hooks")),
      Layer.provide(Layer.merge(Logger.layer([logger]), Layer.succeed(Tracer.Tracer, tracer))),
      Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
    )
    const context = yield* Layer.build(app)
    const url = yield* Effect.provideContext(HttpServer.addressFormattedWith(Effect.succeed), context)
    return { heard, port: Number(new URL(url).port) }
  })

  const send = (port: number, path: string, write: (sent: ReturnType<typeof request>) => void) =>
    Effect.callback<number | undefined, Error>((resume) => {
      const sent = request({ port, host: "127.0.0.1", path, method: "POST" }, (response) => {
        resume(Effect.succeed(response.statusCode))
        response.resume()
      })
      sent.on("error", (error) => resume(Effect.fail(error)))
      write(sent)
    })

  it.live("however the path is spelt, no log and no span has the token", () =>
    Effect.gen(function*() {
      const world = yield* S.makeWorld()
      const { heard, port } = yield* serve(world, still)
      const token = Redacted.value(world.token)
      const paths = [
        "//hooks/",
        "/Hooks/",
        "/%68ooks/",
        "/%2568ooks/",
        "/hooks//",
        "/hooks/./",
        "/hooks/more/",
        "/./hooks/",
        "/v2/hooks/",
        "/hooks%2f"
      ]
      for (const path of paths) yield* send(port, `${path}${token}`, (sent) => sent.end("no JSON"))
      assert.strictEqual(yield* send(port, "/elsewhere", (sent) => sent.end("")), 404)
      yield* Effect.sleep("20 millis")
      assert.notInclude(heard.join("\n"), token)
      assert.include(heard.join("\n"), "/elsewhere")
    }).pipe(Effect.scoped))

  it.live("a body that comes too slowly is answered with 408, and the request stays open", () =>
    Effect.gen(function*() {
      const world = yield* S.makeWorld()
      const { port } = yield* serve(world, { ...still, bodyTimeout: "30 millis" })
      const status = yield* send(port, `/hooks/${Redacted.value(world.token)}`, (sent) => {
        sent.write("{\"id\":")
      })
      assert.strictEqual(status, 408)
      assert.isTrue(yield* isOpen(world))
    }).pipe(Effect.scoped))
})
