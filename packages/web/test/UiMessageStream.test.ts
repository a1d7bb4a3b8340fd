/** Stories of one page and another, with the client of `@ai-sdk/react` as it is on npm. */
import { assert, describe, it } from "@effect/vitest"
import { call, card, cards, open, reading, serve, texts } from "./server.ts"

describe("UiMessageStream", () => {
  it("a turn streams, asks, and goes on when all cards are answered", async () => {
    const server = serve({ turns: [[call("c1", "a"), call("c2", "b"), reading("c3", "c")], "a is gone, b stays."] })
    const page = open(server, { id: "chat" })
    await page.chat.sendMessage({ text: "Clean up." })
    assert.deepStrictEqual(cards(page).map(({ state }) => state), [
      "approval-requested",
      "approval-requested",
      "output-available"
    ])
    await page.chat.addToolApprovalResponse({ id: card(page, "a").approval.id, approved: true })
    assert.lengthOf(page.posts, 1)
    await page.chat.addToolApprovalResponse({ id: card(page, "b").approval.id, approved: false, reason: "keep it" })
    await page.settled()
    assert.lengthOf(page.posts, 2)
    assert.deepStrictEqual(server.deleted, ["a"])
    assert.deepStrictEqual(cards(page).map(({ state }) => state), [
      "output-available",
      "output-denied",
      "output-available"
    ])
    assert.deepStrictEqual(texts(page), ["Clean up.", "a is gone, b stays."])
    assert.deepStrictEqual(page.errors, [])
    await server.dispose()
  })
})
