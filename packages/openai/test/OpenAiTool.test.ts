/**
 * OpenAI's own tools, as a program makes them.
 */
import * as LanguageModel from "@assent/ai/LanguageModel"
import * as Response from "@assent/ai/Response"
import { ScriptedModel } from "@assent/ai/testing"
import * as Tool from "@assent/ai/Tool"
import * as Toolkit from "@assent/ai/Toolkit"
import * as OpenAiTool from "@assent/openai/OpenAiTool"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

const wiki = { server_label: "wiki", server_url: "https://mcp.example.com/mcp" }

describe("OpenAiTool", () => {
  it("ids and names are those of other OpenAI providers for Effect", () => {
    const tools = [
      OpenAiTool.ApplyPatch({}),
      OpenAiTool.CodeInterpreter({ container: "cntr_1" }),
      OpenAiTool.FileSearch({ vector_store_ids: [] }),
      OpenAiTool.ImageGeneration({}),
      OpenAiTool.LocalShell({}),
      OpenAiTool.Mcp(wiki),
      OpenAiTool.Shell({}),
      OpenAiTool.WebSearch({}),
      OpenAiTool.WebSearchPreview({})
    ]
    assert.deepStrictEqual(tools.map((tool) => [tool.id, tool.name, tool.providerName, tool.requiresHandler]), [
      ["openai.apply_patch", "OpenAiApplyPatch", "apply_patch", true],
      ["openai.code_interpreter", "OpenAiCodeInterpreter", "code_interpreter", false],
      ["openai.file_search", "OpenAiFileSearch", "file_search", false],
      ["openai.image_generation", "OpenAiImageGeneration", "image_generation", false],
      ["openai.local_shell", "OpenAiLocalShell", "local_shell", true],
      ["openai.mcp", "OpenAiMcp", "mcp", false],
      ["openai.shell", "OpenAiShell", "shell", true],
      ["openai.web_search", "OpenAiWebSearch", "web_search", false],
      ["openai.web_search_preview", "OpenAiWebSearchPreview", "web_search_preview", false]
    ])
    assert.isTrue(tools.every(Tool.isProviderDefined))
  })

  describe("Mcp", () => {
    it("asking is the default, and is said", () => {
      assert.strictEqual(OpenAiTool.Mcp(wiki).args.require_approval, "always")
      assert.strictEqual(OpenAiTool.Mcp({ ...wiki, require_approval: null }).args.require_approval, "always")
      assert.strictEqual(OpenAiTool.Mcp({ ...wiki, require_approval: undefined }).args.require_approval, "always")
      assert.strictEqual(OpenAiTool.Mcp({ ...wiki, require_approval: "never" }).args.require_approval, "never")
      const filters = { always: { tool_names: ["write"] }, never: { read_only: true } }
      assert.deepStrictEqual(OpenAiTool.Mcp({ ...wiki, require_approval: filters }).args.require_approval, filters)
    })

    it("several servers stand in one toolkit by names of their own", () => {
      const kit = Toolkit.make(
        OpenAiTool.Mcp({ ...wiki, name: "Wiki" }),
        OpenAiTool.Mcp({ ...wiki, name: "Tickets", server_label: "tickets" })
      )
      assert.deepStrictEqual(Object.keys(kit.tools), ["Wiki", "Tickets"])
      assert.strictEqual(kit.tools.Wiki.name, "Wiki")
    })

    it("a secret may be given either way, and is kept out of sight", () => {
      for (const secret of ["token", Redacted.make("token")]) {
        const { args } = OpenAiTool.Mcp({ ...wiki, authorization: secret, headers: { "x-key": secret } })
        assert.strictEqual(Redacted.value(args.authorization!), "token")
        assert.strictEqual(Redacted.value(args.headers!["x-key"]!), "token")
        assert.notInclude(JSON.stringify(args), "token\"")
      }
      assert.isNull(OpenAiTool.Mcp({ ...wiki, headers: null }).args.headers)
    })

    it("parameters and results", () => {
      const tool = OpenAiTool.Mcp(wiki)
      const params = { server_label: "wiki", name: "ask", arguments: { page: [1, "two"] } }
      assert.deepStrictEqual(Schema.decodeUnknownSync(tool.parametersSchema)(params), params)
      const success = (result: unknown) => Schema.decodeUnknownSync(tool.successSchema)(result)
      const call = { type: "mcp_call", server_label: "wiki", name: "ask", arguments: "{}" } as const
      assert.deepStrictEqual(success({ ...call, output: "fine", error: null }), {
        ...call,
        output: "fine",
        error: null
      })
      const errors: ReadonlyArray<typeof tool.successSchema.Type["error"]> = [
        "text",
        { type: "http_error", code: 500, message: "x" },
        { type: "mcp_protocol_error", code: -32000, message: "x" },
        { type: "mcp_tool_execution_error", content: [{ type: "text", text: "x" }] }
      ]
      for (const error of errors) {
        assert.deepStrictEqual(success({ ...call, error }).error, error)
      }
    })
  })

  it("a code interpreter's secrets are kept out of sight", () => {
    const { args } = OpenAiTool.CodeInterpreter({
      container: {
        type: "auto",
        memory_limit: "4g",
        network_policy: {
          type: "allowlist",
          allowed_domains: ["example.com"],
          domain_secrets: [{ domain: "example.com", name: "PASSWORD", value: "hidden" }]
        }
      }
    })
    assert.notInclude(JSON.stringify(args), "hidden")
    assert.include(JSON.stringify(args), "example.com")
  })

  describe("tools on the user's machine", () => {
    it("ask before each call, unless told otherwise", () => {
      for (const make of [OpenAiTool.LocalShell, OpenAiTool.Shell, OpenAiTool.ApplyPatch]) {
        for (const options of [{}, { needsApproval: undefined }]) {
          assert.isFunction(make(options).needsApproval)
          assert.deepStrictEqual(make(options).needsApproval, make({ needsApproval: true }).needsApproval)
        }
        assert.strictEqual(make({ needsApproval: false }).needsApproval, false)
        assert.isFunction(make({ needsApproval: () => true }).needsApproval)
        assert.strictEqual(make({}).failureMode, "error")
        assert.strictEqual(make({ failureMode: "return" }).failureMode, "return")
      }
    })

    const turn = (tool: ReturnType<typeof OpenAiTool.Shell>, command: string) =>
      Effect.gen(function*() {
        const ran: Array<string> = []
        const { model } = yield* ScriptedModel.make({
          turns: [[ScriptedModel.toolCall({
            id: "call_1",
            name: "OpenAiShell",
            params: { action: { commands: [command], timeout_ms: null, max_output_length: null } }
          })]]
        })
        const kit = Toolkit.make(tool)
        const response = yield* LanguageModel.generateText({ prompt: "go", toolkit: kit }).pipe(
          Effect.provideService(LanguageModel.LanguageModel, model),
          Effect.provide(kit.toLayer({
            OpenAiShell: ({ action }) =>
              Effect.sync(() => {
                ran.push(...action.commands)
                return { output: [] }
              })
          }))
        )
        return { ran, waiting: Response.isWaiting(response) }
      })

    it.effect("L1 a command does not run before a person says so", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* turn(OpenAiTool.Shell({}), "rm -rf /"), { ran: [], waiting: true })
      }))

    it.effect("a gate of the program's own decides for each call", () =>
      Effect.gen(function*() {
        const tool = OpenAiTool.Shell({ needsApproval: ({ action }) => action.commands.some((line) => line !== "ls") })
        assert.deepStrictEqual(yield* turn(tool, "ls"), { ran: ["ls"], waiting: false })
        assert.deepStrictEqual(yield* turn(tool, "rm"), { ran: [], waiting: true })
      }))
  })
})
