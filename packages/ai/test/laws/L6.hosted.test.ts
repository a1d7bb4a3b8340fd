/**
 * L6 for calls that the provider runs and asks about: a new user message passes their open requests over as it does
 * those of local calls.
 */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Approval, Prompt } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"
import { allowed, approvals, asking, begin, done, withController, withPolicy } from "./hosted.ts"

const answer = (approvalId: string, approved: boolean) =>
  Prompt.fromMessages([
    Prompt.toolMessage({ content: [Prompt.toolApprovalResponsePart({ approvalId, approved })] })
  ])

const done1 = [done(1), ScriptedModel.text("Done.")]

const asksAboutAll = withPolicy(() => Approval.needsApproval({}))
const allowsAll = withPolicy(() => Approval.preApproved("harmless"))

type Around = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Somebody who would approve everything; fails the test if they are asked. */
const unasked: Around = (effect) =>
  Effect.suspend(() => {
    const asked: Array<string> = []
    return effect.pipe(
      withController((request) => (asked.push(request.approvalId), true)),
      Effect.ensuring(Effect.sync(() => assert.deepStrictEqual(asked, [], "somebody was asked")))
    )
  })

/** Who may decide here, if anybody; all of them would be asked, were the request not passed over. */
const deciders: Record<string, Around> = {
  "where nobody decides here": (effect) => effect,
  "where a policy wants a person": asksAboutAll,
  "where a policy would allow it": allowsAll,
  "where somebody could be asked": (effect) => asksAboutAll(unasked(effect))
}

const failureOf = (turn: Effect.Effect<C.Turn, unknown>): Effect.Effect<unknown> =>
  Effect.matchEffect(turn, {
    onFailure: Effect.succeed,
    onSuccess: ({ shape }) => Effect.die(new Error(`the turn did not fail: ${shape}`))
  })

for (const [where, decides] of Object.entries(deciders)) {
  describe(`L6 the provider's request and a new message, ${where}`, () => {
    C.everyWay(`L6 fail: the turn fails with the provider's request, ${where}`, function*(way) {
      const { chat, runs } = yield* begin(way, [asking(1), done1], { onNewMessage: "fail" })
      const asked = yield* chat.send("go")
      const before = yield* chat.history
      const reason = C.approvalErrorOf(yield* failureOf(decides(chat.send("what time is it?"))))
      assert.strictEqual(reason._tag, "ApprovalRequired")
      if (reason._tag === "ApprovalRequired") assert.deepStrictEqual(reason.requests.map(identity), [identityOf1])
      assert.deepStrictEqual(asked.requests.map(({ approvalId }) => approvalId), ["mcpr_1"])
      assert.deepStrictEqual([yield* chat.calls, runs], [1, []])

      // Upstream's Chat keeps the prompt of a stream that failed; the story goes on from before it.
      yield* chat.setHistory(before)
      assert.strictEqual((yield* chat.send(answer("mcpr_1", true))).text, "Done.")
      C.assertWellFormed(yield* chat.lastPrompt, allowed)
    })

    // Held, it is as open as it was before the message, for whoever may answer it here.
    if (decides === allowsAll || where === "where somebody could be asked") return
    C.everyWay(`L6 hold: the provider's request stays open, ${where}`, function*(way) {
      const { chat } = yield* begin(way, [asking(1), done1], { onNewMessage: "hold" })
      yield* chat.send("go")
      for (const message of ["what time is it?", "hello?"]) {
        const held = yield* decides(chat.send(message))
        assert.deepStrictEqual([held.requests.map(identity), held.finishReason], [[identityOf1], "pause"])
      }
      assert.strictEqual(yield* chat.calls, 1)
      assert.strictEqual((yield* chat.send(answer("mcpr_1", true))).text, "Done.")
      const prompt = yield* chat.lastPrompt
      assert.deepStrictEqual(approvals(prompt).filter((one) => !one.startsWith("request")), ["approve mcpr_1"])
      assert.deepStrictEqual(C.outline(prompt).filter((one) => one.startsWith("user")), [
        "user:[go]",
        "user:[what time is it?]",
        "user:[hello?]"
      ])
    })
  })
}

const identity = (
  { approvalId, description, providerExecuted, source, toolCallId, toolName }: Approval.ApprovalRequest
) => ({
  approvalId,
  description,
  providerExecuted,
  source,
  toolCallId,
  toolName
})

const identityOf1 = {
  approvalId: "mcpr_1",
  description: "mcp.github.create_issue(path='p1')",
  providerExecuted: true,
  source: "mcp.github",
  toolCallId: "mcp_1",
  toolName: "mcp.github.create_issue"
}

describe("L6 fail, the provider's request", () => {
  for (const approved of [true, false]) {
    C.everyWay(
      `L6 fail: nothing fails when the answer to the provider comes with the message: ${approved ? "yes" : "no"}`,
      function*(way) {
        const { chat } = yield* begin(way, [asking(1), approved ? done1 : "Then not."], { onNewMessage: "fail" })
        yield* chat.send("go")
        const turn = yield* chat.send(Prompt.concat(answer("mcpr_1", approved), "and hurry"))
        assert.strictEqual(turn.text, approved ? "Done." : "Then not.")
        C.assertWellFormed(yield* chat.lastPrompt, allowed)
      }
    )
  }

  C.everyWay("L6 fail: nothing fails once the provider's call has its result", function*(way) {
    const { chat } = yield* begin(way, [asking(1), done1, "Noon."], { onNewMessage: "fail" })
    yield* chat.send("go")
    yield* chat.send(answer("mcpr_1", true))
    assert.strictEqual((yield* chat.send("what time is it?")).text, "Noon.")
  })
})

describe("L6 supersede and keep, the provider's request", () => {
  for (const onNewMessage of ["supersede", "keep"] as const) {
    C.everyWay(
      `L6 ${onNewMessage}: the chat goes on, and nobody is asked about the provider's request`,
      function*(way) {
        const { chat } = yield* begin(way, [asking(1), "Noon.", "bye"], { onNewMessage })
        yield* chat.send("go")
        for (const text of ["Noon.", "bye"]) {
          const turn = yield* asksAboutAll(unasked(chat.send("what time is it?")))
          assert.deepStrictEqual([turn.text, turn.requests], [text, []])
          const prompt = yield* chat.lastPrompt
          C.assertWellFormed(prompt, allowed)
          assert.deepStrictEqual(approvals(prompt).filter((one) => !one.startsWith("request")), [])
        }
      }
    )
  }
})
