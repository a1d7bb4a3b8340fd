/** A history becomes the messages that a page shows after a reload. */
import { Approval, type Conversation, Prompt } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import * as Messages from "../../src/internal/wire/messages.ts"
import type { ToolPart, UiMessage } from "../../src/internal/wire/model.ts"
import { answers, asking, call, denied, finish, interrupted, kept, request, result, said, user } from "./parts.ts"

const read = (history: ReadonlyArray<ReadonlyArray<Prompt.Message>>, pending: ReadonlyArray<string> = []) =>
  Messages.make(kept(history.flat()), pending.map((id) => request(id, "c1")))

const toolsOf = ({ messages }: { readonly messages: ReadonlyArray<UiMessage> }): ReadonlyArray<ToolPart> =>
  messages.flatMap(({ parts }) => parts.filter((part): part is ToolPart => part.type.startsWith("tool-")))

const statesOf = (messages: { readonly messages: ReadonlyArray<UiMessage> }) =>
  toolsOf(messages).map(({ state }) => state)

const asked = said(call("c1", "a"), asking("id-1", "c1"), finish("tool-calls"))

const settledBy = (encoded: unknown, options: { readonly isFailure?: boolean; readonly decidedBy?: object } = {}) =>
  said(result("c1", encoded, {
    isFailure: options.isFailure === true,
    assent: { approvalId: "id-1", ...(options.decidedBy && { decidedBy: options.decidedBy }) }
  }))

describe("messages", () => {
  it("an empty history has none", () => {
    assert.deepStrictEqual(read([]).messages, [])
  })

  it("instructions are not shown, and what the user wrote is, with its files", () => {
    const { messages } = read([
      Prompt.fromMessages([Prompt.makeMessage("system", { content: "Be nice." })]).content,
      Prompt.make([{
        role: "user",
        content: [
          { type: "text", text: "Look." },
          { type: "file", mediaType: "image/png", data: new Uint8Array([1, 2, 3]), fileName: "a.png" },
          { type: "file", mediaType: "image/png", data: "AQID" },
          { type: "file", mediaType: "image/png", data: "https://example.com/a.png" },
          { type: "file", mediaType: "image/png", data: new URL("https://example.com/b.png") }
        ]
      }]).content
    ])
    assert.deepStrictEqual(messages, [{
      id: "m1",
      role: "user",
      parts: [
        { type: "text", text: "Look.", state: "done" },
        { type: "file", mediaType: "image/png", url: "data:image/png;base64,AQID", filename: "a.png" },
        { type: "file", mediaType: "image/png", url: "data:image/png;base64,AQID" },
        { type: "file", mediaType: "image/png", url: "https://example.com/a.png" },
        { type: "file", mediaType: "image/png", url: "https://example.com/b.png" }
      ]
    }])
  })

  it("ids are the same each time, and do not change as the history grows", () => {
    const history = [user("one"), asked, settledBy("done"), said(result("c9", "none"), finish()), user("two")]
    const ids = history.map((_, length) => read(history.slice(0, length)).messages.map(({ id }) => id))
    assert.deepStrictEqual(ids.at(-1), ["m0", "m1"])
    for (const [index, before] of ids.slice(0, -1).entries()) {
      assert.deepStrictEqual(ids[index + 1]!.slice(0, before.length), before)
    }
    assert.deepStrictEqual(read(history).messages.map(({ id }) => id), ["m0", "m1", "m4"])
  })

  it("what the assistant says between two messages of the user is one message, with its steps", () => {
    const { current, messages } = read([
      user("one"),
      asked,
      answers(Approval.approve({ approvalId: "id-1" })),
      settledBy("done"),
      said(asking("id-1", "c1")),
      Prompt.make([{ role: "assistant", content: "It is gone." }]).content
    ])
    assert.deepStrictEqual(messages[1]!.parts.map(({ type }) => type), [
      "step-start",
      "tool-DeleteFile",
      "data-approval",
      "step-start",
      "text"
    ])
    assert.strictEqual(messages[1]?.id, "m1")
    assert.strictEqual(current?.message, messages[1])
  })

  it("a request that is open is asked", () => {
    const page = read([user("one"), asked], ["id-1"])
    assert.deepStrictEqual(toolsOf(page), [{
      type: "tool-DeleteFile",
      toolCallId: "c1",
      input: { path: "a" },
      state: "approval-requested",
      approval: {
        id: "id-1",
        requestReason: "DeleteFile(path='a')",
        descriptor: {
          approvalId: "id-1",
          toolCallId: "c1",
          toolName: "DeleteFile",
          description: "DeleteFile(path='a')",
          interaction: "approval",
          providerExecuted: false
        }
      }
    }])
    assert.strictEqual(page.current?.calls.ofApproval("id-1")?.shown, "id-1")
  })

  it("an answer to what this history never asked changes nothing", () => {
    const stray = answers(Approval.approve({ approvalId: "id-9" }))
    assert.deepStrictEqual(statesOf(read([user("one"), asked, stray])), statesOf(read([user("one"), asked])))
  })

  it("one that is answered and has no result says so", () => {
    const page = read([user("one"), asked, answers(Approval.approve({ approvalId: "id-1" }, { note: "once" }))])
    const [part] = toolsOf(page)
    assert.strictEqual(part?.state, "approval-responded")
    assert.deepInclude(part?.approval, { id: "id-1", approved: true, reason: "once" })
    assert.isFalse(Messages.isSettled(page.cards.get("id-1")!))
  })

  it("one that ran has its output, and says who let it run and with what", () => {
    const decidedBy = { id: "ada", via: "conversation" }
    const edits = [{ op: "replace", path: "/path", value: "b" }]
    const { cards, messages } = read([
      user("one"),
      asked,
      answers(Approval.approve({ approvalId: "id-1" })),
      said(result("c1", { deleted: true }, { assent: { approvalId: "id-1", decidedBy, edits } }))
    ])
    const [, part, data] = messages[1]!.parts
    assert.deepInclude(part, { state: "output-available", output: { deleted: true } })
    assert.deepInclude((part as ToolPart).approval, { approved: true })
    const fate = {
      approvalId: "id-1",
      toolCallId: "c1",
      toolName: "DeleteFile",
      state: "done" as const,
      decidedBy,
      edits
    }
    assert.deepStrictEqual(data, { type: "data-approval", id: "c1", data: fate })
    assert.deepStrictEqual(cards.get("id-1")?.fate, fate)
  })

  it("one that was denied says so, with the reason and whose it was", () => {
    const page = read([
      user("one"),
      asked,
      answers(Approval.deny({ approvalId: "id-1" }, "keep it")),
      settledBy(denied("keep it"), { isFailure: true, decidedBy: { id: "bob", via: "conversation" } })
    ])
    const [part] = toolsOf(page)
    assert.strictEqual(part?.state, "output-denied")
    assert.deepInclude(part?.approval, { approved: false, reason: "keep it" })
    assert.deepInclude(page.cards.get("id-1")?.fate, { state: "denied", decidedBy: { id: "bob", via: "conversation" } })
  })

  it("one that was superseded after the next message of the user stands in its own, and was granted by nobody", () => {
    const page = read([
      user("one"),
      asked,
      user("two"),
      settledBy(interrupted("Superseded."), { isFailure: true }),
      said(call("c1", "b"), asking("id-2", "c1"), finish())
    ], ["id-2"])
    assert.deepStrictEqual(statesOf(page), ["output-error", "approval-requested"])
    assert.deepStrictEqual(page.messages.map(({ id }) => id), ["m0", "m1", "m2", "m3"])
    assert.deepInclude(toolsOf(page)[0], { errorText: "Superseded." })
    assert.notProperty(toolsOf(page)[0], "approval")
  })

  it("what is not asked any more, and has no result yet, says so", () => {
    assert.deepStrictEqual(toolsOf(read([user("one"), asked])).map(({ errorText, state }) => [state, errorText]), [
      ["output-error", "This is not asked any more. What became of it is not in the conversation yet."]
    ])
  })

  it("a call without a result does not keep its siblings from being answered", () => {
    const page = read([user("one"), said(call("c0", "z"), call("c1", "a"), asking("id-1", "c1"), finish())], ["id-1"])
    assert.deepStrictEqual(statesOf(page), ["output-error", "approval-requested"])
  })

  it("a tool that asks again is one card: what is open is asked, under each of its ids", () => {
    const page = read([
      user("one"),
      asked,
      answers(Approval.approve({ approvalId: "id-1" })),
      said(asking("id-2", "c1"))
    ], ["id-2"])
    assert.deepStrictEqual(statesOf(page), ["approval-requested"])
    assert.strictEqual(toolsOf(page)[0]?.approval?.id, "id-2")
    assert.strictEqual(page.cards.get("id-1"), page.cards.get("id-2"))
  })

  it("L13 ids that come again are kept apart, in one message and in the next", () => {
    const page = read([
      user("one"),
      said(call("c1", "a"), result("c1", "first"), finish()),
      said(call("c1", "b"), result("c1", "second"), finish()),
      user("two"),
      said(call("c1", "c"), result("c1", "third"), finish())
    ])
    assert.deepStrictEqual(toolsOf(page).map(({ output, toolCallId }) => [toolCallId, output]), [
      ["c1", "first"],
      ["c1~2", "second"],
      ["c1", "third"]
    ])
  })

  it("what the user said has the name that its page gave, and what is said to it is called by where it begins", () => {
    const said = { id: "u1", message: user("one")[0]! }
    const page = Messages.make([said], [])
    assert.isUndefined(page.current)
    const saying = (messageId: string, text: string) => ({ messageId, content: [Prompt.makePart("text", { text })] })
    assert.isTrue(Messages.has(page, saying("u1", "one")))
    assert.isFalse(Messages.has(page, saying("u1", "two")))
    const name = (messageId: string, text: string) => Messages.nameFor(page, saying(messageId, text))
    assert.deepStrictEqual([name("u1", "one"), name("u1", "two"), name("u2", "two")], ["u1", "u1~2", "u2"])
    // Ids of this form say where a message stands.
    assert.deepStrictEqual([name("m7", "two"), name("m42", "two")], ["m7~2", "m42~2"])
    assert.deepStrictEqual([name("", "two"), name("\ud800", "two")], ["message", "message"])
    assert.isAtMost(name("x".repeat(1_000), "two").length, 256)
  })

  it("the same words with another file are another message", () => {
    const saying = (url: string) => ({
      messageId: "u1",
      content: [
        Prompt.makePart("text", { text: "Look." }),
        Prompt.makePart("file", { mediaType: "image/png", data: new URL(url) })
      ]
    })
    const page = Messages.make([{
      id: "u1",
      message: Prompt.makeMessage("user", { content: saying("https://example.com/a.png").content })
    }], [])
    assert.isTrue(Messages.has(page, saying("https://example.com/a.png")))
    assert.isFalse(Messages.has(page, saying("https://example.com/b.png")))
  })

  it("what became of a call that has no result in the history is told, where it is known", () => {
    const approved = [...user("one"), ...asked, ...answers(Approval.approve({ approvalId: "id-1" }))]
    const stateIn = (state: Conversation.RequestState | undefined) => {
      const states = new Map(state === undefined ? [] : [["id-1", state]])
      const page = Messages.make(kept(approved), [], states)
      assert.deepStrictEqual(page.unsettled, ["id-1"])
      const { errorText, output, state: shown } = toolsOf(page)[0]!
      return [shown, output ?? errorText, page.cards.get("id-1")?.fate?.state]
    }
    assert.deepStrictEqual(stateIn(undefined), ["approval-responded", undefined, undefined])
    assert.deepStrictEqual(stateIn({ state: "running" }), ["approval-responded", undefined, undefined])
    assert.deepStrictEqual(stateIn({ state: "done", result: "gone" }), ["output-available", "gone", "done"])
    assert.deepStrictEqual(stateIn({ state: "denied", reason: "No." }), ["output-denied", undefined, "denied"])
    assert.deepStrictEqual(stateIn({ state: "unknown", reason: "Who knows." }), [
      "output-error",
      "Who knows.",
      "unknown"
    ])
    assert.deepStrictEqual(stateIn({ state: "cancelled", reason: "Stop." }), ["output-error", "Stop.", "failed"])
  })

  it("a request that a provider made, of which no more is known, is a card", () => {
    const page = Messages.make(
      kept([
        ...user("one"),
        ...Prompt.fromMessages([Prompt.makeMessage("assistant", {
          content: [
            Prompt.makePart("tool-call", { id: "c1", name: "Mcp", params: {}, providerExecuted: true }),
            Prompt.makePart("tool-approval-request", { approvalId: "theirs", toolCallId: "c1" })
          ]
        })]).content
      ]),
      [request("theirs", "c1", { toolName: "Mcp" })]
    )
    assert.deepInclude(toolsOf(page)[0], { state: "approval-requested", providerExecuted: true })
  })
})
