/** Connections: who came, what they sent, what they were sent, and how it ended. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import * as Http from "node:http"
import type * as Net from "node:net"
import * as Json from "../json.ts"
import * as Refusals from "../request/refusals.ts"
import type { Ending, Reply, Step } from "./wire.ts"
import * as Wire from "./wire.ts"

export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  /** Names in lower case, without `authorization`. */
  readonly headers: Readonly<Record<string, string>>
  readonly authorization: "right" | "wrong" | "missing"
  readonly bytes: Uint8Array
  /** The body as JSON, or `undefined`. */
  readonly body: unknown
}

export interface SentResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
  readonly text: string
  /** How it ended: done, left by the client, broken by the script, or still going on. */
  readonly ended: "open" | "done" | "left" | "cut"
}

export interface Connections {
  readonly opened: number
  readonly closed: number
  readonly open: number
  /** Open, but nothing was ever asked on them: `fetch` opens one in advance when a request was broken off. */
  readonly unused: number
}

export interface Transport {
  readonly port: number
  readonly requests: () => ReadonlyArray<ReceivedRequest>
  readonly responses: () => ReadonlyArray<SentResponse>
  readonly connections: () => Connections
  readonly idle: Effect.Effect<void>
}

export interface Options {
  readonly apiKey: string
  readonly chunkBytes: number | undefined
  readonly record: boolean
  /** Answers one request; `key` is what the client showed as its key. */
  readonly answer: (request: ReceivedRequest, key: string | undefined) => Effect.Effect<Reply>
}

/** What is known of one request and its answer while it goes on. */
interface Exchange {
  status: number
  headers: Readonly<Record<string, string>>
  readonly chunks: Array<Uint8Array>
  ended: SentResponse["ended"]
}

export const make = Effect.fnUntraced(function*(options: Options): Effect.fn.Return<Transport, never, Scope.Scope> {
  const requests: Array<ReceivedRequest> = []
  const exchanges: Array<Exchange> = []
  const sockets = new Set<Net.Socket>()
  const used = new WeakSet<Net.Socket>()
  let opened = 0
  let closed = 0
  let busy = 0
  const waiting = new Set<() => void>()

  const run = yield* FiberSet.makeRuntime<never, void, never>()
  const server = Http.createServer((message, reply) => {
    busy += 1
    if (!used.has(message.socket)) {
      used.add(message.socket)
      opened += 1
    }
    const fiber = run(exchange(message, reply))
    const finished = () => {
      busy -= 1
      if (busy === 0) { for (const wake of waiting) wake() }
    }
    reply.on("close", () => {
      fiber.interruptUnsafe()
      // Who waits for the end of a broken answer wants to see its socket closed too.
      if (reply.writableFinished || message.socket.closed) setImmediate(finished)
      else message.socket.once("close", () => setImmediate(finished))
    })
  })
  server.on("connection", (socket: Net.Socket) => {
    sockets.add(socket)
    socket.on("close", () => {
      sockets.delete(socket)
      if (used.has(socket)) closed += 1
    })
    // Whoever breaks a connection is not our error.
    socket.on("error", () => undefined)
  })

  const exchange = Effect.fnUntraced(function*(message: Http.IncomingMessage, reply: Http.ServerResponse) {
    const bytes = yield* read(message)
    const key = bearer(message)
    const request: ReceivedRequest = {
      method: message.method ?? "GET",
      path: message.url ?? "/",
      headers: headersOf(message),
      authorization: key === undefined ? "missing" : key === options.apiKey ? "right" : "wrong",
      bytes,
      body: Json.parse(new TextDecoder().decode(bytes))?.value
    }
    requests.push(request)
    const number = requests.length
    const record: Exchange = { status: 0, headers: {}, chunks: [], ended: "open" }
    exchanges.push(record)
    reply.on("close", () => {
      if (record.ended === "open") record.ended = reply.writableFinished ? "done" : "left"
    })

    const answer = yield* Effect.catchCause(options.answer(request, key), brokenScript)
    if (answer.before !== undefined) return yield* end(answer.before, reply, record)
    record.status = answer.status
    record.headers = { ...standardHeaders(number), ...answer.headers }
    reply.writeHead(answer.status, record.headers)
    reply.flushHeaders()
    yield* play(answer.steps, reply, record, options)
  })

  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.callback<void>((resume) => {
        const wait = () => {
          if (sockets.size === 0) resume(Effect.void)
          else setImmediate(wait)
        }
        server.close(wait)
        server.closeAllConnections()
      })
  )
  const address = server.address()
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    requests: () => requests.slice(),
    responses: () => exchanges.map(toSent),
    connections: () => ({
      opened,
      closed,
      open: opened - closed,
      unused: sockets.size - (opened - closed)
    }),
    idle: Effect.callback<void>((resume) => {
      const wake = () => {
        waiting.delete(wake)
        resume(Effect.void)
      }
      if (busy === 0) wake()
      else waiting.add(wake)
      return Effect.sync(() => waiting.delete(wake))
    })
  }
})

const toSent = (exchange: Exchange): SentResponse => {
  const bytes = Buffer.concat(exchange.chunks)
  return {
    status: exchange.status,
    headers: exchange.headers,
    bytes,
    text: bytes.toString("utf8"),
    ended: exchange.ended
  }
}

// =============================================================================
// Reading
// =============================================================================

const read = (message: Http.IncomingMessage): Effect.Effect<Uint8Array> =>
  Effect.callback((resume) => {
    const chunks: Array<Uint8Array> = []
    message.on("data", (chunk: Uint8Array) => chunks.push(chunk))
    message.on("end", () => resume(Effect.succeed(Buffer.concat(chunks))))
  })

const bearer = (message: Http.IncomingMessage): string | undefined => {
  const header = message.headers.authorization
  return header === undefined || !header.startsWith("Bearer ") ? undefined : header.slice("Bearer ".length)
}

const headersOf = (message: Http.IncomingMessage): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(message.headers).flatMap(([name, value]) =>
      name === "authorization" || value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]]
    )
  )

const standardHeaders = (number: number): Readonly<Record<string, string>> => ({
  "openai-organization": "org-assent",
  "openai-processing-ms": "1",
  "openai-version": "2020-10-01",
  "x-request-id": `req_${String(number).padStart(8, "0")}`,
  "x-ratelimit-limit-requests": "500",
  "x-ratelimit-limit-tokens": "30000",
  "x-ratelimit-remaining-requests": "499",
  "x-ratelimit-remaining-tokens": "29990",
  "x-ratelimit-reset-requests": "120ms",
  "x-ratelimit-reset-tokens": "20ms"
})

// =============================================================================
// Writing
// =============================================================================

const play = Effect.fnUntraced(function*(
  steps: Iterable<Step>,
  reply: Http.ServerResponse,
  record: Exchange,
  options: Options
): Effect.fn.Return<void> {
  const chunker = makeChunker(options.chunkBytes)
  for (const step of steps) {
    const chunks = step._tag === "Write" ? chunker.add(step.data) : chunker.rest()
    for (const chunk of chunks) {
      if (options.record) record.chunks.push(chunk)
      if (options.chunkBytes !== undefined) yield* written(reply, chunk)
      else if (!reply.write(chunk)) yield* drained(reply)
    }
    switch (step._tag) {
      case "Write":
        break
      case "Run":
        yield* step.effect
        break
      default:
        return yield* end(step, reply, record)
    }
  }
  for (const chunk of chunker.rest()) {
    if (options.record) record.chunks.push(chunk)
    yield* written(reply, chunk)
  }
  reply.end()
})

const end = (ending: Ending, reply: Http.ServerResponse, record: Exchange): Effect.Effect<void> => {
  if (ending._tag === "Stall") return Effect.never
  if (ending.how === "end") {
    return Effect.sync(() => {
      record.ended = "cut"
      reply.end()
    })
  }
  // A `fetch` forgets what it has not handed on when its socket breaks, so a client in this process gets time to read.
  return Effect.andThen(
    turnsOfTheLoop(20),
    Effect.sync(() => {
      record.ended = "cut"
      reply.socket?.destroySoon()
    })
  )
}

const turnsOfTheLoop = (count: number): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const turn = (left: number): void => {
      if (left === 0) resume(Effect.void)
      else setImmediate(turn, left - 1)
    }
    turn(count)
  })

/** A function of the script, or a hosted tool, that dies: the test shall read why, and the client not wait for ever. */
const brokenScript = (cause: Cause.Cause<never>): Effect.Effect<Reply> =>
  Cause.hasInterruptsOnly(cause)
    ? Effect.failCause(cause)
    : Effect.succeed(Wire.refuse(Refusals.scriptFault(Cause.pretty(cause))))

const drained = (reply: Http.ServerResponse): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const wake = () => resume(Effect.void)
    reply.once("drain", wake)
    return Effect.sync(() => reply.off("drain", wake))
  })

/** By itself: what is written in the same turn of the loop Node would send as one chunk. */
const written = (reply: Http.ServerResponse, chunk: Uint8Array): Effect.Effect<void> =>
  Effect.callback((resume) => {
    reply.write(chunk, () => resume(Effect.void))
  })

interface Chunker {
  readonly add: (data: string | Uint8Array) => ReadonlyArray<Uint8Array>
  readonly rest: () => ReadonlyArray<Uint8Array>
}

/** Cuts what is written into pieces of so many bytes, wherever a character or an event may end. */
const makeChunker = (size: number | undefined): Chunker => {
  let pending: Uint8Array = new Uint8Array(0)
  return {
    add: (data) => {
      const bytes = typeof data === "string" ? Buffer.from(data) : data
      if (size === undefined) return [bytes]
      const chunks: Array<Uint8Array> = []
      pending = Buffer.concat([pending, bytes])
      while (pending.length >= size) {
        chunks.push(pending.subarray(0, size))
        pending = pending.subarray(size)
      }
      return chunks
    },
    rest: () => {
      const rest = pending
      pending = new Uint8Array(0)
      return rest.length === 0 ? [] : [rest]
    }
  }
}
