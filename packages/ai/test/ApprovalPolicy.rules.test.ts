/**
 * Which rule of a configuration decides: names, globs, and the parameters that rules speak of.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Approval, type ApprovalConfig, ApprovalMatcher, ApprovalPolicy, Tool } from "../src/index.ts"
import { decide, decides, files, needs, word } from "./configured.ts"

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
        Approval.needsApproval({ reason: "one two", description: "d", approvers: [["ada", "bob"], ["bob", "eve"]] })
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

describe("rules of parameters that the tool does not have", () => {
  const decideOf = (config: ApprovalConfig.Input, tool: Tool.Any, params: Schema.Json, toolName?: string) =>
    Effect.gen(function*() {
      const policy = yield* ApprovalPolicy.fromConfig(config)
      const call = yield* ApprovalPolicy.makeCall(tool, params, { toolName })
      return word(yield* ApprovalPolicy.decide(policy, call, "1 second"))
    })
  const Write = Tool.make("write_file", {
    parameters: { file: Schema.String, mode: Schema.optionalKey(Schema.String) }
  })
  const secret = { path: "secret/**", approval: "deny" } as const

  it.effect("a rule that forbids or asks counts for every call of the tool that it names", () =>
    Effect.gen(function*() {
      const params = { file: "secret/a" }
      const denied = { write_file: { rules: [secret], approval: "none" } } as const
      assert.strictEqual(yield* decideOf(denied, Write, params), "deny")
      const asked = {
        write_file: { rules: [{ exact: { path: "a" }, approval: "required" }], approval: "none" }
      } as const
      assert.strictEqual(yield* decideOf(asked, Write, params), "required")
      const once = { write_file: { rules: [{ ...secret, approval: "once_per_session" }], approval: "none" } } as const
      assert.strictEqual(yield* decideOf(once, Write, params), "once_per_session")
    }))

  it.effect("one that lets run never does", () =>
    Effect.gen(function*() {
      const config = { write_file: { rules: [{ ...secret, approval: "none" }], approval: "required" } } as const
      assert.strictEqual(yield* decideOf(config, Write, { file: "secret/a" }), "required")
    }))

  it.effect("what a tool makes of a parameter that is left out nobody can tell: a rule about it can only make it stricter", () =>
    Effect.gen(function*() {
      const about = (approval: ApprovalConfig.Value, otherwise: ApprovalConfig.Value) => ({
        write_file: { rules: [{ ...secret, param: "mode", approval }], approval: otherwise }
      })
      assert.strictEqual(yield* decideOf(about("deny", "none"), Write, { file: "a" }), "deny")
      assert.strictEqual(yield* decideOf(about("required", "none"), Write, { file: "a" }), "required")
      assert.strictEqual(yield* decideOf(about("none", "required"), Write, { file: "a" }), "required")
      assert.strictEqual(yield* decideOf(about("deny", "none"), Write, { file: "a", mode: "b" }), "none")
    }))

  it.effect("so it is under a glob: what is misspelt there loosens nothing", () =>
    Effect.gen(function*() {
      const misspelt = { path: "secret/**", param: "fil", approval: "deny" } as const
      for (const approval of ["deny", "required", "once_per_session"] as const) {
        const rules = { rules: [{ ...misspelt, approval }], approval: "none" } as const
        for (const name of ["*", "write_*", "write_file"]) {
          assert.strictEqual(yield* decideOf({ [name]: rules }, Write, { file: "secret/a" }), approval, name)
        }
      }
      const allowed = { rules: [{ ...misspelt, approval: "none" }], approval: "required" } as const
      assert.strictEqual(yield* decideOf({ "write_*": allowed }, Write, { file: "secret/a" }), "required")
      const beside = {
        rules: [misspelt, { path: "**", param: "file", approval: "none" }],
        approval: "required"
      } as const
      assert.strictEqual(yield* decideOf({ "write_*": beside }, Write, { file: "a" }), "deny")
    }))

  it.effect("a glob may stand for tools that take nothing, and what a tool takes may not be known", () =>
    Effect.gen(function*() {
      const rules = { rules: [secret], approval: "none" } as const
      assert.strictEqual(yield* decideOf({ "*": rules }, Tool.make("get_time"), {}), "none")
      assert.strictEqual(yield* decideOf({ get_time: rules }, Tool.make("get_time"), {}), "deny")
      const Any = Tool.dynamic("any", { parameters: { type: "object" } })
      assert.strictEqual(yield* decideOf({ any: rules }, Any, { file: "secret/a" }), "none")
      assert.strictEqual(yield* decideOf({ "mcp.disk.write": rules }, Write, { file: "a" }, "mcp.disk.write"), "none")
    }))
})

interface Rule {
  readonly path: string
  readonly approval: "default" | "once_per_session" | "required"
  readonly rememberable?: boolean
}

describe("what is asked once, beside what is asked every time", () => {
  const rule = { path: "secret/**", approval: "required" } as const
  const config = (...rules: ReadonlyArray<Rule>): ApprovalConfig.Input => ({
    t: { rules, approval: "once_per_session" }
  })
  const cases: Record<string, readonly [ApprovalConfig.Input, expected: boolean]> = {
    "two rules, of which one does not let it be remembered": [
      config({ ...rule, rememberable: true }, { path: "**", approval: "required" }),
      false
    ],
    "two that do": [config({ ...rule, rememberable: true }, { ...rule, path: "**", rememberable: true }), true],
    "one that does, beside one to ask once that does not": [
      config({ ...rule, rememberable: true }, { path: "**", approval: "once_per_session", rememberable: false }),
      false
    ],
    "one that leaves it to the tool, and lets it be remembered": [
      config({ path: "secret/**", approval: "default", rememberable: true }),
      true
    ],
    "two globs as long, of which one asks once": [{ "*t": "once_per_session", "t*": "required" }, false]
  }
  for (const [what, [input, expected]] of Object.entries(cases)) {
    it.effect(`${what}: ${expected ? "remembered" : "asked every time"}`, () =>
      Effect.gen(function*() {
        const result = needs(yield* decide(input, "t", { path: "secret/a" }, true))
        assert.strictEqual(result.rememberable, expected)
        if (!expected) assert.isUndefined(result.remember)
      }))
  }

  it.effect("once, and not to be remembered: nothing is proposed to be", () =>
    Effect.gen(function*() {
      const result = needs(yield* decide({ t: { approval: "once_per_session", rememberable: false } }, "t"))
      assert.deepStrictEqual([result.rememberable, result.remember], [false, undefined])
    }))
})
