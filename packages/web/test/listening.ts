/** Routes behind a real server of `node:http`, on a port of its own. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { createServer } from "node:http"

export const listening = async (routes: Layer.Layer<never, never, HttpRouter.HttpRouter>) => {
  const scope = Scope.makeUnsafe()
  const app = HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, gracefulShutdownTimeout: "1 second" }))
  )
  const context = await Effect.runPromise(Layer.buildWithScope(app, scope))
  const { address } = await Effect.runPromise(Effect.provideContext(HttpServer.HttpServer, context))
  const port = "port" in address ? address.port : 0
  const base = `http://127.0.0.1:${port}/api/chat`
  return {
    port,
    post: (body: unknown, signal: AbortSignal | null = null) =>
      fetch(base, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
        signal
      }),
    get: (path: string) => fetch(`${base}/${path}`),
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
