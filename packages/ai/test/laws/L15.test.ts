/**
 * L15, screens are safe: text from models, tools and files is bounded and escaped (C0/C1, bidi, zero-width) before a
 * person sees it; no secret, stack or cause reaches model, client or span.
 */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Schema, Tracer } from "effect"
import { Approval, ApprovalController, ApprovalPolicy, Prompt, Response, Tool, Toolkit } from "../../src/index.ts"
import * as Text from "../../src/internal/text.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"

/** One of each kind: terminal escape, NUL, DEL, C1, right-to-left override and isolate, zero-width, BOM, soft hyphen. */
const nasty = "\u001b[2J\u0000\u007f\u009b\u202e\u2066\u200b\u200d\ufeff\u00ad\u2028\r\u0008"
// Controls are what these tests are about.
// oxlint-disable-next-line no-control-regex
const isNasty = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/

const showing = Effect.fnUntraced(function*(
  way: C.Way,
  gate: Approval.ApprovalResult | boolean | Effect.Effect<boolean, unknown>,
  params: Record<string, Schema.Json> = { path: "a" }
) {
  const tool = Tool.make("DeleteFile", {
    parameters: Schema.Record(Schema.String, Schema.Json),
    success: Schema.String,
    needsApproval: () => gate
  })
  const toolkit = yield* C.withHandlers(Toolkit.make(tool), { DeleteFile: () => Effect.succeed("deleted") })
  const chat = yield* C.start({
    way,
    toolkit,
    turns: [[ScriptedModel.toolCall({ id: "c1", name: "DeleteFile", params })], "done"]
  })
  const asked = yield* chat.send("tidy up")
  assert.strictEqual(asked.requests.length, 1)
  return { asked, chat, request: asked.requests[0]! }
})

const assertSafe = (text: string | undefined, options?: { readonly multiline?: boolean }) => {
  assert.isString(text)
  assert.notMatch(text!, isNasty)
  if (options?.multiline !== true) assert.notMatch(text!, /\n/)
}

describe("L15 what a person sees", () => {
  C.everyWay("L15 a description built from params is escaped", function*(way) {
    const { request } = yield* showing(way, true, {
      path: `report${nasty}.exe`,
      [`k${nasty}`]: [nasty, { [nasty]: 1 }]
    })
    assertSafe(request.description)
    assert.include(request.description, "report")
    assert.deepStrictEqual(request.params, {
      path: `report${nasty}.exe`,
      [`k${nasty}`]: [nasty, { [nasty]: 1 }]
    }, "the params are shown as they run")
  })

  C.everyWay("L15 a description built from params is bounded", function*(way) {
    const { request } = yield* showing(way, true, { path: "x".repeat(100_000) })
    assert.isAtMost(request.description.length, 600)
    assert.isTrue(request.description.startsWith("DeleteFile(path='xxx"))
  })

  C.everyWay("L15 what a gate says is escaped and bounded: reason and description", function*(way) {
    const { request } = yield* showing(
      way,
      Approval.needsApproval({
        reason: `why ${nasty}${"y".repeat(100_000)}`,
        description: `what ${nasty}${"z".repeat(100_000)}`
      })
    )
    assertSafe(request.reason)
    assertSafe(request.description)
    assert.isTrue(request.reason!.startsWith("why"))
    assert.isTrue(request.description.startsWith("what"))
    assert.isAtMost(request.reason!.length, 11_000)
    assert.isAtMost(request.description.length, 11_000)
  })

  C.everyWay("L15 a presentation is escaped and bounded, its lines stay lines", function*(way) {
    const { request } = yield* showing(
      way,
      Approval.needsApproval({
        presentation: new Approval.ApprovalPresentation({
          type: "diff",
          content: `- old\n+ new ${nasty}\n${"line\n".repeat(1_000_000)}`,
          language: `diff${nasty}`
        })
      })
    )
    const { content, language } = request.presentation!
    assertSafe(content, { multiline: true })
    assertSafe(language)
    assert.isTrue(content.startsWith("- old\n+ new "))
    assert.isAtMost(content.length, 1_000_000)
  })

  C.everyWay("L15 a controller sees the same safe request", function*(way) {
    const seen: Array<Approval.ApprovalRequest> = []
    const { toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: [[C.deleteCall("c1", `a${nasty}`)]] })
    yield* chat.send("tidy up").pipe(
      Effect.provideService(
        ApprovalController.ApprovalController,
        ApprovalController.interactive((request) => (seen.push(request), false))
      )
    )
    assert.strictEqual(seen.length, 1)
    assertSafe(seen[0]!.description)
  })

  it.effect("L15 a tool's name that a model made up is escaped where it is told", () =>
    C.fresh(Effect.gen(function*() {
      const parts = [
        Response.makePart("tool-call", {
          id: "c1",
          name: `Delete${nasty}`,
          params: { [nasty]: nasty },
          providerExecuted: true
        }),
        Response.toolApprovalRequestPart({ approvalId: "mcpr_1", toolCallId: "c1" })
      ]
      assertSafe(Response.approvalRequests(parts)[0]!.description)
      return yield* Effect.void
    })))

  it("L15 escapeText: every control, bidi and invisible character is written out, and the cut is said", () => {
    for (let code = 0; code < 0x10000; code++) {
      const char = String.fromCharCode(code)
      if (isNasty.test(char)) assert.notInclude(Approval.escapeText(`a${char}b`), char, code.toString(16))
    }
    assert.strictEqual(Approval.escapeText("Ünïcödé 日本 👩 ok"), "Ünïcödé 日本 👩 ok")
    const cut = Approval.escapeText("x".repeat(100), { maxLength: 10 })
    assert.isBelow(cut.length, 100)
    assert.notStrictEqual(cut, "x".repeat(cut.length))
    assert.notMatch(Approval.escapeText("a\ud83db"), /\p{Cs}/u, "no lone surrogate")
    assert.notMatch(Approval.escapeText(`${"x".repeat(9)}👩y`, { maxLength: 10 }), /\p{Cs}/u, "no half character")
  })
})

describe("L15 secrets", () => {
  const secret = "hunter2-token"
  const failures: Record<string, Effect.Effect<boolean, unknown>> = {
    "fails": Effect.fail(new Error(`no access with ${secret}`)),
    "dies": Effect.die(new Error(`no access with ${secret}`))
  }

  /** A tracer that keeps whatever a span is told. */
  const recorder = () => {
    const told: Array<string> = []
    const note = (value: unknown) => {
      told.push(
        typeof value === "string" ?
          value :
          JSON.stringify(
            value,
            (_, inner) => typeof inner === "bigint" ? String(inner) : inner instanceof Error ? inner.stack : inner
          ) ?? ""
      )
    }
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        note(options.name)
        const { attribute, end, event } = span
        span.attribute = (key, value) => (note([key, value]), attribute.call(span, key, value))
        span.event = (name, time, attributes) => (note([name, attributes]), event.call(span, name, time, attributes))
        span.end = (time, exit) => {
          if (Exit.isFailure(exit)) note(Cause.pretty(exit.cause))
          return end.call(span, time, exit)
        }
        return span
      }
    })
    return { told, tracer }
  }

  for (const [title, gate] of Object.entries(failures)) {
    C.everyWay(
      `L15 a gate that ${title}: a fixed sentence; the cause reaches neither page, model nor span`,
      function*(way) {
        const { told, tracer } = recorder()
        const { asked, chat, request } = yield* showing(way, gate).pipe(Effect.withTracer(tracer))
        const other = yield* showing(way, title === "fails" ? Effect.fail("x") : Effect.die("y"))
        assert.isString(request.reason)
        assert.strictEqual(request.reason, other.request.reason)
        assert.notInclude(JSON.stringify(asked.parts), secret)
        yield* chat.send(Prompt.approvalResponses([Approval.deny(request)])).pipe(Effect.withTracer(tracer))
        assert.notInclude(JSON.stringify(yield* chat.lastPrompt), secret)
        assert.notInclude(told.join("\n"), secret)
      }
    )

    C.everyWay(`L15 a policy that ${title} at dispatch says nothing of its cause`, function*(way) {
      const { told, tracer } = recorder()
      const { chat, request } = yield* showing(way, true)
      const held = yield* chat.send(Prompt.approvalResponses([Approval.approve(request)])).pipe(
        Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.make(() => gate)),
        Effect.withTracer(tracer)
      )
      assert.notInclude(JSON.stringify(held.parts), secret)
      assert.notInclude(told.join("\n"), secret)
    })
  }

  C.everyWay("L15 a handler that died: the model is told no message and no stack", function*(way) {
    const toolkit = yield* C.withHandlers(Toolkit.make(C.DeleteFile), {
      DeleteFile: () => Effect.die(new Error(`no access with ${secret}`))
    })
    const chat = yield* C.start({ way, toolkit, turns: [[C.deleteCall("c1", "a")], "done", "bye"] })
    const asked = yield* chat.send("tidy up")
    const asking = yield* chat.history
    const answers = Prompt.approvalResponses([Approval.approve(asked.requests[0]!)])
    yield* Effect.exit(chat.send(answers))
    yield* chat.setHistory(asking)
    const turn = yield* chat.send(answers)
    assert.notInclude(JSON.stringify(turn.parts), secret)
    const prompt = JSON.stringify(yield* chat.lastPrompt)
    assert.notInclude(prompt, secret)
    assert.notMatch(prompt, /\.ts:\d+/, "no stack")
  })
})

describe("L15 text that is cut", () => {
  it("L15 is cut at a whole character, with what is missing said", () => {
    const smile = "\u{1f642}"
    const cuts: ReadonlyArray<readonly [text: string, length: number, kept: string]> = [
      ["abc", 3, "abc"],
      ["abcd", 3, "abc… (1 more characters)"],
      [`ab${smile}c`, 3, "ab… (3 more characters)"],
      [`ab${smile}c`, 4, `ab${smile}… (1 more characters)`],
      ["ab\ud800\udc00c", 3, "ab… (3 more characters)"],
      ["ab\udbff\udfffc", 3, "ab… (3 more characters)"],
      ["ab\ud7ffcd", 3, "ab\ud7ff… (2 more characters)"],
      ["ab\ue000cd", 3, "ab\ue000… (2 more characters)"]
    ]
    for (const [text, length, kept] of cuts) assert.strictEqual(Text.truncate(text, length), kept)
  })
})
