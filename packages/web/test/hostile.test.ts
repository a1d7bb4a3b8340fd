/** L4 L16 More bodies that no page would post: other people's ids, names that objects have, and too much of everything. */
import { ConversationStore } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { answering, approvalIdsOf, chunksOf, get, post, type PostOptions, saying } from "./posting.ts"
import { call, cards, serve, type Server } from "./server.ts"

let count = 0

const ada = { headers: { "x-person": "ada", "x-principal": "ada" } }

const eve = { headers: { "x-person": "eve", "x-principal": "eve" } }

/** A conversation of Ada's in which a file is about to be deleted. */
const asked = async (
  tell: (tools: { server: Server; id: string; approvalId: string }) => Promise<void>,
  services?: Layer.Layer<never>
) => {
  const server = serve({ turns: [[call("c1", "a")]], services })
  const id = `hostile-${++count}`
  try {
    const [approvalId] = approvalIdsOf(await chunksOf(await post(server, saying(id, "The password is tulip."), ada)))
    await tell({ server, id, approvalId: approvalId! })
  } finally {
    await server.dispose()
  }
}

const send = (server: Server, path: string, body: unknown, { headers }: PostOptions) =>
  server.handler(
    new Request(`http://localhost/api/chat/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body)
    })
  )

const stateOf = async (server: Server, id: string) => {
  const loaded = await get(server, id, ada)
  return cards({ chat: { messages: await loaded.json() as any } }).map(({ state }) => state)
}

/** Everything that a response says, but for when. */
const whole = async (response: Response) => [
  response.status,
  Object.fromEntries([...response.headers].filter(([name]) => name !== "date")),
  await response.text()
]

describe("hostile bodies", () => {
  it("another person's approval id runs nothing in one's own conversation, and says nothing of theirs", () =>
    asked(async ({ approvalId, id, server }) => {
      await chunksOf(await post(server, saying(`${id}-eve`, "Clean up."), eve))
      for (const approved of [true, false]) {
        const response = await post(server, answering(`${id}-eve`, [{ approvalId, approved }]), eve)
        const text = await response.text()
        assert.include(text, "Nobody was asked this here. Nothing ran.")
        assert.notMatch(text, /tulip|ada/i)
      }
      assert.deepStrictEqual(server.deleted, [])
      assert.deepStrictEqual(await stateOf(server, id), ["approval-requested"])
    }))

  it("another person's conversation that exists answers as one that does not, byte for byte", () =>
    asked(async ({ approvalId, id, server }) => {
      const answersOf = async (id: string) => [
        await whole(await get(server, id, eve)),
        await whole(await get(server, `${id}/stream`, eve)),
        await whole(await send(server, `${id}/stop`, {}, eve)),
        await whole(await send(server, `${id}/details`, { [approvalId]: { params: { path: "b" } } }, eve)),
        await whole(await post(server, answering(id, [{ approvalId, approved: true }]), eve))
      ]
      assert.deepStrictEqual(await answersOf(id), await answersOf(`${id}-never`))
      assert.deepStrictEqual(server.deleted, [])
      assert.deepStrictEqual(await stateOf(server, id), ["approval-requested"])
    }))

  it("nothing of another person's conversation is looked up, so that no time tells that it exists", () => {
    const keys = new Set<string>()
    const store = Effect.runSync(ConversationStore.ConversationStore)
    const noted = <K extends { readonly id: string }, A extends ReadonlyArray<unknown>, B>(
      operation: (key: K, ...others: A) => B
    ) =>
    (key: K, ...others: A) => {
      keys.add(key.id)
      return operation(key, ...others)
    }
    const services = Layer.succeed(ConversationStore.ConversationStore, {
      ...store,
      read: noted(store.read),
      write: noted(store.write),
      hold: noted(store.hold),
      stop: noted(store.stop)
    })
    return asked(async ({ approvalId, id, server }) => {
      const [adas] = keys
      assert.lengthOf(keys, 1)
      keys.clear()
      await whole(await get(server, id, eve))
      await whole(await get(server, `${id}/stream`, eve))
      await whole(await send(server, `${id}/stop`, {}, eve))
      await whole(await post(server, answering(id, [{ approvalId, approved: true }]), eve))
      assert.lengthOf(keys, 1)
      assert.isFalse(keys.has(adas!))
    }, services)
  })

  it("details that another person posted go with nobody's click but theirs", () =>
    asked(async ({ approvalId, id, server }) => {
      const bob = { headers: { "x-person": "bob", "x-principal": "ada" } }
      await send(server, `${id}/details`, { [approvalId]: { params: { path: "b" } } }, bob)
      await send(server, `${id}/details`, { [approvalId]: { params: { path: "c" } } }, eve)
      const body = answering(id, [{ approvalId, approved: true }])
      const [message] = body.messages
      const announced = {
        ...body,
        messages: [{
          ...message,
          parts: message!.parts.map((part) => ({
            ...part,
            approval: { ...part.approval, reason: "assent:with-details" }
          }))
        }]
      }
      await chunksOf(await post(server, announced, ada))
      assert.deepStrictEqual(server.deleted, [])
      await chunksOf(await post(server, body, ada))
      assert.deepStrictEqual(server.deleted, ["a"])
    }))

  it("names that every object has are ids like others: nothing is asked under them, and nothing is changed", () =>
    asked(async ({ id, server }) => {
      const names = ["__proto__", "constructor", "toString", "hasOwnProperty"]
      const details = `{${names.map((name) => `"${name}":{"params":{"path":"b"},"polluted":true}`).join(",")}}`
      const body = JSON.stringify(answering(id, names.map((approvalId) => ({ approvalId, approved: true }))))
      const forged = `${body.slice(0, -1)},"details":${details},"__proto__":{"polluted":true}}`
      const chunks = await chunksOf(await post(server, forged, ada))
      assert.deepStrictEqual(
        chunks.flatMap(({ errorText }) => errorText ?? []),
        names.map(() => "Nobody was asked this here. Nothing ran.")
      )
      assert.include([204, 422], (await send(server, `${id}/details`, JSON.parse(details), ada)).status)
      assert.isUndefined(({} as any).polluted)
      assert.deepStrictEqual([server.deleted, await stateOf(server, id)], [[], ["approval-requested"]])
    }))

  it("L17 of ten thousand answers the newest are read, and the rest wait for nobody", () =>
    asked(async ({ approvalId, id, server }) => {
      const many = Array.from({ length: 10_000 }, (_, index) => ({ approvalId: `id-${index}`, approved: true }))
      const chunks = await chunksOf(await post(server, answering(id, [{ approvalId, approved: true }, ...many]), ada))
      assert.strictEqual(chunks.at(-1), "[DONE]")
      assert.deepStrictEqual(server.deleted, ["a"])
      assert.isAtMost(chunks.length, 2_000)
    }))

  it("L17 JSON that is nested too deep is refused, in the body and in what goes with a click", () =>
    asked(async ({ approvalId, id, server }) => {
      const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`
      const bodies = [
        deep,
        `{"id":"${id}","messages":${deep}}`,
        `{"id":"${id}","messages":[{"id":"u","role":"user","parts":${deep}}]}`
      ]
      for (const body of bodies) assert.include([400, 413, 422], (await post(server, body, ada)).status)
      const answer = JSON.stringify(answering(id, [{ approvalId, approved: true }]))
      const response = await post(
        server,
        `${answer.slice(0, -1)},"details":{"${approvalId}":{"params":${deep}}}}`,
        ada
      )
      await response.text()
      assert.deepStrictEqual(server.deleted, [])
      assert.deepStrictEqual(await stateOf(server, id), ["approval-requested"])
    }))
})
