/** What goes over HTTP: headers, lines, statuses, and who is let in. */
import { Conversation } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { Decider, UiMessageStream } from "@assent/web"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Tracer from "effect/Tracer"
import { chunksOf, get, post, saying } from "./posting.ts"
import { recording } from "./recording.ts"
import { serve, type Server, toolkit } from "./server.ts"

let count = 0

const served = async (tell: (server: Server, id: string) => Promise<void>) => {
  const server = serve({ turns: ["Hello!"] })
  try {
    await tell(server, `routes-${++count}`)
  } finally {
    await server.dispose()
  }
}

const textOf = async (response: Response) => [response.status, await response.text()]

describe("routes", () => {
  it("a turn is sent as lines, under the headers that the client and what is in between need", () =>
    served(async (server, id) => {
      const response = await post(server, saying(id, "Hi."))
      assert.strictEqual(response.status, 200)
      const headers = Object.fromEntries(response.headers)
      assert.deepInclude(headers, {
        "content-type": "text/event-stream",
        "x-vercel-ai-ui-message-stream": "v1",
        "x-accel-buffering": "no"
      })
      assert.match(headers["cache-control"]!, /no-cache/)
      const chunks = await chunksOf(response)
      assert.deepStrictEqual(chunks.map((chunk) => chunk.type ?? chunk), [
        "start",
        "start-step",
        "text-start",
        "text-delta",
        "text-end",
        "finish-step",
        "finish",
        "[DONE]"
      ])
    }))

  it("what is loaded and resumed is not kept by a browser", () =>
    served(async (server, id) => {
      const nothing = await get(server, `${id}/stream`)
      assert.deepStrictEqual([nothing.status, nothing.headers.get("cache-control")], [204, "no-store"])
      const loaded = await get(server, id)
      assert.deepStrictEqual([loaded.status, loaded.headers.get("cache-control")], [200, "no-store"])
      assert.deepStrictEqual(await loaded.json(), [])
    }))

  it("a turn that has just ended can still be resumed, for a page that loaded before its end", () =>
    served(async (server, id) => {
      await chunksOf(await post(server, saying(id, "Hi.")))
      const chunks = await chunksOf(await get(server, `${id}/stream`))
      assert.deepStrictEqual(chunks[0], { type: "start", messageId: "m1" })
      assert.strictEqual(chunks.at(-2).type, "finish")
    }))

  it("what is no JSON of useChat is refused, with a sentence", () =>
    served(async (server, id) => {
      assert.deepStrictEqual(await textOf(await post(server, "{")), [400, "What was posted is no JSON."])
      const form = { headers: { "content-type": "text/plain" } }
      assert.deepStrictEqual((await textOf(await post(server, saying(id, "Hi."), form)))[0], 415)
      assert.deepStrictEqual((await textOf(await post(server, { id })))[0], 422)
      const details = new Request(`http://localhost/api/chat/${id}/details`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ one: { stop: "yes" } })
      })
      assert.deepStrictEqual((await textOf(await server.handler(details)))[0], 422)
      assert.deepStrictEqual(await textOf(await get(server, "x".repeat(101))), [404, ""])
      assert.deepStrictEqual(await (await get(server, id)).json(), [])
    }))

  it("who is not let in reads and says nothing", () =>
    served(async (server, id) => {
      const nobody = { headers: { "x-person": "nobody" } }
      const refused = [401, "Please log in."]
      assert.deepStrictEqual(await textOf(await post(server, saying(id, "Hi."), nobody)), refused)
      // Before what they post is read.
      assert.deepStrictEqual(await textOf(await post(server, "{", nobody)), refused)
      assert.deepStrictEqual(await textOf(await get(server, id, nobody)), refused)
      assert.deepStrictEqual(await textOf(await get(server, `${id}/stream`, nobody)), refused)
      assert.deepStrictEqual(await (await get(server, id)).json(), [])
    }))
})

// =============================================================================
// Other programs
// =============================================================================

const Everybody = Decider.layer(() => Effect.succeed({ scope: {} }))

const Model = ScriptedModel.layer({ turns: [], afterLastTurn: "Hello!" })

const Handlers = toolkit.toLayer({
  DeleteFile: ({ path }) => Effect.succeed({ deleted: path }),
  ReadFile: ({ path }) => Effect.succeed(path)
})

const make: UiMessageStream.Options<never, never>["conversation"] = (id) =>
  Conversation.make({ id, toolkit }).pipe(Effect.provide([Model, Handlers]))

const withRoutes = async (
  options: UiMessageStream.Options<unknown, never>,
  decider: Layer.Layer<Decider.Decider>,
  tell: (server: Server, logged: ReadonlyArray<string>) => Promise<void>
) => {
  const logged: Array<string> = []
  const log = Logger.make(({ logLevel, message }) => void logged.push(`${logLevel} ${String(message)}`))
  const routes = UiMessageStream.layer(options).pipe(Layer.provide(decider), Layer.provide(Logger.layer([log])))
  const server = { ...HttpRouter.toWebHandler(routes, { disableLogger: true }), deleted: [] }
  try {
    await tell(server, logged)
  } finally {
    await server.dispose()
  }
}

describe("routes of other programs", () => {
  it("a body that is too large is not read", () =>
    withRoutes({ conversation: make, maxBodyBytes: 1_000 }, Everybody, async (server) => {
      const id = `routes-${++count}`
      assert.deepStrictEqual(await textOf(await post(server, saying(id, "x".repeat(1_000)))), [
        413,
        "What was posted is too large."
      ])
      assert.strictEqual((await post(server, saying(id, "Hi."))).status, 200)
    }))

  it("they stand where the program wants them", () =>
    withRoutes({ conversation: make, path: "/v1/talk" }, Everybody, async (server) => {
      const id = `routes-${++count}`
      assert.strictEqual((await get(server, id)).status, 404)
      assert.strictEqual((await server.handler(new Request(`http://localhost/v1/talk/${id}`))).status, 200)
    }))

  it("a conversation that is not for them is refused as the program says", () => {
    const refused = new Decider.Refused({ status: 404, message: "There is no such chat." })
    return withRoutes({ conversation: () => Effect.fail(refused) }, Everybody, async (server) => {
      assert.deepStrictEqual(await textOf(await get(server, "a")), [404, "There is no such chat."])
    })
  })

  it("L15 what fails while a conversation is opened is told to the log, and to nobody else", async () => {
    const secret = new Error("/var/lib/secret")
    for (const broken of [Effect.fail(secret), Effect.die(secret)]) {
      await withRoutes({ conversation: () => broken }, Everybody, async (server, logged) => {
        assert.deepStrictEqual(await textOf(await get(server, "a")), [
          500,
          "The conversation could not be opened. Try again."
        ])
        assert.deepStrictEqual(logged.filter((line) => line.startsWith("Error")).length, 1)
      })
    }
  })

  it("L15 what fails in a turn is a sentence at the end of its stream", () => {
    const secret = new Error("/var/lib/secret")
    const conversation: typeof make = (id) =>
      Effect.map(make(id, { scope: {} }), (one) => ({ ...one, read: Effect.die(secret) }))
    return withRoutes({ conversation }, Everybody, async (server) => {
      const chunks = await chunksOf(await post(server, saying(`routes-${++count}`, "Hi.")))
      assert.deepStrictEqual(chunks.map((chunk) => chunk.type ?? chunk), ["start", "error", "[DONE]"])
      assert.notInclude(JSON.stringify(chunks), "secret")
    })
  })

  it("L15 no cause reaches a span", async () => {
    const { spans, tracer } = recording()
    const secret = Effect.die(new Error("/var/lib/secret"))
    const routes = UiMessageStream.layer({ conversation: () => secret }).pipe(
      Layer.provide([Everybody, Logger.layer([Logger.tracerLogger])])
    )
    const { dispose, handler } = HttpRouter.toWebHandler(routes, {
      disableLogger: true,
      middleware: (app) => Effect.provideService(Effect.withSpan(app, "request"), Tracer.Tracer, tracer)
    })
    await handler(new Request("http://localhost/api/chat/a"))
    await dispose()
    assert.isAbove(spans.length, 0)
    const seen = spans.map(({ attributes, events, status }) => [[...attributes], events, status])
    assert.notInclude(JSON.stringify(seen, (_, value) => typeof value === "bigint" ? `${value}` : value), "secret")
  })

  it("L1 a decider that fails or dies lets nobody in", async () => {
    for (const broken of [Effect.fail(new Error("secret")), Effect.die(new Error("secret"))]) {
      await withRoutes({ conversation: make }, Decider.layer(() => broken), async (server, logged) => {
        assert.deepStrictEqual(await textOf(await get(server, "a")), [401, "It could not be found out who you are."])
        assert.strictEqual(logged.length, 1)
      })
    }
  })

  it("a decider has the request, and the services of the program", async () => {
    class Sessions extends Context.Service<Sessions, { readonly owner: string }>()("Sessions") {}
    const seen: Array<unknown> = []
    const decider = Decider.layer((request) =>
      Effect.map(Sessions, ({ owner }) => {
        seen.push([owner, request.headers["x-person"]])
        return { scope: {} }
      })
    ).pipe(Layer.provide(Layer.succeed(Sessions, { owner: "ada" })))
    await withRoutes({ conversation: make }, decider, async (server) => {
      await get(server, "a", { headers: { "x-person": "bob" } })
    })
    assert.deepStrictEqual(seen, [["ada", "bob"]])
  })

  it("without anybody who says who asks, routes do not start; a program that wants that says so, and is warned", async () => {
    const routes = UiMessageStream.layer({ conversation: make }) as Layer.Layer<never, never, HttpRouter.HttpRouter>
    const { dispose, handler } = HttpRouter.toWebHandler(routes, { disableLogger: true })
    const refused = await handler(new Request("http://localhost/api/chat/a")).then(
      ({ status }) => status,
      (error) => String(error)
    )
    assert.match(String(refused), /Service not found: @assent\/web\/Decider/)
    await dispose().catch(() => undefined)
    await withRoutes({ conversation: make }, Decider.layerInsecure, async (server, logged) => {
      assert.strictEqual((await get(server, `routes-${++count}`)).status, 200)
      assert.deepStrictEqual(logged, [
        "Warn Assent: the routes let everybody in (`Decider.layerInsecure`)."
      ])
    })
  })
})
