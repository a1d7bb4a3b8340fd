/** What is sent again while somebody is asked: a repeat says nothing, and the history does not grow by it (law L17). */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { Approval, Prompt } from "../../src/index.ts"
import * as C from "./support.ts"

const rolesOf = (conversation: C.Started["conversation"]) =>
  Effect.map(
    conversation.history,
    ({ content }) =>
      content.map(({ content, role }) =>
        `${role}: ${typeof content === "string" ? content : content.map(({ type }) => type).join(" ")}`
      )
  )

describe("a repeat beside an open request", () => {
  for (const way of ["send", "stream", "start"] as const) {
    it.effect(`L17 adds nothing to the history (${way})`, () =>
      Effect.gen(function*() {
        const { conversation, script } = yield* C.start({ turns: [[C.remove("a"), C.read("b")], "Bye."] })
        const take = (prompt: Prompt.RawInput, options?: { readonly messageId: string }) =>
          way === "send"
            ? conversation.send(prompt, options)
            : way === "stream"
            ? Stream.runDrain(conversation.stream(prompt, options))
            : Effect.flatMap(conversation.start(prompt, options), ({ outcome }) => outcome)
        yield* take("Clean up.", { messageId: "first" })
        const before = yield* conversation.read
        for (let count = 0; count < 3; count++) {
          yield* take("Clean up.", { messageId: "first" })
          yield* take([])
        }
        assert.deepStrictEqual(yield* conversation.read, before)
        assert.strictEqual(yield* script.calls, 1)
      }))
  }
})

describe("a prompt that can be read once", () => {
  for (const way of ["send", "stream", "start"] as const) {
    it.effect(`is said as it is, beside answers, too (${way})`, () =>
      Effect.gen(function*() {
        const { conversation } = yield* C.start({ turns: [[C.remove("a")], "Bye."] })
        const take = (prompt: Prompt.RawInput, options?: Parameters<typeof conversation.send>[1]) =>
          way === "send"
            ? conversation.send(prompt, options)
            : way === "stream"
            ? Stream.runDrain(conversation.stream(prompt, options))
            : Effect.flatMap(conversation.start(prompt, options), ({ outcome }) => outcome)
        const once = function*(text: string): Generator<Prompt.MessageEncoded> {
          yield { role: "user", content: text }
        }
        yield* take(once("Clean up."), { messageId: "first" })
        assert.deepStrictEqual((yield* rolesOf(conversation)).slice(0, 1), ["user: text"])
        yield* take(once("And now?"), {
          messageId: "second",
          answers: (yield* conversation.pending()).map((request) => Approval.approve(request))
        })
        const said = (yield* conversation.history).content.filter(({ role }) => role === "user")
        assert.deepStrictEqual(said.map(({ content }) => content), [
          Prompt.make("Clean up.").content[0]!.content,
          Prompt.make("And now?").content[0]!.content
        ])
      }))
  }

  it.effect("that fails while it is read is none", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({ turns: [] })
      const broken = function*(): Generator<Prompt.MessageEncoded> {
        throw new Error("a secret")
      }
      const error = yield* Effect.flip(conversation.send(broken()))
      assert.include(String(error), "does not have the form")
      assert.notInclude(String(error), "secret")
    }))
})
