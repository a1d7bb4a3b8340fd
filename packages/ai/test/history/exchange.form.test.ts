/**
 * Which exchanges of a history are settled, and so need no closer look (L7): each with all its results and nothing about
 * any other call. What is left out of the list below is read closely, which changes nothing but how long it takes.
 */
import { assert, describe, it } from "@effect/vitest"
import { Prompt } from "../../src/index.ts"
import * as Exchange from "../../src/internal/history/exchange.ts"

type Asked = Prompt.AssistantMessagePart
type Answered = Prompt.ToolMessagePart

const text = (words: string) => Prompt.textPart({ text: words })

const call = (id: string, more?: object): Asked => ({
  ...Prompt.toolCallPart({ id, name: "X", params: {}, providerExecuted: false }),
  ...more
})

const result = (id: string, more?: object): Prompt.ToolResultPart => ({
  ...Prompt.toolResultPart({ id, name: "X", result: "done", isFailure: false, providerExecuted: false }),
  ...more
})

const says = (assent: unknown) => ({ options: { assent } })

const request = (approvalId: string, toolCallId: string, more?: object): Asked => ({
  ...Prompt.toolApprovalRequestPart({ approvalId, toolCallId }),
  ...more
})

const answer = (approvalId: string, approved = true, more?: object): Answered => ({
  ...Prompt.toolApprovalResponsePart({ approvalId, approved }),
  ...more
})

const formOf = (asked: ReadonlyArray<Asked>, answered: ReadonlyArray<Answered>): Exchange.Form =>
  Exchange.formOf(Prompt.assistantMessage({ content: asked }), Prompt.toolMessage({ content: answered }))

const many = (length: number) => Array.from({ length }, (_, index) => `c${index}`)

const forms: Record<string, readonly [Exchange.Form, ReadonlyArray<Asked>, ReadonlyArray<Answered>]> = {
  "a call and its result": ["plain", [call("a")], [result("a")]],
  "words before and behind": ["plain", [text("so"), call("a"), text("then")], [result("a")]],
  "several, answered in another order": ["plain", [call("a"), call("b")], [result("b"), result("a")]],
  "as many parts as are looked at": ["plain", many(32).map((id) => call(id)), many(32).map((id) => result(id))],
  "a result that fails, or is null": [
    "plain",
    [call("a"), call("b")],
    [result("a", { isFailure: true }), result("b", { result: null })]
  ],
  "a result with another word of ours": ["plain", [call("a")], [result("a", says({ approvers: 2 }))]],
  "a result with what is no word of ours": ["plain", [call("a")], [result("a", says("yes"))]],
  "a result without options": ["plain", [call("a")], [result("a", { options: undefined })]],
  "a result with nothing where our word would be": ["plain", [call("a")], [result("a", says(null))]],
  "a result that names something that is no id": ["plain", [call("a")], [result("a", says({ approvalId: 1 }))]],
  "a call that was asked about": ["with approvals", [call("a"), request("p", "a")], [result("a")]],
  "one that was asked about and approved": [
    "with approvals",
    [call("a"), request("p", "a")],
    [answer("p"), result("a", says({ approvalId: "p" }))]
  ],
  "one that was approved behind its result": [
    "with approvals",
    [call("a"), request("p", "a")],
    [result("a"), answer("p")]
  ],
  "one that was denied before its result": [
    "with approvals",
    [call("a"), request("p", "a")],
    [answer("p", false), result("a")]
  ],
  "one that was denied behind the result of another": [
    "with approvals",
    [call("a"), call("b"), request("p", "b")],
    [result("a"), answer("p", false), result("b")]
  ],
  "one that was asked about twice": [
    "with approvals",
    [call("a"), request("p", "a"), request("q", "a")],
    [answer("q"), result("a", says({ approvalId: "p" }))]
  ],
  "no call": [undefined, [text("so")], []],
  "no parts at all": [undefined, [], []],
  "more parts than are looked at": [undefined, many(33).map((id) => call(id)), many(33).map((id) => result(id))],
  "a call without a result": [undefined, [call("a"), call("b")], [result("a")]],
  "a call with two": [undefined, [call("a")], [result("a"), result("a")]],
  "two calls, and one of them with both results": [undefined, [call("a"), call("b")], [result("a"), result("a")]],
  "a result of another call": [undefined, [call("a")], [result("b")]],
  "a result more, of another call": [undefined, [call("a")], [result("a"), result("b")]],
  "a result of another name": [undefined, [call("a")], [result("a", { name: "Y" })]],
  "a result that would have to be rewritten": [undefined, [call("a")], [result("a", { result: undefined })]],
  "a result of the provider's": [undefined, [call("a")], [result("a", { providerExecuted: true })]],
  "a result that says it is an earlier call's": [undefined, [call("a")], [result("a", says({ earlier: true }))]],
  "a result that nobody knew": [
    undefined,
    [call("a"), request("p", "a")],
    [result("a", says({ approvalId: "p", unknown: true }))]
  ],
  "a result that names an approval of nobody": [undefined, [call("a")], [result("a", says({ approvalId: "p" }))]],
  "a result that names the approval of another": [
    undefined,
    [call("a"), call("b"), request("p", "b")],
    [result("a", says({ approvalId: "p" })), result("b")]
  ],
  "an id that is used twice": [undefined, [call("a"), call("a")], [result("a"), result("a")]],
  "a call of the provider's": [undefined, [call("a"), call("b", { providerExecuted: true })], [result("a")]],
  "a call whose id is no text": [undefined, [call("a", { id: 1 })], [result("a", { id: 1 })]],
  "a call whose name is no text": [undefined, [call("a", { name: 1 })], [result("a", { name: 1 })]],
  "a request for another call": [undefined, [call("a"), request("p", "b")], [result("a")]],
  "a request that stands before its call": [undefined, [request("p", "a"), call("a")], [result("a")]],
  "a request without an id": [undefined, [call("a"), request("p", "a", { approvalId: 1 })], [result("a")]],
  "a result among the calls": [undefined, [call("a"), result("a")], [result("a")]],
  "a part without a type": [undefined, [call("a"), { type: 1 } as never], [result("a")]],
  "an answer to another request": [undefined, [call("a"), request("p", "a")], [answer("q"), result("a")]],
  "an answer that says neither": [
    undefined,
    [call("a"), request("p", "a")],
    [answer("p", true, { approved: "yes" }), result("a")]
  ],
  "a denial behind the result": [undefined, [call("a"), request("p", "a")], [result("a"), answer("p", false)]],
  "something else among the results": [undefined, [call("a")], [result("a"), text("so") as never]]
}

describe("L7 settled exchanges", () => {
  for (const [title, [form, asked, answered]] of Object.entries(forms)) {
    it(`L7 ${title}: ${form ?? "to be looked at closely"}`, () => {
      assert.strictEqual(formOf(asked, answered), form)
    })
  }

  it("L7 messages without parts are to be looked at closely, whichever it is", () => {
    const whole = { role: "assistant", content: [call("a")] } as never
    const parts = { role: "tool", content: [result("a")] } as never
    assert.strictEqual(Exchange.formOf(whole, parts), "plain")
    assert.isUndefined(Exchange.formOf({ role: "assistant", content: "so" } as never, parts))
    assert.isUndefined(Exchange.formOf(whole, { role: "tool", content: undefined } as never))
  })

  it("L7 the first question about them is answered as the hundredth is", () => {
    const messages = Array.from({ length: 10 }, (_, index) => [
      Prompt.assistantMessage({
        content: [
          text("so"),
          call(`a${index % 2}`),
          call(`b${index}`),
          request(`p${index}`, `a${index % 2}`),
          request(`q${index}`, `b${index}`),
          request(`r${index}`, `a${index % 2}`)
        ]
      }),
      Prompt.toolMessage({ content: [result(`a${index % 2}`, { result: index }), result(`b${index}`)] })
    ]).flat()
    for (const before of [0, 100]) {
      // A reader of its own for each question, so that each is the first.
      const read = () => {
        const settled = new Exchange.SettledExchanges(messages)
        for (let place = 0; place < messages.length; place += 2) settled.add(place)
        for (let look = 0; look < before; look++) settled.hasRequest("p1")
        return settled
      }
      for (let index = 0; index < 10; index++) {
        const { call: asked, requests } = read().askedWith(`r${index}`)!
        assert.deepStrictEqual(requests.map(({ approvalId }) => approvalId), [`p${index}`, `r${index}`])
        assert.deepStrictEqual(
          [asked.part.id, asked.messageIndex, asked.result?.result],
          [`a${index % 2}`, index * 2, index]
        )
        const other = read().askedWith(`q${index}`)
        assert.deepStrictEqual(other?.requests.map(({ approvalId }) => approvalId), [`q${index}`])
        assert.deepStrictEqual([read().hasRequest(`q${index}`), read().hasRequest(`q1${index}`)], [true, false])
        assert.strictEqual(read().latestCall(`b${index}`)?.messageIndex, index * 2)
      }
      assert.deepStrictEqual(["a0", "a1"].map((id) => read().latestCall(id)?.result?.result), [8, 9])
      assert.isUndefined(read().latestCall("c0"))
      assert.isUndefined(read().askedWith("s0"))
    }
  })
})
