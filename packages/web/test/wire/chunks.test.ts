/** Parts of a turn become chunks that a client can take. */
import { Response } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import * as Calls from "../../src/internal/wire/calls.ts"
import * as Chunks from "../../src/internal/wire/chunks.ts"
import { asking, call, denied, finish, interrupted, result, sourceOf } from "./parts.ts"

const translate = (
  parts: ReadonlyArray<Response.AnyPart>,
  calls = Calls.make()
) => {
  const translator = Chunks.make(calls)
  return [...parts.flatMap(translator.next), ...translator.end()]
}

const typesOf = (chunks: ReadonlyArray<{ readonly type: string }>) => chunks.map(({ type }) => type)

describe("chunks", () => {
  it("a text that streams is one part in a step", () => {
    const chunks = translate([
      Response.makePart("text-start", { id: "0" }),
      Response.makePart("text-delta", { id: "0", delta: "Hel" }),
      Response.makePart("text-delta", { id: "0", delta: "lo" }),
      Response.makePart("text-end", { id: "0" }),
      finish()
    ])
    assert.deepStrictEqual(chunks, [
      { type: "start-step" },
      { type: "text-start", id: "text-1" },
      { type: "text-delta", id: "text-1", delta: "Hel" },
      { type: "text-delta", id: "text-1", delta: "lo" },
      { type: "text-end", id: "text-1" },
      { type: "finish-step" }
    ])
  })

  it("each step has ids of its own, where a provider gives the same ones again", () => {
    const step = [
      Response.makePart("reasoning-start", { id: "0" }),
      Response.makePart("reasoning-delta", { id: "0", delta: "Hm." }),
      Response.makePart("reasoning-end", { id: "0" }),
      finish()
    ]
    const ids = translate([...step, ...step]).flatMap((chunk) => chunk.type === "reasoning-start" ? [chunk.id] : [])
    assert.deepStrictEqual(ids, ["reasoning-1", "reasoning-2"])
  })

  it("a whole text is one that streams", () => {
    assert.deepStrictEqual(typesOf(translate([Response.makePart("text", { text: "Hello" }), finish()])), [
      "start-step",
      "text-start",
      "text-delta",
      "text-end",
      "finish-step"
    ])
  })

  it("what was begun is closed where a turn is cut", () => {
    const chunks = translate([
      Response.makePart("text-start", { id: "0" }),
      Response.makePart("text-delta", { id: "0", delta: "Hel" })
    ])
    assert.deepStrictEqual(typesOf(chunks).slice(-2), ["text-end", "finish-step"])
  })

  it("a delta without a start begins its text", () => {
    assert.deepStrictEqual(typesOf(translate([Response.makePart("text-delta", { id: "0", delta: "Hel" })])), [
      "start-step",
      "text-start",
      "text-delta",
      "text-end",
      "finish-step"
    ])
  })

  it("parameters are shown as they come, and deltas without a start are not", () => {
    const chunks = translate([
      Response.makePart("tool-params-delta", { id: "c0", delta: "{" }),
      Response.makePart("tool-params-start", { id: "c1", name: "DeleteFile", providerExecuted: false }),
      Response.makePart("tool-params-delta", { id: "c1", delta: "{\"path\"" }),
      Response.makePart("tool-params-end", { id: "c1" }),
      call("c1", "a")
    ])
    assert.deepStrictEqual(chunks.slice(1, -1), [
      { type: "tool-input-start", toolCallId: "c1", toolName: "DeleteFile" },
      { type: "tool-input-delta", toolCallId: "c1", inputTextDelta: "{\"path\"" },
      { type: "tool-input-available", toolCallId: "c1", toolName: "DeleteFile", input: { path: "a" } }
    ])
  })

  it("a call, what is asked of it, and its result with whose decision it was", () => {
    const decidedBy = { id: "ada", name: "Ada", via: "conversation" }
    const chunks = translate([
      call("c1", "a"),
      asking("id-1", "c1"),
      finish("tool-calls"),
      result("c1", { deleted: true }, { assent: { approvalId: "id-1", decidedBy } })
    ])
    assert.deepStrictEqual(chunks.slice(2), [
      {
        type: "tool-approval-request",
        approvalId: "id-1",
        toolCallId: "c1",
        reason: "DeleteFile(path='a')",
        approvalDescriptor: {
          approvalId: "id-1",
          toolCallId: "c1",
          toolName: "DeleteFile",
          description: "DeleteFile(path='a')",
          interaction: "approval",
          providerExecuted: false
        }
      },
      { type: "finish-step" },
      { type: "tool-output-available", toolCallId: "c1", output: { deleted: true } },
      {
        type: "data-approval",
        id: "c1",
        data: { approvalId: "id-1", toolCallId: "c1", toolName: "DeleteFile", state: "done", decidedBy }
      }
    ])
  })

  it("a request that no more is known of is asked all the same", () => {
    const chunks = translate([
      call("c1", "a"),
      Response.toolApprovalRequestPart({ approvalId: "theirs", toolCallId: "c1" })
    ])
    assert.deepInclude(chunks, { type: "tool-approval-request", approvalId: "theirs", toolCallId: "c1" })
  })

  it("preliminary results are shown as such, and settle nothing", () => {
    const chunks = translate([
      call("c1", "a"),
      result("c1", "half", { preliminary: true }),
      result("c1", "half more", { preliminary: true }),
      result("c1", "all")
    ])
    assert.deepStrictEqual(chunks.slice(2, -1), [
      { type: "tool-output-available", toolCallId: "c1", output: "half", preliminary: true },
      { type: "tool-output-available", toolCallId: "c1", output: "half more", preliminary: true },
      { type: "tool-output-available", toolCallId: "c1", output: "all" }
    ])
  })

  it("a result that is nothing has an output", () => {
    assert.deepInclude(translate([call("c1", "a"), result("c1", undefined)]), {
      type: "tool-output-available",
      toolCallId: "c1",
      output: null
    })
  })

  it("errors are sentences, never JSON", () => {
    const sentenceOf = (encoded: unknown, assent?: object) =>
      translate([call("c1", "a"), result("c1", encoded, { isFailure: true, ...(assent && { assent }) })])
        .flatMap((chunk) => chunk.type === "tool-output-error" ? [chunk.errorText] : [])
    assert.deepStrictEqual(sentenceOf("No such file."), ["No such file."])
    assert.deepStrictEqual(sentenceOf({ _tag: "NoFile", message: "No such file." }), ["No such file."])
    assert.deepStrictEqual(sentenceOf({ _tag: "NoFile", code: 7 }), ["DeleteFile failed."])
    assert.deepStrictEqual(sentenceOf(interrupted("Superseded.")), ["Superseded."])
    assert.deepStrictEqual(sentenceOf(denied("The policy forbids it.")), ["The policy forbids it."])
    assert.deepStrictEqual(sentenceOf("a\u202eb"), ["a\\u202eb"])
  })

  it("a denial is one where somebody was asked", () => {
    const chunks = translate([
      call("c1", "a"),
      asking("id-1", "c1"),
      result("c1", denied("keep it"), { isFailure: true, assent: { approvalId: "id-1" } })
    ])
    assert.deepInclude(chunks, { type: "tool-output-denied", toolCallId: "c1" })
    assert.deepInclude(chunks, {
      type: "data-approval",
      id: "c1",
      data: { approvalId: "id-1", toolCallId: "c1", toolName: "DeleteFile", state: "denied", reason: "keep it" }
    })
  })

  it("what became of a call of another message is told to the page, and is no output", () => {
    const superseded = result("c1", interrupted("Superseded."), { isFailure: true, assent: { approvalId: "old" } })
    assert.deepStrictEqual(translate([superseded]), [{
      type: "data-approval",
      id: "c1",
      transient: true,
      data: { approvalId: "old", toolCallId: "c1", toolName: "DeleteFile", state: "failed", reason: "Superseded." }
    }])
    assert.deepStrictEqual(
      translate([call("c1", "b"), result("c1", "x", { assent: { earlier: true } })]).slice(2, -1),
      []
    )
    assert.deepStrictEqual(typesOf(translate([asking("old", "c1")])), ["data-approval"])
  })

  it("L13 a second call of one id has another one on the wire, and its own result", () => {
    const chunks = translate([
      call("c1", "a"),
      asking("id-1", "c1"),
      finish(),
      call("c1", "b"),
      asking("id-2", "c1"),
      result("c1", "first", { assent: { approvalId: "id-1" } }),
      result("c1", "second", { assent: { approvalId: "id-2" } })
    ])
    const ids = chunks.flatMap((chunk) => "toolCallId" in chunk ? [`${chunk.type} ${chunk.toolCallId}`] : [])
    assert.deepStrictEqual(ids, [
      "tool-input-available c1",
      "tool-approval-request c1",
      "tool-input-available c1~2",
      "tool-approval-request c1~2",
      "tool-output-available c1",
      "tool-output-available c1~2"
    ])
  })

  it("what is asked again leaves a card that is open as it is, and opens the one that was answered", () => {
    const parts = [call("c1", "a"), asking("id-1", "c1"), finish(), asking("id-1", "c1")]
    assert.lengthOf(translate(parts).filter(({ type }) => type === "tool-approval-request"), 1)
    const answered = Calls.make()
    answered.begin("c1", "DeleteFile").approvalIds.add("id-1")
    assert.deepStrictEqual(typesOf(translate([asking("id-1", "c1")], answered)), ["tool-approval-request"])
  })

  it("files and sources go out, and a link to a script does not", () => {
    const source = (url: string) => sourceOf({ sourceType: "url", id: "s1", url: new URL(url), title: "Title" })
    assert.deepStrictEqual(
      translate([
        Response.makePart("file", { mediaType: "image/png", data: new Uint8Array([1, 2, 3]) }),
        source("https://example.com/a"),
        source("javascript:alert(1)"),
        sourceOf({ sourceType: "document", id: "d1", mediaType: "text/plain", title: "Notes" })
      ]).slice(1, -1),
      [
        { type: "file", mediaType: "image/png", url: "data:image/png;base64,AQID" },
        { type: "source-url", sourceId: "s1", url: "https://example.com/a", title: "Title" },
        { type: "source-document", sourceId: "d1", mediaType: "text/plain", title: "Notes" }
      ]
    )
  })

  it("says why the model stopped, and what error it gave", () => {
    const translator = Chunks.make(Calls.make())
    assert.isUndefined(translator.finishReason())
    translator.next(finish("length"))
    assert.strictEqual(translator.finishReason(), "length")
    translator.next(finish("pause"))
    assert.strictEqual(translator.finishReason(), "other")
    assert.deepStrictEqual(translator.next(Response.makePart("error", { error: new Error("secret") })), [])
    assert.strictEqual(translator.error(), "The model did not answer. What was done is kept; try again.")
  })

  it("a hosted call and its result say that the provider ran it", () => {
    const hosted = Response.makePart("tool-call", { id: "c1", name: "Search", params: {}, providerExecuted: true })
    assert.deepInclude(translate([hosted]), {
      type: "tool-input-available",
      toolCallId: "c1",
      toolName: "Search",
      input: {},
      providerExecuted: true
    })
  })
})
