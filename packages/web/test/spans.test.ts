/** L15 What is said, asked, changed and found out stands in no span: not in an attribute, an event or an error. */
import { AiError } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpMiddleware from "effect/http/HttpMiddleware"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Tracer from "effect/Tracer"
import { answering, approvalIdsOf, chunksOf, get, post, type PostOptions, saying } from "./posting.ts"
import { recording } from "./recording.ts"
import { call, routesOf, type Server, type ServerOptions } from "./server.ts"

let count = 0

/** Every span of a server, with its requests, and all that stands in it. */
const recorded = async (
  options: Pick<ServerOptions, "turns" | "before">,
  tell: (server: Server, id: string) => Promise<void>
) => {
  const { spans, tracer } = recording()
  // What a turn does goes on with the services of the routes, and not with those of a request.
  const { deleted, routes } = routesOf({ ...options, services: Layer.succeed(Tracer.Tracer, tracer) })
  const { dispose, handler } = HttpRouter.toWebHandler(routes, {
    disableLogger: true,
    middleware: (app) => Effect.provideService(HttpMiddleware.tracer(app), Tracer.Tracer, tracer)
  })
  try {
    await tell({ handler: (request) => handler(request), dispose, deleted }, `spans-${++count}`)
  } finally {
    await dispose()
  }
  // What an exporter takes of a span: of what came out of it, the failures.
  const seen = spans.map(({ attributes, events, links, name, status }) => [
    name,
    [...attributes],
    events,
    links.map(({ attributes }) => attributes),
    status._tag === "Ended" && Exit.isFailure(status.exit) ? [status.exit.cause, Cause.pretty(status.exit.cause)] : []
  ])
  const text = JSON.stringify(
    seen,
    (_, value) =>
      typeof value === "bigint" ? String(value) : value instanceof Error ? [value.message, value.stack] : value
  )
  return { names: spans.map(({ name }) => name), text }
}

const session: PostOptions = { headers: { cookie: "session=SECRET-cookie", authorization: "Bearer SECRET-token" } }

// What a provider fails with stands in the span of effect's own `LanguageModel.streamText`.
const failure = AiError.make({
  module: "test",
  method: "streamText",
  reason: new AiError.UnknownError({ description: "It is overloaded." })
})

describe("spans", () => {
  it("of messages, answers, edits, results, denials and failures hold none of it", async () => {
    const { names, text } = await recorded({
      turns: [[call("c1", "SECRET-a"), call("c2", "SECRET-b"), call("c3", "SECRET-c")], "SECRET-reply", failure],
      before: (path) => path === "SECRET-b" ? Effect.fail("SECRET-failure") : Effect.void
    }, async (server, id) => {
      const asked = approvalIdsOf(await chunksOf(await post(server, saying(id, "SECRET-said"), session)))
      assert.lengthOf(asked, 3)
      const body = answering(id, asked.map((approvalId, index) => ({ approvalId, approved: index < 2 })), {
        details: {
          [asked[0]!]: { params: { path: "SECRET-edit" }, note: "SECRET-note" },
          [asked[2]!]: { note: "SECRET-reason" }
        }
      })
      const answered = JSON.stringify(await chunksOf(await post(server, body, session)))
      assert.include(answered, "SECRET-reply")
      assert.deepStrictEqual(server.deleted, ["SECRET-edit"])
      await chunksOf(await post(server, { ...saying(id, "SECRET-more"), id }, session))
      await (await get(server, id, session)).text()
      await (await get(server, `${id}/stream`, session)).text()
      await (await post(server, "{ SECRET-no-json", session)).text()
    })
    assert.includeMembers(names, ["POST", "GET", "Conversation.turn"])
    assert.notMatch(text, /SECRET/)
  })
})
