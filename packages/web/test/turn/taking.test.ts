/** What a post leads to, over a conversation that is written down. */
import { Approval, ApprovalError, Approver, ConversationStore, Prompt } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Taking from "../../src/internal/turn/taking.ts"
import { answers, asking, call, finish, request, result, said, user } from "../wire/parts.ts"
import { conversationOf, type Script, turnOf } from "./scripted.ts"

const asked = [...user("one"), ...said(call("c1", "a"), asking("id-1", "c1"), finish())]

const ran = [...asked, ...said(result("c1", "done", { assent: { approvalId: "id-1" } }))]

const take = (script: Script, { answers = [], ...post }: Posted) => {
  const { conversation, heard } = conversationOf(script)
  const taken = Taking.take({
    conversation,
    answers,
    withheld: new Map(),
    by: { id: "ada" },
    post: {
      said: undefined,
      unsaid: undefined,
      messageIds: new Set(),
      clicked: answers.map(({ approvalId, decision }) => ({
        approvalId,
        toolCallId: "on the page",
        approved: decision._tag === "Approved",
        reason: undefined
      })),
      ...post
    }
  })
  return Effect.map(taken, (taken) => ({ taken, heard }))
}

interface Posted extends Partial<Taking.Input["post"]> {
  readonly answers?: Taking.Input["answers"]
}

const approve = (...ids: ReadonlyArray<string>) => ids.map((approvalId) => Approval.approve({ approvalId }))

const saying = (text: string, messageId = "u") => ({ messageId, content: [Prompt.makePart("text", { text })] })

const open = [request("id-1", "c1")]

describe("taking", () => {
  it.effect("what was answered and what was said are one turn, by whoever is logged in", () =>
    Effect.gen(function*() {
      const { heard, taken } = yield* take({ history: asked, pending: open }, {
        answers: approve("id-1"),
        said: saying("And?")
      })
      assert.deepStrictEqual(heard, [["And?", ["id-1"], "ada", "u"]])
      assert.strictEqual(taken.turn?.messageId, "m99")
    }))

  it.effect("what was never asked, or is decided, is given to nobody; what was begun goes on", () =>
    Effect.gen(function*() {
      const { heard, taken } = yield* take({ history: ran }, { answers: approve("id-1", "unknown") })
      assert.deepStrictEqual(heard, [[[], [], "ada", undefined]])
      assert.deepStrictEqual(taken.told, [["id-1", "This was decided already, and what was decided stands."]])
    }))

  it.effect("an answer to nothing begins no conversation", () =>
    Effect.gen(function*() {
      const { heard, taken } = yield* take({}, { answers: approve("unknown") })
      assert.deepStrictEqual([heard, taken.turn], [[], undefined])
    }))

  it.effect("where no answer counts any more, what was begun goes on, and why is told", () =>
    Effect.gen(function*() {
      const stale = ApprovalError.make(new ApprovalError.AlreadyDecided({ approvalId: "id-1", state: "denied" }))
      const { heard, taken } = yield* take(
        { history: asked, pending: open, starts: [Effect.fail(stale)] },
        { answers: approve("id-1") }
      )
      assert.deepStrictEqual(heard.map((one: any) => one[1]), [["id-1"], []])
      assert.deepStrictEqual(taken.told, [["id-1", "This was decided already, and what was decided stands."]])
      const busy = new ConversationStore.ConversationError({ reason: "Busy", description: "Busy." })
      const failing = take({ history: asked, pending: open, starts: [Effect.fail(busy)] }, { answers: approve("id-1") })
      assert.strictEqual(yield* Effect.flip(failing), busy)
    }))

  it.effect("what was cut short goes on by the click of whoever had it run, and of nobody else", () =>
    Effect.gen(function*() {
      const history = [...asked, ...answers(...approve("id-1"))]
      for (const [id, isHeard] of [["ada", true], ["grace", false], [undefined, false]] as const) {
        const decidedBy = id === undefined ? undefined : new Approver.DecidedBy({ id, via: "conversation" })
        const { heard, taken } = yield* take(
          { history, states: { "id-1": { state: "unknown", ...(decidedBy && { decidedBy }) } } },
          { answers: approve("id-1") }
        )
        assert.deepStrictEqual(heard, isHeard ? [[[], [], "ada", undefined]] : [], id)
        assert.deepStrictEqual(taken.told.map(([approvalId]) => approvalId), ["id-1"])
      }
    }))

  it.effect("nobody answers in the place of a webhook, a timer or the program; to take it back is for people", () =>
    Effect.gen(function*() {
      for (const interaction of ["webhook", "timer", "external"]) {
        const pending = [request("id-1", "c1", { interaction })]
        const { heard, taken } = yield* take({ history: asked, pending }, { answers: approve("id-1") })
        assert.deepStrictEqual(heard, [[[], [], "ada", undefined]])
        assert.deepStrictEqual(taken.told, [["id-1", "This is not for a person to answer."]])
        const denied = yield* take({ history: asked, pending }, { answers: [Approval.deny({ approvalId: "id-1" })] })
        assert.deepStrictEqual(denied.taken.told, [])
      }
    }))

  it.effect("what the history has under its id is not said again, and the page is sent what was said to it", () =>
    Effect.gen(function*() {
      const { heard, taken } = yield* take({ history: asked }, { said: saying("one", "m0") })
      assert.deepStrictEqual(heard, [[[], [], "ada", undefined]])
      assert.deepStrictEqual([taken.before?.id, taken.isAnew], ["m1", false])
      const changed = yield* take({ history: asked }, { said: saying("another", "m0") })
      assert.deepStrictEqual(changed.heard, [["another", [], "ada", "m0~2"]])
    }))

  it.effect("a turn that answers what is posted again is followed, and others are waited for", () =>
    Effect.gen(function*() {
      let waited = 0
      const going = turnOf("m1", [], Effect.sync(() => (waited++, { refused: [] })))
      const same = yield* take({ history: user("one"), going: [going] }, { said: saying("one", "m0") })
      assert.deepStrictEqual([same.heard, same.taken.turn], [[], going])
      const other = yield* take({ history: user("one"), going: [going, going] }, { said: saying("two") })
      assert.deepStrictEqual([other.heard, waited], [[["two", [], "ada", "u"]], 2])
    }))

  it.effect("what has never arrived is said with the answers below it, in one turn, and answers no question", () =>
    Effect.gen(function*() {
      const unsaid = saying("Wait.")
      const { heard, taken } = yield* take({ history: asked, pending: open }, { answers: approve("id-1"), unsaid })
      assert.deepStrictEqual(heard, [[user("Wait."), ["id-1"], "ada", "u"]])
      assert.strictEqual(taken.messageId, "m1")
      // Where its answers are decided already, it is said all the same.
      const late = yield* take({ history: ran }, { answers: approve("id-1"), unsaid })
      assert.deepStrictEqual(late.heard.map((one: any) => [one[1], one[3]]), [[[], "u"]])
      assert.deepStrictEqual(late.taken.told.map(([approvalId]) => approvalId), ["id-1"])
    }))

  it.effect("what has never arrived is no reason to follow a turn: it waits, and looks again", () =>
    Effect.gen(function*() {
      const going = [turnOf("m1", [])]
      const { heard } = yield* take({ history: asked, pending: open, going }, {
        answers: approve("id-1"),
        unsaid: saying("one", "m0")
      })
      assert.deepStrictEqual(heard, [[[], ["id-1"], "ada", undefined]])
    }))

  it.effect("what cannot be said keeps no answer from counting", () =>
    Effect.gen(function*() {
      const invalid = ApprovalError.make(new ApprovalError.InvalidPrompt({ description: "It is too much." }))
      const full = new ConversationStore.ConversationError({ reason: "Full", description: "Full." })
      const input = { answers: approve("id-1"), unsaid: saying("Wait.") }
      for (const error of [invalid, full]) {
        const { heard } = yield* take({ history: asked, pending: open, starts: [Effect.fail(error)] }, input)
        assert.deepStrictEqual(heard.at(-1), [[], ["id-1"], "ada", undefined])
      }
      const busy = new ConversationStore.ConversationError({ reason: "Busy", description: "Busy." })
      const failing = take({ history: asked, pending: open, starts: [Effect.fail(busy)] }, input)
      assert.strictEqual(yield* Effect.flip(failing), busy)
    }))

  it.effect("a page of another conversation, or of one that was removed, has said nothing here", () =>
    Effect.gen(function*() {
      const unsaid = saying("Wait.")
      const elsewhere = { answers: approve("unknown"), unsaid }
      assert.deepStrictEqual((yield* take({}, elsewhere)).heard, [])
      assert.deepStrictEqual((yield* take({ history: asked }, elsewhere)).heard, [[[], [], "ada", undefined]])
      const silent = { unsaid, messageIds: new Set(["a page's own id"]) }
      assert.deepStrictEqual((yield* take({ history: asked }, silent)).heard, [[[], [], "ada", undefined]])
      const known = { unsaid, messageIds: new Set(["m1"]) }
      assert.deepStrictEqual((yield* take({ history: asked }, known)).heard.map((one: any) => one[3]), ["u"])
    }))

  it.effect("what the program has said itself, under no name, is not said again by a page that calls it something", () =>
    Effect.gen(function*() {
      const input = { answers: approve("id-1"), unsaid: saying("one", "its own id") }
      const { heard } = yield* take({ history: asked, pending: open }, input)
      assert.deepStrictEqual(heard, [[[], ["id-1"], "ada", undefined]])
    }))

  it.effect("what was changed once or since, or was an answer to a question, has been said", () =>
    Effect.gen(function*() {
      const named = Prompt.makeMessage(
        "user",
        { ...user("B")[0]!, options: { assent: { messageId: "m0~2" } } } as never
      )
      const [message] = answers(Approval.approve({ approvalId: "id-1" }))
      const written = { messageId: "u", text: "yes" }
      const routed = Prompt.makeMessage("tool", { ...message, options: { assent: written } } as never)
      const history = [...asked, named, routed]
      const messageIds = new Set(["m1"])
      for (const unsaid of [saying("B", "m0"), saying("yes"), saying("***", "m0"), saying("***")]) {
        const { heard } = yield* take({ history }, { unsaid, messageIds })
        assert.deepStrictEqual(heard, [[[], [], "ada", undefined]])
      }
    }))

  it.effect("who reads a turn from its beginning has what was there before it, and no more", () =>
    Effect.gen(function*() {
      const { conversation } = conversationOf({ history: ran })
      const { before, messageId } = yield* Taking.follow(conversation, turnOf("m2", []))
      assert.deepStrictEqual([messageId, before?.parts.map(({ type }) => type)], ["m1", [
        "step-start",
        "tool-DeleteFile"
      ]])
      const first = yield* Taking.follow(conversation, turnOf("m1", []))
      assert.deepStrictEqual([first.messageId, first.before], ["m1", undefined])
    }))
})
