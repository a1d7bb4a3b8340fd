/**
 * Configurations as texts and objects: what they say, where it stands, and what is no configuration at all.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { ApprovalConfig, ApprovalPolicy } from "../src/index.ts"

// =============================================================================
// Formats
// =============================================================================

const texts: Record<ApprovalConfig.Format, string> = {
  yaml: `
combine: tighten
pre_approved: [search, "read_*"]
tools:
  delete_file: deny
  write_file:
    approval: required
    reason: it is our code
    expires_in: 10 minutes
    approvers: [ada, bob]
    editable: true
    rules:
      - path: [src/**, docs/*.md]
        approval: none
      - match: { exact: { path: LICENSE } }
        approval: deny
  "mcp.github.*": once_per_session
  format_output: {}
`,
  toml: `
combine = "tighten"
pre_approved = ["search", "read_*"]

[tools]
delete_file = "deny"
"mcp.github.*" = "once_per_session"
format_output = {}

[tools.write_file]
approval = "required"
reason = "it is our code"
expires_in = "10 minutes"
approvers = ["ada", "bob"]
editable = true

[[tools.write_file.rules]]
path = ["src/**", "docs/*.md"]
approval = "none"

[[tools.write_file.rules]]
match = { exact = { path = "LICENSE" } }
approval = "deny"
`,
  json: JSON.stringify(
    {
      combine: "tighten",
      pre_approved: ["search", "read_*"],
      tools: {
        delete_file: "deny",
        write_file: {
          approval: "required",
          reason: "it is our code",
          expires_in: "10 minutes",
          approvers: ["ada", "bob"],
          editable: true,
          rules: [
            { path: ["src/**", "docs/*.md"], approval: "none" },
            { match: { exact: { path: "LICENSE" } }, approval: "deny" }
          ]
        },
        "mcp.github.*": "once_per_session",
        format_output: {}
      }
    },
    undefined,
    2
  )
}

const withoutPlaces = (config: ApprovalConfig.ApprovalConfig) => {
  const plain = ({ at: _, line: __, ...rest }: ApprovalConfig.Entry | ApprovalConfig.Rule) => rest
  return [
    config.combine,
    config.entries.map((entry) => ({ ...plain(entry), rules: entry.rules.map(plain) }))
      .toSorted((left, right) => JSON.stringify(left) < JSON.stringify(right) ? -1 : 1)
  ]
}

describe("formats", () => {
  it.effect("YAML, TOML, JSON and objects say the same", () =>
    Effect.gen(function*() {
      const object = withoutPlaces(yield* ApprovalConfig.decodeUnknown(JSON.parse(texts.json)))
      for (const format of ["yaml", "toml", "json"] as const) {
        const config = yield* ApprovalConfig.parse(texts[format], { format })
        assert.deepStrictEqual(withoutPlaces(config), object, format)
      }
    }))

  it.effect("every entry and rule knows its path and line", () =>
    Effect.gen(function*() {
      for (const format of ["yaml", "toml", "json"] as const) {
        const lines = texts[format].split("\n")
        const { entries } = yield* ApprovalConfig.parse(texts[format], { format })
        const written: Record<string, string> = {
          delete_file: "delete_file",
          write_file: "write_file",
          "mcp.github.*": "mcp.github.*",
          format_output: "format_output",
          search: "search",
          "read_*": "read_*"
        }
        for (const entry of entries) {
          assert.include(lines[entry.line! - 1], written[entry.name], `${format} ${entry.at}`)
        }
        const write = entries.find(({ name }) => name === "write_file")!
        assert.deepStrictEqual(write.rules.map((rule) => rule.at), [
          "tools.write_file.rules[0]",
          "tools.write_file.rules[1]"
        ])
        const [first, second] = write.rules.map((rule) => rule.line!)
        assert.isAbove(first!, write.line!)
        assert.isAbove(second!, first!)
      }
    }))

  it.effect("the format is the file's; a text of which it is not known is refused", () =>
    Effect.gen(function*() {
      for (const file of ["a.yaml", "a.yml", "A.YML"]) {
        assert.strictEqual((yield* ApprovalConfig.parse("a: deny", { file })).file, file)
      }
      const error = yield* Effect.flip(ApprovalConfig.parse("a: deny", { file: "approval.conf" }))
      assert.deepStrictEqual(error.problems[0]?.allowed, ["json", "yaml", "toml"])
    }))

  it.effect("a configuration travels: it is a Schema", () =>
    Effect.gen(function*() {
      const config = yield* ApprovalConfig.parse(texts.yaml, { format: "yaml" })
      const codec = Schema.toCodecJson(ApprovalConfig.ApprovalConfig)
      const json = JSON.stringify(yield* Schema.encodeEffect(codec)(config))
      assert.deepStrictEqual(yield* Schema.decodeUnknownEffect(codec)(JSON.parse(json)), config)
    }))

  it.effect("a section of a larger text; one that is not there is an error, not an empty configuration", () =>
    Effect.gen(function*() {
      const text = "model: x\nworker:\n  custom_tools:\n    a: deny\n    b: nope\n"
      const error = yield* Effect.flip(ApprovalConfig.parse(text, {
        format: "yaml",
        section: ["worker", "custom_tools"]
      }))
      assert.deepStrictEqual(error.problems.map(({ at, line }) => [at, line]), [["worker.custom_tools.b", 5]])
      const missing = yield* Effect.flip(ApprovalConfig.parse(text, { format: "yaml", section: "custom_tool" }))
      assert.include(missing.message, "There is no such section.")
    }))
})

describe("objects with mistakes", () => {
  const cyclic: Record<string, unknown> = {}
  cyclic.a = cyclic
  const deep = Array.from({ length: 40 }).reduce<unknown>((inner) => [inner], 1)
  const refused: Record<string, unknown> = {
    "what is nested deeply": { a: { approval: "deny", rules: [{ exact: { x: deep }, approval: "none" }] } },
    "undefined": undefined,
    "null": null,
    "a text": "required",
    "a list": [],
    "a function": () => ({}),
    "a Map": new Map([["a", "deny"]]),
    "a Map for a tool": { a: new Map([["approval", "deny"]]) },
    "a Date for a tool": { a: new Date(0) },
    "what a tool inherits": { a: Object.create({ approval: "deny" }) },
    "what a configuration inherits": Object.create({ tools: { a: "deny" } }),
    "itself": cyclic,
    "undefined for a tool": { a: undefined },
    "undefined for approval": { a: { approval: undefined } },
    "NaN for a time": { a: { approval: "required", expires_in: Number.NaN } },
    "no JSON for all parameters": { a: { approval: "deny", rules: [{ exact: { x: 1n }, approval: "none" }] } }
  }
  for (const [title, value] of Object.entries(refused)) {
    it.effect(`${title} is refused`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(ApprovalConfig.decodeUnknown(value))
        assert.isNotEmpty(error.problems)
        assert.isTrue(error.problems.every((problem) => problem.line === undefined))
      }))
  }

  it.effect("a configuration that was read and one that was not are alike to a policy", () =>
    Effect.gen(function*() {
      const read = yield* ApprovalConfig.make({ a: "deny" })
      for (const config of [read, { a: "deny" } as const, { tools: { a: "deny" } } as const]) {
        assert.isFunction((yield* ApprovalPolicy.fromConfig(config)).decide)
      }
    }))

  it.effect("times are milliseconds or texts", () =>
    Effect.gen(function*() {
      const times: ReadonlyArray<readonly [number | string, number]> = [
        [1_500, 1_500],
        ["10 minutes", 600_000],
        ["1.5 hours", 5_400_000],
        ["1 day", 86_400_000],
        ["500ms", 500],
        ["30s", 30_000],
        ["10m", 600_000],
        ["2 h", 7_200_000],
        ["1w", 604_800_000]
      ]
      for (const [expires_in, millis] of times) {
        const { entries } = yield* ApprovalConfig.make({ a: { approval: "required", expires_in } })
        assert.strictEqual(entries[0]?.expiresIn, millis)
      }
    }))
})

describe("a matcher that can cover nothing is an error where the policy is made", () => {
  const cases: ReadonlyArray<readonly [string, ApprovalConfig.RuleInput, string]> = [
    ["a key that no function has", { key: { name: "file", value: "a" }, approval: "none" }, "no function for the key"],
    ["commands without a parser", { shell: "git status", approval: "none" }, "@assent/shell"],
    ["links that nothing tells apart", { path: "src/**", links: "refused", approval: "none" }, "isLink"]
  ]
  for (const [title, rule, expected] of cases) {
    it.effect(title, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(ApprovalPolicy.fromConfig({ a: { approval: "required", rules: [rule] } }))
        assert.include(error.message, "a.rules[0]: ")
        assert.include(error.message, expected)
        assert.deepStrictEqual(error.problems[0]?.path, [], "it stands in no text")
      }))
  }

  it.effect("with its line, if it is a text's", () =>
    Effect.gen(function*() {
      const text = "a:\n  approval: required\n  rules:\n    - shell: git status\n      approval: none\n"
      const config = yield* ApprovalConfig.parse(text, { file: "approval.yaml" })
      const error = yield* Effect.flip(ApprovalPolicy.fromConfig(config))
      assert.isTrue(error.message.startsWith("approval.yaml:4: a.rules[0]: "))
    }))
})

describe("a section", () => {
  const problemOf = (text: string, section: string) =>
    Effect.map(Effect.flip(ApprovalConfig.parse(text, { format: "yaml", section })), ({ message }) => message)

  it.effect("that is misspelt, or that does not have the configuration", () =>
    Effect.gen(function*() {
      const misspelt = yield* problemOf("model: x\ncustom_tools:\n  a: deny\n", "custom_tool")
      assert.include(misspelt, "custom_tool: There is no such section.")
      assert.include(misspelt, "Did you mean custom_tools?")
      assert.include(yield* problemOf("model: x\nagent: y\n", "approval"), "Here are \"model\", \"agent\".")
      assert.include(yield* problemOf("tools:\n  a: deny\n", "approval"), "The configuration stands here")
      assert.notMatch(yield* problemOf("\"approva\\e[31m\": {}\n", "approval"), /\p{Cc}/u)
    }))
})
