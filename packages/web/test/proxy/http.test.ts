/** Over real connections: several who decide at once, readers who leave, a server that ends. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import { createServer } from "node:http"
import { recording } from "../recording.ts"
import { call, newId, type Options, routesOf, told } from "./server.ts"

const listening = async (options: Options, tracer?: Tracer.Tracer) => {
  const { deleted, routes } = routesOf(options)
  const scope = Scope.makeUnsafe()
  const app = HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provide(tracer === undefined ? Layer.empty : Layer.succeed(Tracer.Tracer, tracer)),
    Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, gracefulShutdownTimeout: "100 millis" }))
  )
  const context = await Effect.runPromise(Layer.buildWithScope(app, scope))
  const { address } = await Effect.runPromise(Effect.provideContext(HttpServer.HttpServer, context))
  const base = `http://127.0.0.1:${"port" in address ? address.port : 0}/conversations`
  const request = (path: string, body: unknown, headers: Record<string, string>, signal: AbortSignal | null = null) =>
    fetch(`${base}/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
      signal
    })
  const post = (path: string, body: unknown, person = "ada", signal?: AbortSignal) =>
    request(path, body, { "x-person": person }, signal)
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${base}/${path}`, { headers })
  return {
    deleted,
    post,
    get,
    request,
    /** The id of the first request that is open, when something was said. */
    asked: async (id: string) => {
      await (await post(`${id}/messages`, { text: "Clean up." })).text()
      const { body } = await told(get(`${id}/requests`))
      return body.map(({ approvalId }: any) => approvalId)
    },
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

const within = async (options: Options, tell: (server: Awaited<ReturnType<typeof listening>>) => Promise<void>) => {
  const server = await listening(options)
  try {
    await tell(server)
  } finally {
    await server.close()
  }
}

/** Something that a tool waits for, and that has begun. */
const gate = () => {
  let release = () => {}
  const released = new Promise<void>((resolve) => release = resolve)
  let begin = () => {}
  const begun = new Promise<void>((resolve) => begin = resolve)
  return { begun, release: () => release(), before: () => Effect.promise(() => (begin(), released)) }
}

const people = ["ada", "bob", "cleo", "dan"]

const everybody = (approvalId: string) =>
  people.map((person, index) => [person, { approvalId, approved: index % 2 === 0 }] as const)

describe("over HTTP", () => {
  it("L2 of all who decide at once one is told that it counts, and the others what counted, and whose it was", () =>
    within({ turns: Array.from({ length: 5 }, () => [[call("c1", "a")], "Done."]).flat() }, async (server) => {
      for (let times = 0; times < 5; times++) {
        const id = newId()
        const [approvalId] = await server.asked(id)
        const before = server.deleted.length
        const told = await Promise.all(
          everybody(approvalId).map(async ([person, answer]) => {
            const response = await server.post(`${id}/decisions`, answer, person)
            return { person, approved: answer.approved, status: response.status, body: await response.json() as any }
          })
        )
        const [first, ...none] = told.filter(({ status }) => status === 200)
        assert.deepStrictEqual([none, told.filter(({ status }) => status === 409).length], [[], people.length - 1])
        const state = first!.approved ? "done" : "denied"
        assert.strictEqual(first!.body.answers[0].state, state)
        assert.strictEqual(server.deleted.length - before, first!.approved ? 1 : 0)
        for (const { body, status } of told) {
          if (status === 200) continue
          assert.deepStrictEqual([body._tag, body.state, body.decidedBy.id], ["AlreadyDecided", state, first!.person])
        }
      }
    }))

  it("who leaves while a tool runs does not stop it, and who follows reads all of it", async () => {
    const { before, begun, release } = gate()
    await within({ turns: [[call("c1", "a")], "a is gone."], before }, async (server) => {
      const id = newId()
      const [approvalId] = await server.asked(id)
      const controller = new AbortController()
      const answers = [{ approvalId, approved: true }]
      const leaving = server.post(`${id}/messages`, { answers }, "ada", controller.signal)
      await begun
      controller.abort()
      await leaving.then((response) => response.text()).catch(() => undefined)
      const { body } = await told(server.get(`${id}/messages`))
      assert.isTrue(body.isTurnTaken)
      const following = await server.get(`${id}/turn`)
      release()
      const text = await following.text()
      const parts = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!))
      assert.strictEqual(parts[0].type, "turn-start")
      assert.strictEqual(parts.find(({ type }) => type === "tool-result").approvalId, approvalId)
      assert.strictEqual(
        parts.flatMap(({ delta, type }) => type === "text-delta" ? [delta] : []).join(""),
        "a is gone."
      )
      assert.strictEqual(parts.at(-1).type, "turn-end")
      assert.deepStrictEqual(server.deleted, ["a"])
      const state = await told(server.get(`${id}/requests/state?approvalId=${encodeURIComponent(approvalId)}`))
      assert.deepStrictEqual([state.body.state, state.body.decidedBy.id], ["done", "ada"])
      assert.strictEqual((await server.get(`${id}/turn`)).status, 204)
    })
  })

  it("who decides and leaves has decided", async () => {
    const { before, begun, release } = gate()
    await within({ turns: [[call("c1", "a")], "a is gone."], before }, async (server) => {
      const id = newId()
      const [approvalId] = await server.asked(id)
      const controller = new AbortController()
      const leaving = server.post(`${id}/decisions`, { approvalId, approved: true }, "ada", controller.signal)
      await begun
      controller.abort()
      await leaving.catch(() => undefined)
      release()
      await (await server.get(`${id}/turn`)).text()
      assert.deepStrictEqual(server.deleted, ["a"])
    })
  })

  it("a server that ends in the middle of a stream ends the stream, and what was answered is kept", async () => {
    const { before, begun, release } = gate()
    const server = await listening({ turns: [[call("c1", "a")], "a is gone."], before })
    const id = newId()
    const [approvalId] = await server.asked(id)
    const reading = server.post(`${id}/messages`, { answers: [{ approvalId, approved: true }] })
      .then((response) => response.text()).catch(() => "cut")
    await begun
    await server.close()
    assert.notInclude(await reading, "turn-end")
    release()
    await within({ turns: ["Welcome back."] }, async (again) => {
      const { body } = await told(again.get(`${id}/messages`))
      assert.strictEqual(body.messages[0].content[0].text, "Clean up.")
      const { body: state, status } = await told(
        again.get(`${id}/requests/state?approvalId=${encodeURIComponent(approvalId)}`)
      )
      assert.strictEqual(status, 200)
      assert.notStrictEqual(state.state, "open")
    })
  })

  it("no credential and nothing that was said reaches a span", async () => {
    const { spans, tracer } = recording()
    const server = await listening({ turns: [[call("c1", "secret.txt")], "It is secret."] }, tracer)
    try {
      const id = newId()
      const headers = { authorization: "Bearer secret", cookie: "session=secret" }
      await (await server.request(`${id}/messages`, { text: "The secret." }, headers)).text()
      const { body: [{ approvalId }] } = await told(server.get(`${id}/requests`, headers))
      await (await server.request(`${id}/decisions`, { approvalId, approved: true, reason: "secret" }, headers)).text()
      await (await server.get(`${id}/messages`, headers)).text()
    } finally {
      await server.close()
    }
    assert.isTrue(spans.some(({ name }) => name === "POST"), spans.map(({ name }) => name).join())
    // What a span succeeded with is exported by nobody.
    const seen = spans.map(({ attributes, events, name, status }) => [
      name,
      [...attributes],
      events,
      status._tag === "Ended" && Exit.isFailure(status.exit) ? status.exit : undefined
    ])
    assert.notInclude(JSON.stringify(seen, (_, value) => typeof value === "bigint" ? `${value}` : value), "secret")
  })

  it("L4 another conversation's request is unknown, and nobody sees a conversation of another scope", () =>
    within({ turns: [[call("c1", "a")], "Done."] }, async (server) => {
      const id = newId()
      const [approvalId] = await server.asked(id)
      const answer = { approvalId, approved: true }
      const state = `requests/state?approvalId=${encodeURIComponent(approvalId)}`
      const elsewhere: ReadonlyArray<readonly [string, Record<string, string>]> = [
        [newId(), {}],
        [id, { "x-principal": "others" }],
        [id, { "x-tenant": "others" }]
      ]
      for (const [other, headers] of elsewhere) {
        for (const path of ["decisions", "answers"]) {
          const response = await told(server.request(`${other}/${path}`, { ...answer, answer: 1 }, headers))
          assert.deepStrictEqual([response.status, response.body._tag], [404, "UnknownRequest"])
        }
        assert.strictEqual((await server.get(`${other}/${state}`, headers)).status, 404)
        const { body } = await told(server.get(`${other}/messages`, headers))
        assert.deepStrictEqual(body, { messages: [], pending: [], isTurnTaken: false })
        assert.deepStrictEqual((await told(server.get(`${other}/requests`, headers))).body, [])
      }
      assert.deepStrictEqual(server.deleted, [])
      assert.strictEqual((await server.post(`${id}/decisions`, answer)).status, 200)
      assert.deepStrictEqual(server.deleted, ["a"])
    }))
})
