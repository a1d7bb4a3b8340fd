/** The server of a test: the routes of `@assent/web`, a page, and who somebody is by a cookie. */
import { Conversation } from "@assent/ai"
import { SqlApproval } from "@assent/sql"
import { Decider, UiMessageStream } from "@assent/web"
import { NodeHttpServer } from "@effect/platform-node"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as Scope from "effect/Scope"
import * as NodeFs from "node:fs"
import { createServer } from "node:http"
import * as NodePath from "node:path"
import * as Agent from "./agent.ts"
import type { World } from "./world.ts"

export interface Options {
  /** The files of the page. */
  readonly folder: string
  readonly port: number
  readonly filename: string
  /** How often a process says that it lives: one that dies is missed after six of them. */
  readonly heartbeat?: number
}

const People = Decider.layer(({ cookies: { person } }) =>
  person === undefined
    ? Effect.fail(new Decider.Refused({ status: 401, message: "Please log in." }))
    : Effect.succeed({ person: { id: person, name: person }, scope: { principal: "team" } })
)

/** Who is there, as our page asks for it. */
const Session = HttpRouter.add("GET", "/session", ({ cookies: { person } }) => {
  const people = ["Ada", "Bob", ...(person === undefined ? [] : [person])].map((name) => ({ id: name, name }))
  return Effect.succeed(HttpServerResponse.jsonUnsafe({ person: people.at(2) ?? null, people }))
})

/** As strict as `npm run web` has it. */
const Secured = HttpRouter.middleware(
  Effect.map(HttpServerResponse.setHeader(
    "content-security-policy",
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none';" +
      " form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
  )),
  { global: true }
)

const types: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml"
}

const files = (folder: string) =>
  HttpRouter.use((router) =>
    Effect.forEach(NodeFs.readdirSync(folder, { recursive: true, encoding: "utf8" }), (name) => {
      const contentType = types[NodePath.extname(name)]
      if (contentType === undefined) return Effect.void
      const text = NodeFs.readFileSync(NodePath.join(folder, name), "utf8")
      const path = name === "index.html" ? "" : name.replaceAll("\\", "/")
      // A page that is loaded again asks for itself alone: all files of a test are the same from its beginning to its end.
      const headers = { "cache-control": path === "" ? "no-cache" : "max-age=600" }
      return router.add("GET", `/${path}`, HttpServerResponse.text(text, { contentType, headers }))
    }, { discard: true })
  )

/** Serves until the scope ends, and says on which port. What happens in a conversation is told to whoever looks at that one. */
export const serve = Effect.fnUntraced(function*(
  worldOf: (chat: string) => World,
  { filename, folder, heartbeat = 1000, port }: Options
): Effect.fn.Return<number, unknown, Scope.Scope> {
  const conversation = (id: string) =>
    Effect.provide(Conversation.make({ id, toolkit: Agent.toolkit }), Agent.layerOf(worldOf(id)))
  const routes = UiMessageStream.layer({ conversation }).pipe(
    Layer.provide([People, SqlApproval.layer({ filename, grace: "1 second", heartbeat })]),
    Layer.merge([files(folder), Session, Secured]),
    Layer.provide(Logger.layer([]))
  )
  const app = HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provideMerge(NodeHttpServer.layer(createServer, { port, gracefulShutdownTimeout: "10 millis" }))
  )
  const context = yield* Layer.buildWithScope(app, yield* Effect.scope)
  const { address } = yield* Effect.provideContext(HttpServer.HttpServer, context)
  return "port" in address ? address.port : port
})
