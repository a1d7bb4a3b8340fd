/**
 * One policy and one controller for calls of the program's own and of hosted servers: what they say is told to OpenAI, and
 * the turn goes on.
 */
import { Approval, ApprovalController, ApprovalPolicy, Prompt, Response } from "@assent/ai"
import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as C from "./conversation.ts"
import * as Memory from "./memory.ts"

const id = "mcpr_00000001"

const said = (body: C.Body) =>
  body.input.filter(({ type }) => type === "mcp_approval_response").map((item) => [
    item["approval_request_id"],
    item["approve"],
    item["reason"]
  ])

const remove = ResponsesServer.functionCall({ name: "Delete", params: { path: "a", force: null } })

for (const memory of Memory.memories) {
  describe(memory, () => {
    C.everyWay("a policy that blocks mcp.dice.* denies for the person, with its reason", function*(way) {
      const chat = yield* Memory.begin(memory, { way, turns: [[C.roll(6)], "I did not roll.", "Bye."] })
      const policy = Effect.provideService(
        ApprovalPolicy.ApprovalPolicy,
        ApprovalPolicy.make((call) =>
          call.toolName.startsWith("mcp.dice.") ? Approval.blocked("no games at work") : undefined
        )
      )
      const turn = yield* policy(chat.send("roll"))
      assert.strictEqual(turn.text, "I did not roll.")
      assert.isFalse(Response.isWaiting(turn.parts))
      const [answer, ...others] = said(yield* chat.lastBody)
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual(answer!.slice(0, 2), [id, false])
      assert.include(answer![2], "no games at work")
      yield* policy(chat.send("bye"))
      assert.deepStrictEqual(yield* chat.server.executions, [])
      yield* C.assertAccepted(chat.server)
    })

    C.everyWay(
      "a controller that approves: it runs once, as the result of that call, and the turn goes on",
      function*(way) {
        const asked: Array<string> = []
        const chat = yield* Memory.begin(memory, { way, turns: [[C.roll(6)], "You rolled.", "Bye."] })
        const controller = Effect.provideService(
          ApprovalController.ApprovalController,
          ApprovalController.interactive((request) => (asked.push(request.description), true))
        )
        const turn = yield* controller(chat.send("roll"))
        assert.strictEqual(turn.text, "You rolled.")
        assert.isFalse(Response.isWaiting(turn.parts))
        assert.deepStrictEqual(turn.results.map((result) => [result.id, result.isFailure]), [[id, false]])
        yield* controller(chat.send("bye"))
        assert.deepStrictEqual(asked, ["mcp.dice.roll(sides=6)"])
        assert.strictEqual(yield* chat.server.executionsOf(id), 1)
        yield* C.assertAccepted(chat.server)
      }
    )

    C.everyWay(
      "one controller is asked about both kinds of calls, and each is carried out where it belongs",
      function*(way) {
        const asked: Array<string> = []
        const chat = yield* Memory.begin(memory, { way, turns: [[remove, C.roll(6)], "Both.", "Bye."] })
        const controller = Effect.provideService(
          ApprovalController.ApprovalController,
          ApprovalController.interactive((request) => (asked.push(request.toolName), true))
        )
        let turn = yield* controller(chat.send("delete and roll"))
        if (turn.finish?.reason === "tool-calls") turn = yield* controller(chat.send([]))
        assert.strictEqual(turn.text, "Both.")
        assert.sameMembers(asked, ["Delete", "mcp.dice.roll"])
        assert.deepStrictEqual(chat.runs, ["delete a"])
        assert.strictEqual(yield* chat.server.executionsOf(id), 1)
        yield* controller(chat.send("bye"))
        assert.deepStrictEqual(chat.runs, ["delete a"])
        assert.strictEqual(yield* chat.server.executionsOf(id), 1)
        yield* C.assertAccepted(chat.server)
      }
    )

    C.everyWay(
      "L2 a controller approves what waited since an earlier turn; the person's late answer runs nothing",
      function*(way) {
        const chat = yield* Memory.begin(memory, {
          way,
          approval: { onNewMessage: "hold" },
          turns: [[C.roll(6)]],
          afterLastTurn: "And so on."
        })
        const controller = Effect.provideService(
          ApprovalController.ApprovalController,
          ApprovalController.interactive(() => true)
        )
        const waiting = yield* chat.send("roll")
        const turn = yield* controller(chat.send("are you there?"))
        assert.deepStrictEqual(turn.results.map((result) => result.id), [id])
        for (const answer of [C.approve(waiting.requests), C.deny(waiting.requests, "no")]) {
          const late = yield* chat.send(Prompt.concat(answer, "after all"))
          assert.deepStrictEqual(late.results, [])
        }
        assert.strictEqual(yield* chat.server.executionsOf(id), 1)
        const lines = C.outline(yield* chat.lastBody)
        // What OpenAI is told is what happened, in its order.
        const story = lines.filter((line) => /mcpr?_0/.test(line)).map((line) => line.split(" ").at(-1))
        assert.deepStrictEqual(story, Memory.sendsAll(memory) ? [id, id, "mcp_00000001"] : [])
        assert.strictEqual(lines.includes(`approve ${id}`), Memory.sendsAll(memory))
        yield* C.assertAccepted(chat.server)
      }
    )
  })
}
