import type { IncomingMessage, ServerResponse } from "node:http"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { handler } from "./chat.ts"

/** Answers a request of Node's own server, or of Express, which cuts the address. */
export const respond = async (
  incoming: IncomingMessage & { readonly originalUrl?: string },
  outgoing: ServerResponse
): Promise<void> => {
  const leaving = new AbortController()
  outgoing.once("close", () => leaving.abort())
  const { headers, method = "GET", originalUrl, url = "/" } = incoming
  const options: RequestInit & { readonly duplex: "half" } = {
    method,
    headers: headers as Record<string, string>,
    body: method === "GET" || method === "HEAD" ? null : Readable.toWeb(incoming) as ReadableStream<Uint8Array>,
    signal: leaving.signal,
    duplex: "half"
  }
  const response = await handler(new Request(new URL(originalUrl ?? url, "http://localhost"), options))
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  // Who leaves in the middle of a stream is no error: the turn goes on.
  if (response.body === null) outgoing.end()
  else await pipeline(Readable.fromWeb(response.body as never), outgoing).catch(() => undefined)
}
