/** What an answer means does not change because something is said with it: edits, memory, the provider's requests, limits. */
import { assert, describe } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalMemory,
  ApprovalPolicy,
  Conversation,
  LanguageModel,
  Prompt,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as L from "../laws/conversation.ts"
import * as H from "../laws/hosted.ts"
import * as A from "./answers.ts"
import * as C from "./support.ts"

const ada = { id: "ada" }

// Of conversations in the store of the process.
let count = 0

const lastPrompt = (script: C.Started["script"]) =>
  Effect.map(C.prompts(script), (prompts) => {
    const prompt = prompts.at(-1)!
    L.assertWellFormed(prompt)
    return prompt
  })

describe("with a text, an answer", () => {
  A.eachWay("edits, and is remembered, as the program's own word (law L4)", (say) =>
    Effect.gen(function*() {
      const started = yield* C.start({ turns: [[C.remove("a")], "One.", [C.remove("b", "again")], "Two."] })
      const [request] = C.requestsOf(yield* started.conversation.send("Go."))
      const answers = Approval.approve(request!, { params: { path: "b" }, remember: "session" })
      assert.strictEqual(C.finished(yield* say(started, "And hurry.", { answers, by: ada })), "One.")
      assert.deepStrictEqual(started.steps, [["DeleteFile", "b"]])
      assert.include(JSON.stringify(yield* started.conversation.history), `"id":"ada"`)
      assert.strictEqual(C.finished(yield* started.conversation.send("Again.")), "Two.")
      assert.lengthOf(started.steps, 2)
    }).pipe(Effect.provide(ApprovalMemory.layerSession())))

  A.eachWay("reaches the provider that asks for itself, in its place and with its reason (law L9)", function*(say) {
    for (const decided of ["approve", "deny"] as const) {
      const turns = [H.asking(1), [...decided === "approve" ? [H.done(1)] : [], ScriptedModel.text("Well.")]]
      const script = yield* ScriptedModel.make({ turns, strict: H.allowed })
      const conversation = yield* Effect.provideServiceEffect(
        Conversation.make({ id: `answered beside a text ${count++}`, toolkit: Toolkit.make(H.Mcp) }),
        LanguageModel.LanguageModel,
        LanguageModel.make(script.params)
      )
      const [request] = C.requestsOf(yield* conversation.send("Open an issue."))
      const answers = decided === "approve" ? Approval.approve(request!) : Approval.deny(request!, "a duplicate")
      const started = { conversation, script } as unknown as C.Started
      assert.strictEqual(C.finished(yield* say(started, "And hurry.", { answers })), "Well.")
      assert.strictEqual(yield* script.calls, 2)
      const sent = (yield* C.prompts(script)).at(-1)!
      assert.deepStrictEqual(H.approvals(sent), [
        "request mcpr_1",
        decided === "approve" ? "approve mcpr_1" : "deny mcpr_1 a duplicate"
      ])
      assert.deepStrictEqual(sent.content.map(({ role }) => role).slice(-2), ["tool", "user"])
    }
  })

  A.eachWay("that comes too late is refused, and the text counts", function*(say) {
    const started = yield* C.start({ turns: [[C.remove("a")], "Too late."], approval: { expiresIn: "1 hour" } })
    const [request] = C.requestsOf(yield* started.conversation.send("Go."))
    yield* TestClock.adjust("2 hours")
    const outcome = yield* say(started, "Did you?", { answers: Approval.approve(request!) })
    assert.strictEqual(C.finished(outcome), "Too late.")
    assert.deepStrictEqual(A.refusedOf(outcome), [[request!.approvalId, "Expired"]])
    assert.deepStrictEqual(started.steps, [])
  })

  A.eachWay("that only remarks leaves its request to what `send(text)` makes of it", function*(say) {
    const started = yield* C.start({ turns: [[C.remove("a")], "As you like."] })
    const [request] = C.requestsOf(yield* started.conversation.send("Go."))
    const { approvalId } = request!
    const answers = new Approval.ApprovalAnswer({ approvalId, decision: new Approval.Info({ note: "ask Ann" }) })
    assert.strictEqual(C.finished(yield* say(started, "Leave it.", { answers })), "As you like.")
    assert.include(JSON.stringify(yield* lastPrompt(started.script)), "uperseded by a new message")
  })

  A.eachWay("in a full conversation is not decided: nothing more can be said there", function*(say) {
    const started = yield* C.start({ turns: [[C.remove("a")]], maxBytes: 400 })
    const [request] = C.requestsOf(yield* started.conversation.send("Go."))
    const text = "x".repeat(400)
    assert.strictEqual(yield* A.reasonOf(say(started, text, { answers: Approval.deny(request!) })), "Full")
    assert.lengthOf(yield* started.conversation.pending(), 1)
    yield* Effect.exit(say(started, [], { answers: Approval.deny(request!) }))
    assert.deepStrictEqual(yield* started.conversation.pending(), [])
  })
})

describe("an answer that settles nothing", () => {
  const twoLists = ApprovalPolicy.make(() => Effect.succeed(Approval.needsApproval({ approvers: [["ada"], ["bob"]] })))
  const withTwo = Effect.provideService(ApprovalPolicy.ApprovalPolicy, twoLists)

  A.eachWay("is taken out of the history again, by whichever way it came", (say) =>
    withTwo(Effect.gen(function*() {
      const started = yield* C.start({ turns: [[C.remove("a")], "Done."] })
      const [request] = C.requestsOf(yield* started.conversation.send("Go."))
      const before = yield* started.conversation.history
      const [open] = C.requestsOf(yield* say(started, [], { answers: Approval.approve(request!), by: ada }))
      assert.include(open?.reason, "Still needed: bob.")
      assert.deepStrictEqual(yield* started.conversation.history, before)
      const again = say(started, [], { answers: Approval.approve(request!), by: ada })
      assert.strictEqual(yield* A.reasonOf(again), "NotAnApprover")
      const done = yield* say(started, [], { answers: Approval.approve(request!), by: { id: "bob" } })
      assert.strictEqual(C.finished(done), "Done.")
    })))

  A.eachWay("leaves what is said with it in its place", (say) =>
    withTwo(Effect.gen(function*() {
      const started = yield* C.start({ turns: [[C.remove("a")], "Fine."], approval: { onNewMessage: "keep" } })
      const [request] = C.requestsOf(yield* started.conversation.send("Go."))
      const place = (history: Prompt.Prompt) =>
        history.content.findIndex((message) => JSON.stringify(message).includes("And hurry."))
      let live: number | undefined
      const answers = Approval.approve(request!)
      // The first look is when the model is called: what was said is written by then.
      const looking = Stream.runForEach(
        started.conversation.stream("And hurry.", { answers, by: ada }),
        () => Effect.map(started.conversation.history, (history) => void (live ??= place(history)))
      )
      yield* say === A.ways.stream ? looking : say(started, "And hurry.", { answers, by: ada })
      const { content } = yield* started.conversation.history
      const at = place(Prompt.fromMessages(content))
      if (live !== undefined) assert.strictEqual(at, live)
      assert.deepStrictEqual(content[at - 1], Prompt.makeMessage("tool", { content: [] }))
      const pending = yield* started.conversation.pending()
      assert.deepStrictEqual(pending.map(({ approvalId }) => approvalId), [request!.approvalId])
      const sent = yield* lastPrompt(started.script)
      assert.deepStrictEqual(sent.content.map(({ role }) => role), ["user", "assistant", "tool", "user"])
    })))

  A.eachWay("because it does not fit is told to whoever took the turn, and is in no history", function*(say) {
    const started = yield* C.start({ turns: [[C.remove("a"), C.remove("b")], "Done."] })
    const [a, b] = C.requestsOf(yield* started.conversation.send("Go."))
    const answers = [Approval.approve(a!), Approval.approve(b!, { params: { nonsense: true } })]
    const outcome = yield* say(started, [], { answers })
    assert.deepStrictEqual(A.refusedOf(outcome), [[b!.approvalId, "InvalidEdit"]])
    assert.notInclude(JSON.stringify(yield* started.conversation.history), "nonsense")
  })
})
