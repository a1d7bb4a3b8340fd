/** One turn, over a conversation that is written down here. */
import { Approval, Prompt, Response } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Conversation } from "../../src/internal/turn/conversation.ts"
import * as Live from "../../src/internal/turn/live.ts"
import * as Turn from "../../src/internal/turn/turn.ts"
import type { Chunk } from "../../src/internal/wire/model.ts"
import { asking, call, finish, request, result, said, user } from "../wire/parts.ts"

const asked = Prompt.fromMessages([...user("one"), ...said(call("c1", "a"), asking("id-1", "c1"), finish())])

const ran = Prompt.fromMessages([...asked.content, ...said(result("c1", "done", { assent: { approvalId: "id-1" } }))])

interface Script {
  readonly history?: Prompt.Prompt
  readonly pending?: ReadonlyArray<Approval.ApprovalRequest>
  readonly says?: Stream.Stream<Response.AnyPart, unknown>
  readonly decides?: ReturnType<Conversation["decide"]>
}

/** A conversation, and what was said and decided in it. */
const conversationOf = ({ decides, history = asked, pending = [request("id-1", "c1")], says }: Script) => {
  const heard: Array<unknown> = []
  const conversation: Conversation = {
    cancel: () => Effect.die("nothing is stopped here"),
    history: Effect.succeed(history),
    pending: () => Effect.succeed(pending),
    stream: (prompt) => {
      heard.push(prompt)
      return says ?? Stream.empty
    },
    decide: (answers) => {
      heard.push(answers.map(({ approvalId }) => approvalId))
      return decides ?? Effect.succeed({ content: [] })
    }
  }
  return { conversation, heard }
}

const take = Effect.fnUntraced(function*(
  conversation: Conversation,
  input: Partial<Omit<Turn.Input, "conversation">>
): Effect.fn.Return<{ readonly live: Live.Live; readonly chunks: ReadonlyArray<Chunk> }> {
  const live = Live.make(undefined, 1_000_000)
  const nothing = { said: undefined, isRepeated: false, answers: [], withheld: new Map(), by: undefined }
  yield* Turn.take({ conversation, ...nothing, ...input }, live)
  return { live, chunks: live.from(0)! }
})

const saying = (text: string) => ({ messageId: "u", text })

const approve = (...ids: ReadonlyArray<string>) => ids.map((approvalId) => Approval.approve({ approvalId }))

describe("turn", () => {
  it.effect("what was answered goes on, in the message that it was asked in", () =>
    Effect.gen(function*() {
      const decides = Effect.succeed({
        content: [
          result("c1", "done", { assent: { approvalId: "id-1" } }),
          Response.makePart("text", { text: "Gone." })
        ]
      })
      const { conversation, heard } = conversationOf({ decides })
      const { chunks, live } = yield* take(conversation, { answers: approve("id-1") })
      assert.deepStrictEqual(heard, [["id-1"]])
      assert.strictEqual(live.beginning()?.messageId, "assistant-1")
      assert.strictEqual(live.beginning()?.before?.id, "assistant-1")
      assert.deepStrictEqual(chunks.map(({ type }) => type), [
        "tool-approval-response",
        "tool-output-available",
        "data-approval",
        "start-step",
        "text-start",
        "text-delta",
        "text-end",
        "finish-step"
      ])
    }))

  it.effect("what was never asked, or is decided, is given to nobody; what was begun goes on", () =>
    Effect.gen(function*() {
      const { conversation, heard } = conversationOf({ history: ran, pending: [] })
      const { chunks } = yield* take(conversation, { answers: approve("id-1", "unknown") })
      assert.deepStrictEqual(heard, [[]])
      assert.deepStrictEqual(chunks.map(({ type }) => type), ["data-approval"])
    }))

  it.effect("a turn that fails keeps what it has said, and ends with a sentence", () =>
    Effect.gen(function*() {
      const says = Stream.concat(
        Stream.make(
          Response.makePart("text-start", { id: "0" }),
          Response.makePart("text-delta", { id: "0", delta: "Hm" })
        ),
        Stream.fail(new Error("secret"))
      )
      const { conversation } = conversationOf({ says })
      const { chunks, live } = yield* take(conversation, {})
      assert.deepStrictEqual(chunks.map(({ type }) => type), [
        "start-step",
        "text-start",
        "text-delta",
        "text-end",
        "finish-step"
      ])
      assert.deepStrictEqual(live.ending(), { error: "The model did not answer. What was done is kept; try again." })
    }))

  it.effect("an error among the parts is told at the end", () =>
    Effect.gen(function*() {
      const { conversation } = conversationOf({
        says: Stream.make(Response.makePart("error", { error: "secret" }), finish("error"))
      })
      const { live } = yield* take(conversation, {})
      assert.deepStrictEqual(live.ending(), {
        error: "The model did not answer. What was done is kept; try again.",
        finishReason: "error"
      })
    }))

  it.effect("answers and a text are two turns, in a message of their own", () =>
    Effect.gen(function*() {
      const { conversation, heard } = conversationOf({})
      const { live } = yield* take(conversation, { answers: approve("id-1"), said: saying("And?") })
      assert.deepStrictEqual(heard, [["id-1"], "And?"])
      assert.deepStrictEqual(live.beginning(), {
        messageId: "assistant-2~answered",
        before: undefined,
        isRepeated: false
      })
    }))

  it.effect("what the user said and nobody answered is not said again", () =>
    Effect.gen(function*() {
      const { conversation, heard } = conversationOf({ history: Prompt.fromMessages(user("one")), pending: [] })
      yield* take(conversation, { said: saying("one") })
      yield* take(conversation, { said: saying("two") })
      assert.deepStrictEqual(heard, [[], "two"])
    }))

  it.effect("what the history has said, or was answered, is not said again, and the page is sent the answer", () =>
    Effect.gen(function*() {
      const { conversation, heard } = conversationOf({})
      const loaded = yield* take(conversation, { said: { messageId: "user-1", text: "one" } })
      const unheard = yield* take(conversation, { said: saying("one"), isRepeated: true })
      for (const { live } of [loaded, unheard]) {
        assert.deepInclude(live.beginning(), { messageId: "assistant-1", isRepeated: true })
        assert.strictEqual(live.beginning()?.before?.id, "assistant-1")
      }
      yield* take(conversation, { said: { messageId: "user-1", text: "another" } })
      assert.deepStrictEqual(heard, [[], [], "another"])
    }))

  it.effect("what is open is read of one and the same history", () =>
    Effect.gen(function*() {
      // It is decided between the first reading and the second.
      const histories = [asked, ran, ran, ran]
      const pending = [[], []]
      const { conversation } = conversationOf({})
      const { cards } = yield* Turn.read({
        ...conversation,
        history: Effect.sync(() => histories.shift()!),
        pending: () => Effect.sync(() => pending.shift()!)
      })
      assert.strictEqual(cards.get("id-1")?.part.state, "output-available")
    }))
})
