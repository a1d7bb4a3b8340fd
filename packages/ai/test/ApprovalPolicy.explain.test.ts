/**
 * What a configuration says of a call and why, for its author; and what is likely to be a mistake in it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  Approval,
  ApprovalConfig,
  ApprovalMatcher,
  ApprovalMemory,
  ApprovalPolicy,
  Tool,
  Toolkit
} from "../src/index.ts"
import * as Configured from "./configured.ts"

const makeTool = (name: string, param = "path") =>
  Tool.make(name, { parameters: { [param]: Schema.String }, success: Schema.String })

const Write = makeTool("write_file")

const text = `
tools:
  write_file:
    approval: required
    reason: it is our code
    rules:
      - path: src/**
        approval: none
      - path: src/generated/**
        approval: deny
  "mcp.*": deny
`

const explained = (
  policy: Effect.Effect<ApprovalPolicy.Service, unknown>,
  path: string,
  tool: Tool.Any = Write,
  toolName?: string
) =>
  Effect.gen(function*() {
    const call = yield* ApprovalPolicy.makeCall(tool, { path }, { toolName })
    return yield* Effect.provideService(
      ApprovalPolicy.explain(call),
      ApprovalPolicy.ApprovalPolicy,
      yield* Effect.orDie(policy)
    )
  })

const config = ApprovalConfig.parse(text, { file: "approval.yaml" })

const policy = Effect.flatMap(config, ApprovalPolicy.fromConfig)

describe("explain", () => {
  it.effect("names the rule that decided, its line, and why", () =>
    Effect.gen(function*() {
      const { result, steps, toolName } = yield* explained(policy, "src/a.ts")
      assert.deepStrictEqual([toolName, result._tag], ["write_file", "PreApproved"])
      assert.deepStrictEqual(steps.map(({ at, decides, file, line, says }) => [at, file, line, says, decides]), [
        ["tools.write_file.rules[0]", "approval.yaml", 7, "none", true]
      ])
    }))

  it.effect("names rules that have no word, and which one is stricter", () =>
    Effect.gen(function*() {
      const { result, steps } = yield* explained(policy, "src/generated/a.ts")
      assert.strictEqual(result._tag, "Blocked")
      assert.deepStrictEqual(steps.map(({ at, decides }) => [at, decides]), [
        ["tools.write_file.rules[0]", false],
        ["tools.write_file.rules[1]", true]
      ])
    }))

  it.effect("says where nothing but the tool decides", () =>
    Effect.gen(function*() {
      const own = yield* explained(policy, "a", makeTool("other"))
      assert.deepStrictEqual(own.steps.map(({ source, why }) => [source, why]), [
        ["tool", "The tool has no needsApproval of its own."]
      ])
      const tightened = yield* explained(
        ApprovalPolicy.fromConfig({ combine: "tighten", tools: { other: { approval: "required" } } }),
        "a",
        makeTool("other")
      )
      assert.deepStrictEqual(tightened.steps.map(({ why }) => why).slice(-1), [
        "The tool has no needsApproval of its own."
      ])
      const gated = yield* explained(policy, "a", Tool.setNeedsApproval(makeTool("other"), true))
      assert.deepStrictEqual([gated.result._tag, gated.steps[0]?.source], ["NeedsApproval", "tool"])
    }))

  it.effect("says it in words, a line for each that had one", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        ApprovalPolicy.toSentence(yield* explained(policy, ".env")),
        "write_file is asked (\"it is our code\").\n" +
          "  → tools.write_file (approval.yaml:3) says required: It names write_file, and no rule of it surely covers this" +
          " call."
      )
      assert.strictEqual(
        ApprovalPolicy.toSentence(yield* explained(policy, "a", Write, "mcp.github.write")),
        "mcp.github.write does not run, and nobody is asked (\"The configuration does not allow this call of" +
          " mcp.github.write.\").\n" +
          "  → tools[\"mcp.*\"] (approval.yaml:11) says deny: mcp.* is the longest glob that matches mcp.github.write."
      )
    }))

  it.effect("a rule that only may cover the call says so", () =>
    Effect.gen(function*() {
      const sentence = ApprovalPolicy.toSentence(yield* explained(policy, "src/../x"))
      assert.include(sentence, "does not run")
      assert.include(sentence, "and this may be one, so it applies if it is stricter")
    }))

  it.effect("L1 a policy that fails, or hangs, is explained as one that asks, without the cause", () =>
    Effect.gen(function*() {
      for (const broken of [Effect.fail("secret"), Effect.die("secret")]) {
        const failed = yield* explained(Effect.succeed(ApprovalPolicy.make(() => broken)), "a")
        assert.deepStrictEqual([failed.result._tag, failed.steps.map(({ source }) => source)], ["NeedsApproval", [
          "failure"
        ]])
        assert.notInclude(JSON.stringify(failed), "secret")
      }
    }))

  it.effect("says of several policies who had a word", () =>
    Effect.gen(function*() {
      const both = Effect.map(policy, ApprovalPolicy.tighten(ApprovalPolicy.fromAnnotations()))
      const { result, steps } = yield* explained(both, "src/a.ts")
      assert.strictEqual(result._tag, "NeedsApproval")
      assert.deepStrictEqual(steps.map(({ source, says }) => [source, says]), [
        ["config", "none"],
        ["annotations", "required"],
        ["tool", "none"]
      ])
      const program = ApprovalPolicy.make(() => Approval.blocked("night"))
      const other = yield* explained(Effect.succeed(ApprovalPolicy.orElse(program, ApprovalPolicy.toolGate)), "a")
      assert.deepStrictEqual(other.steps.map(({ source, why }) => [source, why]), [["policy", "night"]])
    }))

  it.effect("L15 what is written in a configuration or a name cannot paint on a screen", () =>
    Effect.gen(function*() {
      const evil = "a\u001b\u202e"
      const policy = ApprovalPolicy.fromConfig({ "a*": { approval: "required", reason: evil } })
      const sentence = ApprovalPolicy.toSentence(yield* explained(policy, "x", makeTool(evil)))
      assert.notMatch(sentence.replaceAll("\n", ""), /[\p{Cc}\p{Cf}]/u)
    }))

  it.effect("an explanation travels", () =>
    Effect.gen(function*() {
      const explanation = yield* explained(policy, "src/a.ts")
      const codec = Schema.toCodecJson(ApprovalPolicy.Explanation)
      const json = JSON.stringify(yield* Schema.encodeEffect(codec)(explanation))
      assert.deepStrictEqual(yield* Schema.decodeUnknownEffect(codec)(JSON.parse(json)), explanation)
    }))
})

// =============================================================================
// lint
// =============================================================================

const Delete = makeTool("delete_file")
const Read = makeTool("read_file").annotate(Tool.Readonly, true)
const Gated = Tool.setNeedsApproval(makeTool("send_mail", "to"), true)
const Empty = Tool.make("get_time").annotate(Tool.Readonly, true)
const toolkit = Toolkit.make(Write, Delete, Read, Gated, Empty)

const ruled = { write_file: "required", delete_file: "deny" } as const

describe("lint", () => {
  const cases: ReadonlyArray<
    readonly [string, ApprovalConfig.Input, ReadonlyArray<readonly [string, string, string, string | undefined]>]
  > = [
    ["nothing, if all is well", { tools: ruled }, []],
    ["a name that no tool has, which would have been forbidden", { ...ruled, delete_fiel: "deny" }, [
      ["error", "unknown-tool", "delete_fiel", "delete_file: deny"]
    ]],
    ["a name that no tool has, which would have been let run", { ...ruled, reed_file: "none" }, [
      ["warning", "unknown-tool", "reed_file", "read_file: none"]
    ]],
    ["a name that no tool has, of an entry that says more than a word", {
      ...ruled,
      delete_fiel: { approval: "deny", reason: "gone is gone" },
      reed_file: { approval: "required", rules: [{ path: "src/**", approval: "none" }] }
    }, [
      ["error", "unknown-tool", "delete_fiel", "delete_file:"],
      ["error", "unknown-tool", "reed_file", "read_file:"]
    ]],
    ["a glob that stands for nothing", { ...ruled, "mcp.*": "deny" }, [
      ["warning", "unknown-tool", "[\"mcp.*\"]", undefined]
    ]],
    ["a glob that nothing reaches", { ...ruled, "*te_file": "deny" }, [
      ["error", "never-reached", "*te_file", undefined]
    ]],
    ["none for all", { ...ruled, "*": "none" }, [
      ["warning", "none-for-all", "*", "\"*\": required"],
      ["info", "overrides-tool", "*", undefined]
    ]],
    ["what may destroy something and runs", { write_file: "required" }, [
      ["warning", "destructive-without-rule", "", "delete_file: required"]
    ]],
    ["the same, if it is left to the tool", { write_file: "required", delete_file: {} }, [
      ["warning", "destructive-without-rule", "", "delete_file: required"]
    ]],
    ["a tool that a glob would have forbidden", { ...ruled, read_file: {}, "*": "deny" }, [
      ["warning", "hidden-by-default", "read_file", "read_file: deny"]
    ]],
    ["pre-approved, and forbidden elsewhere", { pre_approved: ["delete_file"], tools: ruled }, [
      ["warning", "never-reached", "pre_approved[0]", undefined]
    ]],
    ["pre-approved", { pre_approved: ["read_file"], tools: ruled }, [
      ["info", "pre-approved", "pre_approved[0]", "read_file: none"]
    ]],
    ["pre-approved, of no tool", { pre_approved: ["search"], tools: ruled }, [
      ["warning", "unknown-tool", "pre_approved[0]", undefined]
    ]],
    ["forbidding by a matcher", {
      ...ruled,
      write_file: { approval: "none", rules: [{ path: "secret/**", approval: "deny" }] }
    }, [["warning", "deny-by-matcher", "write_file.rules[0]", "approval: deny"]]],
    ["a parameter that the tool does not have", {
      ...ruled,
      send_mail: { approval: "required", rules: [{ path: "a/**", approval: "none" }] }
    }, [
      ["error", "unknown-param", "send_mail.rules[0]", "param: to"],
      ["info", "caution", "send_mail.rules[0]", undefined]
    ]],
    ["parameters that the tool does not have", {
      ...ruled,
      write_file: { approval: "required", rules: [{ exact: { pth: "a" }, approval: "none" }] }
    }, [["error", "unknown-param", "write_file.rules[0]", "exact: { path: … }"]]],
    ["a rule that another one overrules", {
      ...ruled,
      write_file: {
        approval: "required",
        rules: [{ path: "a", approval: "none" }, { path: ["a"], approval: "once_per_session" }]
      }
    }, [
      ["warning", "never-reached", "write_file.rules[0]", undefined],
      ["info", "caution", "write_file.rules[0]", undefined],
      ["info", "caution", "write_file.rules[1]", undefined]
    ]],
    ["what is said of a question that nobody is asked", { ...ruled, read_file: { approval: "none", editable: true } }, [
      ["warning", "no-effect", "read_file", undefined]
    ]],
    ["editing what has no parameters", { ...ruled, get_time: { approval: "required", editable: true } }, [
      ["warning", "no-effect", "get_time", undefined]
    ]],
    ["once, and not remembered", { ...ruled, read_file: { approval: "once_per_session", rememberable: false } }, [
      ["warning", "no-effect", "read_file", undefined]
    ]],
    ["a question that expires at once", { ...ruled, read_file: { approval: "required", expires_in: 600 } }, [
      ["warning", "short-expiry", "read_file", undefined]
    ]],
    ["a tool that would have asked", { ...ruled, send_mail: "none" }, [
      ["info", "overrides-tool", "send_mail", undefined]
    ]],
    ["not under tighten, where it asks", { combine: "tighten", tools: { ...ruled, send_mail: "none" } }, []]
  ]
  for (const [title, input, expected] of cases) {
    it.effect(title, () =>
      Effect.gen(function*() {
        const findings = yield* Effect.provide(ApprovalPolicy.lint(input, toolkit), ApprovalMemory.layerSession())
        const prefix = Object.hasOwn(input, "tools") ? "tools." : ""
        assert.deepStrictEqual(
          findings.map(({ at, fix, kind, severity }) => [severity, kind, at.replace(prefix, ""), fix]),
          expected.map((finding) => [...finding])
        )
        for (const finding of findings) {
          const line = ApprovalPolicy.toSentence(finding)
          assert.isTrue(line.startsWith(finding.severity))
          assert.deepStrictEqual(line.split(" Write: ").slice(1), finding.fix === undefined ? [] : [finding.fix])
          assert.notInclude(line, "\n")
        }
      }))
  }

  // A question shows `mcp.files` as the source of a guarded server's tools, which are called `files__…`.
  it.effect("a server's tools by their source, which no tool is called", () =>
    Effect.gen(function*() {
      const Move = Tool.setNeedsApproval(makeTool("files__move_file"), true)
        .annotate(ApprovalPolicy.ServerHints, { server: "files" })
      const server = Toolkit.make(Move, Gated)
      const written = {
        "mcp.files.*": "deny",
        "mcp.files.move_file": "required",
        "mcp.files.m*": "none",
        "mcp.files.copy_*": "deny",
        "mcp.other.*": "deny",
        send_mail: "required"
      } as const
      const findings = yield* ApprovalPolicy.lint(written, server)
      assert.deepStrictEqual(
        findings.map(({ at, fix, kind, severity }) => [severity, kind, at, fix]),
        [
          ["error", "unknown-tool", "[\"mcp.files.*\"]", "\"files__*\": deny"],
          ["error", "unknown-tool", "[\"mcp.files.move_file\"]", "files__move_file: required"],
          ["warning", "unknown-tool", "[\"mcp.files.m*\"]", "\"files__m*\": none"],
          ["warning", "unknown-tool", "[\"mcp.files.copy_*\"]", undefined],
          ["warning", "unknown-tool", "[\"mcp.other.*\"]", undefined]
        ]
      )
      assert.strictEqual(
        findings[0]!.message,
        "There is no tool that mcp.files.* stands for. Did you mean files__*?"
      )
    }))

  it.effect("findings have the line where it stands", () =>
    Effect.gen(function*() {
      const findings = yield* ApprovalPolicy.lint(yield* config, Toolkit.make(Write))
      assert.deepStrictEqual(findings.map(({ kind, line }) => [kind, line]), [
        ["deny-by-matcher", 9],
        ["unknown-tool", 11],
        ["caution", 7]
      ])
      assert.isTrue(
        ApprovalPolicy.toSentence(findings[1]!).startsWith("warning line 11 tools[\"mcp.*\"]: There is no tool")
      )
    }))

  it.effect("a rule that lets paths run asks for isLink, where links may lead elsewhere", () =>
    Effect.gen(function*() {
      const config = { write_file: { approval: "required", rules: [{ path: "src/**", approval: "none" }] } } as const
      const links = (findings: ReadonlyArray<ApprovalPolicy.Finding>) =>
        findings.filter(({ message }) => message.includes("Provide `isLink`"))
      const lint = ApprovalPolicy.lint(config, Toolkit.make(Write))
      assert.lengthOf(links(yield* lint), 1)
      const careful = Effect.provideService(lint, ApprovalMatcher.Behaviors, { isLink: () => false })
      assert.lengthOf(links(yield* careful), 0)
    }))

  it.effect("a glob that forbids, for those tools of which a longer one says something looser", () =>
    Effect.gen(function*() {
      const tools = Toolkit.make(makeTool("delete_file"), makeTool("delete_mail"), makeTool("undelete"))
      const config = { "*delete*": "deny", "delete_f*": "none", "delete_m*": "deny" } as const
      const findings = yield* ApprovalPolicy.lint(config, tools)
      assert.deepStrictEqual(
        findings.filter(({ kind }) => kind === "outranked").map(({ at, fix, message }) => [at, fix, message]),
        [[
          "*delete*",
          "delete_file: deny",
          "It does not apply to delete_file: delete_f* is a longer glob, and says none."
        ]]
      )
    }))

  it.effect("a field within a parameter that the tool does not have", () =>
    Effect.gen(function*() {
      const Options = Schema.Struct({
        command: Schema.String,
        flags: Schema.Array(Schema.Struct({ name: Schema.String }))
      })
      // A schema with an identifier stands elsewhere in the JSON Schema, and is referred to.
      const Named = Options.annotate({ identifier: "Options" })
      const params = { options: { comand: "ls", flags: [{ nam: "l" }, { name: "a" }] } }
      for (const options of [Options, Named]) {
        const findings = yield* ApprovalPolicy.lint(
          { run: { approval: "required", rules: [{ exact: params, approval: "none" }] } },
          Toolkit.make(Tool.make("run", { parameters: { options } }))
        )
        assert.deepStrictEqual(findings.map(({ fix, kind }) => [kind, fix]), [
          ["unknown-param", "command: …"],
          ["unknown-param", "name: …"]
        ])
      }
    }))

  it.effect("of many parameters that a tool has, a few are named and the others counted", () =>
    Effect.gen(function*() {
      const text = Schema.optional(Schema.String)
      const Find = Tool.make("find", { parameters: { a: text, b: text, c: text, d: text, e: text, f: text, g: text } })
      const [finding] = yield* ApprovalPolicy.lint(
        { find: { approval: "required", rules: [{ path: "src/**", approval: "none" }] } },
        Toolkit.make(Find)
      )
      assert.include(finding!.message, "Its parameters are a, b, c, d, e and 2 more.")
    }))

  it.effect("what is wrong is not linted but refused", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        ApprovalPolicy.lint({ a: { approval: "deny", rules: [{ path: "../x", approval: "none" }] } }, toolkit)
      )
      assert.strictEqual(error._tag, "ApprovalConfigError")
    }))
})

describe("the trace of a decision", () => {
  it.effect("says of what a rule speaks, whether it decides, and what the tool says where it is left to it", () =>
    Effect.gen(function*() {
      const rules = [{ path: "secret/**", approval: "default", reason: "ours" }] as const
      const policy = yield* ApprovalPolicy.fromConfig({ t: { rules: [...rules], approval: "none" } })
      const call = yield* ApprovalPolicy.makeCall(Configured.makeTool("t", true), { path: "secret/a" })
      const { result, steps } = yield* Effect.provideService(
        ApprovalPolicy.explain(call),
        ApprovalPolicy.ApprovalPolicy,
        policy
      )
      assert.strictEqual(Configured.needs(result).reason, "ours")
      assert.deepStrictEqual(steps.map(({ decides, source }) => [source, decides]), [["config", true], ["tool", true]])
      assert.strictEqual(steps[0]?.why, "It is about any call of t whose path matches `secret/**`.")
    }))
})
