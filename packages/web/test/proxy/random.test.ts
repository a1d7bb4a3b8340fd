/** People who say, decide, cancel and read at once, in random order: nothing runs twice, and everything is told with a status. */
import type { ScriptedModel } from "@assent/ai/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { call, get, newId, post, serve, type Server } from "./server.ts"

/** What may be told, of whatever is done. */
const expected = new Set([
  "200",
  "202",
  "204",
  "404 UnknownRequest",
  "409 AlreadyDecided",
  "409 Conflict",
  "410 NoLongerOpen"
])

const people = ["ada", "bob", "cleo"]

const chance = (part: number) => Effect.map(Random.next, (number) => number < part)

const pick = <A>(from: ReadonlyArray<A>) =>
  Effect.map(Random.nextIntBetween(0, from.length), (index) => from[index % from.length]!)

const doing = Effect.fnUntraced(function*(server: Server, ids: ReadonlyArray<string>, known: Array<string>) {
  const id = yield* pick(ids)
  const headers = { "x-person": yield* pick(people) }
  const requested = (request: Promise<Response>) => Effect.promise(() => request)
  const answerTo = (approvalId: string) => Effect.map(chance(0.6), (approved) => ({ approvalId, approved }))
  switch (yield* pick(["say", "say", "decide", "decide", "decide", "follow", "leave", "cancel", "read", "state"])) {
    case "say": {
      const messageId = `m-${yield* Random.nextIntBetween(0, 10)}`
      const answers = (yield* chance(0.3)) ? [yield* answerTo(yield* pick(known))] : []
      return yield* requested(
        post(server, `${id}/messages`, { text: "Go on.", messageId: `${id}-${messageId}`, answers }, headers)
      )
    }
    case "decide": {
      const open = yield* Effect.promise(() =>
        get(server, `${id}/requests`, headers).then((response) => response.json())
      )
      for (const { approvalId } of open as ReadonlyArray<{ readonly approvalId: string }>) known.push(approvalId)
      const answers = yield* Effect.forEach([...known.slice(-3), yield* pick(known)], answerTo)
      return yield* requested(post(server, `${id}/decisions`, (yield* chance(0.5)) ? answers : answers[0], headers))
    }
    case "follow":
      return yield* requested(get(server, `${id}/turn`, headers))
    case "leave": {
      const response = yield* requested(get(server, `${id}/turn`, headers))
      yield* Effect.promise(() => response.body?.cancel() ?? Promise.resolve())
      return undefined
    }
    case "cancel":
      return yield* requested(post(server, `${id}/cancel`, {}, headers))
    case "read":
      return yield* requested(get(server, `${id}/messages`, headers))
    default: {
      const approvalId = encodeURIComponent(yield* pick(known))
      return yield* requested(get(server, `${id}/requests/state?approvalId=${approvalId}`, headers))
    }
  }
})

describe("many at once", () => {
  it.live("L2 nothing that was approved runs twice, and everything is told with a status", () =>
    Effect.gen(function*() {
      let calls = 0
      // Every other time it asks.
      const turn = (): ScriptedModel.Turn => ++calls % 2 === 0 ? "Well." : [call(`c-${calls}`, `file-${calls}`)]
      const server = serve({ turns: [], afterLastTurn: turn, before: () => Effect.yieldNow })
      const ids = [newId(), newId()]
      const known = ["made-up"]
      const told = new Set<string>()
      const one = Effect.gen(function*() {
        const response = yield* doing(server, ids, known)
        if (response === undefined) return
        const text = yield* Effect.promise(() => response.text())
        told.add(response.status < 400 ? `${response.status}` : `${response.status} ${JSON.parse(text)._tag}`)
      })
      yield* Effect.all(
        people.map(() => Effect.forEach(Array.from({ length: 25 }), () => one, { discard: true })),
        { concurrency: "unbounded" }
      )
      yield* Effect.promise(() => server.dispose())
      assert.deepStrictEqual([...told].filter((one) => !expected.has(one)), [])
      assert.isTrue(told.has("200"))
      assert.strictEqual(new Set(server.deleted).size, server.deleted.length)
      assert.isAbove(server.deleted.length, 0)
    }).pipe(Random.withSeed("many at once")))
})
