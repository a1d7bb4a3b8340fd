/**
 * L9 over several turns: what becomes of a hosted call whose request stands in a history, answered or not, edited, too
 * late, or beside calls of ours.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalEvents, ApprovalSeal, LanguageModel, Prompt } from "../../src/index.ts"
import * as HostedSeal from "../../src/internal/hosted/seal.ts"
import * as HostedCall from "../../src/internal/tool/hostedCall.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { assistant, found, results, search, send, text, tool, user } from "./byHand.ts"
import * as C from "./conversation.ts"
import { allowed, approvals, asking, begin, done, withController, withPolicy } from "./hosted.ts"
import * as Support from "./support.ts"
import { idle, key } from "./support.ts"

const answer = (approvalId: string, options?: Prompt.ToolApprovalResponsePartOptions) =>
  Prompt.toolApprovalResponsePart({ approvalId, approved: true, ...(options === undefined ? {} : { options }) })

const answers = (...content: ReadonlyArray<Prompt.ToolApprovalResponsePart>) =>
  Prompt.fromMessages([Prompt.toolMessage({ content })])

const edit = (approvalId: string) => answer(approvalId, { assent: { params: { path: "elsewhere" } } })

/** What is refused while the effect runs. */
const refused = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.gen(function*() {
    const events = yield* ApprovalEvents.make()
    const seen: Array<string> = []
    const observed = yield* events.subscribe
    yield* Effect.forkScoped(Stream.runForEach(observed, (event) =>
      Effect.sync(() => {
        if (event._tag === "Refused") seen.push(`${event.toolCallId} ${event.approvalId} ${event.reason._tag}`)
      })))
    const value = yield* Effect.provideService(effect, ApprovalEvents.ApprovalEvents, events)
    yield* idle
    return { value, seen }
  }))

const nothing = withPolicy(() => undefined)
const blocks = withPolicy((call) => call.toolName.startsWith("mcp.") ? Approval.blocked("never") : undefined)

const month = 30 * 24 * 3_600_000

describe("L9 a hosted call of a history", () => {
  C.everyWay("L9 a policy that says nothing allows nothing: the request waits", function*(way) {
    const { chat } = yield* begin(way, [asking(1), [done(1), ScriptedModel.text("Done.")]])
    const turn = yield* nothing(chat.send("go"))
    assert.deepStrictEqual(turn.requests.map(({ approvalId }) => approvalId), ["mcpr_1"])
    const later = yield* nothing(chat.send([]))
    assert.deepStrictEqual(later.requests.map(({ approvalId }) => approvalId), ["mcpr_1"])
    assert.strictEqual(yield* chat.calls, 1)
    assert.strictEqual((yield* nothing(chat.send(answers(answer("mcpr_1"))))).text, "Done.")
  })

  C.everyWay(
    "L4 L9 an answer that would edit it counts for nothing: it stays open, says why, and is an event",
    function*(way) {
      const { chat } = yield* begin(way, [asking(1), [done(1), ScriptedModel.text("Done.")]])
      yield* chat.send("go")
      const { seen, value: turn } = yield* refused(chat.send(answers(edit("mcpr_1"))))
      assert.deepStrictEqual(turn.requests.map(({ approvalId }) => approvalId), ["mcpr_1"])
      assert.match(turn.requests[0]?.reason ?? "", /edited parameters have no effect/)
      assert.deepStrictEqual(seen, ["mcp_1 mcpr_1 InvalidEdit"])
      assert.strictEqual(yield* chat.calls, 1)
      const then = yield* refused(chat.send(answers(answer("mcpr_1"))))
      assert.deepStrictEqual([then.value.text, then.seen], ["Done.", []], "an answer that edits nothing counts")
      C.assertWellFormed(yield* chat.lastPrompt, allowed)
    }
  )

  C.everyWay("L9 a controller that says again what was proposed edits nothing", function*(way) {
    const { chat } = yield* begin(way, [asking(1), [done(1), ScriptedModel.text("Done.")]])
    const same = new Approval.Approved({ params: { path: "p1" } })
    assert.strictEqual((yield* chat.send("go").pipe(withController(() => same))).text, "Done.")
  })

  C.everyWay(
    "L4 after its seal's time, where one was set, it cannot be judged, and is denied; a moment before it can",
    function*(way) {
      const seals = yield* ApprovalSeal.ApprovalSeal
      const monthly: ApprovalSeal.Service = {
        ...seals,
        seal: (binding) => seals.seal(binding, { expiresIn: month })
      }
      const cases = [
        [seals, 120 * month, "approve"],
        [monthly, month - 1, "approve"],
        [monthly, month, "deny"],
        [monthly, 2 * month, "deny"]
      ] as const
      for (const [seal, time, decision] of cases) {
        const then = decision === "approve" ? [done(1), ScriptedModel.text("Done.")] : "Then not."
        const { chat } = yield* begin(way, [asking(1), then])
        yield* Effect.provideService(chat.send("go"), ApprovalSeal.ApprovalSeal, seal)
        yield* TestClock.adjust(time)
        const { seen } = yield* refused(nothing(chat.send(answers(answer("mcpr_1")))))
        assert.deepStrictEqual(seen, [], "it is the call that was asked about")
        const sent = approvals(yield* chat.lastPrompt)
        assert.strictEqual(sent.filter((one) => one.startsWith(`${decision} mcpr_1`)).length, 1, sent.join())
        assert.strictEqual(sent.filter((one) => !one.startsWith("request")).length, 1, sent.join())
      }
    }
  )

  C.everyWay("L4 of two requests for one call the second is refused, in an event, sealed or not", function*(way) {
    for (const sealed of [true, false]) {
      const { chat } = yield* begin(way, [asking(1), sealed ? [done(1), ScriptedModel.text("Done.")] : "Then not."])
      yield* chat.send("go")
      const messages = (yield* chat.history).content.map((message) =>
        message.role !== "assistant" || sealed ? message : Prompt.assistantMessage({
          content: message.content.map((part) => part.type === "tool-call" ? { ...part, options: {} } : part)
        })
      )
      const second = Prompt.toolApprovalRequestPart({ approvalId: "mcpr_2", toolCallId: "mcp_1" })
      yield* chat.setHistory(Prompt.fromMessages([...messages, Prompt.assistantMessage({ content: [second] })]))
      const { seen } = yield* refused(nothing(chat.send(answers(answer("mcpr_1"), answer("mcpr_2")))))
      assert.deepStrictEqual(seen, ["mcp_1 mcpr_2 Forged", ...sealed ? [] : ["mcp_1 mcpr_1 Forged"]])
      const sent = approvals(yield* chat.lastPrompt).filter((one) => !one.startsWith("request"))
      assert.lengthOf(sent, 1)
      assert.match(sent[0]!, sealed ? /^approve mcpr_1/ : /^deny mcpr_1/)
    }
  })

  C.everyWay("L11 an approval is judged again when the model is about to be called, and not before", function*(way) {
    const judged: Array<string> = []
    const counting = withPolicy((call) => {
      judged.push(call.toolName)
      return call.toolName.startsWith("mcp.") ? Approval.blocked("never") : undefined
    })
    const { chat } = yield* begin(way, [[...asking(1), C.deleteCall("c1", "a")], "Then not."])
    const first = yield* chat.send("go")
    const local = first.requests.find(({ toolName }) => toolName === "DeleteFile")!
    const waiting = yield* counting(chat.send(answers(answer("mcpr_1"))))
    assert.deepStrictEqual(waiting.requests.map(({ toolName }) => toolName), ["DeleteFile"])
    assert.notInclude(judged, "mcp.github.create_issue")
    assert.strictEqual(yield* chat.calls, 1)
    const turn = yield* counting(chat.send(Prompt.approvalResponses([Approval.deny(local)])))
    assert.include(judged, "mcp.github.create_issue")
    assert.strictEqual(turn.text, "Then not.")
    assert.match(approvals(yield* chat.lastPrompt).join(), /deny mcpr_1 never/)
  })

  C.everyWay(
    "L6 L11 a new message leaves an open request behind, but not an answer that comes with it",
    function*(way) {
      const one = (yield* begin(way, [asking(1), "Something else."])).chat
      yield* one.send("go")
      const shown: Array<string> = []
      const asks = withController((request) => (shown.push(request.approvalId), true))
      assert.strictEqual((yield* asks(one.send("never mind"))).text, "Something else.")
      assert.deepStrictEqual(shown, [])
      const other = (yield* begin(way, [asking(1), "Then not."])).chat
      yield* other.send("go")
      const both = Prompt.concat(answers(answer("mcpr_1")), Prompt.make("and hurry"))
      assert.strictEqual((yield* blocks(other.send(both))).text, "Then not.")
      assert.match(approvals(yield* other.lastPrompt).join(), /deny mcpr_1 never/)
    }
  )
})

describe("L9 what a hosted call says of itself", () => {
  const call = { id: "mcp_1", name: "Mcp", params: { name: "x" } }
  const own = { toolName: "Mcp", params: { name: "x" }, source: undefined }

  it("L9 is the provider's word where it is whole, and else the call itself", () => {
    const word = { source: "mcp.github", toolName: "mcp.github.read", params: { path: "a" } }
    assert.deepStrictEqual(HostedCall.asked({ ...call, metadata: { assent: word as never } }), word)
    assert.deepStrictEqual(HostedCall.asked({ ...call, options: { assent: word as never } }), word)
    for (
      const broken of [
        null,
        "yes",
        { ...word, toolName: "" },
        { ...word, toolName: 1 },
        { ...word, source: 1 },
        { source: "mcp.github", params: {} },
        { toolName: "mcp.github.read", params: {} }
      ]
    ) {
      assert.deepStrictEqual(HostedCall.asked({ ...call, options: { assent: broken as never } }), own)
    }
    assert.deepStrictEqual(HostedCall.asked(call), own)
    assert.deepStrictEqual(HostedCall.asked({ ...call, params: undefined }), { ...own, params: null })
    assert.deepStrictEqual(HostedCall.asked({ ...call, params: 1n }), { ...own, params: null })
  })

  it("L4 has a seal only if that is a text", () => {
    for (const none of [null, "seal", {}, { seal: 1 }]) {
      assert.isUndefined(HostedCall.sealOf({ ...call, options: { assent: none as never } }))
    }
    assert.strictEqual(HostedCall.sealOf({ ...call, options: { assent: { seal: "apr1" } as never } }), "apr1")
    assert.isUndefined(HostedCall.sealOf(call))
  })

  it.effect("L4 is sealed once, also where it says nothing", () =>
    Effect.gen(function*() {
      const seal = yield* ApprovalSeal.ApprovalSeal
      const sealed = yield* HostedSeal.seal(seal, {}, call as HostedCall.Call, "mcpr_1")
      assert.isString(HostedCall.sealOf(sealed))
      assert.strictEqual(yield* HostedSeal.seal(seal, {}, sealed, "mcpr_1"), sealed)
      yield* HostedSeal.verify(seal, {}, sealed, "mcpr_1")
      const error = yield* Effect.flip(HostedSeal.verify(seal, {}, sealed, "mcpr_2"))
      assert.strictEqual(error.reason._tag, "Forged")
    }).pipe(Effect.provide(ApprovalSeal.layer({ key }))))
})

describe("L9 results of the provider's own calls", () => {
  Support.forEachMode("L9 that stand in tool messages go back behind their calls, each once", function*(mode) {
    const it = yield* send(mode, [
      user("Go on."),
      assistant(search("p1"), search("p2")),
      tool(found("p2"), found("p1"), found("p2", "again"), found("p3"))
    ])
    assert.deepStrictEqual(
      it.sent!.content.map((message) => message.role),
      ["user", "assistant"]
    )
    assert.deepStrictEqual(results(it.sent), ["found p2", "found p1"])
  })

  Support.forEachMode(
    "L9 without their calls they pass where they stand, or are dropped, and nothing fails",
    function*(mode) {
      const behind = yield* send(mode, [user("Go on."), assistant(text("so"), found("p1"))])
      assert.deepStrictEqual(results(behind.sent), ["found p1"])
      const moved = yield* send(mode, [user("Go on."), assistant(text("so")), tool(found("p1"))])
      assert.deepStrictEqual(results(moved.sent), [])
      const other = yield* send(mode, [user("Go on."), assistant(search("p1"), found("p2"), found("p1"))])
      assert.deepStrictEqual(results(other.sent), ["found p2", "found p1"])
    }
  )

  Support.forEachMode("L10 a request whose call was trimmed is void, whoever else called", function*(mode) {
    const it = yield* send(mode, [
      user("Go on."),
      assistant(search("p1"), found("p1"), Support.requestPart("r", "p2"))
    ])
    assert.deepStrictEqual([it.turn.requests, it.turn.text], [[], "done"])
    assert.deepStrictEqual(results(it.sent), ["found p1"])
  })

  const approvals = (prompt: Prompt.Prompt) =>
    Support.partsOf(prompt).flatMap((part) => part.type.startsWith("tool-approval") ? [part.type] : [])
  const asking = assistant(search("p1"), Support.requestPart("mcpr_1", "p1"))
  const answer = tool(Support.answerPart("mcpr_1", true))
  const late: Record<string, readonly [history: ReadonlyArray<Prompt.Message>, passes: boolean]> = {
    "at once": [[asking, answer], true],
    "behind a new message that the model has not seen": [[asking, user("Well?"), answer], true],
    "behind a poll": [[asking, user("Well?"), assistant(Support.requestPart("mcpr_1", "p1")), answer], true],
    "when the model had said more by itself": [[asking, assistant(text("I wait.")), answer], true],
    "when the model had answered a new message": [[asking, user("Well?"), assistant(text("Well.")), answer], false],
    "when the model had answered, and asked again": [
      [asking, user("Well?"), assistant(text("Well."), Support.requestPart("mcpr_1", "p1")), answer],
      false
    ]
  }
  for (const [when, [history, passes]] of Object.entries(late)) {
    Support.forEachMode(
      `L6 L9 an answer to the provider's request, ${when}: ${passes ? "passes" : "is too late"}`,
      function*(mode) {
        const script = yield* ScriptedModel.make({
          turns: [],
          afterLastTurn: "done",
          strict: { allowProviderApprovals: ["mcpr_1"] }
        })
        const tools = yield* Support.makeTools()
        yield* Support.takeTurn(mode, {
          model: script.model,
          toolkit: tools.toolkit,
          history: Prompt.fromMessages([user("Go on."), ...history])
        })
        const requests = yield* script.requests
        // Nothing comes of one that is too late, so there is nothing to call the model for.
        assert.deepStrictEqual(
          requests.map(({ prompt }) => approvals(prompt)),
          passes ? [["tool-approval-response"]] : []
        )
      },
      ["generateText", "streamText"]
    )
  }

  for (const onNewMessage of ["keep", "hold", "fail"] as const) {
    Support.forEachMode(
      `L6 L9 only a new message that supersedes makes an answer late: ${onNewMessage}`,
      function*(mode) {
        const script = yield* ScriptedModel.make({ turns: ["done"], strict: { allowProviderApprovals: ["mcpr_1"] } })
        yield* Support.takeTurn(mode, {
          model: script.model,
          history: Prompt.fromMessages([user("Go on."), asking, user("Well?"), assistant(text("Well.")), answer]),
          approval: { onNewMessage }
        })
        const requests = yield* script.requests
        assert.deepStrictEqual(approvals(requests.at(-1)!.prompt), ["tool-approval-response"])
      },
      ["generateText", "streamText"]
    )
  }

  Support.forEachMode(
    "L6 L9 a request that nobody answered before a new message reaches no provider, not even our make",
    function*(mode) {
      const script = yield* Support.answering
      const model = yield* LanguageModel.make(script.params)
      const tools = yield* Support.makeTools()
      yield* Support.takeTurn(mode, {
        model,
        toolkit: tools.toolkit,
        history: Prompt.fromMessages([user("Go on."), asking]),
        prompt: "Well?"
      })
      const requests = yield* script.requests
      assert.deepStrictEqual(requests.map(({ prompt }) => approvals(prompt)), [[]])
    }
  )
})
