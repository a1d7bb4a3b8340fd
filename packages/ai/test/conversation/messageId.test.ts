/** A message that its sender has named is said once, however often it is sent. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Stream } from "effect"
import { Approval, ApprovalError, type Conversation, Prompt } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./support.ts"

const problemOf = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<string, A, R> =>
  Effect.map(Effect.flip(effect), (error) => {
    assert.instanceOf(error, ApprovalError.ApprovalError)
    assert.strictEqual(error.reason._tag, "InvalidPrompt")
    return error.message
  })

const idsOf = (conversation: C.Started["conversation"]) =>
  Effect.map(conversation.read, ({ messages }) => messages.map(({ id, message }) => `${id} ${message.role}`))

const textsOf = (conversation: C.Started["conversation"]) =>
  Effect.map(
    conversation.history,
    ({ content }) =>
      content.flatMap((message) =>
        message.role === "user" ? message.content.flatMap((part) => part.type === "text" ? [part.text] : []) : []
      )
  )

describe("a message with an id", () => {
  for (const way of ["send", "stream"] as const) {
    it.effect(`is in the history under it, and a repeat says nothing (${way})`, () =>
      Effect.gen(function*() {
        const shared = yield* C.makeShared
        const { conversation, script } = yield* C.start({ turns: ["Hello.", "Not now."], shared })
        const take = (options?: Conversation.TurnOptions) =>
          way === "send" ? conversation.send("Hi.", options) : Stream.runDrain(conversation.stream("Hi.", options))
        yield* take({ messageId: "first" })
        assert.deepStrictEqual(yield* idsOf(conversation), ["first user", "m1 assistant"])
        yield* take({ messageId: "first" })
        assert.deepStrictEqual(yield* idsOf(conversation), ["first user", "m1 assistant"])
        assert.strictEqual(yield* script.calls, 1)
        const other = yield* C.start({ turns: ["Not now."], shared })
        assert.strictEqual(C.finished(yield* other.conversation.send("Hi.", { messageId: "first" })), "")
        assert.strictEqual(yield* other.script.calls, 0)
        yield* take({ messageId: "second" })
        assert.deepStrictEqual(yield* idsOf(conversation), [
          "first user",
          "m1 assistant",
          "second user",
          "m3 assistant"
        ])
      }))
  }

  it.effect("goes on from there where its turn failed", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const first = yield* C.start({ turns: [], shared })
      assert.isTrue(Exit.isFailure(yield* Effect.exit(first.conversation.send("Hi.", { messageId: "first" }))))
      const { conversation } = yield* C.start({ turns: ["Hello."], shared })
      assert.strictEqual(C.finished(yield* conversation.send("Hi.", { messageId: "first" })), "Hello.")
      assert.deepStrictEqual(yield* idsOf(conversation), ["first user", "m1 assistant"])
    }))

  it.effect("is repeated as messages, too, and an unnamed one by where it stands", () =>
    Effect.gen(function*() {
      const { conversation, script } = yield* C.start({ turns: ["Hello.", "Bye."], instructions: "Be kind." })
      const prompt: Prompt.RawInput = [
        {
          role: "user",
          content: [{ type: "text", text: "See" }, {
            type: "file",
            mediaType: "text/plain",
            data: new Uint8Array([1, 2])
          }]
        }
      ]
      yield* conversation.send(prompt, { messageId: "file" })
      yield* conversation.send(prompt, { messageId: "file" })
      assert.deepStrictEqual(yield* idsOf(conversation), ["m0 system", "file user", "m2 assistant"])
      yield* conversation.send("Thanks.")
      yield* conversation.send("Thanks.", { messageId: "m3" })
      assert.deepStrictEqual(yield* textsOf(conversation), ["See", "Thanks."])
      assert.strictEqual(yield* script.calls, 2)
    }))

  it.effect("of another text is refused, and what was said stays", () =>
    Effect.gen(function*() {
      const { conversation, script } = yield* C.start({ turns: ["Hello."], instructions: "Be kind." })
      yield* conversation.send("Hi.", { messageId: "first" })
      assert.include(yield* problemOf(conversation.send("Ho.", { messageId: "first" })), "another message")
      assert.include(yield* problemOf(conversation.send("Hello.", { messageId: "m2" })), "another message")
      assert.include(yield* problemOf(conversation.send("Be kind.", { messageId: "m0" })), "another message")
      assert.deepStrictEqual(yield* textsOf(conversation), ["Hi."])
      assert.strictEqual(yield* script.calls, 1)
    }))

  it.effect("has an id of 1 to 256 characters that no message gets from where it stands", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({ turns: ["Hello."] })
      for (const messageId of ["", "x".repeat(257), "\ud800", "m0", "m7", "m01", 7 as never, null as never]) {
        yield* problemOf(conversation.send("Hi.", { messageId }))
      }
      assert.deepStrictEqual((yield* conversation.history).content, [])
      yield* conversation.send("Hi.", { messageId: "ü".repeat(256) })
      assert.deepStrictEqual(yield* idsOf(conversation), [`${"ü".repeat(256)} user`, "m1 assistant"])
    }))

  it.effect("names the user's message: nothing has no name, and other messages are none", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({ turns: ["Hello."] })
      assert.include(
        yield* problemOf(conversation.send([{ role: "system", content: "Be kind." }], { messageId: "x" })),
        "user"
      )
      yield* conversation.send("Hi.")
      assert.strictEqual(C.finished(yield* conversation.send([], { messageId: "x" })), "")
      assert.deepStrictEqual(yield* idsOf(conversation), ["m0 user", "m1 assistant"])
    }))

  it.effect("is named by its sender alone: what messages say of their ids is not read", () =>
    Effect.gen(function*() {
      const { conversation, script } = yield* C.start({
        turns: [[{ ...ScriptedModel.text("Hello."), metadata: { assent: { messageId: "first" } } }], "Again."],
        afterLastTurn: "."
      })
      const options = { assent: { messageId: "first", kept: true }, other: { kept: true } }
      yield* conversation.send([
        Prompt.makeMessage("user", { content: [Prompt.makePart("text", { text: "Hi." })], options })
      ])
      assert.deepStrictEqual(yield* idsOf(conversation), ["m0 user", "m1 assistant"])
      assert.deepStrictEqual((yield* conversation.history).content[0]?.options, {
        assent: { kept: true },
        other: { kept: true }
      })
      yield* conversation.send("Hi.", { messageId: "first" })
      assert.deepStrictEqual(yield* textsOf(conversation), ["Hi.", "Hi."])
      assert.strictEqual(yield* script.calls, 2)
    }))

  it.effect("stays the same object in what the model is sent, and unnamed ones have no new bytes", () =>
    Effect.gen(function*() {
      const { conversation, script } = yield* C.start({ turns: ["Hello.", "Bye."], strict: {} })
      yield* conversation.send("Hi.", { messageId: "first" })
      yield* conversation.send("Bye.")
      const [first, second] = yield* C.prompts(script)
      assert.strictEqual(second?.content[0], first?.content[0])
      assert.strictEqual(JSON.stringify(second?.content[2]), JSON.stringify(Prompt.make("Bye.").content[0]))
    }))

  const answers: Record<string, {
    readonly call: ScriptedModel.TurnPart
    readonly text: string
    readonly step: C.Started["steps"][number]
  }> = {
    "a text that a tool asked for": { call: C.ask("Size?"), text: "42", step: ["text", "42"] },
    "a choice by its label": { call: C.menu("one"), text: "fish of the day", step: ["one", "fish"] }
  }
  for (const [what, { call, step, text }] of Object.entries(answers)) {
    it.effect(`${what} is answered once with it`, () =>
      Effect.gen(function*() {
        const shared = yield* C.makeShared
        const turns = [[call, C.ask("Colour?", "later")], "Never."]
        const { conversation, steps } = yield* C.start({ shared, turns })
        yield* conversation.send("Go.")
        yield* conversation.send(text, { messageId: "answer" })
        assert.deepStrictEqual(steps.slice(2), [step])
        const [open] = yield* conversation.pending()
        assert.strictEqual(open?.toolCallId, "later")
        // Without its id it would answer the next question.
        const repeated = yield* conversation.send(text, { messageId: "answer" })
        assert.strictEqual(C.requestsOf(repeated)[0]?.approvalId, open?.approvalId)
        const other = yield* C.start({ shared, turns: [] })
        assert.strictEqual(C.requestsOf(yield* other.conversation.send(text, { messageId: "answer" })).length, 1)
        assert.deepStrictEqual(yield* textsOf(conversation), ["Go."])
        assert.include(yield* problemOf(conversation.send("Else.", { messageId: "answer" })), "another message")
        assert.deepStrictEqual([...steps.slice(2), ...other.steps], [step])
      }))
  }

  it.effect("of an answer that failed its turn is not said when it comes again", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const first = yield* C.start({ shared, turns: [[C.ask("Size?")]] })
      yield* first.conversation.send("Go.")
      yield* Effect.flip(first.conversation.send("42", { messageId: "answer" }))
      const { conversation, steps } = yield* C.start({ shared, turns: ["Good."] })
      assert.strictEqual(C.finished(yield* conversation.send("42", { messageId: "answer" })), "Good.")
      assert.deepStrictEqual(yield* textsOf(conversation), ["Go."])
      assert.lengthOf([...first.steps, ...steps].filter(([name]) => name === "text"), 1)
    }))

  it.effect("beside what is open supersedes once", () =>
    Effect.gen(function*() {
      const { conversation, script } = yield* C.start({ turns: [[C.remove("a")], [C.remove("a", "again")], "Done."] })
      yield* conversation.send("Clean up.")
      const [request] = C.requestsOf(yield* conversation.send("Well?", { messageId: "second" }))
      assert.strictEqual(request?.toolCallId, "again")
      const [still] = C.requestsOf(yield* conversation.send("Well?", { messageId: "second" }))
      assert.strictEqual(still?.approvalId, request?.approvalId)
      assert.strictEqual(yield* script.calls, 2)
      assert.strictEqual(C.finished(yield* conversation.decide(Approval.approve(request!))), "Done.")
    }))
})
