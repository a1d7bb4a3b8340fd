/**
 * A toolkit as the Responses API has it.
 */
import * as Tool from "@assent/ai/Tool"
import * as OpenAiTool from "@assent/openai/OpenAiTool"
import { assert, describe, it } from "@effect/vitest"
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Secrets from "../src/internal/tools/secrets.ts"
import * as Tools from "../src/internal/tools/tools.ts"

const prepare = (
  tools: ReadonlyArray<Tool.Any>,
  toolChoice: LanguageModel.ToolChoice<string> = "auto",
  strict?: boolean
) => Tools.prepare({ tools, toolChoice, strict })

const sent = (tool: Tool.Any, strict?: boolean) =>
  Effect.map(prepare([tool], "auto", strict), ({ tools }): unknown => tools![0])

const wiki = OpenAiTool.Mcp({ server_label: "wiki", server_url: "https://mcp.example.com/mcp" })

const Search = Tool.make("Search", {
  description: "Searches",
  parameters: {
    query: Schema.String,
    limit: Schema.optional(Schema.Finite),
    tags: Schema.Record(Schema.String, Schema.String)
  }
})

describe("tools of a request", () => {
  describe("functions", () => {
    it.effect("are strict, with what OpenAI can express", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* sent(Tool.make("Delete", { parameters: { path: Schema.String } })), {
          type: "function",
          name: "Delete",
          strict: true,
          parameters: {
            type: "object",
            properties: { path: { type: "string" } },
            required: ["path"],
            additionalProperties: false
          }
        })
        const tool = (yield* sent(Search)) as {
          readonly description: string
          readonly parameters: { readonly required: unknown }
        }
        assert.strictEqual(tool.description, "Searches")
        // Strict schemas leave nothing out.
        assert.deepStrictEqual(tool.parameters.required, ["query", "limit", "tags"])
      }))

    it.effect("without parameters", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* sent(Tool.make("Now")), {
          type: "function",
          name: "Now",
          strict: true,
          parameters: { type: "object", properties: {}, additionalProperties: false }
        })
      }))

    it.effect("are not strict when the tool or the program says so, and keep their own schema", () =>
      Effect.gen(function*() {
        for (const tool of [yield* sent(Search.annotate(Tool.Strict, false)), yield* sent(Search, false)]) {
          assert.deepInclude(tool, { strict: false })
          assert.deepStrictEqual(Reflect.get(Reflect.get(tool as object, "parameters"), "required"), ["query", "tags"])
        }
        assert.deepInclude(yield* sent(Search.annotate(Tool.Strict, true), false), { strict: true })
      }))

    it.effect("a class of the schema has its root where OpenAI looks for it", () =>
      Effect.gen(function*() {
        class Place extends Schema.Class<Place>("Place")({ city: Schema.String }) {}
        for (const strict of [true, false]) {
          const tool = yield* sent(Tool.make("Weather", { parameters: Place }), strict)
          const parameters = Reflect.get(tool as object, "parameters")
          assert.deepInclude(parameters, { type: "object", required: ["city"] })
        }
      }))

    it.effect("with a JSON Schema of their own are sent as they are", () =>
      Effect.gen(function*() {
        const parameters = { type: "object", properties: { sql: { type: "string" } }, patternProperties: {} } as const
        const tool = Tool.dynamic("Query", { description: "Asks", parameters })
        assert.deepStrictEqual(yield* sent(tool), {
          type: "function",
          name: "Query",
          description: "Asks",
          strict: false,
          parameters
        })
        assert.deepStrictEqual(yield* Tools.readParameters(tool, { anything: null }), { anything: null })
      }))

    it.effect.each([{ type: "object" }, { type: "object", properties: null }] as const)(
      "of an MCP server that says nothing of parameters have none: %j",
      (parameters) =>
        Effect.gen(function*() {
          const tool = yield* sent(Tool.dynamic("ListTables", { parameters }))
          assert.deepInclude(tool, { parameters: { type: "object", properties: {} } })
        })
    )

    it.effect("of which nothing is known take any object", () =>
      Effect.gen(function*() {
        const parameters = { type: "object", properties: {}, additionalProperties: true }
        assert.deepInclude(yield* sent(Tool.dynamic("Any", { parameters: {} })), { strict: false, parameters })
        assert.deepInclude(yield* sent(Tool.dynamic("Any"), false), { strict: false, parameters })
      }))

    it.effect.each<readonly [string, Schema.Top]>([
      ["a union", Schema.Union([Schema.Struct({ a: Schema.String }), Schema.Struct({ b: Schema.String })])],
      ["a list", Schema.Array(Schema.String)]
    ])("that OpenAI cannot take fail with what to do: %s", ([, parameters]) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(sent(Tool.make("Odd", { parameters })))
        assert.strictEqual(error.reason._tag, "UnsupportedSchemaError")
        assert.match(error.message, /tool 'Odd'/)
        assert.match(error.message, /tool\.annotate\(Tool\.Strict, false\)/)
      }))

    it.effect("a toolkit is converted once", () =>
      Effect.gen(function*() {
        const parameters = (tool: unknown) => Reflect.get(tool as object, "parameters")
        assert.strictEqual(parameters(yield* sent(Search)), parameters(yield* sent(Search)))
      }))
  })

  describe("parameters the model wrote", () => {
    it.effect("become the tool's own, encoded", () =>
      Effect.gen(function*() {
        const written = { query: "q", limit: null, tags: [{ 0: "a", 1: "b" }] }
        assert.deepStrictEqual(yield* Tools.readParameters(Search, written), { query: "q", tags: { a: "b" } })
        assert.deepStrictEqual(yield* Tools.readParameters(Search, { ...written, limit: 3 }), {
          query: "q",
          limit: 3,
          tags: { a: "b" }
        })
      }))

    it.effect("with a transformation stay encoded", () =>
      Effect.gen(function*() {
        const tool = Tool.make("At", {
          parameters: { at: Schema.DateTimeUtcFromString, note: Schema.optional(Schema.String) }
        })
        const encoded = (yield* Tools.readParameters(tool, { at: "2026-01-01T00:00:00.000Z", note: null })) as object
        assert.deepStrictEqual(encoded, { at: "2026-01-01T00:00:00.000Z" })
      }))

    it.effect("that do not fit are left for the tool to refuse", () =>
      Effect.gen(function*() {
        for (const written of [{ query: 1 }, "text", null, undefined, { query: "q", tags: { a: "b" } }]) {
          assert.strictEqual(yield* Tools.readParameters(Search, written), written)
        }
      }))

    it.effect("of what is not strict, or no function, stay what they are", () =>
      Effect.gen(function*() {
        const written = { query: "q", tags: { a: "b" } }
        assert.strictEqual(yield* Tools.readParameters(Search, written, { strict: false }), written)
        assert.strictEqual(yield* Tools.readParameters(wiki, written), written)
        assert.strictEqual(yield* Tools.readParameters(undefined, written), written)
      }))
  })

  describe("OpenAI's own", () => {
    it.effect.each<readonly [Tool.Any, unknown]>([
      [wiki, {
        type: "mcp",
        server_label: "wiki",
        server_url: "https://mcp.example.com/mcp",
        require_approval: "always"
      }],
      [
        OpenAiTool.Mcp({
          name: "Drive",
          server_label: "drive",
          connector_id: "connector_googledrive",
          authorization: Redacted.make("token"),
          headers: { "x-key": "secret" },
          server_description: "Files",
          allowed_tools: { read_only: true, tool_names: ["read"] },
          require_approval: { always: { tool_names: ["write"] }, never: { read_only: true } },
          defer_loading: true
        }),
        {
          type: "mcp",
          server_label: "drive",
          connector_id: "connector_googledrive",
          authorization: "token",
          headers: { "x-key": "secret" },
          server_description: "Files",
          allowed_tools: { read_only: true, tool_names: ["read"] },
          require_approval: { always: { tool_names: ["write"] }, never: { read_only: true } },
          defer_loading: true
        }
      ],
      [OpenAiTool.Mcp({ server_label: "t", tunnel_id: "tunnel_1", require_approval: "never" }), {
        type: "mcp",
        server_label: "t",
        tunnel_id: "tunnel_1",
        require_approval: "never"
      }],
      [OpenAiTool.WebSearch({ filters: { allowed_domains: ["a"] }, user_location: { city: "Bern" } }), {
        type: "web_search",
        filters: { allowed_domains: ["a"] },
        user_location: { city: "Bern" }
      }],
      [OpenAiTool.WebSearchPreview({ search_context_size: "low" }), {
        type: "web_search_preview",
        search_context_size: "low"
      }],
      [
        OpenAiTool.FileSearch({ vector_store_ids: ["vs_1"], filters: { type: "eq", key: "year", value: 2026 } }),
        { type: "file_search", vector_store_ids: ["vs_1"], filters: { type: "eq", key: "year", value: 2026 } }
      ],
      [OpenAiTool.CodeInterpreter({ container: "cntr_1" }), { type: "code_interpreter", container: "cntr_1" }],
      [
        OpenAiTool.CodeInterpreter({
          container: { type: "auto", file_ids: ["f"], network_policy: { type: "disabled" } }
        }),
        {
          type: "code_interpreter",
          container: { type: "auto", file_ids: ["f"], network_policy: { type: "disabled" } }
        }
      ],
      [
        OpenAiTool.CodeInterpreter({
          container: {
            type: "auto",
            network_policy: {
              type: "allowlist",
              allowed_domains: ["a"],
              domain_secrets: [{ domain: "a", name: "N", value: "v" }]
            }
          }
        }),
        {
          type: "code_interpreter",
          container: {
            type: "auto",
            network_policy: {
              type: "allowlist",
              allowed_domains: ["a"],
              domain_secrets: [{ domain: "a", name: "N", value: "v" }]
            }
          }
        }
      ],
      [OpenAiTool.ImageGeneration({ quality: "high", size: "1024x1024" }), {
        type: "image_generation",
        quality: "high",
        size: "1024x1024"
      }],
      [OpenAiTool.LocalShell({}), { type: "local_shell" }],
      [OpenAiTool.Shell({}), { type: "shell", environment: { type: "local" } }],
      [OpenAiTool.ApplyPatch({}), { type: "apply_patch" }]
    ])("%$", ([tool, expected]) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* sent(tool), expected)
      }))

    it.effect("what is undefined is left out", () =>
      Effect.gen(function*() {
        const tool = OpenAiTool.WebSearch(
          { search_context_size: undefined, user_location: { city: undefined } } as never
        )
        assert.deepStrictEqual(yield* sent(tool), { type: "web_search", user_location: {} })
      }))

    it.effect.each<readonly [string, ReadonlyArray<Tool.Any>, RegExp]>([
      ["a server that is nowhere", [OpenAiTool.Mcp({ server_label: "x" })], /exactly one of `server_url`/],
      [
        "a server in two places",
        [OpenAiTool.Mcp({ server_label: "x", server_url: "https://a", connector_id: "connector_gmail" })],
        /exactly one of/
      ],
      [
        "two servers of one label",
        [wiki, OpenAiTool.Mcp({ name: "Other", server_label: "wiki", server_url: "https://b" })],
        /'Other': The toolkit has two MCP servers with the server_label 'wiki'/
      ],
      [
        "a setting that is no setting",
        [OpenAiTool.WebSearch({ search_context_size: "huge" as never })],
        /'OpenAiWebSearch': OpenAI does not accept its settings, at \["search_context_size"\]/
      ],
      [
        "a tool of another provider",
        [
          Tool.providerDefined({ id: "other.search", customName: "OtherSearch", providerName: "search" })(
            undefined as never
          )
        ],
        /'other\.search' is not a tool of OpenAI, so it cannot be sent there/
      ]
    ])("refused: %s", ([, tools, message]) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(prepare(tools))
        assert.strictEqual(error.reason._tag, "ToolConfigurationError")
        assert.match(error.message, message)
      }))

    it.effect("secrets of a request are found", () =>
      Effect.gen(function*() {
        const tool = OpenAiTool.Mcp({
          server_label: "x",
          server_url: "https://a",
          authorization: "token",
          headers: { authorization: "Bearer long-enough" }
        })
        const { tools } = yield* prepare([tool, Search])
        assert.deepStrictEqual(Secrets.ofParams({ tools: tools! }), ["token", "Bearer long-enough", "long-enough"])
        assert.deepStrictEqual(Secrets.ofParams({}), [])
      }))
  })

  describe("the choice", () => {
    const kit = [
      Search,
      wiki,
      OpenAiTool.WebSearch({}),
      OpenAiTool.WebSearchPreview({}),
      OpenAiTool.Shell({}),
      OpenAiTool.LocalShell({}),
      OpenAiTool.ApplyPatch({}),
      OpenAiTool.CodeInterpreter({ container: "c" })
    ]

    it.effect.each<readonly [LanguageModel.ToolChoice<string>, unknown]>([
      ["auto", "auto"],
      ["none", "none"],
      ["required", "required"],
      [{ tool: "Search" }, { type: "function", name: "Search" }],
      [{ tool: "OpenAiMcp" }, { type: "mcp", server_label: "wiki" }],
      [{ tool: "OpenAiShell" }, { type: "shell" }],
      [{ tool: "OpenAiApplyPatch" }, { type: "apply_patch" }],
      [{ tool: "OpenAiCodeInterpreter" }, { type: "code_interpreter" }],
      [{ tool: "OpenAiWebSearchPreview" }, { type: "web_search_preview" }],
      [{ tool: "OpenAiWebSearch" }, { type: "allowed_tools", mode: "required", tools: [{ type: "web_search" }] }],
      [{ tool: "OpenAiLocalShell" }, { type: "allowed_tools", mode: "required", tools: [{ type: "local_shell" }] }],
      [{ oneOf: ["Search", "OpenAiMcp", "OpenAiWebSearch"] }, {
        type: "allowed_tools",
        mode: "auto",
        tools: [{ type: "function", name: "Search" }, { type: "mcp", server_label: "wiki" }, { type: "web_search" }]
      }],
      [{ mode: "required", oneOf: ["Search"] }, {
        type: "allowed_tools",
        mode: "required",
        tools: [{ type: "function", name: "Search" }]
      }],
      [{ oneOf: [] }, "none"]
    ])("%j", ([choice, expected]) =>
      Effect.gen(function*() {
        assert.deepStrictEqual((yield* prepare(kit, choice)).toolChoice, expected)
      }))

    it.effect("of a tool that is not there", () =>
      Effect.gen(function*() {
        for (const choice of [{ tool: "Gone" }, { oneOf: ["Search", "Gone"] }]) {
          const error = yield* Effect.flip(prepare(kit, choice))
          assert.strictEqual(error.reason._tag, "ToolConfigurationError")
          assert.match(error.message, /'Gone'.*the toolkit has only Search, OpenAiMcp/)
        }
      }))

    it.effect("without tools there is none", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* prepare([], "required"), { tools: undefined, toolChoice: undefined })
      }))
  })
})
