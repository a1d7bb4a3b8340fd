/**
 * L6, L7 and L9 for what the provider asked and a new message passed over: the history says so once, the provider hears
 * nothing of it, and whoever answers then is told, and no model is called.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import {
  Approval,
  ApprovalEvents,
  Conversation,
  ConversationStore,
  LanguageModel,
  Prompt,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"
import * as H from "./hosted.ts"
import { idle, partsOf } from "./support.ts"

const superseded = "Superseded by a new message before anyone answered. Nothing ran; it may be asked again."

const failed = { type: "execution-interrupted", reason: superseded }

const answer = (approvalId: string, approved: boolean) =>
  Prompt.fromMessages([Prompt.toolMessage({ content: [Prompt.toolApprovalResponsePart({ approvalId, approved })] })])

const told = ({ results }: C.Turn) =>
  results.map(({ encodedResult, id, isFailure, providerExecuted }) => [id, isFailure, providerExecuted, encodedResult])

const toldOnce = [["mcp_1", true, true, failed]]

const deciders: Record<string, <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>> = {
  "where nobody decides here": (effect) => effect,
  "where a policy wants a person": H.withPolicy(() => Approval.needsApproval({}))
}

for (const [where, decides] of Object.entries(deciders)) {
  describe(`L6 supersede, the provider's request, ${where}`, () => {
    C.everyWay(`L6 it is told in the turn that passes it over, and never again, ${where}`, function*(way) {
      const { chat } = yield* H.begin(way, [H.asking(1), "Noon.", "Bye."])
      yield* chat.send("go")
      const turn = yield* decides(chat.send("what time is it?"))
      assert.deepStrictEqual([turn.text, told(turn)], ["Noon.", toldOnce])
      const { pending } = LanguageModel.collectToolApprovals((yield* chat.history).content)
      assert.deepStrictEqual(pending, [])
      assert.deepStrictEqual(told(yield* decides(chat.send("bye"))), [])
      for (const { prompt } of yield* chat.script.requests) {
        assert.notInclude(JSON.stringify(prompt.content), "Superseded")
        C.assertWellFormed(prompt, H.allowed)
      }
    })

    C.everyWay(`L6 L7 a late answer is told so, and calls no model, ${where}`, function*(way) {
      const { chat } = yield* H.begin(way, [H.asking(1), "Noon.", "Bye."])
      yield* chat.send("go")
      yield* decides(chat.send("what time is it?"))
      for (const approved of [true, false, true]) {
        const turn = yield* decides(chat.send(answer("mcpr_1", approved)))
        assert.deepStrictEqual([told(turn), turn.finishReason, yield* chat.calls], [toldOnce, "stop", 2])
      }
      assert.strictEqual((yield* decides(chat.send("bye"))).text, "Bye.")
      assert.deepStrictEqual(H.approvals(yield* chat.lastPrompt), [])
      assert.notInclude(JSON.stringify((yield* chat.lastPrompt).content), "Superseded")
    })
  })
}

describe("L6 supersede, the provider's request", () => {
  C.everyWay("L6 events say it once", (way) =>
    Effect.gen(function*() {
      const { chat } = yield* H.begin(way, [H.asking(1), "Noon.", "Bye."])
      const events = yield* ApprovalEvents.ApprovalEvents
      const seen: Array<string | undefined> = []
      const observed = yield* events.subscribe
      yield* Effect.forkScoped(Stream.runForEach(observed, (event) =>
        Effect.sync(() =>
          void seen.push(event._tag === "Changed" ? event.state : undefined)
        )))
      yield* chat.send("go")
      for (const text of ["what time is it?", "bye"]) {
        yield* chat.send(text)
      }
      yield* idle
      assert.deepStrictEqual(
        seen.filter((state) =>
          state !== undefined
        ),
        ["superseded"]
      )
    }).pipe(Effect.provide(ApprovalEvents.layer())))

  C.everyWay("L6 an answer in the same prompt is applied first", function*(way) {
    const { chat } = yield* H.begin(way, [H.asking(1), [H.done(1), ScriptedModel.text("Done.")]])
    yield* chat.send("go")
    const turn = yield* chat.send(Prompt.concat(Prompt.make("and hurry"), answer("mcpr_1", true)))
    assert.deepStrictEqual([turn.text, turn.results.map(({ isFailure }) => isFailure)], ["Done.", [false]])
  })

  it.effect("L6 L12 beside an object it is told with the value, and a late answer has none", () =>
    C.fresh(Effect.gen(function*() {
      const { chat } = yield* H.begin("generateText", [H.asking(1), [ScriptedModel.text(`{"n":2}`)]])
      yield* chat.send("go")
      const schema = Schema.Struct({ n: Schema.Number })
      const toolkit = yield* C.withHandlers(Toolkit.make(H.Mcp), {})
      const objectOf = (prompt: Prompt.Prompt) =>
        LanguageModel.generateObject({ prompt, toolkit, schema }).pipe(
          Effect.provideService(LanguageModel.LanguageModel, chat.model)
        )
      const asked = Prompt.concat(yield* chat.history, "how many?")
      const { content, value } = yield* objectOf(asked)
      assert.deepStrictEqual(value, { n: 2 })
      assert.deepStrictEqual(told(C.toTurn(content)), toldOnce)
      const late = Prompt.concat(Prompt.concat(asked, Prompt.fromResponseParts(content)), answer("mcpr_1", true))
      const reason = C.approvalErrorOf(yield* Effect.flip(objectOf(late)))
      assert.deepInclude(reason, { _tag: "AlreadyDecided", approvalId: "mcpr_1" })
      assert.strictEqual(yield* chat.calls, 2)
    })))

  it.effect("L6 a conversation knows of it, and refuses the answer", () =>
    C.fresh(Effect.gen(function*() {
      const script = yield* ScriptedModel.make({ turns: [H.asking(1), "Noon."], strict: H.allowed })
      const conversation = yield* Conversation.make({ id: "passed over", toolkit: Toolkit.make(H.Mcp) }).pipe(
        Effect.provideServiceEffect(LanguageModel.LanguageModel, LanguageModel.make(script.params)),
        Effect.provide(ConversationStore.layerMemory())
      )
      yield* conversation.send("go")
      const [request] = yield* conversation.pending()
      yield* conversation.send("what time is it?")
      assert.deepInclude(yield* conversation.stateOf("mcpr_1"), { state: "superseded", reason: superseded })
      assert.deepStrictEqual(yield* conversation.pending(), [])
      const refused = yield* Effect.flip(conversation.decide(Approval.approve(request!)))
      assert.strictEqual((refused as { reason?: { _tag: string } }).reason?._tag, "AlreadyDecided")
      assert.strictEqual(yield* script.calls, 2)
    })))
})

describe("L7 an answer that changes nothing, where a provider had the last word", () => {
  for (const first of [true, false]) {
    C.everyWay(
      `L7 L9 it comes again, or otherwise: nothing is paid for, after ${first ? "yes" : "no"}`,
      function*(way) {
        const ran = first ? [H.done(1)] : [ScriptedModel.text("Well."), H.done(1)]
        const { chat } = yield* H.begin(way, [H.asking(1), ran, "Bye."])
        yield* chat.send("go")
        yield* chat.send(answer("mcpr_1", first))
        for (const approved of [true, false]) {
          const turn = yield* chat.send(answer("mcpr_1", approved))
          assert.deepStrictEqual([turn.finishReason, yield* chat.calls], ["stop", 2])
          assert.deepStrictEqual(turn.results.map(({ id, result }) => [id, result]), [["mcp_1", "did p1"]])
        }
        assert.strictEqual((yield* chat.send("bye")).text, "Bye.")
        C.assertWellFormed(yield* chat.lastPrompt, H.allowed)
        const sent = partsOf(yield* chat.lastPrompt)
        assert.lengthOf(sent.filter(({ type }) => type === "tool-result"), 1)
      }
    )
  }

  C.everyWay("L7 of a request that nobody made", function*(way) {
    const { chat } = yield* H.begin(way, [H.asking(1), [H.done(1)], "Bye."])
    yield* chat.send("go")
    yield* chat.send(answer("mcpr_1", true))
    const turn = yield* chat.send(answer("nobody's", true))
    assert.deepStrictEqual([turn.shape, turn.finishReason, yield* chat.calls], ["finish", "stop", 2])
    assert.strictEqual((yield* chat.send("bye")).text, "Bye.")
  })
})
