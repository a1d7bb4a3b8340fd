/**
 * Which rule of a configuration decides, and what it says: names, globs, parameters, and the fields of a question.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Approval, type ApprovalConfig, ApprovalMatcher, ApprovalPolicy, Tool } from "../src/index.ts"

const makeTool = (name: string, needsApproval?: Tool.NeedsApproval<typeof Params>) =>
  Tool.make(name, { parameters: Params, success: Schema.String, needsApproval })

const Params = Schema.Record(Schema.String, Schema.Json)

/** The result of a configuration for one call, with the tool's own word where it is left to it. */
const decide = (
  config: ApprovalConfig.Input,
  name: string,
  params: { readonly [name: string]: Schema.Json } = {},
  needsApproval?: Tool.NeedsApproval<typeof Params>
) =>
  Effect.gen(function*() {
    const policy = yield* ApprovalPolicy.fromConfig(config)
    const call = yield* ApprovalPolicy.makeCall(makeTool(name, needsApproval), params)
    return yield* ApprovalPolicy.decide(policy, call, "1 second")
  })

const word = (result: Approval.ApprovalResult) =>
  result._tag === "PreApproved"
    ? "none"
    : result._tag === "Blocked"
    ? "deny"
    : result.remember === undefined
    ? "required"
    : "once_per_session"

const decides = (
  config: ApprovalConfig.Input,
  name: string,
  params: { readonly [name: string]: Schema.Json },
  expected: ApprovalConfig.Value,
  message?: string
) => Effect.map(decide(config, name, params), (result) => assert.strictEqual(word(result), expected, message))

// =============================================================================
// Names
// =============================================================================

describe("names", () => {
  const table: ReadonlyArray<readonly [string, ApprovalConfig.Tools, string, ApprovalConfig.Value]> = [
    ["an exact name before a glob that is as long", { read: "none", "*read": "deny" }, "read", "none"],
    ["an exact name before a stricter one", { "*": "deny", read: "none" }, "read", "none"],
    ["a longer glob before a shorter one", { "read_*": "none", "*": "deny" }, "read_file", "none"],
    ["the longest of three", { "*": "deny", "mcp.*": "required", "mcp.github.*": "none" }, "mcp.github.list", "none"],
    ["of two as long, the stricter", { "mcp.*.delete": "deny", "mcp.github.*": "none" }, "mcp.github.delete", "deny"],
    [
      "of two as long, written the other way",
      { "mcp.github.*": "none", "mcp.*.delete": "deny" },
      "mcp.github.delete",
      "deny"
    ],
    ["* alone is the shortest", { "*": "none", "*e": "deny" }, "write", "deny"],
    ["* stands for dots, and for nothing", { "a*": "deny" }, "a", "deny"],
    ["stars in the middle", { "*_*_file": "deny", "*": "none" }, "over_write_file", "deny"],
    ["parts do not overlap", { "ab*ba": "deny", "*": "none" }, "aba", "none"],
    ["parts do not overlap the end", { "a*bc*c": "deny", "*": "none" }, "abc", "none"],
    ["parts stand in order", { "*a*b*": "deny", "*": "none" }, "xbxa", "none"],
    ["case matters", { "Delete*": "deny", "*": "none" }, "delete", "none"],
    ["a dot is a dot", { "a.b": "deny", "*": "none" }, "axb", "none"],
    ["no name, no word", { other: "deny" }, "read", "none"],
    ["{} leaves it to the tool, whatever a glob says", { read: {}, "*": "deny" }, "read", "none"]
  ]
  for (const [title, tools, name, expected] of table) {
    it.effect(title, () => decides({ tools }, name, {}, expected))
  }

  it.effect("of two as long that both ask, the words and fields of both, in whatever order they stand", () =>
    Effect.gen(function*() {
      const one = { approval: "required", reason: "one", approvers: ["ada", "bob"] } as const
      const two = { approval: "required", reason: "two", approvers: ["bob", "eve"], description: "d" } as const
      const forth = yield* decide({ tools: { "a*": one, "*b": two } }, "ab")
      assert.deepStrictEqual(forth, yield* decide({ tools: { "*b": two, "a*": one } }, "ab"))
      assert.deepStrictEqual(
        forth,
        Approval.needsApproval({ reason: "one two", description: "d", approvers: ["bob"] })
      )
    }))

  it.effect("pre_approved is `none`: where tools says something stricter of the same name, that decides", () =>
    Effect.gen(function*() {
      yield* decides({ pre_approved: ["read_*"], tools: { "*": "deny" } }, "read_file", {}, "none")
      yield* decides({ pre_approved: ["*"], tools: { delete: "deny" } }, "delete", {}, "deny")
      yield* decides({ pre_approved: ["delete"], tools: { delete: "required" } }, "delete", {}, "required")
      yield* decides({ pre_approved: ["delete"], tools: { "del*": "deny" } }, "delete", {}, "none")
      const own = yield* decide({ pre_approved: ["delete"], tools: { delete: {} } }, "delete", {}, true)
      assert.strictEqual(own._tag, "NeedsApproval")
    }))

  it.effect.prop(
    "the order of names means nothing",
    {
      names: Schema.Array(
        Schema.Tuple([
          Schema.Literals(["a", "a*", "*a", "*", "ab", "*b*", "a*b", "**"]),
          Schema.Literals(["required", "none", "deny", "once_per_session", "default"])
        ])
      ),
      call: Schema.Literals(["a", "ab", "aab", "ba", "c"]),
      own: Schema.Boolean
    },
    ({ call, names, own }) =>
      Effect.gen(function*() {
        const forth = Object.fromEntries(names)
        const back = Object.fromEntries(Object.entries(forth).toReversed())
        assert.deepStrictEqual(
          yield* decide({ tools: forth }, call, {}, own),
          yield* decide({ tools: back }, call, {}, own)
        )
      })
  )
})

// =============================================================================
// Parameters
// =============================================================================

const files: ApprovalConfig.Input = {
  write_file: {
    rules: [
      { path: "src/**", approval: "none" },
      { path: "src/generated/**", approval: "deny", reason: "it is generated" },
      { path: ["docs/*.md", "LICENSE"], approval: "once_per_session" }
    ],
    approval: "required"
  }
}

describe("rules of parameters", () => {
  const table: ReadonlyArray<readonly [string, { readonly [name: string]: Schema.Json }, ApprovalConfig.Value]> = [
    ["a path that is allowed", { path: "src/a.ts", content: "" }, "none"],
    ["the strictest of two that cover it", { path: "src/generated/a.ts" }, "deny"],
    ["another path", { path: "package.json" }, "required"],
    ["once for paths", { path: "docs/a.md" }, "once_per_session"],
    ["no path at all: {} is not any path", {}, "required"],
    ["null for a path", { path: null }, "required"],
    ["a path of another case, which may be the same file", { path: "src/Generated/a.ts" }, "deny"],
    ["a hidden file, which the glob that allows does not write out", { path: "src/.env" }, "required"],
    ["a hidden file below what is forbidden", { path: "src/generated/.env" }, "deny"],
    ["a way around, of which nobody can tell where it leads", { path: "src/../src/generated/a.ts" }, "deny"],
    ["an absolute path, of which nobody can tell what it is", { path: "/work/src/generated/a.ts" }, "deny"],
    ["a list for a path", { path: ["src/a.ts"] }, "deny"]
  ]
  for (const [title, params, expected] of table) {
    it.effect(title, () => decides(files, "write_file", params, expected, JSON.stringify(params)))
  }

  it.effect("a rule about the parameter of another name", () =>
    Effect.gen(function*() {
      const config: ApprovalConfig.Input = {
        move: { rules: [{ path: "tmp/**", param: "to", others: ["from"], approval: "none" }], approval: "deny" }
      }
      yield* decides(config, "move", { to: "tmp/a", from: "b" }, "none")
      yield* decides(config, "move", { to: "tmp/a", from: "b", force: true }, "deny")
      yield* decides(config, "move", { path: "tmp/a" }, "deny")
    }))

  it.effect("by all parameters, and by a function of the program", () =>
    Effect.gen(function*() {
      const config: ApprovalConfig.Input = {
        pay: {
          rules: [
            { match: { exact: { to: "ada", amount: 5 } }, approval: "none" },
            { match: { key: { name: "payee", value: "bob" } }, approval: "deny" }
          ],
          approval: "required"
        }
      }
      const withPayee = Effect.provide(ApprovalMatcher.layer({ keys: { payee: (params) => params.to } }))
      yield* withPayee(decides(config, "pay", { amount: 5, to: "ada" }, "none"))
      yield* withPayee(decides(config, "pay", { amount: 6, to: "ada" }, "required"))
      yield* withPayee(decides(config, "pay", { amount: 5, to: "ada", twice: true }, "required"))
      yield* withPayee(decides(config, "pay", { amount: 5, to: "bob" }, "deny"))
      // Without a key nobody can tell that it is not bob.
      yield* withPayee(decides(config, "pay", { amount: 5 }, "deny"))
    }))

  it.effect("with isLink, every path rule refuses links, without a word of the configuration", () =>
    Effect.gen(function*() {
      const linked = Effect.provide(ApprovalMatcher.layer({ isLink: (path) => path === "src/away" }))
      yield* linked(decides(files, "write_file", { path: "src/a.ts" }, "none"))
      yield* linked(decides(files, "write_file", { path: "src/away/passwd" }, "deny"))
      const allowing: ApprovalConfig.Input = {
        write_file: { rules: [{ path: "src/**", approval: "none" }], approval: "required" }
      }
      yield* linked(decides(allowing, "write_file", { path: "src/away/passwd" }, "required"))
      yield* decides(allowing, "write_file", { path: "src/away/passwd" }, "none")
    }))

  it.effect("where a rule stands means nothing, not even to the order of reasons", () =>
    Effect.gen(function*() {
      const rules: ReadonlyArray<ApprovalConfig.RuleInput> = ["b", "a", "c"].map((reason) => ({
        path: "x/**",
        approval: "required",
        reason
      }))
      const one = yield* decide({ t: { approval: "none", rules } }, "t", { path: "x/y" })
      const two = yield* decide({ t: { approval: "none", rules: rules.toReversed() } }, "t", { path: "x/y" })
      assert.deepStrictEqual([one, one.reason], [two, "a b c"])
    }))

  it.effect("what is forbidden is forbidden, also where another rule leaves it to a tool that fails", () =>
    Effect.gen(function*() {
      const result = yield* decide(
        {
          t: { rules: [{ path: "a/**", approval: "default" }, { path: "a/b", approval: "deny" }], approval: "none" }
        },
        "t",
        { path: "a/b" },
        () => Effect.fail("secret")
      )
      assert.strictEqual(result._tag, "Blocked")
    }))

  it.effect("a rule below a glob", () =>
    Effect.gen(function*() {
      const config: ApprovalConfig.Input = {
        "*_file": { rules: [{ path: "tmp/**", approval: "none" }], approval: "deny" }
      }
      yield* decides(config, "write_file", { path: "tmp/a" }, "none")
      yield* decides(config, "read_file", { path: "etc/passwd" }, "deny")
    }))

  const paths = ["src/a", "src/a/b", "src/.a", "SRC/a", "src/../a", "/src/a", "a", "a/b", "", "src", "lib/a"]
  it.effect.prop(
    "a matcher rule never widens to other parameters: what is let run is what a glob of an allowing rule matches",
    {
      allow: Schema.Array(Schema.Literals(["src/**", "src/*", "a", "a/*", "lib/**"])),
      forbid: Schema.Array(Schema.Literals(["src/**", "src/a/**", "a", "lib/*"])),
      rest: Schema.Literals(["required", "deny", "once_per_session"]),
      path: Schema.Literals(paths)
    },
    ({ allow, forbid, path, rest }) =>
      Effect.gen(function*() {
        const rules: Array<ApprovalConfig.RuleInput> = [
          ...allow.map((glob) => ({ path: glob, approval: "none" } as const)),
          ...forbid.map((glob) => ({ path: glob, approval: "deny" } as const))
        ]
        if (rules.length === 0) return
        const config = (rules: ReadonlyArray<ApprovalConfig.RuleInput>): ApprovalConfig.Input => ({
          t: { approval: rest, rules }
        })
        const result = yield* decide(config(rules), "t", { path })
        // The order of rules means nothing.
        assert.deepStrictEqual(word(yield* decide(config(rules.toReversed()), "t", { path })), word(result))
        const covered = allow.some((glob) => ApprovalMatcher.path([glob], { param: "path" }).covers({ path }))
        const forbidden = forbid.some((glob) => ApprovalMatcher.path([glob], { param: "path" }).covers({ path }))
        if (result._tag === "PreApproved") assert.isTrue(covered && !forbidden)
        if (forbidden) assert.strictEqual(result._tag, "Blocked")
      })
  )
})

// =============================================================================
// Fields
// =============================================================================

const needs = (result: Approval.ApprovalResult) => {
  assert(result._tag === "NeedsApproval")
  return result
}

describe("what is said with a question", () => {
  it.effect("all of it is part of the result", () =>
    Effect.gen(function*() {
      const result = yield* decide({
        t: {
          approval: "required",
          reason: "r",
          description: "d",
          expires_in: "10 minutes",
          approvers: ["ada", "bob"],
          editable: true,
          rememberable: true
        }
      }, "t")
      assert.deepStrictEqual(
        result,
        Approval.needsApproval({
          reason: "r",
          description: "d",
          expiresIn: 600_000,
          approvers: ["ada", "bob"],
          editable: true,
          rememberable: true
        })
      )
    }))

  it.effect("one approver needs no list", () =>
    Effect.gen(function*() {
      const result = needs(yield* decide({ t: { approval: "required", approvers: "ada" } }, "t"))
      assert.deepStrictEqual(result.approvers, ["ada"])
    }))

  it.effect("deny gives its reason, or says that it is configured", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(
        yield* decide({ t: { approval: "deny", reason: "not today" } }, "t"),
        Approval.blocked("not today")
      )
      assert.deepStrictEqual(
        yield* decide({ t: "deny" }, "t"),
        Approval.blocked("What is configured does not allow this call of t.")
      )
    }))

  it.effect("once_per_session is remembered for the tool, or for what the rule covers and no more", () =>
    Effect.gen(function*() {
      const tool = needs(yield* decide({ t: "once_per_session" }, "t"))
      assert.deepStrictEqual([tool.rememberable, tool.remember], [undefined, { covers: { _tag: "Tool" } }])
      const rule = needs(yield* decide(files, "write_file", { path: "docs/a.md" }))
      const { description } = ApprovalMatcher.path(["docs/*.md", "LICENSE"], { param: "path" })
      assert.deepStrictEqual([rule.rememberable, rule.remember], [undefined, { covers: description }])
    }))

  it.effect("where some calls are asked once, those that are required are asked whatever was remembered", () =>
    Effect.gen(function*() {
      const config = (rememberable?: boolean): ApprovalConfig.Input => ({
        t: {
          rules: [{ path: "secret/**", approval: "required", ...(rememberable === undefined ? {} : { rememberable }) }],
          approval: "once_per_session"
        }
      })
      const once = needs(yield* decide(config(), "t", { path: "a" }))
      assert.deepStrictEqual([once.rememberable, once.remember], [undefined, { covers: { _tag: "Tool" } }])
      const asked = needs(yield* decide(config(), "t", { path: "secret/a" }))
      assert.deepStrictEqual([asked.rememberable, asked.remember], [false, undefined])
      assert.strictEqual(needs(yield* decide(config(true), "t", { path: "secret/a" })).rememberable, true)
      const left = yield* decide(
        {
          t: { rules: [{ path: "secret/**", approval: "default" }], approval: "once_per_session" }
        },
        "t",
        { path: "secret/a" },
        true
      )
      assert.strictEqual(needs(left).rememberable, false)
    }))

  it.effect("required leaves memory as it is", () =>
    Effect.gen(function*() {
      const result = needs(yield* decide({ t: "required" }, "t"))
      assert.deepStrictEqual([result.rememberable, result.remember], [undefined, undefined])
    }))

  it.effect("beside default it is about the question of the tool, if it asks one", () =>
    Effect.gen(function*() {
      const config: ApprovalConfig.Input = { t: { approvers: ["ada"], expires_in: "1 minute", reason: "ours" } }
      const own = Approval.needsApproval({ reason: "theirs", description: "d", expiresIn: 5 })
      assert.deepStrictEqual(
        yield* decide(config, "t", {}, () => own),
        Approval.needsApproval({ reason: "ours", description: "d", expiresIn: 60_000, approvers: ["ada"] })
      )
      assert.deepStrictEqual(
        yield* decide({ combine: "tighten", tools: { ...config } as ApprovalConfig.Tools }, "t", {}, () => own),
        Approval.needsApproval({ reason: "ours theirs", description: "d", expiresIn: 5, approvers: ["ada"] })
      )
      assert.deepStrictEqual(yield* decide(config, "t"), Approval.preApproved())
      assert.deepStrictEqual(yield* decide(config, "t", {}, () => Approval.blocked("no")), Approval.blocked("no"))
    }))
})

// =============================================================================
// Combining with the tool
// =============================================================================

const gates: Record<string, Tool.NeedsApproval<typeof Params> | undefined> = {
  "no gate": undefined,
  "false": false,
  "true": true,
  "a question": () => ({ reason: "own", approvers: ["ada"] }),
  "pre-approved": () => Approval.preApproved("own"),
  "blocked": () => Approval.blocked("own"),
  "fails": () => Effect.fail("secret"),
  "dies": () => Effect.die("secret"),
  "says nothing of use": (() => "yes") as never
}

const rank = { PreApproved: 0, NeedsApproval: 1, Blocked: 2 }

describe("override and tighten", () => {
  it.effect.prop(
    "under override the configuration's word is the last",
    {
      gate: Schema.Literals(Object.keys(gates)),
      value: Schema.Literals(["required", "none", "deny", "once_per_session"])
    },
    ({ gate, value }) =>
      Effect.map(decide({ t: value }, "t", {}, gates[gate]), (result) => assert.strictEqual(word(result), value))
  )

  it.effect.prop(
    "L1 under tighten no call runs that the configuration or the tool forbids, and a gate that fails never lets it run",
    {
      gate: Schema.Literals(Object.keys(gates)),
      value: Schema.Literals(["required", "none", "deny", "once_per_session", "default"]),
      rule: Schema.Literals(["required", "none", "deny", "once_per_session", "default"]),
      path: Schema.Literals(["src/a", "src/../a", "b"])
    },
    ({ gate, path, rule, value }) =>
      Effect.gen(function*() {
        const tools: ApprovalConfig.Tools = { t: { approval: value, rules: [{ path: "src/**", approval: rule }] } }
        const result = yield* Effect.result(decide({ combine: "tighten", tools }, "t", { path }, gates[gate]))
        const config = yield* Effect.result(decide({ tools }, "t", { path }, gates[gate]))
        const own = yield* Effect.result(decide({}, "t", { path }, gates[gate]))
        if (result._tag === "Failure") {
          // Only a gate that fails, and only where nothing forbids the call.
          assert.strictEqual(own._tag, "Failure")
          return
        }
        if (own._tag === "Failure") assert.strictEqual(result.success._tag, "Blocked")
        for (const part of [config, own]) {
          if (part._tag === "Success") assert.isAtLeast(rank[result.success._tag], rank[part.success._tag])
        }
      })
  )

  it.effect("under tighten what both say of the question is merged", () =>
    Effect.gen(function*() {
      const gate: Tool.NeedsApproval<typeof Params> = () =>
        Approval.needsApproval({
          reason: "theirs",
          expiresIn: 5,
          approvers: ["bob", "eve"],
          editable: true,
          presentation: new Approval.ApprovalPresentation({ type: "text", content: "x" })
        })
      const result = yield* decide(
        {
          combine: "tighten",
          tools: {
            t: { approval: "required", reason: "ours", expires_in: 10, approvers: ["ada", "bob"], editable: false }
          }
        },
        "t",
        {},
        gate
      )
      assert.deepStrictEqual(
        result,
        Approval.needsApproval({
          reason: "ours theirs",
          expiresIn: 5,
          approvers: ["bob"],
          editable: false,
          presentation: new Approval.ApprovalPresentation({ type: "text", content: "x" })
        })
      )
      const nobody = yield* decide(
        { combine: "tighten", tools: { t: { approval: "required", approvers: ["eva"] } } },
        "t",
        {},
        gate
      )
      assert.strictEqual(nobody._tag, "Blocked")
    }))
})
