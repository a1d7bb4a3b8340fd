/** What a page is told of what was stopped: by a click that comes too late, as it comes back, and after a reload. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { answering, approvalIdsOf, chunksOf, post, saying } from "./posting.ts"
import { call, cards, gate, history, serve, type Server, until } from "./server.ts"

let count = 0

interface Story {
  readonly server: Server
  readonly id: string
  readonly a: string
  readonly b: string
  /** What the page read that approved the first of two. */
  readonly clicked: Promise<Array<any>>
}

/** Of two calls one runs, and the other is asked about. */
const story = async (tell: (story: Story) => Promise<void>) => {
  const { before } = gate()
  let begun = 0
  const server = serve({
    turns: [[call("c1", "a"), call("c2", "b")], "Never."],
    before: () => Effect.suspend(() => (begun++, before()))
  })
  try {
    const id = `stopping-${++count}`
    const [a, b] = approvalIdsOf(await chunksOf(await post(server, saying(id, "Clean up.")))) as [string, string]
    const clicked = post(server, answering(id, [{ approvalId: a, approved: true }])).then(chunksOf)
    await until(() => begun === 1)
    await tell({ server, id, a, b, clicked })
    assert.deepStrictEqual(server.deleted, [])
  } finally {
    await server.dispose()
  }
}

const stop = (server: Server, id: string) =>
  server.handler(
    new Request(`http://localhost/api/chat/${id}/stop`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}"
    })
  )

/** A click of somebody else, on the second card of a message. */
const late = (id: string, approvalId: string) => {
  const [message] = answering(id, [{ approvalId: "", approved: true }, { approvalId, approved: true }]).messages
  return { id, trigger: "submit-message", messages: [{ ...message, parts: message!.parts.slice(1) }] }
}

const asBob = { headers: { "x-person": "bob" } }

const takenBack = "Cancelled: Somebody stopped it. Nothing ran; it may be asked again."

const cutShort = "The run was stopped before it finished; what it did is unknown. Check before calling again."

const textsIn = (chunks: ReadonlyArray<any>) => chunks.filter(({ type }) => type === "text-delta")

describe("a click on what was stopped", () => {
  it("calls no model, runs nothing, and says what became of the request", () =>
    story(async ({ a, b, clicked, id, server }) => {
      await (await stop(server, id)).json()
      await clicked
      for (const [approvalId, state, reason] of [[b, "failed", takenBack], [a, "unknown", cutShort]] as const) {
        const chunks = await chunksOf(await post(server, late(id, approvalId), asBob))
        assert.deepStrictEqual(textsIn(chunks), [])
        assert.deepInclude(chunks, { type: "tool-output-error", toolCallId: "c2", errorText: reason })
        const fates = chunks.filter(({ type }) => type === "data-approval")
        assert.isNotEmpty(fates)
        for (const { data } of fates) assert.deepInclude(data, { approvalId, state, reason })
        const decidedBy = approvalId === a ? { id: "ada", name: "ADA", via: "conversation" } : undefined
        assert.deepStrictEqual(fates.at(-1).data.decidedBy, decidedBy)
        assert.deepStrictEqual(chunks.slice(-2), [{ type: "finish" }, "[DONE]"])
      }
      const kept = await history(server, id)
      assert.lengthOf(kept, 2)
      assert.isFalse(kept[1]!.parts.some(({ type }) => type === "text"))
    }))

  it("as it is being stopped calls no model either", () =>
    story(async ({ b, clicked, id, server }) => {
      const stopped = stop(server, id)
      const chunks = await post(server, late(id, b), asBob).then(chunksOf)
      await (await stopped).json()
      await clicked
      assert.deepStrictEqual(textsIn(chunks), [])
      assert.deepInclude(chunks, { type: "tool-output-error", toolCallId: "c2", errorText: takenBack })
      assert.deepStrictEqual(cards({ chat: { messages: await history(server, id) } }).map(({ state }) => state), [
        "output-error",
        "output-error"
      ])
    }))
})
