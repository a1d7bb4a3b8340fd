/** What is posted: what cannot be read, what is too much, and what comes from another site. */
import type { Approval } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { request } from "../wire/parts.ts"
import { play, post, type Server, told } from "./server.ts"

const played = async (
  tell: (server: Server, started: Array<any>) => Promise<void>,
  settings = {},
  pending: ReadonlyArray<Approval.ApprovalRequest> = []
) => {
  const started: Array<any> = []
  const server = play({
    start: (prompt, options) => {
      started.push({ prompt, ...options })
      return Effect.succeed({
        messageId: "m-1",
        parts: Stream.empty,
        outcome: Effect.succeed({ _tag: "Completed", text: "", refused: [] })
      })
    },
    pending: () => Effect.succeed(pending),
    cancel: () => Effect.sync(() => void started.push("cancelled"))
  }, { settings })
  try {
    await tell(server, started)
  } finally {
    await server.dispose()
  }
}

const said = async (response: Response | Promise<Response>) => {
  const { body, status } = await told(response)
  return [status, body?._tag]
}

const paths = ["a/messages", "a/decisions", "a/answers", "a/cancel"]

const deep = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`

describe("bodies", () => {
  it("what is no JSON, or not what is taken, is a 422 that says what is wrong, and nothing is done", () =>
    played(async (server, started) => {
      for (const path of paths) {
        for (const body of ["{", "", "null", "1", "\"x\"", "{\"text\":1,\"approvalId\":1,\"reason\":1}"]) {
          assert.deepStrictEqual(await said(post(server, path, body)), [422, "Unprocessable"], `${path} ${body}`)
        }
      }
      const { body } = await told(post(server, "a/messages", { text: 1 }))
      assert.deepStrictEqual(body.issues[0].path, ["text"])
      assert.deepStrictEqual(await said(post(server, "a/messages", { text: " \n" })), [422, "Unprocessable"])
      assert.deepStrictEqual(await said(post(server, "a/messages", { messageId: "x".repeat(257) })), [
        422,
        "Unprocessable"
      ])
      assert.deepStrictEqual(await said(post(server, "a/decisions", [{ approved: true }])), [422, "Unprocessable"])
      const many = Array.from({ length: 101 }, (_, index) => ({ approvalId: `id-${index}`, approved: true }))
      assert.deepStrictEqual(await said(post(server, "a/decisions", many)), [422, "Unprocessable"])
      assert.deepStrictEqual(started, [])
    }))

  it("one answer that cannot be read goes on to be refused by itself, and voids no other", () =>
    played(async (server, started) => {
      const answers = [{ approvalId: "id-1", decision: "yes" }, { approvalId: "id-2", approved: true }]
      assert.strictEqual((await post(server, "a/decisions", answers)).status, 200)
      await (await post(server, "a/messages", { text: "Hi.", answers })).text()
      assert.deepStrictEqual(started.map(({ answers }) => answers), [answers, answers])
    }))

  it("an answer that is for no person is a 422 where nothing else is said, and begins no turn", () =>
    played(
      async (server, started) => {
        const answers = [{ approvalId: "id-1", approved: true }]
        assert.deepStrictEqual(await said(post(server, "a/messages", { answers })), [422, "Unprocessable"])
        assert.deepStrictEqual(started, [])
      },
      {},
      [request("id-1", "c1", { interaction: "webhook" })]
    ))

  it("what is nested so deep that to read it could break the server is a 422", () =>
    played(async (server, started) => {
      for (const depth of [101, 10_000, 200_000]) {
        const body = `{"approvalId":"id-1","answer":${deep(depth)},"decision":{"_tag":"Approved","params":${
          deep(depth)
        }}}`
        for (const path of ["a/decisions", "a/answers"]) {
          assert.deepStrictEqual(await said(post(server, path, body)), [422, "Unprocessable"])
        }
      }
      assert.deepStrictEqual(started, [])
    }))

  it("what is too large is a 413 and is not read, whether it says so before or not", () =>
    played(async (server, started) => {
      for (const path of paths) {
        const { body, status } = await told(post(server, path, { text: "x".repeat(1_000) }))
        assert.deepStrictEqual([status, body._tag, body.maxBytes], [413, "TooLarge", 1_000])
      }
      let sent = 0
      const endless = new ReadableStream({
        pull: (controller) => {
          sent += 1_000
          controller.enqueue(new TextEncoder().encode("x".repeat(1_000)))
        }
      })
      const request = new Request("http://localhost/conversations/a/messages", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: endless,
        duplex: "half"
      } as RequestInit)
      assert.deepStrictEqual(await said(server.handler(request)), [413, "TooLarge"])
      assert.isBelow(sent, 100_000)
      assert.deepStrictEqual(started, [])
    }, { maxBodyBytes: 1_000 }))

  it("an id that is too long for a route is a 404, and a state without an id a 422", () =>
    played(async (server) => {
      assert.strictEqual((await post(server, `${"x".repeat(101)}/messages`, { text: "Hi." })).status, 404)
      const state = server.handler(new Request("http://localhost/conversations/a/requests/state"))
      assert.deepStrictEqual(await said(state), [422, "Unprocessable"])
    }))

  it("who says something is never read from what is posted", () =>
    played(async (server, started) => {
      const forged = { by: { id: "eve" }, decidedBy: { id: "eve" }, person: { id: "eve" }, scope: { principal: "eve" } }
      await (await post(server, "a/messages", { text: "Hi.", ...forged })).text()
      await post(server, "a/decisions", { approvalId: "id-1", approved: true, ...forged })
      await post(server, "a/answers", { approvalId: "id-1", answer: 1, ...forged })
      assert.deepStrictEqual(started.map(({ by }) => by), Array.from({ length: 3 }, () => ({ id: "ada", name: "ADA" })))
    }))
})

describe("another site", () => {
  // What a page of another site can send with the cookies of whoever looks at it, without asking the server before.
  const simple: ReadonlyArray<readonly [string, RequestInit]> = [
    ["a form", { body: new URLSearchParams({ text: "Hi.", approvalId: "id-1", approved: "true" }) }],
    ["a form with files", { body: form() }],
    ["a text", { body: "{\"text\":\"Hi.\"}", headers: { "content-type": "text/plain" } }],
    ["a text that looks like JSON", {
      body: "{\"text\":\"Hi.\"}",
      headers: { "content-type": "text/plain; application/json" }
    }],
    ["what says nothing of itself", { body: new Blob(["{\"text\":\"Hi.\"}"]) }],
    ["nothing", {}]
  ]

  it.each(simple)("cannot post: %s", (_, init) =>
    played(async (server, started) => {
      for (const path of paths) {
        const request = new Request(`http://localhost/conversations/${path}`, { method: "POST", ...init })
        assert.deepStrictEqual(await said(server.handler(request)), [415, "NotJson"], path)
      }
      assert.deepStrictEqual(started, [])
    }))

  it("is not allowed to ask either", () =>
    played(async (server) => {
      const headers = {
        "origin": "https://evil.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type"
      }
      const request = new Request("http://localhost/conversations/a/messages", { method: "OPTIONS", headers })
      const response = await server.handler(request)
      assert.isNull(response.headers.get("access-control-allow-origin"))
    }))
})

function form() {
  const form = new FormData()
  form.set("text", "Hi.")
  return form
}
