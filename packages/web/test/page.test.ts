/** The pure parts of the page in `scratchpad/web`: its reader of server-sent events, and its list of messages. */
import { Approval } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"

const load = (name: string) => import(new URL(`../../../scratchpad/web/page/${name}`, import.meta.url).href)
const { makeReader } = await load("reader.js")
const Messages = await load("messages.js")
const { changesOf } = await load("card.js")
const { escape } = await load("escape.js")

const bytes = new TextEncoder().encode(
  "\uFEFF: a comment\r\ndata: {\"a\":\"é👍\"}\r\n\r\nevent: ping\rdata:one\r\ndata: two\r\rdata\n\nid: 7\nretry: 5\n\ndata: cut off"
)

const read = (cuts: ReadonlyArray<Uint8Array>) => {
  const events: Array<unknown> = []
  const push = makeReader((event: unknown) => events.push(event))
  for (const cut of cuts) push(cut)
  return events
}

const expected = [
  { type: "message", data: "{\"a\":\"é👍\"}" },
  { type: "ping", data: "one\ntwo" },
  { type: "message", data: "" }
]

describe("the page", () => {
  it("reads events wherever the bytes are cut", () => {
    for (let cut = 0; cut <= bytes.length; cut++) {
      assert.deepStrictEqual(read([bytes.subarray(0, cut), bytes.subarray(cut)]), expected)
    }
    assert.deepStrictEqual(read(Array.from(bytes, (byte) => Uint8Array.of(byte))), expected)
  })

  const assemble = (chunks: ReadonlyArray<unknown>, before: unknown = [], target?: string) => {
    const assembler = Messages.makeAssembler({ target })
    return chunks.reduce<any>((messages, chunk) => assembler.next(messages, chunk), before)
  }
  const call = { toolCallId: "c1", toolName: "DeleteFile" }
  const asking = [
    { type: "start", messageId: "assistant-1" },
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "May " },
    { type: "a-chunk-of-tomorrow", id: "t" },
    { type: "text-delta", id: "t", delta: "I?" },
    { type: "tool-input-available", ...call, input: { path: "a" } },
    { type: "tool-approval-request", toolCallId: "c1", approvalId: "r1", reason: "gone for good" },
    { type: "tool-output-available", toolCallId: "another", output: 1 }
  ]
  const stateOf = (messages: any) => messages.at(-1).parts.find(({ type }: any) => type === "tool").state

  it("makes messages of chunks, and leaves out what it does not know", () => {
    const [{ parts }] = assemble(asking)
    assert.deepStrictEqual(parts, [
      { type: "text", text: "May I?" },
      {
        type: "tool",
        name: "DeleteFile",
        toolCallId: "c1",
        state: "approval-requested",
        input: { path: "a" },
        approval: { id: "r1", requestReason: "gone for good" }
      }
    ])
  })

  it("goes on with a message, and says all of it anew where it is named", () => {
    const asked = assemble(asking)
    const done = assemble(
      [{ type: "start" }, { type: "tool-output-available", toolCallId: "c1", output: "deleted" }],
      asked,
      "assistant-1"
    )
    assert.deepStrictEqual([done.length, stateOf(done)], [1, "output-available"])
    assert.deepStrictEqual(assemble(asking, done), asked)
  })

  it("is told what became of a call of an older message", () => {
    const data = {
      approvalId: "r1",
      toolCallId: "elsewhere",
      toolName: "DeleteFile",
      state: "failed",
      reason: "Superseded."
    }
    const told = assemble([{ type: "data-approval", id: "elsewhere", data, transient: true }], assemble(asking))
    assert.strictEqual(stateOf(told), "output-error")
  })

  it("knows what somebody was asked about a call that was stopped, which nobody sends again", () => {
    const asked = assemble(asking)
    const over = [{ type: "tool-input-available", ...call, input: { path: "a" } }, {
      type: "tool-output-error",
      toolCallId: "c1",
      errorText: "Somebody stopped it."
    }]
    const anew = assemble([{ type: "start", messageId: "assistant-1" }, ...over], asked)
    const kept = Messages.withRead(
      Messages.fromHistory([{
        id: "assistant-1",
        role: "assistant",
        parts: [{ type: "tool-DeleteFile", toolCallId: "c1", state: "output-error", errorText: "Somebody stopped it." }]
      }]),
      asked
    )
    for (const messages of [anew, kept]) {
      assert.isTrue(Messages.isTakenBack(messages, "r1"))
      assert.deepStrictEqual(Messages.openApprovals(messages), [])
    }
    assert.isFalse(Messages.isTakenBack(asked, "r1"))
    const approved = assemble(
      [{ type: "tool-approval-response", approvalId: "r1", approved: true }],
      asked,
      "assistant-1"
    )
    assert.isFalse(
      Messages.isTakenBack(assemble(over, approved, "assistant-1"), "r1"),
      "what was approved may have run"
    )
  })

  it("keeps what is said of a turn that did not come to its end", () => {
    const read = { id: "assistant-1", role: "assistant", parts: [], problem: "Somebody stopped it." }
    const kept = [{ id: "assistant-1", role: "assistant", parts: [] }]
    assert.deepStrictEqual(Messages.withProblem(kept, read), [read])
    assert.deepStrictEqual(Messages.withProblem([], read), [read])
    assert.deepStrictEqual(Messages.withProblem(kept, undefined), kept)
  })

  it("says what an edit changed by the names of parameters", () => {
    const changes = (edits: unknown) => changesOf({ fate: { edits } })
    assert.deepStrictEqual(
      changes([{ op: "replace", path: "/path", value: "c.log" }, { op: "add", path: "/a~1b/0", value: 1 }, {
        op: "remove",
        path: "/force"
      }]),
      { path: "c.log", "a/b › 0": 1, force: "(left out)" }
    )
    for (const none of [undefined, [], "text", [null]]) assert.isUndefined(changes(none))
  })

  it("shows what would not be seen, as the server does", () => {
    for (const text of ["plain", "a\u202Eb\u{e0001}\n\u2028", "\ud800 \u200b👍"]) {
      assert.strictEqual(escape(text), Approval.escapeText(text))
    }
  })
})
