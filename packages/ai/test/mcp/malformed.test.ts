/** What a server writes badly, and calls that do not fit what it wrote: nobody is asked about either. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { McpApproval } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "../laws/conversation.ts"
import { logged } from "../laws/logs.ts"
import * as Server from "./server.ts"

describe("L8 a list of tools", () => {
  const malformed: Readonly<Record<string, object>> = {
    "no name": { name: undefined },
    "a name that is a number": { name: 3 },
    "parameters that are no object": { inputSchema: { type: "string" } },
    "parameters that are a text": { inputSchema: "path" },
    "a description that is a list": { description: ["a"] },
    "a hint that is a text": { annotations: { readOnlyHint: "true" } },
    "a hint that is a number": { annotations: { readOnlyHint: 1 } },
    "a hint that is a list": { annotations: { readOnlyHint: [true] } },
    "nothing": { name: undefined, inputSchema: undefined }
  }
  for (const [what, change] of Object.entries(malformed)) {
    it.effect(`with one that has ${what} is the list of the others, and the program is told`, () =>
      Effect.gen(function*() {
        const odd = { ...Server.write, name: "odd\u202e", ...change } as Server.WireTool
        const client = yield* Server.connect(Server.make(Server.read, odd, Server.write))
        const [toolkit, lines] = yield* logged(McpApproval.guard(client, { name: "files" }))
        assert.deepStrictEqual(Object.keys(toolkit.tools), ["files__read", "files__write"])
        assert.match(lines.map(({ text }) => text).join("\n"), /offers tools that are left out, because they are not/)
        assert.notInclude(lines.map(({ text }) => text).join("\n"), "\u202e")
        const [, again] = yield* logged(McpApproval.guard(client, { name: "files" }))
        assert.deepStrictEqual(again, [], "it is told once")
      }).pipe(Effect.scoped))
  }

  for (const [count, told] of [[3, `"0", "1", "2".`], [5, `"0", "1", "2"; and 2 more.`]] as const) {
    it.effect(`with ${count} of them is told of in one line that names three`, () =>
      Effect.gen(function*() {
        const odd = Array.from({ length: count }, (_, index) => ({ name: `${index}`, description: 3 }))
        const client = yield* Server.connect(Server.make(...odd as ReadonlyArray<object> as Array<Server.WireTool>))
        const [, lines] = yield* logged(McpApproval.guard(client, { name: "files" }))
        assert.deepStrictEqual(lines.map(({ text }) => text.split(" has it: ")[1]), [told])
      }))
  }
})

describe("L8 parameters that do not fit a server's JSON Schema", () => {
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: {
      path: { type: "string", minLength: 1, pattern: "^(a+)+$" },
      lines: { type: "array", items: { $ref: "#/definitions/line" } },
      mode: { enum: ["r", "w"] }
    },
    required: ["path"],
    additionalProperties: false,
    definitions: { line: { type: "integer", minimum: 0 } }
  }
  const tool: Server.WireTool = { ...Server.write, inputSchema: schema }
  const good: ReadonlyArray<object> = [
    { path: "a.txt" },
    { path: "a".repeat(40) + "!" },
    { path: "a", lines: [0, 3], mode: "r" },
    { path: "a", other: 1 }
  ]
  const bad: ReadonlyArray<object> = [
    {},
    { path: 3 },
    { path: "" },
    { path: "a", lines: ["1"] },
    { path: "a", lines: [-1] },
    { path: "a", mode: "x" }
  ]
  const turnWith = Effect.fnUntraced(function*(way: C.Way, tool: Server.WireTool, params: object) {
    const server = Server.make(tool)
    const toolkit = McpApproval.guard(yield* Server.connect(server), { name: "files" })
    const turns = [[ScriptedModel.toolCall({ id: "c1", name: "files__write", params })], "I see."]
    const chat = yield* C.start({ way, toolkit, turns })
    return { server, turn: yield* chat.send("write") }
  })

  C.everyWay("are a failed result that says so, and nobody is asked", function*(way) {
    for (const params of bad) {
      const { server, turn } = yield* turnWith(way, tool, params)
      assert.deepStrictEqual(turn.requests, [], JSON.stringify(params))
      assert.match(C.reasonOf(turn.results[0]!), /cannot be used/)
      assert.deepStrictEqual(server.ran, [])
    }
  })

  C.everyWay("are read as its revision of JSON Schema has them", function*(way) {
    const pair = [{ type: "string" }, { type: "integer" }]
    const drafts: ReadonlyArray<readonly [string | undefined, string]> = [
      ["http://json-schema.org/draft-07/schema#", "items"],
      ["https://json-schema.org/draft/2020-12/schema", "prefixItems"],
      [undefined, "prefixItems"]
    ]
    for (const [$schema, items] of drafts) {
      const lines = { type: "array", [items]: pair }
      const inputSchema = { ...($schema === undefined ? {} : { $schema }), type: "object", properties: { lines } }
      for (const [params, asked] of [[["a", 1], 1], [[1, "a"], 0]] as const) {
        const { turn } = yield* turnWith(way, { ...Server.write, inputSchema }, { lines: params })
        assert.lengthOf(turn.requests, asked, `${$schema} ${params}`)
      }
    }
  })

  C.everyWay("those that fit are asked about, a pattern that may take for ever notwithstanding", function*(way) {
    for (const params of good) assert.lengthOf((yield* turnWith(way, tool, params)).turn.requests, 1)
  })

  C.everyWay("where the schema says more than can be checked, the server has the last word", function*(way) {
    const odd: ReadonlyArray<object> = [
      { type: "object", oneOf: [{ required: ["a"] }, { required: ["b"] }] },
      { type: "object", properties: { path: { $ref: "https://example.com/path.json" } } },
      { type: "object", properties: { path: { $ref: "#/definitions/none" } } },
      { type: "object", properties: { path: { type: "strng" } } },
      { type: "object", properties: { path: false } }
    ]
    for (const inputSchema of odd) {
      const { turn } = yield* turnWith(way, { ...Server.write, inputSchema: inputSchema as never }, { path: "a" })
      const asked = turn.requests.length === 1
      assert.isTrue(asked || /cannot be used/.test(C.reasonOf(turn.results[0]!)), JSON.stringify(inputSchema))
    }
  })
})
