/**
 * L2 At most once: a model call that fails afterwards, a reader that leaves, and a caller who resolves no calls.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Ref, Stream } from "effect"
import { AiError, Chat as UpstreamChat } from "effect/ai"
import { TestClock } from "effect/testing"
import { Approval, LanguageModel, Prompt } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Support from "./support.ts"

const overloaded = AiError.make({
  module: "Provider",
  method: "call",
  reason: new AiError.UnknownError({ description: "overloaded" })
})

const held = Effect.gen(function*() {
  const hold = yield* Support.makeHold
  const tools = yield* Support.makeTools([Support.Charge, Support.DeleteFile], {
    Charge: ({ amount }) => Effect.as(hold.wait, Support.charged(amount))
  })
  return { hold, tools }
})

const charge = Support.call("c1", "Charge", { amount: "12" })

/** The model was last sent the charge, exactly once. */
const assertSent = (script: ScriptedModel.ScriptedModel) =>
  Effect.gen(function*() {
    const sent = yield* Support.sentResults(script)
    assert.deepStrictEqual(sent.map((result) => [result.id, result.result]), [["c1", Support.chargedEncoded(12)]])
  })

describe("L2 at most once: the model call fails afterwards", () => {
  Support.forEachMode("L2 B2 at most once: a model that fails after the tool ran, and a retry", function*(mode) {
    const { asked, tools } = yield* Support.asking(mode, [charge])
    const script = yield* ScriptedModel.make({ turns: [overloaded, overloaded, "done"] })
    const chat = yield* Support.converse(mode, {
      model: script.model,
      toolkit: tools.toolkit,
      history: asked.history
    })
    const yes = Support.answers(Approval.approve(asked.requests[0]!))
    assert.strictEqual((yield* Effect.flip(chat.take(yes))).reason._tag, "UnknownError")
    assert.strictEqual(tools.runs.length, 1)
    yield* Effect.flip(chat.take(yes))
    const turn = yield* chat.take(yes)
    assert.strictEqual(turn.text, "done")
    assert.strictEqual(tools.runs.length, 1)
    yield* assertSent(script)
    // `Chat.streamText` keeps what it had before the failure; the others have nothing, and get the recorded result.
    if (mode !== "Chat.streamText") {
      assert.deepStrictEqual(turn.results.map((result) => result.result), [Support.charged(12)])
    }
  })

  Support.forEachMode("L2 B2 a denial is not forgotten either when the model call fails", function*(mode) {
    const { asked, tools } = yield* Support.asking(mode, [charge])
    const script = yield* ScriptedModel.make({ turns: [overloaded, "done"] })
    const options = { model: script.model, toolkit: tools.toolkit, history: asked.history }
    const request = asked.requests[0]!
    yield* Effect.flip(
      Support.takeTurn(mode, { ...options, prompt: Support.answers(Approval.deny(request, "no")) })
    )
    const turn = yield* Support.takeTurn(mode, { ...options, prompt: Support.answers(Approval.approve(request)) })
    assert.deepStrictEqual(tools.runs, [])
    assert.include(Support.failureReason(turn.results[0]), "no")
  })

  for (const mode of ["streamText", "Chat.streamText"] as const) {
    Support.single(`L2 at most once: a stream that fails in the middle, and a retry [${mode}]`, function*() {
      const { asked, tools } = yield* Support.asking(mode, [charge])
      const script = yield* ScriptedModel.make({
        turns: [[ScriptedModel.text("half a sen"), ScriptedModel.fail(overloaded)], "done"]
      })
      const chat = yield* Support.converse(mode, {
        model: script.model,
        toolkit: tools.toolkit,
        history: asked.history
      })
      const yes = Support.answers(Approval.approve(asked.requests[0]!))
      yield* Effect.flip(chat.take(yes))
      assert.strictEqual((yield* chat.take(yes)).text, "done")
      assert.strictEqual(tools.runs.length, 1)
      yield* assertSent(script)
    })
  }
})

/** A conversation in which a charge was asked about, and the answer that approves it. */
const charging = Effect.fnUntraced(function*(mode: Support.Mode, tools: Support.Tools) {
  const asked = yield* Support.ask(mode, { toolkit: tools.toolkit, calls: [charge] })
  const script = yield* Support.answering
  const { history, requests } = asked
  const chat = yield* Support.converse(mode, { model: script.model, toolkit: tools.toolkit, history })
  return { chat, script, yes: Support.answers(Approval.approve(requests[0]!)) }
})

describe("L2 at most once: a reader that leaves", () => {
  for (const when of ["while it runs", "after it ran"] as const) {
    Support.forEachMode(
      `L2 B20 at most once: the reader leaves; another turn ${when} gets the one result`,
      function*(mode) {
        const { hold, tools } = yield* held
        const { chat, script, yes } = yield* charging(mode, tools)
        const reader = yield* Effect.forkChild(chat.take(yes))
        yield* hold.entered
        const leaving = yield* Effect.forkChild(Fiber.interrupt(reader))
        assert.isTrue(yield* Support.settles(leaving), "a reader can leave at once")
        if (when === "after it ran") {
          yield* hold.release
          yield* Support.idle
        }
        const again = yield* Effect.forkChild(chat.take(yes))
        yield* Support.idle
        assert.strictEqual(tools.runs.length, 1)
        yield* hold.release
        const turn = yield* Fiber.join(again)
        assert.deepStrictEqual(turn.results.map((result) => result.result), [Support.charged(12)])
        assert.strictEqual(tools.runs.length, 1)
        yield* assertSent(script)
      }
    )
  }

  Support.forEachMode("L2 B20 at most once: the next, unrelated message does not run it again", function*(mode) {
    const { hold, tools } = yield* held
    const asked = yield* Support.ask(mode, { toolkit: tools.toolkit, calls: [charge] })
    const script = yield* Support.answering
    const answered = Prompt.concat(asked.history, Support.answers(Approval.approve(asked.requests[0]!)))
    const options = { model: script.model, toolkit: tools.toolkit, history: answered }
    const reader = yield* Effect.forkChild(Support.takeTurn(mode, options))
    yield* hold.entered
    yield* Fiber.interrupt(reader)
    const next = yield* Effect.forkChild(Support.takeTurn(mode, { ...options, prompt: "And what is the time?" }))
    yield* Support.idle
    yield* hold.release
    assert.strictEqual((yield* Fiber.join(next)).text, "done")
    assert.strictEqual(tools.runs.length, 1)
    yield* assertSent(script)
  })

  Support.forEachMode(
    "L2 at most once: a timeout around the call stops the reader, not the claimed run",
    function*(mode) {
      const { hold, tools } = yield* held
      const asked = yield* Support.ask(mode, { toolkit: tools.toolkit, calls: [charge] })
      const script = yield* Support.answering
      const turn = Support.approve(mode, { asked, model: script.model, tools })
      const reader = yield* Effect.forkChild(Effect.timeoutOption(turn, "5 seconds"))
      yield* hold.entered
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual((yield* Fiber.join(reader))._tag, "None")
      yield* hold.release
      assert.deepStrictEqual((yield* turn).results.map((result) => result.result), [Support.charged(12)])
      assert.strictEqual(tools.runs.length, 1)
    }
  )

  for (const underChat of [false, true]) {
    Support.single(
      `L2 at most once: a reader of only the first part [${underChat ? "Chat." : ""}streamText]`,
      function*() {
        const hold = yield* Support.makeHold
        // The first result comes once the other call has begun: only what has been claimed runs on.
        const tools = yield* Support.makeTools([Support.Charge, Support.DeleteFile], {
          Charge: ({ amount }) => Effect.as(hold.wait, Support.charged(amount)),
          DeleteFile: () => Effect.as(hold.entered, { deleted: true })
        })
        const mode = underChat ? "Chat.streamText" : "streamText"
        const asked = yield* Support.ask(mode, {
          toolkit: tools.toolkit,
          calls: [Support.call("c2", "DeleteFile", { path: "b" }), charge]
        })
        const script = yield* Support.answering
        const chat = yield* UpstreamChat.fromPrompt(asked.history)
        const yes = Support.answers(...asked.requests.map((request) => Approval.approve(request)))
        const request = {
          toolkit: tools.toolkit,
          prompt: underChat ? yes : Prompt.concat(asked.history, yes)
        }
        const stream = underChat ? chat.streamText(request) : LanguageModel.streamText(request)
        const parts = yield* stream.pipe(
          Stream.take(1),
          Stream.runCollect,
          Effect.provideService(LanguageModel.LanguageModel, LanguageModel.withApproval(script.model))
        )
        assert.deepStrictEqual(parts.map((part) => part.type), ["tool-result"])
        yield* hold.entered
        yield* hold.release
        yield* Support.idle
        const turn = yield* Support.takeTurn(mode, {
          model: script.model,
          toolkit: tools.toolkit,
          history: underChat ? yield* Ref.get(chat.history) : asked.history,
          prompt: yes
        })
        assert.strictEqual(turn.text, "done")
        assert.deepStrictEqual([tools.count("Charge"), tools.count("DeleteFile")], [1, 1])
        const sent = yield* Support.sentResults(script)
        assert.deepStrictEqual(sent.map((result) => [result.id, result.isFailure]).toSorted(), [
          ["c1", false],
          ["c2", false]
        ])
      }
    )
  }
})

describe("L2 at most once: disableToolCallResolution", () => {
  Support.forEachMode(
    "L2 B3 resolution disabled: an approval runs nothing, uses up nothing, and runs once later",
    function*(mode) {
      const tools = yield* Support.makeTools()
      const { chat, script, yes } = yield* charging(mode, tools)
      for (let i = 0; i < 2; i++) {
        const turn = yield* chat.take(yes, { disableToolCallResolution: true })
        assert.deepStrictEqual([tools.runs, turn.results], [[], []])
      }
      const turn = yield* chat.take(yes)
      assert.deepStrictEqual(turn.results.map((result) => result.result), [Support.charged(12)])
      assert.strictEqual(turn.text, "done")
      assert.strictEqual(tools.runs.length, 1)
      yield* assertSent(script)
      // Later turns, resolved or not, do not run it again.
      yield* chat.take("thanks", { disableToolCallResolution: true })
      yield* chat.take("thanks")
      assert.strictEqual(tools.runs.length, 1)
      yield* assertSent(script)
    }
  )

  Support.forEachMode(
    "L2 B3 resolution disabled: the model's own new calls run nothing, gated or not",
    function*(mode) {
      const tools = yield* Support.makeTools()
      const turn = yield* Support.ask(mode, {
        toolkit: tools.toolkit,
        calls: [charge, Support.call("c2", "ReadFile", { path: "a" })],
        disableToolCallResolution: true
      })
      assert.deepStrictEqual([tools.runs, turn.results, turn.requests], [[], [], []])
      const calls = turn.parts.filter((part) => part.type === "tool-call")
      assert.deepStrictEqual(calls.map((part) => part.id), ["c1", "c2"])
    }
  )
})
