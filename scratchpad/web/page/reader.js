// @ts-check
/**
 * Reads server-sent events out of bytes, wherever these were cut: in a line, between the two characters that end one, or
 * within a character. https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */

/**
 * @typedef {{ readonly type: string, readonly data: string }} Event
 * @param {(event: Event) => void} onEvent
 * @returns {(bytes: Uint8Array) => void} what takes the bytes
 */
export const makeReader = (onEvent) => {
  const decoder = new TextDecoder()
  let rest = ""
  let type = ""
  /** @type {string | undefined} */
  let data
  let isAfterReturn = false

  /** @param {string} line */
  const take = (line) => {
    if (line === "") {
      if (data !== undefined) onEvent({ type: type || "message", data })
      type = ""
      data = undefined
      return
    }
    const colon = line.indexOf(":")
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1)
    if (field === "data") data = data === undefined ? value : `${data}\n${value}`
    else if (field === "event") type = value
  }

  return (bytes) => {
    const text = decoder.decode(bytes, { stream: true })
    if (text === "") return
    let start = isAfterReturn && text[0] === "\n" ? 1 : 0
    isAfterReturn = text.at(-1) === "\r"
    const ends = /\r\n|\r|\n/g
    ends.lastIndex = start
    for (let end = ends.exec(text); end !== null; end = ends.exec(text)) {
      const line = rest + text.slice(start, end.index)
      rest = ""
      start = ends.lastIndex
      take(line)
    }
    rest += text.slice(start)
  }
}

/**
 * Reads a response to its end. Fails where the connection is lost, or nothing comes for too long: the server sends
 * something every 15 seconds.
 *
 * @param {ReadableStream<Uint8Array>} body
 * @param {(event: Event) => void} onEvent
 * @param {number} [patience] in milliseconds
 */
export const readAll = async (body, onEvent, patience = 45_000) => {
  const read = makeReader(onEvent)
  const reader = body.getReader()
  while (true) {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer
    const silence = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error("Nothing came any more.")), patience)
    })
    try {
      const { done, value } = /** @type {ReadableStreamReadResult<Uint8Array>} */ (
        await Promise.race([reader.read(), silence])
      )
      if (done) return
      read(value)
    } catch (error) {
      reader.cancel().catch(() => {})
      throw error
    } finally {
      clearTimeout(timer)
    }
  }
}
