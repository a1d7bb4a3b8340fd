/** Requests without a client: what a program that means harm would post. */
import type { Server } from "./server.ts"

export interface PostOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export const post = (server: Server, body: unknown, { headers }: PostOptions = {}): Promise<Response> =>
  server.handler(
    new Request("http://localhost/api/chat", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body)
    })
  )

export const get = (server: Server, path: string, { headers }: PostOptions = {}): Promise<Response> =>
  server.handler(new Request(`http://localhost/api/chat/${path}`, { headers: { ...headers } }))

/** The chunks of a response, and `[DONE]` at its end. */
export const chunksOf = async (response: Response): Promise<Array<any>> =>
  (await response.text()).split("\n\n").filter((line) => line !== "").map((line) => {
    const data = line.slice("data: ".length)
    return data === "[DONE]" ? data : JSON.parse(data)
  })

export const saying = (id: string, text: string) => ({
  id,
  trigger: "submit-message",
  messages: [{ id: "u1", role: "user", parts: [{ type: "text", text }] }]
})

/** Answers, as a page has them in a message of the assistant. */
export const answering = (
  id: string,
  answers: ReadonlyArray<{ readonly approvalId: string; readonly approved: boolean; readonly input?: unknown }>,
  others: object = {}
) => ({
  id,
  trigger: "submit-message",
  messages: [{
    id: "assistant-1",
    role: "assistant",
    parts: answers.map(({ approvalId, approved, input = { path: "a" } }, index) => ({
      type: "tool-DeleteFile",
      toolCallId: `c${index + 1}`,
      state: "approval-responded",
      input,
      approval: { id: approvalId, approved }
    }))
  }],
  ...others
})

export const approvalIdsOf = (chunks: ReadonlyArray<any>): ReadonlyArray<string> =>
  chunks.flatMap((chunk) => chunk.type === "tool-approval-request" ? [chunk.approvalId] : [])
