/**
 * What a client gets of a call: from a tool without a gate, and from a gated one that its user approved, the very same as
 * from upstream's `McpServer.toolkit`.
 */
import { assert, describe, it } from "@effect/vitest"
import { ResultSchema as Anything } from "@modelcontextprotocol/sdk/types.js"
import { Context, Effect, Layer, Schema } from "effect"
import { McpServer as Upstream } from "effect/ai"
import { McpApproval, McpServer, Prompt, Tool, Toolkit } from "../../src/index.ts"
import * as S from "./support.ts"

class Who extends Context.Service<Who, string>()("test/mcp-server/Who") {}

class Refused extends Schema.TaggedError<Refused>()("Refused", { why: Schema.String }) {}

const parameters = { n: Schema.FiniteFromString, tag: Schema.optionalKey(Schema.String) }

/** Tools of all kinds, with a gate or without. */
const toolsOf = (needsApproval: boolean) =>
  Toolkit.make(
    Tool.make("text", { parameters, success: Schema.String, needsApproval }),
    Tool.make("structured", { parameters, success: Schema.Struct({ at: Schema.DateFromString }), needsApproval }),
    Tool.make("nothing", { needsApproval }),
    Tool.make("strict", { parameters, success: Schema.Json, needsApproval }).annotate(Tool.Strict, true),
    Tool.make("fails", { parameters, success: Schema.String, failure: Refused, needsApproval }),
    Tool.make("returns_failure", {
      parameters,
      success: Schema.String,
      failure: Schema.Struct({ why: Schema.String }),
      failureMode: "return",
      needsApproval
    }),
    Tool.make("dies", { parameters, success: Schema.String, needsApproval }),
    Tool.make("gives_what_does_not_encode", { parameters, success: Schema.Struct({ n: Schema.Int }), needsApproval }),
    Tool.make("preliminary", { success: Schema.Int, needsApproval }),
    Tool.make("says_more_to_a_model", {
      success: Schema.String,
      toModelOutput: () => [Prompt.makePart("text", { text: "to a model" })],
      needsApproval
    }),
    Tool.make("of_a_request", { success: Schema.String, dependencies: [Who], needsApproval }),
    Tool.dynamic("of_json_schema", {
      parameters: { type: "object", properties: { n: { type: "string" } } },
      success: Schema.Json,
      needsApproval
    })
  )

const handlersOf = (tools: ReturnType<typeof toolsOf>) =>
  tools.toLayer({
    text: ({ n, tag }) => Effect.succeed(`${n + 1} ${tag}`),
    structured: ({ n }) => Effect.succeed({ at: new Date(n) }),
    nothing: () => Effect.void,
    strict: (params) => Effect.succeed(params),
    fails: ({ n }) => Effect.fail(new Refused({ why: `not ${n}` })),
    returns_failure: ({ n }) => Effect.fail({ why: `not ${n}` }),
    dies: () => Effect.die(new Error("secret")),
    gives_what_does_not_encode: () => Effect.succeed({ n: 0.5 }),
    preliminary: (_, { preliminary }) => Effect.as(Effect.andThen(preliminary(1), preliminary(2)), 3),
    says_more_to_a_model: () => Effect.succeed("to a client"),
    of_a_request: () => Effect.map(Who, (who) => `for ${who}`),
    of_json_schema: (params) => Effect.succeed(params as Schema.Json)
  })

const arguments_: ReadonlyArray<Record<string, unknown> | undefined> = [
  { n: "1" },
  // In the order in which parameters are shown and run.
  { more: true, n: "1", tag: "a" },
  { n: 1 },
  undefined
]

describe("what a client gets", () => {
  it.live("is what upstream gives, of tools without a gate and of gated ones that were approved", () =>
    Effect.gen(function*() {
      const outcomes = Effect.fnUntraced(function*(
        register: typeof McpServer.toolkit,
        needsApproval: boolean
      ) {
        const tools = toolsOf(needsApproval)
        const who = McpServer.middleware<{ provides: Who }>()((call) => Effect.provideService(call, Who, "ada"))
        const server = yield* S.serve(register(tools).pipe(Layer.provide([handlersOf(tools), who.layer])))
        const { asked, client } = yield* S.connect(server, () => S.approve)
        const told: Array<readonly [string, unknown, unknown]> = []
        for (const name of [...Object.keys(tools.tools), "unknown"]) {
          for (const params of arguments_) {
            const call = () => client.request({ method: "tools/call", params: { name, arguments: params } }, Anything)
            told.push([name, params, yield* Effect.promise(() => call().catch((error) => String(error)))])
          }
        }
        return { told, asked: asked.length }
      })
      const upstream = yield* outcomes(Upstream.toolkit, false)
      const ours = yield* outcomes(McpApproval.toolkit, false)
      const gated = yield* outcomes(McpApproval.toolkit, true)
      assert.deepStrictEqual([upstream.asked, ours.asked], [0, 0])
      for (const [index, told] of upstream.told.entries()) {
        assert.deepStrictEqual(ours.told[index], told)
        assert.deepStrictEqual(gated.told[index], told)
      }
      // Those whose parameters fit: two of each kind that has some, one of each that has none, all that no schema reads.
      assert.strictEqual(gated.asked, 6 * 2 + 1 + 4 + 4)
    }))
})
