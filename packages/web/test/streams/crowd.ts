/** Many pages that read at once, and one that has stopped reading. */
import * as Http from "node:http"
import { saying } from "../posting.ts"

export interface Read {
  /** Milliseconds from the post to the first byte of the stream, and to its end. */
  readonly firstByte: number
  readonly end: number
  readonly words: number
  readonly isWhole: boolean
}

const requestTo = (port: number, id: string, text: string) =>
  Http.request({
    port,
    host: "127.0.0.1",
    path: "/api/chat",
    method: "POST",
    agent: false,
    headers: { "content-type": "application/json" }
  }).end(JSON.stringify(saying(id, text)))

/** Says something in a conversation of its own, and reads the whole answer. */
export const read = (port: number, id: string): Promise<Read> =>
  new Promise((resolve, reject) => {
    const began = performance.now()
    requestTo(port, id, "Hello.").on("error", reject).on("response", (response) => {
      let firstByte = Number.NaN
      let text = ""
      response.on("error", reject)
      response.setEncoding("utf8").on("data", (piece: string) => {
        if (text === "") firstByte = performance.now() - began
        text += piece
      }).on("end", () =>
        resolve({
          firstByte,
          end: performance.now() - began,
          words: text.split("\"text-delta\"").length - 1,
          isWhole: text.endsWith("data: [DONE]\n\n")
        }))
    })
  })

/** Says something whose answer is larger than any buffer, and never reads it; ends when it is told to. */
export const neverRead = (port: number, id: string): Promise<() => void> =>
  new Promise((resolve, reject) => {
    const request = requestTo(port, id, "all of it").on("error", reject).on("response", (response) => {
      response.pause()
      response.on("error", () => {})
      resolve(() => request.destroy())
    })
  })

/** Over a connection of its own: one that was kept may just be closed by a server that was busy for too long. */
export const get = (port: number, path: string): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    Http.get({ port, host: "127.0.0.1", path, agent: false }, (response) => {
      let text = ""
      response.on("error", reject)
      response.setEncoding("utf8").on("data", (piece: string) => text += piece)
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }))
    }).on("error", reject)
  })

/** Waits until nothing goes on in a conversation any more; whether it was so in time. */
export const ends = async (port: number, id: string, milliseconds: number): Promise<boolean> => {
  const until = performance.now() + milliseconds
  while (performance.now() < until) {
    const messages: Array<any> = JSON.parse((await get(port, `/api/chat/${id}`)).text)
    const text: string = messages.at(-1)?.parts.find(({ type }: any) => type === "text")?.text ?? ""
    const resumed = await fetch(`http://127.0.0.1:${port}/api/chat/${id}/stream`)
    await resumed.body?.cancel()
    if (text !== "" && resumed.status === 204) return true
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return false
}
