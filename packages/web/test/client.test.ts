/** What the client of npm does by itself, whatever its server says: what is counted against us has to be ours. */
import { assert, describe, it } from "@effect/vitest"
import { call, card, cards, history, open, type Page, serve, type Server, texts } from "./server.ts"

const approve = (page: Page, path: string) =>
  page.chat.addToolApprovalResponse({ id: card(page, path).approval.id, approved: true })

const asking = (path: string) => ({
  type: "tool-DeleteFile",
  toolCallId: `call of ${path}`,
  state: "approval-requested",
  input: { path },
  approval: { id: `request of ${path}` }
})

const messages: Array<any> = [
  { id: "u1", role: "user", parts: [{ type: "text", text: "Clean up." }] },
  { id: "a1", role: "assistant", parts: [asking("a")] },
  { id: "u2", role: "user", parts: [{ type: "text", text: "Go on." }] },
  { id: "a2", role: "assistant", parts: [asking("b")] }
]

/** Settles what is answered in the message that a post goes on with: to say more ends the response (rule 3). */
const settling: Server = {
  deleted: [],
  dispose: () => Promise.resolve(),
  handler: async (request) => {
    const { messageId, messages } = await request.json() as { messageId: string; messages: Array<any> }
    const { parts } = messages.find(({ id }) => id === messageId)
    const chunks = [
      { type: "start" },
      ...parts.flatMap(({ state, toolCallId }: any) =>
        state === "approval-responded" ? [{ type: "tool-output-available", toolCallId, output: "done" }] : []
      ),
      { type: "finish" }
    ]
    return new Response(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(""), {
      headers: { "content-type": "text/event-stream" }
    })
  }
}

describe("the client", () => {
  it("reads a response into one message: where cards of two are answered, it posts once more for the last one", async () => {
    // Answered, and not posted: the response in which it was asked was left.
    const [asked, last] = [messages.slice(0, 3), messages[3]]
    const responded = { ...asking("b"), state: "approval-responded" }
    const page = open(settling, { id: "client", messages: [...asked, { ...last, parts: [responded] }] })
    await approve(page, "a")
    await page.settled()
    assert.deepStrictEqual(page.posts.map(({ messageId }) => messageId), ["a1", "a2"])
    assert.deepStrictEqual(cards(page).map(({ state }) => state), ["output-available", "output-available"])
  })

  it("so our server hears of one decision twice: the second time it decides nothing, and asks no model", async () => {
    const server = serve({ turns: [[call("c1", "a")], [call("c2", "b")], "b is gone."] })
    let isAway = false
    const ada = open(server, {
      id: "client-twice",
      fetch: (request, next) => isAway ? Promise.reject(new TypeError("away")) : next(request)
    })
    await ada.chat.sendMessage({ text: "Clean up." })
    await ada.chat.sendMessage({ text: "Go on." })
    isAway = true
    await approve(ada, "b")
    await ada.settled()
    isAway = false
    await approve(ada, "a")
    await ada.settled()
    const [older, last] = [ada.chat.messages[1]!.id, ada.chat.messages[3]!.id]
    assert.deepStrictEqual(ada.posts.slice(2).map(({ messageId }) => messageId), [last, older, last])
    assert.deepStrictEqual(server.deleted, ["b"])
    assert.deepStrictEqual(cards(ada).map(({ state }) => state), ["output-error", "output-available"])
    assert.deepStrictEqual(texts({ chat: { messages: await history(server, "client-twice") } } as Page), [
      "Clean up.",
      "",
      "Go on.",
      "b is gone."
    ])
    await server.dispose()
  })
})
