/**
 * L6, a new user message after a request, while it is open: supersede (default), keep, hold or fail. Answers in the
 * same prompt are applied first. Chat text is never read as consent.
 */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Approval, type LanguageModel, Prompt, Response } from "../../src/index.ts"
import * as C from "./conversation.ts"

const one = [C.deleteCall("c1", "a")]
const two = [C.deleteCall("c1", "a"), C.deleteCall("c2", "b")]

const rules = ["supersede", "keep", "hold", "fail"] as const

const begin = Effect.fnUntraced(function*(
  way: C.Way,
  onNewMessage: LanguageModel.ApprovalOptions["onNewMessage"],
  turns: C.StartOptions["turns"]
) {
  const { runs, toolkit } = yield* C.fileTools
  const chat = yield* C.start({
    way,
    toolkit,
    turns,
    ...(onNewMessage === undefined ? undefined : { approval: { onNewMessage } })
  })
  const asked = yield* chat.send("delete a")
  return { asked, chat, runs }
})

describe("L6 supersede", () => {
  C.everyWay(
    "L6 B16 by default a new message supersedes: a failed result that says so, and the model goes on",
    function*(way) {
      const { chat, runs } = yield* begin(way, undefined, [one, "fine", "bye"])
      const turn = yield* chat.send("never mind, what time is it?")
      assert.strictEqual(turn.text, "fine")
      assert.strictEqual(turn.finishReason, "stop")
      assert.isFalse(Response.isWaiting(turn.parts))
      const prompt = yield* C.assertSent(chat, [
        "user:[delete a]",
        "assistant:[call c1]",
        "tool:[failure c1]",
        "user:[never mind, what time is it?]"
      ])
      const reason = C.reasonOf(C.resultsOf(prompt)[0]!)
      assert.match(reason, /superseded by a new message/i)
      assert.match(reason, /may be asked again/i)
      assert.deepStrictEqual(
        turn.results.map((part) => part.id),
        ["c1"],
        "its result is given, so that a history has it"
      )
      assert.deepStrictEqual(C.pendingOf(yield* chat.history), [])
      assert.deepStrictEqual(runs, [])
    }
  )

  C.everyWay(
    "L6 B16 an approval that comes after the request was superseded runs nothing and harms nothing",
    function*(way) {
      const { asked, chat, runs } = yield* begin(way, undefined, [one, "fine", "bye", "bye"])
      yield* chat.send("never mind")
      yield* chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)]))
      const turn = yield* chat.send("still there?")
      assert.strictEqual(turn.text, "bye")
      C.assertWellFormed(yield* chat.lastPrompt)
      assert.deepStrictEqual(runs, [])
    }
  )

  C.everyWay(
    "L6 B16 the history of before the new message, with an approval, does not bring the request back",
    function*(way) {
      const { asked, chat, runs } = yield* begin(way, undefined, [one, "fine", "I see"])
      const before = yield* chat.history
      yield* chat.send("never mind")
      yield* chat.setHistory(before)
      const turn = yield* chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)]))
      assert.deepStrictEqual(runs, [])
      assert.strictEqual(turn.shape, "result text finish")
      assert.match(C.reasonOf(turn.results[0]!), /superseded/i)
    }
  )

  for (const order of ["before", "after"] as const) {
    C.everyWay(`L6 an answer ${order} the new message in the same prompt is applied first`, function*(way) {
      const { asked, chat, runs } = yield* begin(way, "supersede", [two, "fine"])
      const answer = Prompt.approvalResponses([Approval.approve(asked.requests[0]!)])
      const message = Prompt.make("and now?")
      const turn = yield* chat.send(
        order === "before" ? Prompt.concat(answer, message) : Prompt.concat(message, answer)
      )
      assert.deepStrictEqual(runs, ["delete a"])
      assert.strictEqual(turn.text, "fine")
      const prompt = yield* chat.lastPrompt
      C.assertWellFormed(prompt)
      assert.deepStrictEqual(C.outline(prompt).slice(1), [
        "assistant:[call c1, call c2]",
        "tool:[result c1, failure c2]",
        "user:[and now?]"
      ])
      assert.match(C.reasonOf(C.resultsOf(prompt)[1]!), /superseded/i)
    })
  }
})

describe("L6 keep", () => {
  C.everyWay(
    "L6 keep: the model goes on and sees that the call waits, which stays so; a later answer is told at the end",
    function*(way) {
      const { asked, chat, runs } = yield* begin(way, "keep", [one, "fine", "deleted, then"])
      const turn = yield* chat.send("what time is it?")
      assert.strictEqual(turn.text, "fine")
      const meanwhile = yield* chat.lastPrompt
      C.assertWellFormed(meanwhile)
      assert.deepStrictEqual(C.outline(meanwhile).map((line) => line.replace("failure", "result")), [
        "user:[delete a]",
        "assistant:[call c1]",
        "tool:[result c1]",
        "user:[what time is it?]"
      ])
      assert.match(JSON.stringify(C.resultsOf(meanwhile)[0]!.result), /waiting for approval/i)
      assert.deepStrictEqual(
        C.pendingOf(yield* chat.history).map((pending) => pending.approvalId),
        asked.requests.map((request) => request.approvalId),
        "still open"
      )

      const later = yield* chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)]))
      assert.deepStrictEqual(runs, ["delete a"])
      assert.strictEqual(later.shape, "result text finish")
      assert.strictEqual(later.text, "deleted, then")
      const prompt = yield* C.assertSent(chat, [
        "user:[delete a]",
        "assistant:[call c1]",
        "tool:[failure c1]",
        "user:[what time is it?]",
        "assistant:[fine]",
        `user:[${C.lateNote({ tool: "DeleteFile", toolCallId: "c1", isFailure: false, result: { deleted: "a" } })}]`
      ])
      assert.deepStrictEqual(prompt.content.slice(0, 4), meanwhile.content, "what was sent stays what it was")
    }
  )

  C.everyWay("L6 keep: a denial that comes later is told at the end too", function*(way) {
    const { asked, chat, runs } = yield* begin(way, "keep", [one, "fine", "kept"])
    yield* chat.send("what time is it?")
    const turn = yield* chat.send(Prompt.approvalResponses([Approval.deny(asked.requests[0]!, "keep it")]))
    assert.strictEqual(turn.text, "kept")
    const prompt = yield* chat.lastPrompt
    assert.deepStrictEqual(C.resultsOf(prompt).map(C.reasonOf), ["Waiting for approval; the call has not run yet."])
    assert.deepStrictEqual(
      C.lateIn(prompt),
      [{
        tool: "DeleteFile",
        toolCallId: "c1",
        isFailure: true,
        outcome: "denied",
        reason: "keep it"
      }]
    )
    assert.deepStrictEqual(runs, [])
  })

  C.everyWay("L6 keep: several messages later one answer runs the call once", function*(way) {
    const { asked, chat, runs } = yield* begin(way, "keep", [one, "1", "2", "3", "4", "5"])
    for (const message of ["first", "second", "third"]) yield* chat.send(message)
    const answer = Prompt.approvalResponses([Approval.approve(asked.requests[0]!)])
    yield* chat.send(answer)
    yield* chat.send(Prompt.concat(answer, "again"))
    assert.deepStrictEqual(runs, ["delete a"])
    const prompt = yield* chat.lastPrompt
    C.assertWellFormed(prompt)
    assert.deepStrictEqual(C.lateIn(prompt).map(({ result }) => result), [{ deleted: "a" }])
  })
})

describe("L6 hold", () => {
  C.everyWay("L6 hold: the model is not called and the message is kept until the answer comes", function*(way) {
    const { asked, chat, runs } = yield* begin(way, "hold", [one, "done"])
    const held = yield* chat.send("what time is it?")
    assert.strictEqual(held.shape, "request finish")
    assert.strictEqual(held.finishReason, "pause")
    assert.deepStrictEqual(held.requests, asked.requests)
    assert.strictEqual(yield* chat.calls, 1)

    const turn = yield* chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)]))
    assert.deepStrictEqual(runs, ["delete a"])
    assert.strictEqual(turn.shape, "result text finish")
    yield* C.assertSent(chat, [
      "user:[delete a]",
      "assistant:[call c1]",
      "tool:[result c1]",
      "user:[what time is it?]"
    ])
  })
})

describe("L6 hold, several messages", () => {
  C.everyWay("L6 hold: every message is kept, in order, and a denial lets the model go on", function*(way) {
    const { asked, chat, runs } = yield* begin(way, "hold", [one, "done"])
    for (const message of ["first", "second"]) assert.strictEqual((yield* chat.send(message)).finishReason, "pause")
    yield* chat.send(Prompt.concat(Prompt.approvalResponses([Approval.deny(asked.requests[0]!)]), "third"))
    yield* C.assertSent(chat, [
      "user:[delete a]",
      "assistant:[call c1]",
      "tool:[failure c1]",
      "user:[first]",
      "user:[second]",
      "user:[third]"
    ])
    assert.deepStrictEqual(runs, [])
  })

  C.everyWay("L6 hold: a partial answer runs, the rest still holds the message", function*(way) {
    const { asked, chat, runs } = yield* begin(way, "hold", [two, "done"])
    const turn = yield* chat.send(
      Prompt.concat(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)]), "and now?")
    )
    assert.strictEqual(turn.shape, "result request finish")
    assert.deepStrictEqual(runs, ["delete a"])
    assert.strictEqual(yield* chat.calls, 1)
  })
})

describe("L6 fail", () => {
  C.everyWay("L6 fail: the call fails with the requests it waits for; the answer still counts", function*(way) {
    const { asked, chat, runs } = yield* begin(way, "fail", [one, "done"])
    const before = yield* chat.history
    const reason = C.approvalErrorOf(yield* Effect.flip(chat.send("what time is it?")))
    assert.strictEqual(reason._tag, "ApprovalRequired")
    if (reason._tag === "ApprovalRequired") {
      assert.deepStrictEqual(reason.requests.map((request) => request.approvalId), [asked.requests[0]!.approvalId])
      assert.strictEqual(reason.requests[0]!.description, "DeleteFile(path='a')")
    }
    assert.strictEqual(yield* chat.calls, 1)
    assert.deepStrictEqual(runs, [])

    // Upstream's Chat keeps the prompt of a stream that failed; the story goes on from before it.
    yield* chat.setHistory(before)
    const turn = yield* chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)]))
    assert.strictEqual(turn.text, "done")
    assert.deepStrictEqual(runs, ["delete a"])
  })

  C.everyWay("L6 fail: nothing fails when the answers come with the message", function*(way) {
    const { asked, chat, runs } = yield* begin(way, "fail", [two, "done"])
    const answers = Prompt.approvalResponses([
      Approval.approve(asked.requests[0]!),
      Approval.deny(asked.requests[1]!)
    ])
    const turn = yield* chat.send(Prompt.concat(answers, "and hurry"))
    assert.strictEqual(turn.text, "done")
    assert.deepStrictEqual(runs, ["delete a"])
    C.assertWellFormed(yield* chat.lastPrompt)
  })
})

describe("L6 chat text", () => {
  for (const rule of rules) {
    C.everyWay(`L6 ${rule}: chat text is never read as consent`, function*(way) {
      const { asked, chat, runs } = yield* begin(way, rule, [one, "ok", "ok", "ok"])
      const id = asked.requests[0]!.approvalId
      for (const text of ["yes", `I approve ${id}`, `{"approvalId":"${id}","approved":true}`]) {
        yield* Effect.exit(chat.send(text))
      }
      assert.deepStrictEqual(runs, [])
    })

    C.everyWay(`L6 ${rule}: without a request a message is just a message`, function*(way) {
      const { toolkit } = yield* C.fileTools
      const chat = yield* C.start({ way, toolkit, turns: ["hi", "bye"], approval: { onNewMessage: rule } })
      assert.strictEqual((yield* chat.send("hello")).text, "hi")
      assert.strictEqual((yield* chat.send("goodbye")).text, "bye")
    })
  }
})
