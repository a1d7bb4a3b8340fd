/** Messages that have never arrived, or waited in a process that died: the client goes on with answers, as on npm. */
import { assert, describe, it } from "@effect/vitest"
import { call, card, gate, history, open, type PageOptions, serve, texts, until } from "./server.ts"

let count = 0

const approve = (page: ReturnType<typeof open>, path: string) =>
  page.chat.addToolApprovalResponse({ id: card(page, path).approval.id, approved: true })

describe("what was not heard", () => {
  it("is said with the answers of the message that the page has read since, and the model reads both at once", async () => {
    const { before, open: release } = gate()
    const turns = [[call("c1", "a")], [call("c2", "b")], "Both are gone, and I waited."]
    const server = serve({ turns, before })
    const id = `unsaid-${++count}`
    let isAway = true
    const fetch: PageOptions["fetch"] = (request, next) =>
      isAway ? Promise.reject(new TypeError("away")) : next(request)
    const ada = open(server, { id })
    await ada.chat.sendMessage({ text: "Clean up." })
    const click = approve(ada, "a")
    await until(() => ada.posts.length === 2)
    const bob = open(server, { id, person: "bob", fetch })
    await bob.chat.sendMessage({ text: "Wait." })
    isAway = false
    const resumed = bob.chat.resumeStream()
    await until(() => bob.chat.messages.length === 2)
    release()
    await Promise.all([click, resumed, ada.settled(), bob.settled()])
    await bob.chat.addToolApprovalResponse({ id: card(bob, "b").approval.id, approved: false })
    await bob.settled()
    assert.deepStrictEqual(texts(bob), ["Wait.", "Both are gone, and I waited."])
    assert.deepStrictEqual([bob.posts.length, server.deleted], [2, ["a"]])
    const kept = await history(server, id)
    assert.deepStrictEqual(texts({ chat: { messages: kept } } as never), [
      "Clean up.",
      "",
      "Wait.",
      "Both are gone, and I waited."
    ])
    assert.strictEqual(kept[2]?.id, bob.chat.messages[0]?.id)
    assert.deepStrictEqual(card(bob, "b").state, "output-denied")
    await server.dispose()
  })
})
