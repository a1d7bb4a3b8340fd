/** "I gave the id", "I answered twice", "nothing was pending": what is expected and what was given, in a sentence. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  Approval,
  ApprovalError,
  Conversation,
  ConversationStore,
  LanguageModel,
  Prompt,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Untyped from "./untyped.ts"

type Answering = (request: unknown, ...rest: ReadonlyArray<unknown>) => Approval.ApprovalAnswer
const doors = {
  approve: Untyped.anything<Answering>(Approval.approve),
  deny: Untyped.anything<Answering>(Approval.deny),
  answer: Untyped.anything<Answering>(Approval.answer)
}
const request = { approvalId: "id-1" }

describe("an answer that is made of something else than a request", () => {
  const given: Record<string, readonly [value: unknown, says: string]> = {
    "an id": ["id-1", "it was given the text \"id-1\"."],
    "nothing, because nothing was pending": [undefined, "it was given undefined."],
    "a list": [[request], "it was given an array of 1: answer one at a time, requests.map("],
    "a function that would give one": [() => request, "it was given a function."],
    "an object with another id": [{ id: "id-1", tool: "x" }, "it was given an object with \"id\", \"tool\"."],
    "an id that is no text": [{ approvalId: 7 }, "it was given an object with \"approvalId\"."]
  }
  for (const [door, answer] of Object.entries(doors)) {
    for (const [what, [value, says]] of Object.entries(given)) {
      it(`Approval.${door} of ${what}`, () => {
        const attempt = () => answer(value)
        const expected =
          `Approval.${door} takes a request, such as one of conversation.pending(), or { approvalId: "…" }; `
        assert.throws(attempt, TypeError, expected + says)
      })
    }
  }

  it("what an answer cannot hold is named, and nothing is left out without a word", () => {
    assert.throws(() => doors.approve(request, "because"), TypeError, "as an object, such as { note: \"…\" }")
    assert.throws(() => doors.approve(request, { note: 7 }), TypeError, /cannot hold\. .*at \["note"\]\.$/)
    assert.throws(() => doors.deny(request, { reason: "no" }), TypeError, /^Approval\.deny takes the reason as a text/)
    assert.throws(() => doors.deny(request, "no", "stop"), TypeError, "as an object, such as { stop: true }")
    assert.throws(() => doors.answer(request, () => 1), TypeError, "cannot hold")
    const unreadable = {
      get note() {
        throw new Error("no note yet")
      }
    }
    assert.throws(() => doors.approve(request, unreadable), TypeError, /cannot hold\. Error: no note yet$/)
  })
})

const conversationOf = (turns: ReadonlyArray<ScriptedModel.Turn>) =>
  Effect.gen(function*() {
    const toolkit = Toolkit.make(Untyped.DeleteFile)
    const script = yield* ScriptedModel.make({ turns })
    const conversation = yield* Conversation.make({ id: "newcomer", toolkit }).pipe(
      Effect.provide(toolkit.toLayer({ DeleteFile: () => Effect.succeed("deleted") })),
      Effect.provideService(LanguageModel.LanguageModel, script.model)
    )
    return { conversation, calls: script.calls }
  })

const asking: ReadonlyArray<ScriptedModel.Turn> = [[Untyped.call("DeleteFile")], "done"]

describe("a request that is answered twice", () => {
  for (const first of [Approval.approve, Approval.deny]) {
    it.effect(`${first.name}: the error says which state it is in and what to do, and nothing changes`, () =>
      Effect.gen(function*() {
        const { calls, conversation } = yield* conversationOf(asking)
        yield* conversation.send("go")
        const [asked] = yield* conversation.pending()
        yield* conversation.decide(first(asked!))
        const before = [yield* conversation.history, yield* calls]
        const again = conversation.decide(Approval.approve(asked!))
        const error = yield* Effect.flip(again)
        const state = first === Approval.approve ? "done" : "denied"
        assert.include(
          (error as Error).message,
          `its state is "${state}". This answer changes nothing. If it may come twice, as from a double click`
        )
        const outcome = yield* again.pipe(
          ApprovalError.catchReason("AlreadyDecided", () => conversation.decide([]))
        )
        assert.deepStrictEqual([outcome._tag, outcome.text], ["Completed", "done"])
        assert.deepStrictEqual([yield* conversation.history, yield* calls], before)
      }).pipe(Effect.provide(ConversationStore.layerMemory())))
  }

  it.effect("an id that nobody gave out is named", () =>
    Effect.gen(function*() {
      const { conversation } = yield* conversationOf(asking)
      yield* conversation.send("go")
      const error = yield* Effect.flip(conversation.decide(Approval.approve({ approvalId: "call_1" })))
      assert.include(
        (error as Error).message,
        "No request has the approval id \"call_1\". Answer with the id of a request"
      )
    }).pipe(Effect.provide(ConversationStore.layerMemory())))
})

describe("no answers", () => {
  it.effect("decide([]) is how the conversation stands, and calls no model", () =>
    Effect.gen(function*() {
      const { calls, conversation } = yield* conversationOf(asking)
      assert.deepStrictEqual((yield* conversation.decide([])).text, "")
      const sent = yield* conversation.send("go")
      assert.deepStrictEqual(yield* conversation.decide([]), sent)
      const answers = (yield* conversation.pending()).map((request) => Approval.approve(request))
      const decided = yield* conversation.decide(answers)
      assert.deepStrictEqual([decided._tag, decided.text], ["Completed", "done"])
      const before = [yield* conversation.history, yield* calls]
      assert.deepStrictEqual(yield* conversation.decide([]), decided)
      assert.deepStrictEqual([yield* conversation.history, yield* calls], before)
    }).pipe(Effect.provide(ConversationStore.layerMemory())))

  it.effect("and so it is for one who has just come to it", () =>
    Effect.gen(function*() {
      const { conversation } = yield* conversationOf(asking)
      yield* conversation.send("go")
      const other = (yield* conversationOf([])).conversation
      const standing = yield* other.decide([])
      assert.deepStrictEqual([standing._tag === "Waiting" && standing.requests.length, standing.text], [1, ""])
      yield* conversation.decide(Approval.approve((yield* conversation.pending())[0]!))
      const ended = yield* other.decide([])
      assert.deepStrictEqual([ended._tag, ended.text], ["Completed", "done"])
    }).pipe(Effect.provide(ConversationStore.layerMemory())))
})

describe("answers as JSON, with other names than are read", () => {
  const posted: Record<string, readonly [value: unknown, says: RegExp]> = {
    "id instead of approvalId": [
      { id: "id-1", approved: true },
      /which request it answers, in `approvalId`.*is an object with "id", "approved"/
    ],
    "a text": ["yes", /which request it answers, in `approvalId`.*is the text "yes"/],
    "ids": [["id-1"], /which request it answers, in `approvalId`.*is the text "id-1"/],
    "approve instead of approved": [
      { approvalId: "id-1", approve: true },
      /no decision: it is an object with "approvalId", "approve"\. Post \{ approvalId, approved: true \}/
    ],
    "a decision that is a text": [
      { approvalId: "id-1", decision: "approve" },
      /no decision: in its place is the text "approve", not an object such as/
    ],
    "a tag that does not exist": [
      { approvalId: "id-1", decision: { _tag: "Approve" } },
      /the `_tag` of its decision is not "Approved", "Denied" or "Info"/
    ],
    "approved that is a text": [{ approvalId: "id-1", approved: "yes" }, /its `approved` is not true or false/]
  }
  for (const [what, [value, says]] of Object.entries(posted)) {
    it.effect(what, () =>
      Effect.gen(function*() {
        assert.match((yield* Effect.flip(Prompt.readAnswers(value))).message, says)
      }))
  }
})
