/** L7 in a conversation, whose history is nobody else's: it never ends with the assistant for the model to answer. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Approval, type Prompt } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Laws from "../laws/conversation.ts"
import * as C from "./support.ts"

const note = "user:[<message-cut>\nThis is not from the user. Your last message was cut before it came to its end;" +
  " go on.\n</message-cut>]"

const lastOf = (script: ScriptedModel.ScriptedModel) =>
  Effect.map(C.prompts(script), (prompts) => Laws.outline(prompts.at(-1)!))

describe("L7 to say nothing", () => {
  it.effect("does not call the model where it had the last word", () =>
    Effect.gen(function*() {
      const { conversation, script } = yield* C.start({ turns: ["Hello.", "Bye."] })
      yield* conversation.send("Hi.")
      const outcome = yield* conversation.send([])
      assert.deepStrictEqual([C.finished(outcome), yield* script.calls], ["", 1])
      yield* Stream.runDrain(conversation.stream([]))
      assert.deepStrictEqual([(yield* conversation.outcome)?._tag, yield* script.calls], ["Completed", 1])
      assert.strictEqual(C.finished(yield* conversation.send("Bye.")), "Bye.")
      assert.deepStrictEqual(yield* lastOf(script), ["user:[Hi.]", "assistant:[Hello.]", "user:[Bye.]"])
    }))

  it.effect("does not call it beside what waits either", () =>
    Effect.gen(function*() {
      const { conversation, script } = yield* C.start({
        turns: [[C.remove("a")], "Fine.", "Deleted."],
        approval: { onNewMessage: "keep" }
      })
      const [request] = C.requestsOf(yield* conversation.send("Delete a."))
      yield* conversation.send("Meanwhile?")
      assert.deepStrictEqual([C.finished(yield* conversation.send([])), yield* script.calls], ["", 2])
      assert.strictEqual(C.finished(yield* conversation.decide(Approval.approve(request!))), "Deleted.")
    }))

  it.effect("calls it where a step limit came between", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({ turns: [[C.read("a")], "Read."], limits: { steps: 1 } })
      assert.strictEqual((yield* conversation.send("Read a."))._tag, "Limited")
      assert.strictEqual(C.finished(yield* conversation.send([])), "Read.")
    }))

  it.effect("leaves what a program began for the model, which goes on from there", () =>
    Effect.gen(function*() {
      const { conversation, script } = yield* C.start({ turns: ["1}"], strict: { allowPrefill: true } })
      const begun: Prompt.RawInput = [
        { role: "user", content: "As JSON?" },
        { role: "assistant", content: "{\"a\":" }
      ]
      assert.strictEqual(C.finished(yield* conversation.send(begun)), "1}")
      assert.deepStrictEqual(yield* lastOf(script), ["user:[As JSON?]", "assistant:[{\"a\":]"])
    }))
})

describe("L7 a turn that was cut", () => {
  const slow = [ScriptedModel.text("Half a sen"), ScriptedModel.pause(Effect.never)]
  const endless = [ScriptedModel.text("Half a sen"), ScriptedModel.withoutFinish]
  const ways: Record<string, (started: C.Started) => Effect.Effect<unknown, unknown>> = {
    "its reader left": ({ conversation }) =>
      Stream.runDrain(Stream.takeUntil(conversation.stream("Go on."), ({ type }) => type === "text-end")),
    "its time was over": ({ conversation }) =>
      Effect.gen(function*() {
        const reading = yield* Effect.forkChild(Stream.runDrain(conversation.stream("Go on.")), {
          startImmediately: true
        })
        yield* TestClock.adjust("1 minute")
        yield* Fiber.join(reading)
        assert.strictEqual((yield* conversation.outcome)?._tag, "Limited")
      }),
    "it was cancelled": ({ conversation }) =>
      Effect.gen(function*() {
        const said = yield* Deferred.make<void>()
        const reading = conversation.stream("Go on.").pipe(
          Stream.runForEach(({ type }) => type === "text-end" ? Deferred.succeed(said, undefined) : Effect.void)
        )
        yield* Effect.forkChild(reading, { startImmediately: true })
        yield* Deferred.await(said)
        yield* conversation.cancel()
      })
  }
  const noFinish: typeof ways[string] = ({ conversation }) => Stream.runDrain(conversation.stream("Go on."))
  for (const [how, leave] of Object.entries({ ...ways, "it had no finish": noFinish })) {
    it.effect(`goes on by a note, which is told later too, also by another process: ${how}`, () =>
      Effect.gen(function*() {
        const shared = yield* C.makeShared
        const first = yield* C.start({
          turns: [leave === noFinish ? endless : slow, "tence."],
          limits: { time: "30 seconds" },
          shared
        })
        yield* leave(first)
        assert.strictEqual(C.finished(yield* first.conversation.send([])), "tence.")
        const outline = ["user:[Go on.]", "assistant:[Half a sen]", note]
        assert.deepStrictEqual(yield* lastOf(first.script), outline)
        const second = yield* C.start({ turns: ["Bye."], shared })
        yield* second.conversation.send("Thanks.")
        assert.deepStrictEqual(yield* lastOf(second.script), [...outline, "assistant:[tence.]", "user:[Thanks.]"])
        const history = yield* second.conversation.history
        assert.deepStrictEqual(Laws.outline(history).filter((line) => line.startsWith("user:")), [
          "user:[Go on.]",
          "user:[Thanks.]"
        ])
      }))
  }

  it.effect("needs no note where the user says something", () =>
    Effect.gen(function*() {
      const started = yield* C.start({ turns: [slow, "Bye."] })
      const { conversation, script } = started
      yield* ways["its reader left"]!(started)
      yield* conversation.send("Stop.")
      assert.deepStrictEqual(yield* lastOf(script), ["user:[Go on.]", "assistant:[Half a sen]", "user:[Stop.]"])
    }))
})
