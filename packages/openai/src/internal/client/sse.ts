/**
 * The server-sent events of a body, as many at a time as came with one read.
 *
 * The SDK hands over each event through three generators, one promise and more after another, which for a delta costs
 * several times what reading it does.
 */
import * as Sse from "effect/encoding/Sse"
import { constVoid } from "effect/Function"

export interface Reader {
  /** The next messages, at least one; `undefined` at the end. It rejects as the body does. */
  readonly next: () => Promise<ReadonlyArray<Sse.Event> | undefined>
  /** Whether the body has ended: then the last message may be a part of one. */
  readonly hasEnded: () => boolean
  readonly close: () => void
}

/** How much of a read is taken apart at once, in UTF-16 units: a few dozen deltas. */
const portion = 8_192

export const make = (body: ReadableStream<Uint8Array>): Reader => {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let messages: Array<Sse.Event> = []
  const parser = Sse.makeParser((message) => {
    if (message._tag === "Event") messages.push(message)
  }, { maxEventSize: Infinity }) // A picture is one event.
  let text = ""
  let position = 0
  let ended = false

  const take = (): ReadonlyArray<Sse.Event> => {
    while (position < text.length && messages.length === 0) {
      parser.feed(text.slice(position, position + portion))
      position += portion
    }
    const taken = messages
    messages = []
    return taken
  }
  return {
    next: async () => {
      while (true) {
        const taken = take()
        if (taken.length > 0) return taken
        if (ended) return undefined
        const { done, value } = await reader.read()
        ended = done
        // A last event may lack the blank line that ends it.
        text = done ? `${decoder.decode()}\n\n` : decoder.decode(value, { stream: true })
        position = 0
      }
    },
    hasEnded: () => ended,
    close: () => void reader.cancel().catch(constVoid)
  }
}
