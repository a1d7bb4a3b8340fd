/** What is told late of a call whose result said that nobody knew, by itself: as the history says it, whoever wrote it. */
import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "effect/ai/Prompt"
import * as ProviderPrompt from "../../src/internal/history/providerPrompt.ts"
import * as Transcript from "../../src/internal/history/transcript.ts"
import * as C from "../laws/conversation.ts"
import { assistant, result, text, tool, user, yes } from "./paid.ts"

const call = (id: string) => Prompt.toolCallPart({ id, name: "Pay", params: {}, providerExecuted: false })
const request = (approvalId: string, toolCallId: string) => Prompt.toolApprovalRequestPart({ approvalId, toolCallId })

const lost = "The process ended; what it did is unknown. Check before calling again."

const failed = { isFailure: true, result: { type: "execution-interrupted", reason: lost } }
const unknown = result({ unknown: true }, failed)
const late = result({ told: lost, after: 1 })

const write = (messages: ReadonlyArray<Prompt.Message>, known?: Prompt.ToolResultPart) => {
  const prompt = ProviderPrompt.write(Prompt.fromMessages(messages), Transcript.read(messages), {
    resultOf: () => known,
    supersedes: true,
    isOurs: () => true
  })
  C.assertWellFormed(prompt)
  return prompt
}

const assertBeginsWith = (prompt: Prompt.Prompt, before: Prompt.Prompt): void => {
  for (const [index, message] of before.content.entries()) assert.isTrue(prompt.content[index] === message)
}

const note = `user:[${C.lateNote({ tool: "Pay", toolCallId: "c1", isFailure: false, result: "paid" })}]`
const outline = [
  "user:[pay]",
  "assistant:[call c1]",
  "tool:[failure c1]",
  "assistant:[nobody knows]",
  "user:[well?]",
  note,
  "assistant:[so it is]",
  "user:[thanks]"
]
const pays = [user("pay"), assistant(call("c1"), request("r1", "c1"))]
const said = assistant(text("nobody knows"))
const well = user("well?")
const so = assistant(text("so it is"))
const thanks = user("thanks")

describe("L2 L7 a result that came late, in the place of one that nobody knew", () => {
  const beginnings: Record<string, ReadonlyArray<Prompt.Message>> = {
    "approved inline": [...pays, tool(unknown), said, well],
    "answered in the history": [...pays, yes, tool(unknown), said, well],
    "behind what the model said to it, as upstream's Chat writes it": [...pays, yes, said, tool(unknown), well]
  }
  for (const [name, begin] of Object.entries(beginnings)) {
    it(`is told where the prompt ended then, once, by the same objects from then on: ${name}`, () => {
      const before = write(begin)
      assert.deepStrictEqual(C.outline(before), outline.slice(0, 5))
      const now = write(begin, late)
      assert.deepStrictEqual(C.outline(now), outline.slice(0, 6))
      assertBeginsWith(now, before)
      for (const kept of [[tool(late), so], [so, tool(late)], [tool(late), so, tool(late)]]) {
        const prompt = write([...begin, ...kept, thanks])
        assert.deepStrictEqual(C.outline(prompt), outline)
        assert.deepStrictEqual(C.resultsOf(prompt).map(C.reasonOf), [lost])
        assertBeginsWith(prompt, before)
        assertBeginsWith(write([...begin, ...kept, thanks, assistant(text("gladly")), user("bye")]), prompt)
      }
    })

    it(`is nowhere for policies: it stands in its place, and is no person's message: ${name}`, () => {
      const messages = [...begin, tool(late), so, thanks]
      assert.deepStrictEqual(
        C.outline(ProviderPrompt.shown(write(messages))),
        outline.flatMap((line) => line === note ? [] : [line.replace("failure", "result")])
      )
      assert.strictEqual(Transcript.read(messages).lastUserIndex, messages.length - 1)
      assert.strictEqual(Transcript.read(messages.slice(0, -1)).lastUserIndex, begin.length - 1)
    })
  }

  it("is told beside its call too, as a page may keep both", () => {
    const messages = [...pays, tool(unknown, late), said, well, so, thanks]
    assert.deepStrictEqual(C.outline(write(messages)), outline)
    assert.deepStrictEqual(C.outline(write([...pays, tool(late), said, well, so, thanks])), outline)
  })

  it("is the second of two notes, where what nobody knew came late itself", () => {
    const waits = result({ told: "It waits.", after: 1, unknown: true }, failed)
    const prompt = write([...pays, said, well, tool(waits), so, tool(result({ told: lost, after: 2 })), thanks])
    assert.deepStrictEqual(C.outline(prompt).map((line) => line.split("\n")[0]), [
      "user:[pay]",
      "assistant:[call c1]",
      "tool:[failure c1]",
      "assistant:[nobody knows]",
      "user:[well?]",
      "user:[<late-tool-result>",
      "assistant:[so it is]",
      "user:[thanks]",
      "user:[<late-tool-result>"
    ])
    assert.deepStrictEqual(C.resultsOf(prompt).map(C.reasonOf), ["It waits."])
    assert.deepStrictEqual(C.lateIn(prompt).map(({ reason, result }) => result ?? reason), [lost, "paid"])
  })
})

describe("L4 L13 whoever wrote a mark", () => {
  const begin = [...pays, yes, tool(unknown), said, well]
  const others: Record<string, Prompt.ToolResultPart> = {
    "is not told late": result({}),
    "names another approval": result({ told: lost, after: 1, approvalId: "r2" }),
    "names the approval of another call": result({ told: lost, after: 1, approvalId: "r3" }),
    "names none": result({ told: lost, after: 1, approvalId: undefined }),
    "is of another call": result({ told: lost, after: 1 }, { id: "c2" }),
    "is of another tool": result({ told: lost, after: 1 }, { name: "Ship" }),
    "says that nobody knows": result({ told: lost, after: 1, unknown: true }),
    "says no words": result({ told: 1 })
  }
  const other = [assistant(call("c3"), request("r3", "c3")), tool(result({ approvalId: "r3" }, { id: "c3" }))]
  for (const [name, part] of Object.entries(others)) {
    it(`a result that ${name} replaces nothing, and hides none that does`, () => {
      const nothing = write([...other, ...begin, tool(part), thanks])
      assert.deepStrictEqual(C.lateIn(nothing), [])
      assert.strictEqual(C.reasonOf(C.resultsOf(nothing).at(-1)!), lost)
      const prompt = write([...other, ...begin, tool(part), so, tool(late), thanks])
      assert.deepStrictEqual(C.lateIn(prompt).map(({ result }) => result), ["paid"])
    })
  }

  it("the first of two late results is the one", () => {
    const second = result({ told: lost, after: 2 }, { result: "paid twice" })
    const prompt = write([...begin, tool(late), so, tool(second), thanks])
    assert.deepStrictEqual(C.outline(prompt), outline)
    assert.deepStrictEqual(C.outline(write([...begin, tool(unknown), tool(late, second), so, thanks])), outline)
  })

  it("what is not marked is replaced by nothing", () => {
    for (const assent of [{}, { unknown: "yes" }, { unknown: true, approvalId: undefined }]) {
      const prompt = write([...pays, yes, tool(result(assent, failed)), said, well, tool(late), thanks])
      assert.deepStrictEqual(C.lateIn(prompt), [])
    }
  })

  it("each of two calls has its own", () => {
    const [first, second] = [unknown, result({ approvalId: "r2", unknown: true }, { ...failed, id: "c2" })]
    const prompt = write([
      user("pay"),
      assistant(call("c1"), request("r1", "c1"), call("c2"), request("r2", "c2")),
      tool(first, second),
      said,
      well,
      tool(result({ approvalId: "r2", told: lost, after: 1 }, { id: "c2", result: "paid the other" })),
      thanks
    ])
    assert.deepStrictEqual(C.lateIn(prompt).map(({ result, toolCallId }) => [toolCallId, result]), [[
      "c2",
      "paid the other"
    ]])
    assert.deepStrictEqual(C.resultsOf(prompt), [first, second])
  })
})
