import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Approval } from "../../src/index.ts"
import * as A from "./answers.ts"
import * as F from "./following.ts"
import * as C from "./support.ts"

A.eachWay("what is posted twice, answers and a named text, is decided and said once", function*(say) {
  const started = yield* C.start({ turns: [[C.remove("a")], "Done."] })
  const { conversation } = started
  const [request] = C.requestsOf(yield* conversation.send("Go.", { messageId: "one" }))
  const options = { answers: Approval.approve(request!), messageId: "two" }
  assert.strictEqual(C.finished(yield* say(started, "And hurry.", options)), "Done.")
  const before = yield* conversation.read
  assert.deepStrictEqual(before.messages.map(({ id }) => id), ["one", "m1", "m2", "two", "m4", "m5"])
  const again = yield* say(started, "And hurry.", options)
  assert.deepStrictEqual(A.refusedOf(again), [[request!.approvalId, "AlreadyDecided"]])
  assert.deepStrictEqual(yield* conversation.read, before)
  assert.deepStrictEqual(started.steps, [["DeleteFile", "a"]])
  assert.strictEqual((yield* conversation.stateOf(request!.approvalId))?.state, "done")
  const wrong = yield* A.reasonOf(say(started, "Other.", options))
  assert.strictEqual(wrong, "InvalidPrompt")
})

it.effect("the id of a turn is where what it says begins in what is read", () =>
  Effect.gen(function*() {
    const gate = yield* F.makeGate
    const { conversation } = yield* C.start({ turns: [[C.remove("a")], "Done."], before: () => gate.pass })
    const [request] = C.requestsOf(yield* conversation.send("Go."))
    const turn = yield* conversation.start("And hurry.", { answers: Approval.approve(request!), messageId: "x" })
    yield* gate.entered
    const during = yield* conversation.read
    assert.isTrue(during.isTurnTaken)
    assert.deepStrictEqual(during.messages.map(({ id }) => id), ["m0", "m1", "m2", "x"])
    assert.strictEqual((yield* conversation.stateOf(request!.approvalId))?.state, "running")
    yield* gate.open
    yield* turn.outcome
    const { messages } = yield* conversation.read
    const at = messages.findIndex(({ id }) => id === turn.messageId)
    assert.deepStrictEqual(messages.slice(at).map(({ message }) => message.role), ["tool", "assistant"])
    assert.deepStrictEqual(messages.slice(0, at), during.messages)
  }))
