/**
 * L8 and B8: what a result part holds. Schemas with transformations: `result` is decoded, `encodedResult` encoded, and
 * the part can be encoded again, now and when it comes out of the journal.
 */
import { assert, describe } from "@effect/vitest"
import { Cause, DateTime, Effect, Exit, Schema } from "effect"
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
  C.everyWay("L8 B8 a success: `result` decoded, `encodedResult` encoded, and the part encodes again", function*(way) {
    const { asked, chat, seen, turns } = yield* begin(way, "2")
    assert.deepStrictEqual(asked.requests[0]!.params, { day, seats: "2" }, "shown as the model wrote it")
    assert.deepStrictEqual(seen, [[true, 2]], "the handler gets decoded parameters, once")
    for (const turn of turns) {
      const [part] = turn.results
      assert.isTrue(DateTime.isDateTime((part!.result as { readonly at: unknown }).at))
      assert.deepStrictEqual(part!.encodedResult, { at: day })
      const [encoded, decoded] = yield* roundTrip(way, part!)
      assert.deepStrictEqual(encoded.result, { at: day })
      assert.deepStrictEqual((decoded as typeof part)!.encodedResult, { at: day })
    }
    assert.deepStrictEqual(C.resultsOf(yield* chat.lastPrompt).map((part) => part.result), [{ at: day }])
  })

  C.everyWay("L8 B8 a failure that is returned: decoded and encoded alike", function*(way) {
    const { chat, seen, turns } = yield* begin(way, "3")
    assert.deepStrictEqual(seen, [[true, 3]])
    for (const turn of turns) {
      const [part] = turn.results
      assert.isTrue(part!.isFailure)
      assert.isTrue(DateTime.isDateTime((part!.result as { readonly retryAt: unknown }).retryAt))
      assert.deepStrictEqual(part!.encodedResult, { retryAt: day })
      const [encoded] = yield* roundTrip(way, part!)
      assert.deepStrictEqual(encoded.result, { retryAt: day })
    }
    assert.deepStrictEqual(C.resultsOf(yield* chat.lastPrompt).map((part) => part.result), [{ retryAt: day }])
  })

  C.everyWay("L8 B8 a call that needs nobody: the same", function*(way) {
    const toolkit = yield* C.withHandlers(Toolkit.make(Tool.setNeedsApproval(Book, false)), {
      Book: ({ day }) => Effect.succeed({ at: day })
    })
    const turns = [[ScriptedModel.toolCall({ id: "b1", name: "Book", params: { day, seats: "1" } })]]
    const chat = yield* C.start({ way, toolkit, turns })
    const [part] = (yield* chat.send("book")).results
    assert.isTrue(DateTime.isDateTime((part!.result as { readonly at: unknown }).at))
    const [encoded] = yield* roundTrip(way, part!)
    assert.deepStrictEqual(encoded.result, { at: day })
  })

  C.everyWay(
    "L8 B8 a success that does not encode is a failed result or error of its own, never a defect",
    function*(way) {
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
    }
  )

  const values: Record<string, unknown> = {
    "a bigint": 1n,
    "a circular object": (() => {
      const circular: Record<string, unknown> = {}
      return Object.assign(circular, { itself: circular })
    })(),
    "undefined": undefined,
    "null": null,
    "not a number": NaN,
    "a function": () => 1,
    "a date": new Date(0)
  }
  for (const needsApproval of [true, false]) {
    for (const [title, value] of Object.entries(values)) {
      C.everyWay(
        `L8 ${needsApproval ? "a gated" : "an ungated"} handler of unknown success gives ${title}`,
        function*(way) {
          let ran = 0
          const tool = Tool.make("Look", { success: Schema.Unknown, needsApproval })
          const toolkit = yield* C.withHandlers(Toolkit.make(tool, C.ReadFile), {
            Look: () => Effect.sync(() => (ran += 1, value)),
            ReadFile: ({ path }) => Effect.succeed(path)
          })
          const look = ScriptedModel.toolCall({ id: "l1", name: "Look", params: {} })
          const chat = yield* C.start({ way, toolkit, turns: [[look], "done", "bye"] })
          const asked = yield* Effect.exit(chat.send("look"))
          // Without an approval to settle, an answer that is not JSON may fail the turn, as upstream has it.
          if (Exit.isFailure(asked)) {
            assert.isFalse(needsApproval)
            return assert.isFalse(Cause.hasDies(asked.cause), Cause.pretty(asked.cause))
          }
          const turn = yield* Effect.exit(chat.send(
            Prompt.approvalResponses(asked.value.requests.map((request) => Approval.approve(request)))
          ))
          assert.strictEqual(ran, 1)
          if (Exit.isFailure(turn)) assert.isFalse(Cause.hasDies(turn.cause), Cause.pretty(turn.cause))
          if (needsApproval) {
            assert.isTrue(Exit.isSuccess(turn), "a call that was approved is settled")
            C.assertWellFormed(yield* chat.lastPrompt)
          }
        }
      )
    }
  }

  C.everyWay("L8 a tool without a success schema: its result can be sent to the provider", function*(way) {
    const toolkit = yield* C.withHandlers(Toolkit.make(Tool.make("Ring", { needsApproval: true })), {
      Ring: () => Effect.void
    })
    const ring = ScriptedModel.toolCall({ id: "r1", name: "Ring", params: {} })
    const chat = yield* C.start({ way, toolkit, turns: [[ring], "done", "bye"] })
    const asked = yield* chat.send("ring")
    const turn = yield* chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)]))
    assert.strictEqual(turn.text, "done")
    yield* chat.send("thanks")
    C.assertWellFormed(yield* chat.lastPrompt)
  })

  C.everyWay("L8 what toModelOutput made is in the result, also when it comes out of the journal", function*(way) {
    let mapped = 0
    const tool = Tool.make("Shoot", {
      success: Schema.Struct({ bytes: Schema.Number }),
      needsApproval: true,
      toModelOutput: ({ bytes }) => [Prompt.textPart({ text: `${bytes} bytes, ${++mapped}` })]
    })
    const toolkit = yield* C.withHandlers(Toolkit.make(tool), { Shoot: () => Effect.succeed({ bytes: 7 }) })
    const shoot = ScriptedModel.toolCall({ id: "s1", name: "Shoot", params: {} })
    const chat = yield* C.start({ way, toolkit, turns: [[shoot], "done", "done"] })
    const asked = yield* chat.send("shoot")
    const asking = yield* chat.history
    for (let round = 0; round < 2; round++) {
      yield* chat.setHistory(asking)
      const turn = yield* chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)]))
      const texts = (parts: ReadonlyArray<Prompt.ToolModelOutputPart> | undefined) =>
        (parts ?? []).map((part) => part.type === "text" ? part.text : part.type)
      assert.deepStrictEqual(texts(turn.results[0]!.modelOutput), ["7 bytes, 1"])
      assert.deepStrictEqual(texts(C.resultsOf(yield* chat.lastPrompt)[0]!.modelOutput), ["7 bytes, 1"])
    }
  })
})
