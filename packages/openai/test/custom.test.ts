/** Custom tools with handlers of the program's, and a person who is asked: approved, denied, and approved with another input. */
import { Approval, ApprovalPolicy, Prompt, Toolkit } from "@assent/ai"
import { OpenAiTool } from "@assent/openai"
import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as C from "./conversation.ts"
import { begin, sendsAll } from "./memory.ts"

const Sql = OpenAiTool.Custom({
  name: "Sql",
  description: "Runs a query.",
  format: { type: "grammar", syntax: "regex", definition: "[A-Z]+ .+" },
  needsApproval: true
})

const call = ResponsesServer.item({
  type: "custom_tool_call",
  call_id: "call_sql",
  name: "Sql",
  input: "DROP TABLE users",
  status: "completed"
})

const editable = Effect.provideService(
  ApprovalPolicy.ApprovalPolicy,
  ApprovalPolicy.make(() => Approval.needsApproval({ editable: true }))
)

type Answer = readonly [
  title: string,
  decide: (request: Approval.ApprovalRequest) => Approval.ApprovalAnswer,
  output: RegExp,
  ran: ReadonlyArray<string>
]

const answers: ReadonlyArray<Answer> = [
  ["approved", (request) => Approval.approve(request), /^"ran DROP TABLE users"$/, ["DROP TABLE users"]],
  ["denied", (request) => Approval.deny(request, "no"), /^"The call was denied and did not run. no"$/, []],
  // The call stays what the model wrote; its output says what ran instead.
  [
    "edited",
    (request) => Approval.approve(request, { params: { input: "SELECT 1" } }),
    /SELECT 1.*ran SELECT 1/,
    ["SELECT 1"]
  ]
]

for (const memory of ["store", "store: false", "tracker"] as const) {
  describe(`a custom tool that asks, ${memory}`, () => {
    for (const [title, decide, output, expected] of answers) {
      C.everyWay(`${title}: its output goes back to its call, on every turn that tells it`, function*(way) {
        const ran: Array<string> = []
        const kit = Toolkit.make(Sql)
        const toolkit = yield* Effect.provide(
          kit,
          kit.toLayer({ Sql: ({ input }) => Effect.sync(() => (ran.push(input), `ran ${input}`)) })
        )
        const chat = yield* begin(memory, {
          way,
          toolkit,
          turns: [[ResponsesServer.reasoning(["Hm."]), call], "Done.", "Bye."]
        })
        const asked = yield* editable(chat.send("Drop it."))
        assert.deepStrictEqual(
          asked.requests.map(({ description, params, toolName }) => [toolName, params, description]),
          [["Sql", { input: "DROP TABLE users" }, "Sql(input='DROP TABLE users')"]]
        )
        const turn = yield* editable(chat.send(Prompt.approvalResponses(asked.requests.map(decide))))
        assert.strictEqual(turn.text, "Done.")
        assert.deepStrictEqual(ran, [...expected])
        yield* editable(chat.send("bye"))
        const [, second, third] = yield* chat.bodies
        const items = (body: C.Body | undefined) =>
          (body?.input ?? []).filter(({ type }) => type?.startsWith("custom_tool_call") === true)
        const outputs = items(second).filter(({ type }) => type === "custom_tool_call_output")
        assert.deepStrictEqual(outputs.map((item) => item["call_id"]), ["call_sql"])
        assert.match(JSON.stringify(outputs[0]!["output"]), output)
        assert.strictEqual(items(second).length, sendsAll(memory) ? 2 : 1)
        assert.deepStrictEqual(items(third), sendsAll(memory) ? items(second) : [])
        if (sendsAll(memory)) {
          const { id: _, ...sent } = items(third)[0]!
          assert.deepStrictEqual(sent, {
            type: "custom_tool_call",
            call_id: "call_sql",
            name: "Sql",
            input: "DROP TABLE users"
          })
        }
        assert.deepStrictEqual(second!["tools"], [{
          type: "custom",
          name: "Sql",
          description: "Runs a query.",
          format: { type: "grammar", syntax: "regex", definition: "[A-Z]+ .+" }
        }])
        yield* C.assertAccepted(chat.server)
      })
    }
  })
}
