/**
 * What a history says (laws L3, L7, L10, L13), read by itself: which call a request and an answer are about, which
 * answers count, and which messages may stand as they are.
 */
import { assert, describe, it } from "@effect/vitest"
import { Prompt } from "../../src/index.ts"
import * as Passing from "../../src/internal/history/passing.ts"
import * as Transcript from "../../src/internal/history/transcript.ts"
import { assistant, text, tool, user } from "../laws/byHand.ts"

type Messages = ReadonlyArray<Prompt.Message>

const call = (id: string, name = "X") => Prompt.toolCallPart({ id, name, params: {}, providerExecuted: false })

const hosted = (id: string) => Prompt.toolCallPart({ id, name: "Mcp", params: {}, providerExecuted: true })

const result = (id: string, words: unknown = "done") =>
  Prompt.toolResultPart({ id, name: "X", result: words, isFailure: false, providerExecuted: false })

const hostedResult = (id: string, words = "did it") =>
  Prompt.toolResultPart({ id, name: "Mcp", result: words, isFailure: false, providerExecuted: true })

const request = (approvalId: string, toolCallId: string) => Prompt.toolApprovalRequestPart({ approvalId, toolCallId })

const answer = (approvalId: string, approved = true) => Prompt.toolApprovalResponsePart({ approvalId, approved })

const edit = (approvalId: string, approved = true): Prompt.ToolApprovalResponsePart => ({
  ...answer(approvalId, approved),
  options: { assent: { params: {} } }
})

/** However it is read, settled exchanges closely or not. */
const everyReading = (title: string, test: (read: (messages: Messages) => Transcript.Transcript) => void) => {
  it(title, () => test(Transcript.read))
  it(`${title}, read closely`, () => test(Transcript.readWhole))
}

const theRequest = (transcript: Transcript.Transcript, approvalId = "p") =>
  transcript.allRequests.find(({ part }) => part.approvalId === approvalId)!

const exchange = (id: string): Messages => [assistant(call(id)), tool(result(id))]

describe("L7 which messages stand as they are", () => {
  const settled = [user("go"), ...exchange("a"), ...exchange("b"), assistant(text("so")), ...exchange("c")]

  everyReading("L7 all of a history in which every call has its one result", (read) => {
    assert.isUndefined(read(settled).changes)
  })

  it("calls of settled exchanges are not looked at, unless they are to be", () => {
    assert.lengthOf(Transcript.read(settled).calls, 0)
    assert.lengthOf(Transcript.readWhole(settled).calls, 3)
    const asked = [assistant(call("a"), request("p", "a")), tool(answer("p"), result("a"))]
    assert.lengthOf(Transcript.read([...asked, ...asked.slice(0, 1)]).calls, 1)
    assert.lengthOf(Transcript.read(asked).calls, 0)
    assert.deepStrictEqual([...Transcript.read(asked).changes!], [Transcript.settled, Transcript.settled])
  })

  everyReading("L7 not those without parts, nor one whose call or result is missing or stands elsewhere", (read) => {
    const marked = (...messages: Messages) => [...read(messages).changes ?? messages.map(() => 0)]
    assert.deepStrictEqual(marked(user("go"), assistant(), user("and?")), [0, 1, 0])
    assert.deepStrictEqual(marked(user("go"), tool(), user("and?")), [0, 1, 0])
    assert.deepStrictEqual(marked(...exchange("a"), user("go"), assistant(call("b"))), [0, 0, 0, 1])
    assert.deepStrictEqual(marked(...exchange("a"), user("go"), tool(result("a"))), [0, 0, 0, 1])
    assert.deepStrictEqual(marked(...exchange("a"), assistant(call("b")), user("so"), tool(result("b"))), [
      0,
      0,
      1,
      0,
      1
    ])
    assert.deepStrictEqual(marked(assistant(hosted("a")), user("so"), tool(hostedResult("a"))), [1, 0, 1])
    assert.deepStrictEqual(marked(assistant(call("a"), result("a") as never), user("so")), [1, 0])
  })
})

describe("L3 L13 what a request is about", () => {
  everyReading("L13 of several calls of one id the latest without a result, or else the latest", (read) => {
    const histories: ReadonlyArray<readonly [history: Messages, asked: number]> = [
      [[assistant(call("a")), user("so"), assistant(call("a"))], 1],
      [[...exchange("a"), user("so"), assistant(call("a"))], 1],
      [[...exchange("a"), ...exchange("a")], 1],
      // A tool that waits asks behind its call. What has its result asks no more.
      [[assistant(call("a")), user("so"), ...exchange("a")], 0],
      [[assistant(call("a")), assistant(call("a", "Y")), user("so"), tool({ ...result("a"), name: "Y" })], 0],
      [[assistant(call("a")), assistant(call("a")), user("so"), tool(result("a"))], 0]
    ]
    for (const [history, expected] of histories) {
      const calls = history.flatMap((message) => message.role === "assistant" ? message.content : [])
      const { call: asked, messageIndex } = theRequest(read([...history, assistant(request("p", "a"))]))
      assert.strictEqual(asked?.part, calls[expected])
      assert.strictEqual(messageIndex, history.length)
    }
  })

  everyReading("L7 a local call that has taken the id of a hosted one is what is asked about from there on", (read) => {
    const before = assistant(hosted("a"), request("p", "a"))
    for (const local of [[assistant(call("a"))], exchange("a")]) {
      const transcript = read([before, ...local, assistant(request("q", "a"))])
      assert.strictEqual(theRequest(transcript, "p").toolCall, before.content[0])
      assert.strictEqual(theRequest(transcript, "p").providerCall?.part, before.content[0])
      assert.strictEqual(theRequest(transcript, "q").toolCall, local[0]!.content[0])
      assert.isUndefined(theRequest(transcript, "q").providerCall)
      // Another hosted call of the id is one that can be asked about again.
      const again = hosted("a")
      const later = theRequest(read([before, ...local, assistant(again, request("q", "a"))]), "q")
      assert.deepStrictEqual([later.providerCall?.part, later.call], [again, undefined])
    }
  })

  everyReading("L13 a local call whose id a hosted one of its message has too is sent under another", (read) => {
    for (const both of [[call("a"), hosted("a")], [hosted("a"), call("a")]]) {
      const { calls, changes } = read([assistant(...both), tool(result("a"))])
      assert.match(calls[0]!.sentId, /^a_/)
      assert.deepStrictEqual([...changes!], [1, 1])
    }
  })

  everyReading("L7 what is no result answers nothing, wherever it stands", (read) => {
    const answered = result("a")
    const { calls } = read([assistant(call("a")), tool(call("a") as never, answered)])
    assert.deepStrictEqual(calls.map(({ result }) => result), [answered])
  })

  everyReading("L10 of nothing, where its call was trimmed", (read) => {
    const { call: asked, providerCall, toolCall } = theRequest(read([...exchange("b"), assistant(request("p", "a"))]))
    assert.deepStrictEqual([asked, providerCall, toolCall], [undefined, undefined, undefined])
  })

  everyReading("only what has no result is still open", (read) => {
    const transcript = read([
      assistant(call("a"), request("p", "a"), call("b"), request("q", "b"), request("r", "c")),
      user("so"),
      tool(result("a"))
    ])
    assert.deepStrictEqual(transcript.requests.map(({ part }) => part.approvalId), ["q", "r"])
    assert.deepStrictEqual(transcript.allRequests.map(({ part }) => part.approvalId), ["p", "q", "r"])
  })

  everyReading("what has no id that is a text is no request, and no answer", (read) => {
    const odd = { ...request("p", "a"), approvalId: 1 } as never
    const none = { ...answer("p"), approvalId: 1 } as never
    const unsaid = { ...answer("p"), approved: "yes" } as never
    const transcript = read([assistant(call("a"), odd, request("p", "a")), tool(none, unsaid)])
    assert.deepStrictEqual(transcript.allRequests.map(({ part }) => part.approvalId), ["p"])
    assert.lengthOf(theRequest(transcript).responses, 0)
  })
})

describe("L3 which answers count", () => {
  everyReading("L3 all of them, also those that stand before their request", (read) => {
    const [yes, no, later] = [answer("p"), answer("p", false), answer("p")]
    const { answeredAt, ignored, responses } = theRequest(
      read([tool(yes), tool(no), assistant(call("a"), request("p", "a")), tool(later)])
    )
    assert.deepStrictEqual([responses, ignored, answeredAt], [[yes, no, later], [], 0])
    assert.strictEqual(Transcript.standingResponse(responses), no)
    assert.strictEqual(Transcript.standingResponse([yes, later]), yes)
    assert.isUndefined(Transcript.standingResponse([]))
  })

  everyReading("L3 none that came after the result; a denial is noted, once", (read) => {
    for (const asked of [["p"], ["p", "q"]]) {
      const history = [
        assistant(call("a"), ...asked.map((approvalId) => request(approvalId, "a"))),
        tool(result("a")),
        user("so")
      ]
      const denial = answer("p", false)
      const { calls, lateDenials } = read([...history, tool(denial)])
      assert.deepStrictEqual(lateDenials.map((late) => late.denial), [denial])
      assert.strictEqual(lateDenials[0]?.call.part, history[0]!.content[0])
      assert.deepStrictEqual(calls.flatMap(({ requests }) => requests.flatMap(({ responses }) => responses)), [])
      assert.lengthOf(read([...history, tool(answer("p"))]).lateDenials, 0)
    }
  })

  everyReading("L9 of a hosted call, those until its result, and none that edits it", (read) => {
    const asked = assistant(hosted("a"), request("p", "a"))
    const of = (...messages: Messages) => {
      const { ignored, responses } = theRequest(read([asked, ...messages]))
      return [responses.length, ignored.length]
    }
    assert.deepStrictEqual(of(tool(answer("p")), tool(hostedResult("a"))), [1, 0])
    assert.deepStrictEqual(of(tool(hostedResult("a"), answer("p"))), [1, 0])
    assert.deepStrictEqual(of(tool(hostedResult("a")), tool(answer("p"))), [0, 1])
    assert.deepStrictEqual(of(assistant(hostedResult("a")), tool(answer("p", false))), [0, 1])
    assert.deepStrictEqual(of(tool(edit("p"))), [0, 1])
    assert.deepStrictEqual(of(tool(edit("p", false))), [1, 0], "who says no changes nothing")
    assert.lengthOf(read([asked, assistant(hostedResult("a")), tool(answer("p", false))]).lateDenials, 0)
    const local = theRequest(read([assistant(call("a"), request("p", "a")), tool(edit("p"))]))
    assert.deepStrictEqual([local.responses.length, local.ignored.length], [1, 0])
  })

  everyReading("L7 of two results of a hosted call the first", (read) => {
    const first = hostedResult("a", "first")
    const second = hostedResult("a", "second")
    for (
      const results of [[assistant(first), assistant(second)], [tool(first, second)], [assistant(first), tool(second)]]
    ) {
      const { providerCall } = theRequest(read([assistant(hosted("a"), request("p", "a")), ...results]))
      assert.strictEqual(providerCall?.result, first)
      assert.strictEqual(providerCall?.resultAt, 1)
    }
  })
})

describe("L6 whether the model went on before anybody answered", () => {
  const asked = [assistant(hosted("a"), hosted("b"), request("p", "a"), request("q", "b"))]
  const went = (...messages: Messages) => {
    const transcript = Transcript.read([...asked, ...messages])
    return Passing.wasPassedOver(transcript, theRequest(transcript))
  }

  it("L6 it did if it said something after a new message, and not if it only asked again", () => {
    assert.isTrue(went(user("so"), assistant(text("well")), tool(answer("p"))))
    assert.isTrue(went(user("so"), assistant(text("well"))))
    assert.isFalse(went(user("so"), assistant(request("q", "b")), tool(answer("p"))))
    assert.isFalse(went(assistant(text("well")), user("so"), tool(answer("p"))))
    assert.isFalse(went(user("so"), tool(answer("q")), tool(answer("p"))), "an answer to another is not its word")
    assert.isFalse(went(tool(answer("p")), user("so"), assistant(text("well"))), "answered before")
    assert.isFalse(went())
  })
})
