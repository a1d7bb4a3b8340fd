/**
 * What the client's tests talk to: a `fetch` that answers at once, and an HTTP server on the loopback for whatever is
 * about connections.
 */
import * as OpenAiClient from "@assent/openai/OpenAiClient"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"

/** A key that can be found again wherever it leaks. */
export const key = "sk-proj-Leak0fTheKey_0123456789abcdefghij"

export type Fetch = NonNullable<OpenAiClient.Options["fetch"]>

/** A request as `fetch` got it. */
export interface Sent {
  readonly url: string
  readonly headers: Headers
  readonly body: unknown
  readonly signal: AbortSignal | undefined
}

/** A client whose requests go to `answer`, without retries unless told otherwise. */
export const clientOf = (
  answer: (request: Sent, count: number) => Response | Promise<Response>,
  options?: Partial<OpenAiClient.Options>
) => {
  const requests: Array<Sent> = []
  const fetch: Fetch = async (input, init) => {
    const request: Sent = {
      url: String(input),
      headers: new Headers(init?.headers),
      body: typeof init?.body === "string" ? JSON.parse(init.body) : undefined,
      signal: init?.signal ?? undefined
    }
    requests.push(request)
    return answer(request, requests.length)
  }
  return Effect.map(
    OpenAiClient.make({ apiKey: Redacted.make(key), maxRetries: 0, fetch, ...options }),
    (client) => ({ client, requests })
  )
}

/** A whole response, as the API sends it. */
export const responseBody = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: "gpt-5.2",
  status: "completed",
  output: [{
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "hello", annotations: [] }]
  }]
}

export const json = (body: unknown, init?: ResponseInit): Response =>
  new Response(typeof body === "string" ? body : JSON.stringify(body), {
    status: 200,
    ...init,
    headers: { "content-type": "application/json", ...init?.headers }
  })

export const delta = (text: string, sequence = 0) => ({
  type: "response.output_text.delta",
  item_id: "msg_1",
  output_index: 0,
  content_index: 0,
  delta: text,
  sequence_number: sequence,
  logprobs: []
})

export const completed = { type: "response.completed", sequence_number: 9, response: responseBody }

/** One event as it travels. */
export const sse = (event: { readonly type: string }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

/** A stream of these pieces, one read each. `ends: false` leaves the connection open. */
export const eventStream = (
  pieces: ReadonlyArray<string | Uint8Array>,
  options?: { readonly ends?: boolean; readonly signal?: AbortSignal | undefined; readonly headers?: HeadersInit }
): Response => {
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      options?.signal?.addEventListener("abort", () => controller.error(options.signal?.reason))
      for (const piece of pieces) controller.enqueue(typeof piece === "string" ? encoder.encode(piece) : piece)
      if (options?.ends !== false) controller.close()
    }
  })
  return new Response(body, { headers: options?.headers ?? { "content-type": "text/event-stream" } })
}

/** A server on the loopback, closed with the scope. */
export const serve = (
  handler: (request: Http.IncomingMessage, response: Http.ServerResponse) => void
): Effect.Effect<{ readonly url: string; readonly server: Http.Server }, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly server: Http.Server }>((resume) => {
      const server = Http.createServer((request, response) => {
        // The body is read before an answer, as a server would.
        request.resume().on("end", () => handler(request, response))
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}/v1`, server }))
      })
    }),
    ({ server }) =>
      Effect.callback<void>((resume) => {
        server.closeAllConnections()
        server.close(() => resume(Effect.void))
      })
  )

/** A server that takes a request and never answers it. */
export const serveSilently = Effect.gen(function*() {
  const arrived = yield* Deferred.make<void>()
  const closed = yield* Deferred.make<void>()
  const { url } = yield* serve((_, response) => {
    response.on("close", () => Effect.runFork(Deferred.succeed(closed, undefined)))
    Effect.runFork(Deferred.succeed(arrived, undefined))
  })
  return { url, arrived: Deferred.await(arrived), closed: Deferred.await(closed) }
})
