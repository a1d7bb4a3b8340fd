/**
 * Whatever two servers do to their tools between consent and run: a call runs once if its tool is what the person agreed
 * to, else not at all, and never at the other server.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Approval, McpApproval, Prompt, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "../laws/conversation.ts"
import * as Server from "./server.ts"

type Tools = ReadonlyArray<Server.WireTool>

const change = (difference: Partial<Server.WireTool>) => (tools: Tools): Tools =>
  tools.map((tool) => tool.name === "write" ? { ...tool, ...difference } : tool)

const other = (difference: Partial<Server.WireTool>) => (tools: Tools): Tools => [
  ...tools.filter(({ name }) => name !== "other"),
  { name: "other", ...difference }
]

/** What a server may do to its tools; of the last ones a person who agreed to `write` has nothing to know. */
const edits = {
  title: change({ title: "Write!" }),
  description: change({ description: "Writes, and sends" }),
  parameters: change({ inputSchema: { type: "object", properties: { path: { type: "string", maxLength: 3 } } } }),
  output: change({ outputSchema: { type: "object" } }),
  hints: change({ annotations: { ...Server.write.annotations, destructiveHint: false } }),
  rename: change({ name: "overwrite" }),
  remove: (tools: Tools): Tools => tools.filter(({ name }) => name !== "write"),
  double: (tools: Tools): Tools => [...tools, Server.write],
  unreadable: change({ description: "\ud800" }),
  restore: (): Tools => [Server.read, Server.write],
  reverse: (tools: Tools): Tools => tools.toReversed(),
  addOther: other({}),
  changeOther: other({ description: "Another" }),
  doubleOther: (tools: Tools): Tools => [...other({})(tools), { name: "other" }]
} as const

const Edits = Schema.Array(Schema.Literals(Object.keys(edits) as ReadonlyArray<keyof typeof edits>)).check(
  Schema.isMaxLength(4)
)

const edit = (tools: Tools, made: typeof Edits.Type): Tools => made.reduce((tools, name) => edits[name](tools), tools)

const isAsItWas = (tools: Tools): boolean => {
  const found = tools.filter(({ name }) => name === "write")
  return found.length === 1 && JSON.stringify(found[0]) === JSON.stringify(Server.write)
}

describe("two servers that change their tools", () => {
  it.effect.prop(
    "L4 L10 what was approved runs once, where and as it was approved, or not at all",
    { way: Schema.Literals(C.ways), since: Edits, listed: Edits, there: Edits },
    ({ listed, since, there: elsewhere, way }) =>
      C.fresh(Effect.gen(function*() {
        const here = Server.make(Server.read, Server.write)
        const there = Server.make(Server.read, Server.write)
        const toolkit = Toolkit.join(
          McpApproval.guard(yield* Server.connect(here), { name: "here" }),
          McpApproval.guard(yield* Server.connect(there), { name: "there" })
        )
        const calls = ["here", "there"].map((server) =>
          ScriptedModel.toolCall({ id: server, name: `${server}__write`, params: { path: server } })
        )
        const chat = yield* C.start({ way, toolkit, turns: [calls, "done"] })
        const { requests } = yield* chat.send("go")
        here.tools = edit(here.tools, since)
        there.tools = edit(there.tools, elsewhere)
        let runs = isAsItWas(here.tools)
        // The toolkit of the turn is made; right before the call the tools are other ones.
        here.listed = 0
        here.afterListing = [() => {
          here.tools = edit(here.tools, listed)
          runs &&= isAsItWas(here.tools)
        }]
        const [first, second] = requests
        const answers = [Approval.approve(first!), Approval.deny(second!, "no")]
        const turn = yield* chat.send(Prompt.approvalResponses(answers))
        assert.deepStrictEqual([here.ran, there.ran], [runs ? [`write {"path":"here"}`] : [], []])
        const result = turn.results.find(({ id }) => id === "here")!
        if (!runs) assert.match(C.reasonOf(result), /Nothing ran/)
        assert.strictEqual(turn.text, "done")
        C.assertWellFormed(yield* chat.lastPrompt)
      }))
  )
})
