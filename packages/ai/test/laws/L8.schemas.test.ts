/**
 * L8 and B8: what a result part holds. Schemas with transformations: `result` is decoded, `encodedResult` encoded, and
 * the part can be encoded again, now and when it comes out of the journal.
 */
import { assert, describe } from "@effect/vitest"
import { DateTime, Effect, Schema } from "effect"
import { Approval, Prompt, Response, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"

const Book = Tool.make("Book", {
  parameters: { day: Schema.DateTimeUtcFromString, seats: Schema.FiniteFromString },
  success: Schema.Struct({ at: Schema.DateTimeUtcFromString }),
  failure: Schema.Struct({ retryAt: Schema.DateTimeUtcFromString }),
  failureMode: "return",
  needsApproval: true
})
const kit = Toolkit.make(Book)
const day = "2030-01-02T00:00:00.000Z"

const begin = Effect.fnUntraced(function*(way: C.Way, seats: string) {
  const seen: Array<readonly [boolean, number]> = []
  const toolkit = yield* C.withHandlers(kit, {
    Book: ({ day, seats }) =>
      Effect.suspend(() => {
        seen.push([DateTime.isUtc(day), seats])
        return seats > 2 ? Effect.fail({ retryAt: day }) : Effect.succeed({ at: day })
      })
  })
  const chat = yield* C.start({
    way,
    toolkit,
    turns: [[ScriptedModel.toolCall({ id: "b1", name: "Book", params: { day, seats } })], "booked", "booked"]
  })
  const asked = yield* chat.send("book")
  const asking = yield* chat.history
  const answers = Prompt.approvalResponses([Approval.approve(asked.requests[0]!)])
  const turns = [yield* chat.send(answers)]
  yield* chat.setHistory(asking)
  turns.push(yield* chat.send(answers))
  return { asked, chat, seen, turns }
})

/** Encodes the part with the schema of its response, and reads it back. */
const roundTrip = (way: C.Way, part: Response.AnyPart) =>
  Effect.gen(function*() {
    const schema = (way.endsWith("streamText") ? Response.StreamPart(kit) : Response.Part(kit)) as Schema.Codec<unknown>
    const encoded = yield* Schema.encodeUnknownEffect(schema)(part)
    const json = JSON.parse(JSON.stringify(encoded))
    return [json, yield* Schema.decodeUnknownEffect(schema)(json)] as const
  })

describe("L8 results with transformations", () => {
  C.everyWay("L8 B8 a success: `result` decoded, `encodedResult` encoded, and the part encodes again", (way) =>
    Effect.gen(function*() {
      const { asked, chat, seen, turns } = yield* begin(way, "2")
      assert.deepStrictEqual(asked.requests[0]!.params, { day, seats: "2" }, "shown as the model wrote it")
      assert.deepStrictEqual(seen, [[true, 2]], "the handler gets decoded parameters, once")
      for (const turn of turns) {
        const [part] = turn.results
        assert.isTrue(DateTime.isUtc((part!.result as { readonly at: unknown }).at))
        assert.deepStrictEqual(part!.encodedResult, { at: day })
        const [encoded, decoded] = yield* roundTrip(way, part!)
        assert.deepStrictEqual(encoded.result, { at: day })
        assert.deepStrictEqual((decoded as typeof part)!.encodedResult, { at: day })
      }
      assert.deepStrictEqual(C.resultsOf(yield* chat.lastPrompt).map((part) => part.result), [{ at: day }])
    }))

  C.everyWay("L8 B8 a failure that is returned: decoded and encoded alike", (way) =>
    Effect.gen(function*() {
      const { chat, seen, turns } = yield* begin(way, "3")
      assert.deepStrictEqual(seen, [[true, 3]])
      for (const turn of turns) {
        const [part] = turn.results
        assert.isTrue(part!.isFailure)
        assert.isTrue(DateTime.isUtc((part!.result as { readonly retryAt: unknown }).retryAt))
        assert.deepStrictEqual(part!.encodedResult, { retryAt: day })
        const [encoded] = yield* roundTrip(way, part!)
        assert.deepStrictEqual(encoded.result, { retryAt: day })
      }
      assert.deepStrictEqual(C.resultsOf(yield* chat.lastPrompt).map((part) => part.result), [{ retryAt: day }])
    }))

  C.everyWay("L8 B8 a call that needs nobody: the same", (way) =>
    Effect.gen(function*() {
      const toolkit = yield* C.withHandlers(Toolkit.make(Tool.setNeedsApproval(Book, false)), {
        Book: ({ day }) => Effect.succeed({ at: day })
      })
      const turns = [[ScriptedModel.toolCall({ id: "b1", name: "Book", params: { day, seats: "1" } })]]
      const chat = yield* C.start({ way, toolkit, turns })
      const [part] = (yield* chat.send("book")).results
      assert.isTrue(DateTime.isUtc((part!.result as { readonly at: unknown }).at))
      const [encoded] = yield* roundTrip(way, part!)
      assert.deepStrictEqual(encoded.result, { at: day })
    }))

  C.everyWay("L8 B8 a success that does not encode is a failed result or error of its own, never a defect", (way) =>
    Effect.gen(function*() {
      const toolkit = yield* C.withHandlers(kit, {
        Book: () => Effect.succeed({ at: "not a date" as unknown as DateTime.Utc })
      })
      const chat = yield* C.start({
        way,
        toolkit,
        turns: [[ScriptedModel.toolCall({ id: "b1", name: "Book", params: { day, seats: "1" } })], "done", "done"]
      })
      const asked = yield* chat.send("book")
      const asking = yield* chat.history
      const answers = Prompt.approvalResponses([Approval.approve(asked.requests[0]!)])
      yield* Effect.catch(chat.send(answers), () => Effect.void)
      yield* chat.setHistory(asking)
      const turn = yield* chat.send(answers)
      assert.isTrue(turn.results[0]!.isFailure)
    }))
})
