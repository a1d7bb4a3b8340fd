/** What a page is told of what was stopped: by a click that comes too late, as it comes back, and after a reload. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { answering, approvalIdsOf, chunksOf, get, post, saying } from "./posting.ts"
import * as Cluster from "./random/cluster.ts"
import { call, cards, gate, history, serve, type Server, type ServerOptions, until } from "./server.ts"

let count = 0

interface Story {
  readonly server: Server
  /** Where somebody else is: the same, or another one over the same database. */
  readonly other: Server
  readonly id: string
  readonly a: string
  readonly b: string
  /** What the page read that approved the first of two. */
  readonly clicked: Promise<Array<any>>
  /** Until the run is being stopped. */
  readonly stopping: () => Promise<void>
  /** Lets it end. */
  readonly release: () => void
}

/** Of two calls one runs, and the other is asked about. Where a run is slow to end, it waits until it is let go. */
const story = async (tell: (story: Story) => Promise<void>, { areTwo = false, isSlow = false } = {}) => {
  const { before: end, open: release } = gate()
  if (!isSlow) release()
  let begun = 0
  let ending = 0
  const run = Effect.onInterrupt(Effect.suspend(() => (begun++, Effect.never)), () => {
    ending++
    return end()
  })
  const options = { turns: [[call("c1", "a"), call("c2", "b")], "Never."], before: () => run }
  const { deleted, dispose, servers: [server, other] } = areTwo ? Cluster.make(options) : alone(options)
  try {
    const id = `stopping-${++count}`
    const [a, b] = approvalIdsOf(await chunksOf(await post(server, saying(id, "Clean up.")))) as [string, string]
    const clicked = post(server, answering(id, [{ approvalId: a, approved: true }])).then(chunksOf)
    await until(() => begun === 1)
    await tell({ server, other, id, a, b, clicked, release, stopping: () => until(() => ending === 1) })
    assert.deepStrictEqual([begun, deleted()], [1, []])
  } finally {
    release()
    await dispose()
  }
}

const alone = (options: ServerOptions): Pick<Cluster.Cluster, "servers" | "deleted" | "dispose"> => {
  const server = serve(options)
  return { servers: [server, server], deleted: () => server.deleted, dispose: server.dispose }
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
    story(async ({ b, clicked, id, release, server, stopping }) => {
      const stopped = stop(server, id)
      await stopping()
      const posted = await post(server, late(id, b), asBob)
      release()
      const chunks = await chunksOf(posted)
      await (await stopped).json()
      await clicked
      assert.deepStrictEqual(textsIn(chunks), [])
      assert.deepInclude(chunks, { type: "tool-output-error", toolCallId: "c2", errorText: takenBack })
      assert.deepStrictEqual(cards({ chat: { messages: await history(server, id) } }).map(({ state }) => state), [
        "output-error",
        "output-error"
      ])
    }, { isSlow: true }))
})

/** The cards that a response makes: how each stands, and what it says. */
const shownIn = (chunks: ReadonlyArray<any>) => {
  const shown = new Map<string, ReadonlyArray<unknown>>()
  for (const { errorText, toolCallId, type } of chunks) {
    if (type?.startsWith("tool-") && toolCallId !== undefined) shown.set(toolCallId, [type, errorText])
  }
  return Object.fromEntries(shown)
}

const fatesIn = (parts: ReadonlyArray<any>) =>
  Object.fromEntries(parts.flatMap(({ data, type }) => type === "data-approval" ? [[data.toolCallId, data.state]] : []))

const stoppedCards = { c1: ["tool-output-error", cutShort], c2: ["tool-output-error", takenBack] }

const closing = "This is not asked any more. What became of it is not in the conversation yet."

const stoppedFates = { c1: "unknown", c2: "failed" }

describe("what was stopped", () => {
  it("is told to whoever reads the turn, in a sentence, with what became of each card", () =>
    story(async ({ clicked, id, release, server, stopping }) => {
      const reader = (await get(server, `${id}/stream`)).body!.getReader()
      const read: Array<string> = []
      const decoder = new TextDecoder()
      const readOn = async () => {
        const { done, value } = await reader.read()
        if (value !== undefined) read.push(decoder.decode(value))
        return !done
      }
      await readOn()
      const stopped = stop(server, id)
      await stopping()
      release()
      while (await readOn());
      await (await stopped).json()
      const reading = await chunksOf(new Response(read.join("")))
      for (const chunks of [await clicked, reading]) {
        assert.deepStrictEqual(chunks.slice(-2), [
          { type: "error", errorText: "Somebody stopped it. What it did before is in the history." },
          "[DONE]"
        ])
      }
      assert.deepStrictEqual(shownIn(reading), stoppedCards)
      assert.deepStrictEqual(fatesIn(reading), stoppedFates)
      assert.deepStrictEqual(shownIn(await clicked), { c1: stoppedCards.c1 })
    }, { isSlow: true }))

  it("is told to who comes back as the history has it, while it is being stopped and afterwards", () =>
    story(async ({ clicked, id, release, server, stopping }) => {
      const stopped = stop(server, id)
      await stopping()
      const meanwhile = get(server, `${id}/stream`).then(chunksOf)
      release()
      const given = await (await stopped).json()
      const afterwards = await get(server, `${id}/stream`).then(chunksOf)
      for (const chunks of [await meanwhile, afterwards]) {
        assert.deepStrictEqual(shownIn(chunks), stoppedCards)
        assert.deepStrictEqual(fatesIn(chunks), stoppedFates)
        assert.deepStrictEqual(chunks.slice(-2), [{ type: "finish" }, "[DONE]"])
      }
      await clicked
      for (const messages of [given, await history(server, id)]) {
        assert.deepStrictEqual(fatesIn(messages[1]!.parts), stoppedFates)
        assert.deepStrictEqual(cards({ chat: { messages } }).map(({ errorText }) => errorText), [cutShort, takenBack])
      }
    }, { isSlow: true }))

  it("by another server is told as well to who reads the turn, and who comes back", () =>
    story(async ({ clicked, id, other, release, server, stopping }) => {
      const stopped = stop(other, id)
      await stopping()
      const meanwhile = get(server, `${id}/stream`).then(chunksOf)
      release()
      await clicked
      const afterwards = await get(server, `${id}/stream`).then(chunksOf)
      assert.deepStrictEqual(shownIn(afterwards), stoppedCards)
      assert.deepStrictEqual(fatesIn(afterwards), stoppedFates)
      // Between the two writes of a Stop: the card is closed, and why is not in the history yet.
      const { c1, c2 } = shownIn(await meanwhile)
      assert.deepStrictEqual(c1, stoppedCards.c1)
      assert.include([stoppedCards.c2[1], closing], c2?.[1])
      assert.strictEqual((await stopped).status, 200)
      assert.deepStrictEqual(fatesIn((await history(server, id))[1]!.parts), stoppedFates)
    }, { areTwo: true, isSlow: true }))

  it("is known as well when the model has been told of it", () =>
    story(async ({ clicked, id, server }) => {
      await (await stop(server, id)).json()
      await clicked
      await chunksOf(
        await post(server, {
          ...saying(id, "Well?"),
          messages: [{ id: "u2", role: "user", parts: [{ type: "text", text: "Well?" }] }]
        })
      )
      const kept = await history(server, id)
      assert.strictEqual(kept.length, 4)
      assert.deepStrictEqual(fatesIn(kept[1]!.parts), stoppedFates)
    }))
})
