/**
 * L9, provider-executed calls: one policy and one controller serve local and hosted calls. What they answer at once
 * reaches the provider, and the turn goes on; what they leave open waits like any request.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Ref, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalController,
  ApprovalError,
  ApprovalEvents,
  Chat,
  LanguageModel,
  Prompt,
  Response,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"
import { allowed, approvals, asking, begin, done, Mcp, withController, withPolicy } from "./hosted.ts"
import { idle } from "./support.ts"

describe("L9 the policy answers", () => {
  C.everyWay(
    "L9 a policy that pre-approves mcp.<server>.* answers for the person, and the turn goes on",
    function*(way) {
      const { chat } = yield* begin(way, [
        [ScriptedModel.text("Looking. "), ...asking(1)],
        [done(1), ScriptedModel.text("Found it.")],
        "bye"
      ])
      const seen: Array<string> = []
      const policy = withPolicy((call) => {
        seen.push(`${call.toolName} ${JSON.stringify(call.encodedParams)}`)
        return call.toolName.startsWith("mcp.github.") ? Approval.preApproved("github is ours") : undefined
      })
      const turn = yield* policy(chat.send("go"))
      assert.strictEqual(turn.shape.replaceAll(/\btext (?=text)/g, ""), "text call result text finish")
      assert.isFalse(Response.isWaiting(turn.parts))
      assert.include(seen, `mcp.github.create_issue {"path":"p1"}`)
      assert.deepStrictEqual(approvals(yield* chat.lastPrompt), [
        "request mcpr_1",
        "approve mcpr_1 github is ours"
      ])
      C.assertWellFormed(yield* chat.lastPrompt, allowed)
      assert.strictEqual((yield* policy(chat.send("thanks"))).text, "bye")
      C.assertWellFormed(yield* chat.lastPrompt, allowed)
      assert.strictEqual(yield* chat.calls, 3)
    }
  )

  C.everyWay(
    "L9 a policy that blocks mcp.<server>.* denies for the person: the provider is told, with the reason",
    function*(way) {
      const { chat } = yield* begin(way, [asking(1), "Then not.", "bye"])
      const policy = withPolicy((call) =>
        call.toolName === "mcp.github.create_issue" ? Approval.blocked("read only today") : undefined
      )
      const turn = yield* policy(chat.send("go"))
      assert.strictEqual(turn.text, "Then not.")
      assert.deepStrictEqual(approvals(yield* chat.lastPrompt), ["request mcpr_1", "deny mcpr_1 read only today"])
      const [denied] = turn.results
      assert.deepInclude(denied, { id: "mcp_1", isFailure: true, providerExecuted: true })
      assert.include(C.reasonOf(denied!), "read only today")
      yield* policy(chat.send("thanks"))
      C.assertWellFormed(yield* chat.lastPrompt, allowed)
    }
  )

  C.everyWay("L9 a request that is left to a person says in whose name it is, as far as that is known", function*(way) {
    for (const scope of [{ conversation: "talk" }, { principal: "ada" }, {}]) {
      const { chat } = yield* begin(way, [asking(1)])
      const turn = yield* Effect.provideService(chat.send("go"), Approval.Scope, scope)
      const { conversation, principal } = turn.requests[0]!
      assert.deepStrictEqual([conversation, principal], [scope.conversation, scope.principal])
    }
  })

  C.everyWay("L9 L1 a policy that fails leaves it to a person; one that says nothing, too", function*(way) {
    for (const policy of [withPolicy(() => Effect.fail("down")), withPolicy(() => undefined)]) {
      const { chat } = yield* begin(way, [asking(1)])
      const turn = yield* policy(chat.send("go"))
      assert.deepStrictEqual(
        turn.requests.map(({ approvalId, source, toolName }) => [approvalId, toolName, source]),
        [
          ["mcpr_1", "mcp.github.create_issue", "mcp.github"]
        ]
      )
      assert.strictEqual(turn.requests[0]!.description, "mcp.github.create_issue(path='p1')")
      assert.strictEqual(yield* chat.calls, 1)
    }
  })

  C.everyWay("L9 L11 an approval of a hosted call does not outlive a policy that now blocks", function*(way) {
    const { chat } = yield* begin(way, [asking(1), "Then not.", "bye"])
    const asked = yield* chat.send("go")
    const answers = Prompt.approvalResponses([Approval.approve(asked.requests[0]!)])
    const turn = yield* chat.send(answers).pipe(withPolicy(() => Approval.blocked("closed")))
    assert.deepStrictEqual(approvals(yield* chat.lastPrompt).slice(-1), ["deny mcpr_1 closed"])
    assert.notInclude(approvals(yield* chat.lastPrompt).join(), "approve")
    assert.include(C.reasonOf(turn.results[0]!), "closed")
    // The denial stays, also when the policy is gone again.
    yield* chat.send("thanks")
    assert.notInclude(approvals(yield* chat.lastPrompt).join(), "approve")
    C.assertWellFormed(yield* chat.lastPrompt, allowed)
  })

  C.everyWay(
    "L9 L11 a policy that fails holds an approved hosted call: nothing is sent, nothing is lost",
    function*(way) {
      const { chat } = yield* begin(way, [asking(1), [done(1), ScriptedModel.text("Done.")]])
      const asked = yield* chat.send("go")
      const turn = yield* chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)])).pipe(
        withPolicy(() => Effect.fail("down"))
      )
      assert.deepStrictEqual(turn.requests.map(({ approvalId }) => approvalId), ["mcpr_1"])
      assert.strictEqual(yield* chat.calls, 1)
      assert.strictEqual((yield* chat.send([])).text, "Done.")
    }
  )
})

describe("L9 the controller answers", () => {
  C.everyWay("L9 two turns of one conversation ask the person one thing at a time", function*(way) {
    let open = 0
    let most = 0
    const person = withController(() =>
      Effect.gen(function*() {
        most = Math.max(most, ++open)
        yield* Effect.sleep("1 second")
        open--
        return true
      })
    )
    const turns = yield* Effect.forEach([1, 2], (index) =>
      Effect.gen(function*() {
        const { chat } = yield* begin(way, [asking(index), [done(index), ScriptedModel.text("Done.")]])
        return yield* Effect.forkChild(person(chat.send("go")))
      }))
    yield* idle
    for (const _ of turns) yield* Effect.andThen(TestClock.adjust("1 second"), idle)
    for (const turn of turns) assert.strictEqual((yield* Fiber.join(turn)).text, "Done.")
    assert.strictEqual(most, 1)
  })

  C.everyWay("L9 an interactive controller is asked inline, also about several, and the turn goes on", function*(way) {
    const { chat } = yield* begin(way, [
      [...asking(1), ...asking(2, "delete_repo")],
      [done(1), ...asking(3)],
      [done(3), ScriptedModel.text("All done.")],
      "bye"
    ])
    const seen: Array<string> = []
    const turn = yield* chat.send("go").pipe(withController((request) => {
      seen.push(request.description)
      return request.toolName.endsWith("delete_repo") ? Approval.deny(request, "never") : true
    }))
    assert.deepStrictEqual(seen, [
      "mcp.github.create_issue(path='p1')",
      "mcp.github.delete_repo(path='p2')",
      "mcp.github.create_issue(path='p3')"
    ])
    assert.strictEqual(turn.text, "All done.")
    assert.isFalse(Response.isWaiting(turn.parts))
    assert.deepStrictEqual(turn.results.map(({ id, isFailure }) => [id, isFailure]), [
      ["mcp_2", true],
      ["mcp_1", false],
      ["mcp_3", false]
    ])
    assert.deepStrictEqual(approvals(yield* chat.lastPrompt).filter((one) => !one.startsWith("request")), [
      "approve mcpr_1",
      "deny mcpr_2 never",
      "approve mcpr_3"
    ])
    yield* chat.send("thanks")
    C.assertWellFormed(yield* chat.lastPrompt, allowed)
  })

  C.everyWay(
    "L9 what the controller leaves open waits, and what it edits stays open: the provider runs what it asked",
    function*(way) {
      for (
        const reply of [
          new Approval.Info({ note: "later" }),
          new Approval.Approved({ params: { path: "elsewhere" } })
        ]
      ) {
        const { chat } = yield* begin(way, [asking(1)])
        const turn = yield* chat.send("go").pipe(withController(() => reply))
        assert.deepStrictEqual(turn.requests.map(({ approvalId }) => approvalId), ["mcpr_1"])
        assert.strictEqual(yield* chat.calls, 1)
      }
    }
  )

  C.everyWay("L9 a request of an earlier turn is answered by the controller of this one", function*(way) {
    const { chat } = yield* begin(way, [asking(1), [done(1), ScriptedModel.text("Done.")], "bye"])
    yield* chat.send("go")
    const turn = yield* chat.send([]).pipe(withController(() => true))
    assert.strictEqual(turn.text, "Done.")
    assert.deepStrictEqual(approvals(yield* chat.lastPrompt), ["request mcpr_1", "approve mcpr_1"])
    C.assertWellFormed(yield* chat.lastPrompt, allowed)
  })

  C.everyWay(
    "L9 beside local calls: those run or are asked about as ever, and an open one keeps the turn from going on",
    function*(way) {
      const { chat, runs } = yield* begin(way, [
        [...asking(1), C.readCall("c1", "a"), C.deleteCall("c2", "b")],
        [done(1), ScriptedModel.text("Done.")]
      ])
      const turn = yield* chat.send("go").pipe(withController(() => true))
      assert.strictEqual(turn.text, "Done.")
      assert.deepStrictEqual(runs.toSorted(), ["delete b", "read a"])
      C.assertWellFormed(yield* chat.lastPrompt, allowed)
      const second = yield* begin(way, [[...asking(1), C.deleteCall("c2", "b")]])
      const waiting = yield* second.chat.send("go").pipe(
        withController((request) => request.providerExecuted ? true : new Approval.Info({ note: "later" }))
      )
      assert.deepStrictEqual(waiting.requests.map(({ toolCallId }) => toolCallId).toSorted(), ["c2", "mcp_1"])
      assert.strictEqual(yield* second.chat.calls, 1)
    }
  )

  C.everyWay("L9 an answer that comes after the call ran for another one reaches nobody", function*(way) {
    const { chat } = yield* begin(way, [asking(1), [done(1), ScriptedModel.text("Done.")], "bye"])
    const asked = yield* chat.send("go")
    yield* chat.send([]).pipe(withController(() => true))
    for (const late of [Approval.approve(asked.requests[0]!), Approval.deny(asked.requests[0]!, "too late")]) {
      const turn = yield* chat.send(Prompt.approvalResponses([late]))
      assert.deepStrictEqual(
        [turn.shape, yield* chat.calls],
        ["result finish", 2],
        "there is nothing to call the model for"
      )
    }
    assert.strictEqual((yield* chat.send("and?")).text, "bye")
    assert.deepStrictEqual(approvals(yield* chat.lastPrompt), [])
    C.assertWellFormed(yield* chat.lastPrompt, allowed)
  })

  it.effect("L9 what was said before the turn went on is what the model sees of it, however it came in pieces", () =>
    C.fresh(Effect.gen(function*() {
      const delta = (
        type: "text-delta" | "reasoning-delta",
        id: string,
        delta: string
      ) => ({ type, id, delta } as const)
      const { chat } = yield* begin("streamText", [
        [
          { type: "reasoning-start", id: "r" },
          delta("reasoning-delta", "r", "well"),
          delta("reasoning-delta", "r", ", well"),
          { type: "reasoning-end", id: "r" },
          { type: "text-start", id: "a" },
          { type: "text-start", id: "b" },
          ...Array.from({ length: 200 }, (_, index) => delta("text-delta", index % 3 === 0 ? "a" : "b", `${index} `)),
          { type: "text-end", id: "a" },
          { type: "text-end", id: "b" },
          ...asking(1)
        ],
        [done(1)]
      ])
      yield* chat.send("go").pipe(withController(() => true))
      const said = (yield* chat.lastPrompt).content.flatMap((message) =>
        message.role !== "assistant" ?
          [] :
          message.content.flatMap((part) => part.type === "text" || part.type === "reasoning" ? [part.text] : [])
      )
      const numbers = (which: (index: number) => boolean) =>
        Array.from({ length: 200 }, (_, index) => index).filter(which).map((index) => `${index} `).join("")
      assert.deepStrictEqual(said, [
        "well, well",
        numbers((index) => index % 3 === 0),
        numbers((index) => index % 3 !== 0)
      ])
    })))

  C.everyWay("L9 a model that asks for ever ends as a turn that waits", function*(way) {
    const { chat } = yield* begin(way, Array.from({ length: 40 }, () => asking(1)))
    const turn = yield* chat.send("go").pipe(withController(() => true))
    assert.isTrue(Response.isWaiting(turn.parts))
    assert.isAtMost(yield* chat.calls, 33)
  })

  C.everyWay("what a turn of several responses used is counted together in its one finish", function*(way) {
    const used = (total: number): Response.FinishPartEncoded => ({
      type: "finish",
      reason: "stop",
      response: undefined,
      usage: {
        inputTokens: { uncached: undefined, total, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: 1, text: undefined, reasoning: undefined }
      }
    })
    const { chat } = yield* begin(way, [[...asking(1), used(100)], [done(1), used(150)]])
    const turn = yield* chat.send("go").pipe(withController(() => true))
    const finishes = turn.parts.filter((part) => part.type === "finish")
    assert.deepStrictEqual(finishes.map(({ usage }) => [usage.inputTokens.total, usage.outputTokens.total]), [[
      250,
      2
    ]])
  })
})

describe("L9 events", () => {
  C.everyWay("what is answered here for the provider's requests is published", function*(way) {
    const events = yield* ApprovalEvents.make()
    const observed = yield* events.subscribe
    const { chat } = yield* begin(way, [[...asking(1), ...asking(2, "delete_repo")], [done(1)]])
    yield* chat.send("go").pipe(
      withController((request) => request.toolName.endsWith("delete_repo") ? Approval.deny(request, "never") : true),
      Effect.provideService(ApprovalEvents.ApprovalEvents, events)
    )
    const seen = yield* Stream.runCollect(Stream.take(observed, 2))
    assert.deepStrictEqual(
      seen.map((event) => event._tag === "Changed" ? [event.toolName, event.state, event.reason] : event._tag),
      [["mcp.github.create_issue", "approved", undefined], ["mcp.github.delete_repo", "denied", "never"]]
    )
  })
})

describe("L9 L2 a stream that breaks off, and is left", () => {
  it.effect("has the provider's request in the history, with what ran beside it", () =>
    C.fresh(Effect.gen(function*() {
      const read = ScriptedModel.toolCall({ id: "c1", name: "ReadFile", params: { path: "a" } })
      const script = yield* ScriptedModel.make({
        turns: [[read, ...asking(1), ScriptedModel.withoutFinish]],
        strict: allowed
      })
      const toolkit = yield* C.withHandlers(Toolkit.make(Mcp, C.ReadFile), {
        ReadFile: ({ path }) => Effect.succeed(path)
      })
      const chat = yield* Chat.empty
      yield* chat.streamText({ prompt: "go", toolkit }).pipe(
        Stream.takeUntil(({ type }) => type === "tool-approval-request"),
        Stream.runDrain,
        Effect.provideService(LanguageModel.LanguageModel, yield* LanguageModel.make(script.params)),
        withPolicy((call) => call.toolName === "ReadFile" ? Approval.preApproved() : undefined)
      )
      assert.deepStrictEqual(approvals(yield* Ref.get(chat.history)), ["request mcpr_1"])
    })))
})

describe("L9 L12 generateObject", () => {
  const Answer = Schema.Struct({ answer: Schema.String })

  const ask = Effect.fnUntraced(function*(turns: C.StartOptions["turns"], controller: ApprovalController.Service) {
    const script = yield* ScriptedModel.make({ turns, strict: allowed })
    const model = yield* LanguageModel.make(script.params)
    const toolkit = yield* C.withHandlers(Toolkit.make(Mcp), {})
    return yield* LanguageModel.generateObject({ prompt: "go", schema: Answer, toolkit }).pipe(
      Effect.provideService(LanguageModel.LanguageModel, model),
      Effect.provideService(ApprovalController.ApprovalController, controller)
    )
  })

  C.everyWay("answered at once, the object comes; left open, it fails with what it waits for", function*() {
    const turns = [asking(1), [done(1), ScriptedModel.text(`{"answer":"42"}`)]]
    const response = yield* ask(turns, ApprovalController.approveAll)
    assert.deepStrictEqual(response.value, { answer: "42" })
    assert.deepStrictEqual(response.content.map(({ type }) => type), ["tool-call", "tool-result", "text", "finish"])
    const error = yield* Effect.flip(ask(turns, ApprovalController.deferred))
    const reason = C.approvalErrorOf(error)
    assert.instanceOf(reason, ApprovalError.ApprovalRequired)
    assert.deepStrictEqual(
      reason._tag === "ApprovalRequired" ? reason.requests.map(({ approvalId }) => approvalId) : [],
      ["mcpr_1"]
    )
  })
})
