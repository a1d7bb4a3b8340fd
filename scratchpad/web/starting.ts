/**
 * A server of Node's that keeps a request until somebody takes it. `NodeHttpServer` listens before the routes are there, as
 * it gives them its address; Node drops what nobody takes without an answer, and its page would wait for one.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"

export const createPatientServer = (): Server => {
  const server = createServer()
  const early: Array<readonly [IncomingMessage, ServerResponse]> = []
  const keep = (request: IncomingMessage, response: ServerResponse) => void early.push([request, response])
  const onListener = (event: string | symbol) => {
    if (event !== "request") return
    server.off("newListener", onListener)
    // Node tells of a listener before it is there.
    queueMicrotask(() => {
      server.off("request", keep)
      for (const [request, response] of early) server.emit("request", request, response)
    })
  }
  server.on("request", keep)
  server.on("newListener", onListener)
  return server
}
