/**
 * The specification of config-based approval (the seed's config-approval.md), section by section, on the engine. Its
 * `ApprovalToolset(inner, tool_configs)` is a toolkit and `ApprovalPolicy.layerConfig(tool_configs)`; its decorator
 * `@requires_approval` is `needsApproval: true`; its `inner.needs_approval()` is a `needsApproval` that is a function.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { Approval, ApprovalConfig, ApprovalPolicy, Tool } from "../src/index.ts"
import { logged } from "./laws/logs.ts"
import * as Support from "./laws/support.ts"

const parameters = { path: Schema.String }
const Undecorated = Tool.make("undecorated_tool", { parameters, success: Schema.String })
const Decorated = Tool.make("decorated_tool", { parameters, success: Schema.String, needsApproval: true })
const Custom = Tool.make("custom_tool", {
  parameters,
  success: Schema.String,
  needsApproval: ({ path }) => path.startsWith("tmp/") ? false : { description: `Write to ${path}` }
})
const all = [Undecorated, Decorated, Custom]

/** What becomes of one call of each tool: it ran, is asked with a description, or was refused. */
const become = (mode: Support.Mode, policy: Layer.Layer<never, unknown>, path = "a.txt") =>
  Effect.gen(function*() {
    const tools = yield* Support.makeTools(all)
    const calls = all.map((tool) => Support.call(`call of ${tool.name}`, tool.name, { path }))
    const turn = yield* Support.ask(mode, { toolkit: tools.toolkit, calls }).pipe(Effect.provide(Layer.orDie(policy)))
    return Object.fromEntries(all.map(({ name }) => {
      const request = turn.requests.find((request) => request.toolName === name)
      const ran = tools.count(name) > 0
      assert.isFalse(ran && request !== undefined, "what is asked does not run")
      return [name, ran ? "ran" : request === undefined ? "refused" : "asked"]
    }))
  })

const specified = (text: string) =>
  ApprovalPolicy.layerConfig(ApprovalConfig.parse(text, { format: "yaml", section: "custom_tools" }))

describe("config-approval.md", () => {
  Support.forEachMode(
    "§ Use Case: the file, word for word, configures tools without logic of their own",
    function*(mode) {
      const file = `
custom_tools:
  calculate_stats:
    approval: required       # Always prompt
  send_notification:
    approval: none           # Never prompt (trusted)
  format_output: {}          # Use default (check @requires_approval)
`
      const tool = (name: string, needsApproval?: boolean) =>
        Tool.make(name, { parameters, success: Schema.String, needsApproval })
      const tools = yield* Support.makeTools([
        tool("calculate_stats"),
        tool("send_notification", true),
        tool("format_output", true)
      ])
      const turn = yield* Support.ask(mode, {
        toolkit: tools.toolkit,
        calls: ["calculate_stats", "send_notification", "format_output"].map((name) =>
          Support.call(name, name, { path: "a" })
        )
      }).pipe(Effect.provide(specified(file)))
      assert.deepStrictEqual(turn.requests.map((request) => request.toolName), ["calculate_stats", "format_output"])
      assert.deepStrictEqual(tools.runs.map((run) => run.name), ["send_notification"])
    }
  )

  const tables: ReadonlyArray<readonly [string, ApprovalConfig.Input, Record<string, string>]> = [
    ["§ Approval Values: required always asks", {
      undecorated_tool: { approval: "required" },
      decorated_tool: { approval: "required" },
      custom_tool: { approval: "required" }
    }, { undecorated_tool: "asked", decorated_tool: "asked", custom_tool: "asked" }],
    ["§ Approval Values: none never asks", {
      undecorated_tool: { approval: "none" },
      decorated_tool: { approval: "none" },
      custom_tool: { approval: "none" }
    }, { undecorated_tool: "ran", decorated_tool: "ran", custom_tool: "ran" }],
    ["§ Approval Values: missing uses default logic", {}, {
      undecorated_tool: "ran",
      decorated_tool: "asked",
      custom_tool: "asked"
    }],
    ["§ Approval Values: {} and default use default logic", {
      undecorated_tool: {},
      decorated_tool: "default",
      custom_tool: { approval: "default" }
    }, { undecorated_tool: "ran", decorated_tool: "asked", custom_tool: "asked" }],
    ["§ Approval Values, future: deny blocks entirely", {
      undecorated_tool: "deny",
      decorated_tool: { approval: "deny" },
      custom_tool: "deny"
    }, { undecorated_tool: "refused", decorated_tool: "refused", custom_tool: "refused" }],
    ["§ Approval Values, future: once_per_session asks", {
      undecorated_tool: "once_per_session",
      decorated_tool: "once_per_session",
      custom_tool: { approval: "once_per_session" }
    }, { undecorated_tool: "asked", decorated_tool: "asked", custom_tool: "asked" }],
    ["§ Examples: Simple Custom Toolset", {
      undecorated_tool: { approval: "required" },
      decorated_tool: { approval: "none" }
      // other tools use default
    }, { undecorated_tool: "asked", decorated_tool: "ran", custom_tool: "asked" }],
    ["§ Examples: Toolset with Custom Logic needs no configuration", { tools: {} }, {
      undecorated_tool: "ran",
      decorated_tool: "asked",
      custom_tool: "asked"
    }],
    ["§ Examples: Mixed, the configuration overrides the tool's logic (option A)", {
      custom_tool: { approval: "none" }
    }, { undecorated_tool: "ran", decorated_tool: "asked", custom_tool: "ran" }],
    ["§ Open Question, option C: tighten can require approval, and cannot skip it", {
      combine: "tighten",
      tools: { undecorated_tool: "required", decorated_tool: "none", custom_tool: "none" }
    }, { undecorated_tool: "asked", decorated_tool: "asked", custom_tool: "asked" }],
    ["§ Deprecate pre_approved: the old way", { pre_approved: ["decorated_tool", "custom_tool"] }, {
      undecorated_tool: "ran",
      decorated_tool: "ran",
      custom_tool: "ran"
    }],
    ["§ Deprecate pre_approved: the new way is the same", {
      decorated_tool: { approval: "none" },
      custom_tool: { approval: "none" }
    }, { undecorated_tool: "ran", decorated_tool: "ran", custom_tool: "ran" }]
  ]
  for (const [title, config, expected] of tables) {
    Support.forEachMode(title, function*(mode) {
      assert.deepStrictEqual(yield* become(mode, ApprovalPolicy.layerConfig(config)), expected)
    })
  }

  Support.forEachMode("§ Default needs_approval() Logic: a tool's own logic returns a description", function*(mode) {
    const tools = yield* Support.makeTools([Custom])
    const turn = yield* Support.ask(mode, {
      toolkit: tools.toolkit,
      calls: [
        Support.call("c1", "custom_tool", { path: "a.txt" }),
        Support.call("c2", "custom_tool", { path: "tmp/a" })
      ]
    })
    assert.deepStrictEqual(turn.requests.map((request) => request.description), ["Write to a.txt"])
    assert.deepStrictEqual(tools.runs.map((run) => run.params), [{ path: "tmp/a" }])
  })

  Support.forEachMode("§ Default needs_approval() Logic: required has a default description", function*(mode) {
    const tools = yield* Support.makeTools([Undecorated])
    const turn = yield* Support.ask(mode, {
      toolkit: tools.toolkit,
      calls: [Support.call("c1", "undecorated_tool", { path: "a.txt" })]
    }).pipe(Effect.provide(ApprovalPolicy.layerConfig({ undecorated_tool: "required" })))
    assert.deepStrictEqual(turn.requests.map((request) => request.description), ["undecorated_tool(path='a.txt')"])
  })

  it.effect("§ Testing: pre_approved emits a deprecation warning, once at construction, with the lines to write", () =>
    Effect.gen(function*() {
      const names = ["tool_a", "read_*"]
      const texts = {
        yaml: `tools:\n  tool_b: required\npre_approved: [tool_a, "read_*"]`,
        toml: `pre_approved = ["tool_a", "read_*"]\n[tools]\ntool_b = "required"`,
        json: JSON.stringify({ pre_approved: names, tools: { tool_b: "required" } })
      } as const
      const lines = {
        yaml: `Assent: pre_approved (line 3) is deprecated. Write below tools instead: tool_a: none, "read_*": none`,
        toml:
          `Assent: pre_approved (line 1) is deprecated. Write below tools instead: tool_a = "none", "read_*" = "none"`,
        json:
          `Assent: pre_approved (line 1) is deprecated. Write below tools instead: "tool_a": "none", "read_*": "none"`
      }
      for (const format of ["yaml", "toml", "json"] as const) {
        const [config, logs] = yield* logged(ApprovalConfig.parse(texts[format], { format }))
        assert.deepStrictEqual(logs, [{ level: "Warn", text: lines[format] }])
        const [, later] = yield* logged(become("generateText", ApprovalPolicy.layerConfig(config)))
        assert.deepStrictEqual(later.filter(({ text }) => text.includes("pre_approved")), [], "once")
        // What it says to write is a configuration, and the same.
        const written = logs[0]!.text.slice(logs[0]!.text.indexOf("instead: ") + "instead: ".length)
        const separator = format === "toml" ? "\n" : ", "
        const body = written.replaceAll(", ", separator)
        const instead = yield* ApprovalConfig.parse(
          format === "toml" ? `[tools]\n${body}` : `{ "tools": { ${body} } }`,
          { format }
        )
        assert.deepStrictEqual(instead.entries.map(({ approval, name }) => [name, approval]), [
          ["tool_a", "none"],
          ["read_*", "none"]
        ])
      }
      const [, [made]] = yield* logged(ApprovalConfig.make({ pre_approved: names }))
      assert.strictEqual(
        made?.text,
        `Assent: pre_approved is deprecated. Write below tools instead: tool_a: "none", "read_*": "none"`
      )
      for (const unused of [{ tools: { tool_a: "none" } }, { pre_approved: [] }] as const) {
        assert.deepStrictEqual((yield* logged(ApprovalConfig.make(unused)))[1], [])
      }
    }))

  it.effect("§ Deprecate pre_approved: lint says the line to write too", () =>
    Effect.gen(function*() {
      const findings = yield* ApprovalPolicy.lint({ pre_approved: ["decorated_tool"] }, {
        tools: { decorated_tool: Decorated }
      })
      assert.deepStrictEqual(findings.map(({ fix, kind }) => [kind, fix]), [
        ["pre-approved", "decorated_tool: none"],
        ["overrides-tool", undefined]
      ])
    }))

  describe("§ Consistency Goal: one approval field for files, commands and functions", () => {
    const Write = Tool.make("write_file", {
      parameters: { path: Schema.String, content: Schema.String },
      success: Schema.String
    })
    Support.forEachMode("files by path", function*(mode) {
      const tools = yield* Support.makeTools([Write])
      const paths = ["src/a.ts", "src/../.env", "etc/passwd", "secret/key"]
      const turn = yield* Support.ask(mode, {
        toolkit: tools.toolkit,
        calls: paths.map((path) => Support.call(path, "write_file", { path, content: "…" }))
      }).pipe(Effect.provide(ApprovalPolicy.layerConfig({
        write_file: { rules: [{ path: "src/**", approval: "none" }], approval: "required" }
      })))
      assert.deepStrictEqual(tools.runs.map((run) => run.params), [{ path: "src/a.ts", content: "…" }])
      assert.deepStrictEqual(turn.requests.map((request) => request.toolCallId), paths.slice(1))
    })

    it.effect("approval: {write: required} of the sandbox is a rule; who writes it is told so", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(ApprovalConfig.parse("write_file: { approval: { write: required } }", {
          format: "yaml"
        }))
        assert.include(error.message, "For some calls only, write `rules`.")
      }))

    it.effect("action: approve of shell commands is approval: required; who writes it is told so", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(ApprovalConfig.parse("shell: { approval: approve }", { format: "yaml" }))
        assert.deepStrictEqual(error.problems.map((problem) => problem.suggestion), ["required"])
      }))
  })

  Support.forEachMode("blocking-wrapper.md § Toolset Protocol: check_approval returns a presentation", function*(mode) {
    const presentation = new Approval.ApprovalPresentation({
      type: "diff",
      content: "-a\n+b",
      metadata: { file: "a" }
    })
    const Present = Tool.make("write_file", {
      parameters,
      success: Schema.String,
      needsApproval: () => ({ presentation })
    })
    const tools = yield* Support.makeTools([Present])
    const turn = yield* Support.ask(mode, {
      toolkit: tools.toolkit,
      calls: [Support.call("c1", "write_file", { path: "a" })]
    })
    assert.deepStrictEqual(turn.requests.map((request) => request.presentation), [presentation])
    assert.deepStrictEqual(tools.runs, [])
  })
})
