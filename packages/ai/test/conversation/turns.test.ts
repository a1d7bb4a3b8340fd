/** A conversation goes on by itself until the model has said all, somebody is waited for, or a limit is reached. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalError, Prompt, Response } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./support.ts"

describe("a turn", () => {
  it.effect("calls the model again as long as there are results to show it", () =>
    Effect.gen(function*() {
      const { conversation, script, steps } = yield* C.start({
        turns: [[C.read("a")], [C.read("b"), C.read("c")], "All read."],
        instructions: "Be brief."
      })
      const outcome = yield* conversation.send("Read everything.")
      assert.strictEqual(C.finished(outcome), "All read.")
      assert.strictEqual(outcome.steps, 3)
      assert.isAbove(outcome.tokens, 0)
      assert.deepStrictEqual(steps.map(([, path]) => path), ["a", "b", "c"])
      const sent = yield* C.prompts(script)
      assert.deepStrictEqual(sent[0]?.content.map(({ role }) => role), ["system", "user"])
      assert.deepStrictEqual(sent[2]?.content.slice(0, sent[1]?.content.length), sent[1]?.content)
      // The same objects, so that incremental requests stay incremental (law L7).
      sent[1]?.content.forEach((message, index) => assert.strictEqual(sent[2]?.content[index], message))
      yield* Effect.exit(conversation.send("And again."))
      assert.deepStrictEqual((yield* conversation.history).content.filter(({ role }) => role === "system").length, 1)
    }))

  it.effect("that says nothing in a conversation that has not begun calls no model, and begins nothing", () =>
    Effect.gen(function*() {
      const { conversation, script } = yield* C.start({ turns: [[C.remove("a")], "Done."] })
      assert.strictEqual(C.finished(yield* conversation.send([])), "")
      assert.deepStrictEqual(Array.from(yield* Stream.runCollect(conversation.stream([]))), [])
      assert.deepStrictEqual(yield* C.prompts(script), [])
      assert.deepStrictEqual((yield* conversation.history).content, [])
      assert.lengthOf(C.requestsOf(yield* conversation.send("Clean up.")), 1)
    }))

  it.effect("that says nothing lets a model begin that has instructions", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({ turns: ["Hello."], instructions: "Greet who comes." })
      assert.strictEqual(C.finished(yield* conversation.send([])), "Hello.")
    }))

  it.effect("waits with every request that is open, and goes on with what is decided", () =>
    Effect.gen(function*() {
      const { conversation, script, steps } = yield* C.start({
        turns: [[C.remove("a"), C.remove("b"), C.read("c")], "Done."]
      })
      const requests = C.requestsOf(yield* conversation.send("Clean up."))
      assert.lengthOf(requests, 2)
      assert.deepStrictEqual(yield* conversation.pending(), requests)
      assert.deepStrictEqual(yield* conversation.pending("approval"), requests)
      assert.deepStrictEqual(yield* conversation.pending("askUser"), [])
      const left = C.requestsOf(yield* conversation.decide(Approval.approve(requests[0]!)))
      assert.deepStrictEqual(left.map(({ approvalId }) => approvalId), [requests[1]!.approvalId])
      assert.strictEqual(yield* script.calls, 1)
      const outcome = yield* conversation.decide([Approval.deny(requests[1]!, "that one stays")])
      assert.strictEqual(C.finished(outcome), "Done.")
      assert.deepStrictEqual(steps.filter(([name]) => name === "DeleteFile"), [["DeleteFile", "a"]])
      assert.include(JSON.stringify((yield* C.prompts(script)).at(-1)), "that one stays")
      assert.deepStrictEqual(yield* conversation.pending(), [])
    }))

  it.effect("decides as the program: edited parameters count, and the model is told what ran (law L4)", () =>
    Effect.gen(function*() {
      const { conversation, script, steps } = yield* C.start({ turns: [[C.remove("a")], "Done."] })
      const [request] = C.requestsOf(yield* conversation.send("Clean up."))
      const outcome = yield* conversation.decide(Approval.approve(request!, { params: { path: "b" } }))
      assert.strictEqual(C.finished(outcome), "Done.")
      assert.deepStrictEqual(steps, [["DeleteFile", "b"]])
      assert.include(JSON.stringify((yield* C.prompts(script)).at(-1)), `\\"path\\":\\"b\\"`)
    }))

  it.effect("an Info leaves its request open, with the note, and no model is called", () =>
    Effect.gen(function*() {
      const { conversation, script } = yield* C.start({ turns: [[C.remove("a")], "Done."] })
      const [request] = C.requestsOf(yield* conversation.send("Clean up."))
      const { approvalId } = request!
      const info = new Approval.ApprovalAnswer({ approvalId, decision: new Approval.Info({ note: "ask Ann" }) })
      const [noted] = C.requestsOf(yield* conversation.decide(info))
      assert.strictEqual(noted?.reason, "ask Ann")
      assert.strictEqual((yield* conversation.pending())[0]?.reason, "ask Ann")
      assert.strictEqual(yield* script.calls, 1)
      assert.strictEqual(C.finished(yield* conversation.decide(Approval.deny(request!))), "Done.")
    }))

  it.effect("what was never asked, or is decided, is refused and changes nothing", () =>
    Effect.gen(function*() {
      const { conversation, steps } = yield* C.start({ turns: [[C.remove("a"), C.remove("b")], "Done."] })
      const [first, second] = C.requestsOf(yield* conversation.send("Clean up."))
      const before = yield* conversation.history
      const reasonOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.map(Effect.flip(effect), (error) =>
          error instanceof ApprovalError.ApprovalError ? error.reason._tag : error)
      const unknown = conversation.decide([{ approvalId: "made-up", approved: true }, {
        approvalId: "x",
        approved: true
      }])
      assert.strictEqual(yield* reasonOf(unknown), "UnknownApproval")
      assert.deepStrictEqual(yield* conversation.history, before)
      yield* conversation.decide(Approval.approve(first!))
      assert.strictEqual(yield* reasonOf(conversation.decide(Approval.deny(first!))), "AlreadyDecided")
      assert.deepStrictEqual(steps, [["DeleteFile", "a"]])
      yield* conversation.decide(Approval.approve(second!))
      assert.strictEqual(yield* reasonOf(conversation.decide(Approval.approve(second!))), "AlreadyDecided")
    }))

  it.effect("L6 who answers after a new message is told that it came between, and not that the call failed", () =>
    Effect.gen(function*() {
      const { conversation, steps } = yield* C.start({ turns: [[C.remove("a")], "As you say.", "Done."] })
      const [request] = C.requestsOf(yield* conversation.send("Clean up."))
      yield* conversation.send("No, wait.")
      const { approvalId } = request!
      const late = yield* Effect.flip(conversation.decide(Approval.approve(request!)))
      assert.instanceOf(late, ApprovalError.ApprovalError)
      assert.deepStrictEqual(late.reason, new ApprovalError.AlreadyDecided({ approvalId, state: "superseded" }))
      assert.strictEqual((yield* conversation.stateOf(approvalId))?.state, "superseded")
      assert.deepStrictEqual(steps, [])
    }))

  it.effect("an answer in a prompt is refused: anybody may have written it", () =>
    Effect.gen(function*() {
      const { conversation, steps } = yield* C.start({ turns: [[C.remove("a")], "Done."] })
      const [request] = C.requestsOf(yield* conversation.send("Clean up."))
      const error = yield* Effect.flip(conversation.send(Prompt.approvalResponses([Approval.approve(request!)])))
      assert.instanceOf(error, ApprovalError.ApprovalError)
      assert.include(error.message, "decide")
      const nonsense = yield* Effect.flip(conversation.send(17 as unknown as string))
      assert.instanceOf(nonsense, ApprovalError.ApprovalError)
      assert.deepStrictEqual(steps, [])
      assert.lengthOf(yield* conversation.pending(), 1)
    }))

  it.effect("a prompt that says nothing is refused, and stands in nobody's way", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({ turns: ["Hello."] })
      const nothing: ReadonlyArray<Prompt.RawInput> = [
        "",
        " \n",
        [{ role: "user", content: [] }],
        [{ role: "user", content: [{ type: "text", text: "" }] }]
      ]
      for (const prompt of nothing) {
        const error = yield* Effect.flip(conversation.send(prompt))
        assert.instanceOf(error, ApprovalError.ApprovalError)
        assert.include(error.message, "`[]`")
      }
      assert.strictEqual(C.finished(yield* conversation.send("Hi.")), "Hello.")
    }))

  it.effect("a text is never consent", () =>
    Effect.gen(function*() {
      const { conversation, steps } = yield* C.start({
        turns: [[C.remove("a")], "As you like."],
        routeText: (_, open) => open[0]
      })
      yield* conversation.send("Clean up.")
      assert.strictEqual(C.finished(yield* conversation.send("yes, approve it")), "As you like.")
      assert.deepStrictEqual(steps, [])
    }))
})

describe("a limit", () => {
  const endless = { turns: [], afterLastTurn: [C.read("a")] }

  it.effect("of steps ends the turn, and the next one goes on", () =>
    Effect.gen(function*() {
      const { conversation, script } = yield* C.start({ ...endless, limits: { steps: 3 } })
      const outcome = yield* conversation.send("Go.")
      assert.deepInclude(outcome, { _tag: "Limited", limit: "steps", steps: 3 })
      assert.deepInclude(yield* conversation.send([]), { _tag: "Limited", limit: "steps", steps: 3 })
      assert.strictEqual(yield* script.calls, 6)
    }))

  it.effect("of tokens ends the turn after the step that reached it", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({ ...endless, limits: { tokens: 1 } })
      assert.deepInclude(yield* conversation.send("Go."), { _tag: "Limited", limit: "tokens", steps: 1 })
    }))

  for (const way of ["send", "stream"] as const) {
    it.effect(`of time ends the turn, and keeps what was done (${way})`, () =>
      Effect.gen(function*() {
        const { conversation, script } = yield* C.start({
          turns: [[C.read("a")], [C.read("b")], "Done."],
          limits: { time: "1 minute" },
          before: (step) => Effect.sleep(step === "ReadFile" ? "40 seconds" : 0)
        })
        const turn = way === "send" ? conversation.send("Go.") : Stream.runDrain(conversation.stream("Go."))
        const fiber = yield* Effect.forkChild(turn, { startImmediately: true })
        yield* TestClock.adjust("2 minutes")
        yield* Fiber.join(fiber)
        assert.deepInclude(yield* conversation.outcome, { _tag: "Limited", limit: "time", steps: 1 })
        assert.include(JSON.stringify(yield* conversation.history), "text of a")
        assert.isAtLeast(yield* script.calls, 2)
      }))
  }
})

describe("a stream", () => {
  it.effect("gives every part of every step, and then how the turn ended", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({
        turns: [[C.read("a")], [ScriptedModel.text("Now "), C.remove("a")], "Bye."]
      })
      const parts = yield* Stream.runCollect(conversation.stream("Go."))
      const requests = C.requestsOf(yield* conversation.outcome)
      assert.deepStrictEqual(Response.approvalRequests(parts).map(({ approvalId }) => approvalId), [
        requests[0]!.approvalId
      ])
      assert.lengthOf(parts.filter(({ type }) => type === "finish"), 2)
      assert.strictEqual(C.finished(yield* conversation.decide(Approval.approve(requests[0]!))), "Bye.")
    }))

  it.effect("that its reader leaves keeps what was said by then", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({
        turns: [[ScriptedModel.text("Once upon"), ScriptedModel.text(" a time")], "Bye."]
      })
      yield* Stream.runDrain(Stream.takeUntil(conversation.stream("Go."), (part) => part.type === "text-delta"))
      const history = JSON.stringify(yield* conversation.history)
      assert.include(history, "Go.")
      assert.include(history, "Once ")
      assert.strictEqual(C.finished(yield* conversation.send("Go on.")), "Bye.")
    }))
})

describe("a failure", () => {
  it.effect("of the model keeps what was said, and the next turn tries again", () =>
    Effect.gen(function*() {
      const { conversation, script, steps } = yield* C.start({ turns: [[C.read("a")]] })
      yield* Effect.flip(conversation.send("Go."))
      assert.isUndefined(yield* conversation.outcome)
      const history = JSON.stringify(yield* conversation.history)
      assert.include(history, "Go.")
      assert.include(history, "text of a")
      yield* Effect.flip(conversation.send([]))
      assert.lengthOf(steps, 1)
      assert.strictEqual(yield* script.calls, 3)
    }))
})
