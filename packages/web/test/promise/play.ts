/** Starts the server of a file, plays a page of it, and prints what came of it. */
import type * as Http from "node:http"
import { answering, approvalIdsOf, chunksOf, saying } from "../posting.ts"
import * as Chat from "./chat.ts"

const [file = ""] = process.argv.slice(2)
const { server }: { readonly server: Http.Server } = await import(`./${file}`)
if (!server.listening) await new Promise((resolve) => server.once("listening", resolve))
const address = server.address()
const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`

const post = (body: unknown, session = "s-1") =>
  fetch(`${url}/api/chat`, {
    method: "POST",
    headers: { "content-type": "application/json", cookie: `session=${session}` },
    body: JSON.stringify(body)
  })

const get = (path: string) => fetch(url + path, { headers: { cookie: "session=s-1" } })

const [approvalId = ""] = approvalIdsOf(await chunksOf(await post(saying("chat-1", "Clean up."))))
const adas = await Chat.waitingIn("chat-1", { id: "ada", name: "Ada" })
const bobs = await Chat.waitingIn("chat-1", { id: "bob", name: "Bob" })
const answered = await chunksOf(await post(answering("chat-1", [{ approvalId, approved: true }])))
const refused = await post(saying("chat-1", "Hello."), "s-2")
const kept: ReadonlyArray<any> = await (await get("/api/chat/chat-1")).json() as any

console.log(JSON.stringify({
  waiting: [adas.map((request) => request.approvalId === approvalId), bobs],
  text: answered.flatMap(({ delta = "" }) => delta).join(""),
  refused: [refused.status, await refused.text()],
  kept: kept.map(({ role }) => role),
  none: (await get("/api/chat/none/stream")).status,
  others: (await get("/health")).status
}))
server.closeAllConnections()
server.close()
await Chat.dispose()
