/** Chunks as they go over the wire. */
import * as Stream from "effect/Stream"
import type { Chunk } from "./model.ts"

export const headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "connection": "keep-alive",
  "x-vercel-ai-ui-message-stream": "v1",
  "x-accel-buffering": "no"
}

export const encode = (chunks: Stream.Stream<Chunk>): Stream.Stream<Uint8Array> =>
  chunks.pipe(
    // One piece for all that is there.
    Stream.mapArray((some) => [some.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")] as const),
    Stream.concat(Stream.make("data: [DONE]\n\n")),
    Stream.encodeText
  )
