// @ts-check
/** What the page asks the server for. */
import { readAll } from "./reader.js"

/** What was asked for did not come about; the sentence is for people. `status` is 0 where the server was not reached. */
export class Failed extends Error {
  /** @param {number} status @param {string} sentence */
  constructor(status, sentence) {
    super(sentence)
    this.status = status
  }
}

/** How long to wait until an answer begins, in milliseconds: a server that is starting may accept a request and lose it. */
const patience = { asking: 5_000, posting: 40_000 }

/** @param {string} path @param {RequestInit} [init] @param {number} [milliseconds] */
const ask = async (path, init, milliseconds = patience.asking) => {
  const waiting = new AbortController()
  const timer = setTimeout(() => waiting.abort(), milliseconds)
  const signal = AbortSignal.any(init?.signal ? [waiting.signal, init.signal] : [waiting.signal])
  let response
  try {
    response = await fetch(path, { ...init, signal })
  } catch {
    throw new Failed(0, navigator.onLine ? "The server cannot be reached." : "There is no connection.")
  } finally {
    clearTimeout(timer)
  }
  if (response.ok) return response
  const said = await response.text().catch(() => "")
  const isSentence = response.headers.get("content-type")?.startsWith("text/plain") === true && said !== ""
  throw new Failed(response.status, isSentence ? said.slice(0, 500) : `The server answered with ${response.status}.`)
}

/** @param {string} path @param {unknown} body @param {AbortSignal} [signal] */
const post = (path, body, signal) =>
  ask(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal === undefined ? undefined : { signal })
  }, patience.posting)

/**
 * @typedef {{ readonly id: string, readonly name: string }} Person
 * @typedef {{ readonly person: Person | null, readonly people: ReadonlyArray<Person> }} Session
 */

/** Who is logged in. @returns {Promise<Session>} */
export const session = async () => (await ask("/session")).json()

/** @param {string} person @returns {Promise<Session>} */
export const logIn = async (person) => (await post("/session", { person })).json()

/** @returns {Promise<Session>} */
export const logOut = async () => (await ask("/session", { method: "DELETE" })).json()

const chat = "/api/chat"

/** The messages that are kept. @param {string} id @param {AbortSignal} signal */
export const history = async (id, signal) => (await ask(`${chat}/${encodeURIComponent(id)}`, { signal })).json()

/** Stops the turn that is being taken, takes back what is asked, and gives the messages as they are kept then. @param {string} id */
export const stop = async (id) => (await post(`${chat}/${encodeURIComponent(id)}/stop`, {})).json()

/**
 * @typedef {import("./messages.js").Chunk} Chunk
 * @typedef {{ readonly read: (onChunk: (chunk: Chunk) => void) => Promise<void> }} Reading
 */

/** The turn that is being taken, from its beginning. @param {string} id @param {AbortSignal} signal */
export const turn = async (id, signal) => {
  const response = await ask(`${chat}/${encodeURIComponent(id)}/stream`, { signal })
  return response.status === 204 ? undefined : reading(response)
}

/** Says something, or answers. @param {unknown} body @param {AbortSignal} signal */
export const say = async (body, signal) => reading(await post(chat, body, signal))

/** @param {Response} response @returns {Reading} */
const reading = ({ body }) => ({
  read: async (onChunk) => {
    if (body === null) throw new Failed(0, "The server said nothing.")
    await readAll(body, ({ data }) => {
      const chunk = parse(data)
      if (chunk !== undefined) onChunk(chunk)
    })
  }
})

/** @param {string} data @returns {Chunk | undefined} */
const parse = (data) => {
  try {
    const chunk = JSON.parse(data)
    return typeof chunk?.type === "string" ? chunk : undefined
  } catch {
    // `[DONE]`, and whatever else is no chunk.
    return undefined
  }
}
