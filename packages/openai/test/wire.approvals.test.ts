/**
 * Hosted MCP approvals on the wire: every way in which OpenAI may know the history, every answer, one request and
 * several, with calls of the program's own beside them. The strict server refuses what OpenAI refuses.
 */
import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as C from "./conversation.ts"
import { begin, memories, type Memory, sendsAll } from "./memory.ts"

type Conversation = Effect.Success<ReturnType<typeof C.start>>

/** The input of the last request, without the list of the server's tools, which is there where all is. */
const sent = (chat: Pick<Conversation, "lastBody">, memory: Memory) =>
  Effect.map(chat.lastBody, (body) => {
    const lines = C.outline(body)
    const listed = lines.filter((line) => line.startsWith("ref mcpl_") || line === "mcp_list_tools")
    assert.strictEqual(listed.length, sendsAll(memory) ? 1 : 0, lines.join(", "))
    return lines.filter((line) => !listed.includes(line))
  })

/** How an item is told that OpenAI made: by its id where OpenAI keeps it. */
const told = (memory: Memory, kind: "request" | "ran", id: string): string =>
  memory === "store" ? `ref ${id}` : `${kind} ${id}`

const locals = {
  "no call of ours": [],
  "a call of ours that runs": [ResponsesServer.functionCall({ name: "Add", params: { a: 1, b: 2 } })],
  "a call of ours that waits": [ResponsesServer.functionCall({ name: "Delete", params: { path: "a", force: null } })]
}

for (const memory of memories) {
  for (const approved of [true, false]) {
    for (const count of [1, 2]) {
      for (const [local, calls] of Object.entries(locals)) {
        const title = `${memory}: ${approved ? "approved" : "denied"}, ${count} of them, ${local}`
        describe(title, () => {
          C.everyWay("asks, tells the answer once in its place, and goes on", function*(way) {
            const rolls = [6, 20].slice(0, count).map(C.roll)
            const chat = yield* begin(memory, {
              way,
              turns: [[...calls, ...rolls], [ResponsesServer.text("I see.")], "You are welcome."]
            })
            const ids = ["mcpr_00000001", "mcpr_00000002"].slice(0, count)

            const asked = yield* chat.send("roll")
            const hosted = asked.requests.filter((request) => request.providerExecuted)
            assert.deepStrictEqual(hosted.map((request) => request.approvalId), ids)
            assert.deepStrictEqual(hosted.map((request) => request.toolName), ids.map(() => "mcp.dice.roll"))
            assert.deepStrictEqual(hosted[0]!.params, { sides: 6 })
            assert.strictEqual(hosted[0]!.description, "mcp.dice.roll(sides=6)")
            assert.strictEqual(asked.finish?.reason, "pause")
            assert.deepStrictEqual(yield* chat.server.executions, [])

            const answers = approved ? C.approve(asked.requests, "my reason") : C.deny(asked.requests, "my reason")
            const turn = yield* chat.send(answers)
            assert.strictEqual(turn.text, "I see.")

            // What ran is the result of the call that waited; a denied call has none.
            const pending = hosted.map((request) => request.toolCallId)
            const ran = turn.results.filter((result) => result.providerExecuted)
            assert.deepStrictEqual(ran.map((result) => result.id), approved ? pending : [])
            assert.isFalse(turn.parts.some((part) => part.type === "tool-call" && part.providerExecuted))
            if (approved) {
              assert.strictEqual((ran[0]!.result as { output: string }).output, `rolled {"sides":6}`)
            }

            const name = local.endsWith("waits") ? "Delete" : "Add"
            const call = calls.length === 0 ? [] : [`call ${name}`]
            const output = calls.length === 0
              ? []
              : [
                name === "Add"
                  ? "output 3"
                  : approved
                  ? "output deleted a"
                  : "output The call was denied and did not run. my reason"
              ]
            const requests = ids.map((id) => told(memory, "request", id))
            const said = ids.map((id) => `${approved ? "approve" : "deny"} ${id}`)
            const before = sendsAll(memory) ? ["user", ...call, ...requests] : []
            assert.deepStrictEqual(yield* sent(chat, memory), [...before, ...output, ...said])
            const body = yield* chat.lastBody
            assert.deepStrictEqual(
              body.input.filter(({ type }) => type === "mcp_approval_response"),
              ids.map((id) => ({
                type: "mcp_approval_response",
                approval_request_id: id,
                approve: approved,
                reason: "my reason"
              }))
            )
            assert.deepStrictEqual(
              body.input.filter(({ type }) => type === "mcp_approval_request"),
              memory !== "store: false" ? [] : ids.map((id, index) => ({
                type: "mcp_approval_request",
                id,
                server_label: "dice",
                name: "roll",
                arguments: `{"sides": ${[6, 20][index]}}`
              }))
            )

            // On every later turn the same, in the same place, and nothing runs again.
            yield* chat.send("thanks")
            const calledIds = approved ? ["mcp_00000001", "mcp_00000002"].slice(0, count) : []
            assert.deepStrictEqual(yield* sent(chat, memory), [
              ...before,
              ...(sendsAll(memory) ? [...output, ...said] : []),
              ...(sendsAll(memory) ? [...calledIds.map((id) => told(memory, "ran", id)), "assistant"] : []),
              "user"
            ])
            for (const id of ids) assert.strictEqual(yield* chat.server.executionsOf(id), approved ? 1 : 0)
            assert.deepStrictEqual(
              chat.runs,
              calls.length === 0 ? [] : name === "Add"
                ? ["add 1 2"]
                : approved
                ? ["delete a"]
                : []
            )
            yield* C.assertAccepted(chat.server)
          })
        })
      }
    }
  }
}
