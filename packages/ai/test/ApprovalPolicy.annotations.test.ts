/**
 * Policies of annotations, and of the hints of MCP servers: who says of itself that it only reads loosens nothing,
 * unless it is the program's own tool, or of a server that is trusted by name.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Approval, ApprovalPolicy, Tool } from "../src/index.ts"

const result = (
  rules: ApprovalPolicy.AnnotationRules | undefined,
  tool: Tool.Any,
  toolName?: string
) =>
  Effect.gen(function*() {
    const call = yield* ApprovalPolicy.makeCall(tool, {}, { toolName })
    return yield* ApprovalPolicy.decide(ApprovalPolicy.fromAnnotations(rules), call, "1 second")
  })

const becomes = (rules: ApprovalPolicy.AnnotationRules | undefined, tool: Tool.Any, toolName?: string) =>
  Effect.map(result(rules, tool, toolName), ({ _tag }) => _tag)

const Plain = Tool.make("plain")
const Reads = Tool.make("reads").annotate(Tool.Readonly, true).annotate(Tool.OpenWorld, false)
const Adds = Tool.make("adds").annotate(Tool.Destructive, false)
const Destroys = Tool.make("destroys").annotate(Tool.Destructive, true)

describe("fromAnnotations", () => {
  const table: ReadonlyArray<
    readonly [string, ApprovalPolicy.AnnotationRules | undefined, Tool.Any, Approval.ApprovalResult["_tag"]]
  > = [
    ["asks about what may destroy something", undefined, Destroys, "NeedsApproval"],
    ["a tool that says nothing may", undefined, Plain, "NeedsApproval"],
    ["leaves what only reads to the tool", undefined, Reads, "PreApproved"],
    ["leaves what only adds to the tool", undefined, Adds, "PreApproved"],
    ["asks about what only adds, if it is said", { additive: "required" }, Adds, "NeedsApproval"],
    ["asks about everything but reading", { additive: "required" }, Reads, "PreApproved"],
    ["forbids what may destroy something", { destructive: "deny" }, Plain, "Blocked"],
    ["asks about what reaches out", { openWorld: "required" }, Adds, "NeedsApproval"],
    ["the stricter of two words decides", { openWorld: "deny" }, Destroys, "Blocked"],
    ["the stricter of two words decides, the other way", { destructive: "deny", openWorld: "none" }, Plain, "Blocked"],
    ["what stays inside does not reach out", { openWorld: "deny", readonly: "none" }, Reads, "PreApproved"],
    [
      "reading is reading, also where it says that it destroys",
      undefined,
      Reads.annotate(Tool.Destructive, true),
      "PreApproved"
    ],
    ["loosens no gate", { readonly: "none" }, Tool.setNeedsApproval(Reads, true), "NeedsApproval"],
    ["loosens no gate that blocks", undefined, Tool.setNeedsApproval(Plain, () => Approval.blocked("no")), "Blocked"],
    [
      "overrides a gate if it is said",
      { readonly: "none", combine: "override" },
      Tool.setNeedsApproval(Reads, true),
      "PreApproved"
    ]
  ]
  for (const [title, rules, tool, expected] of table) {
    it.effect(title, () => Effect.map(becomes(rules, tool), (tag) => assert.strictEqual(tag, expected)))
  }

  it.effect("once_per_session is remembered for the tool", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(
        yield* result({ destructive: "once_per_session" }, Plain),
        Approval.needsApproval({ remember: { covers: { _tag: "Tool" } } })
      )
    }))

  it.effect("L1 a gate that fails is asked, whatever the annotations say", () =>
    Effect.gen(function*() {
      const failing = Tool.setNeedsApproval(Reads, () => Effect.fail("secret"))
      const exit = yield* Effect.exit(result({ readonly: "none" }, failing))
      assert.strictEqual(exit._tag, "Failure")
    }))
})

describe("hints of MCP servers", () => {
  const hinted = (hints: Omit<ApprovalPolicy.ServerHints, "server">) =>
    Plain.annotate(ApprovalPolicy.ServerHints, { server: "github", ...hints })

  const table: ReadonlyArray<
    readonly [string, ApprovalPolicy.AnnotationRules, Tool.Any, Approval.ApprovalResult["_tag"]]
  > = [
    [
      "a server that is not trusted does not say that it only reads",
      {},
      hinted({ readOnlyHint: true }),
      "NeedsApproval"
    ],
    ["one that is trusted does", { trust: ["github"] }, hinted({ readOnlyHint: true }), "PreApproved"],
    ["trust is by name", { trust: ["git", "github2", "GitHub"] }, hinted({ readOnlyHint: true }), "NeedsApproval"],
    [
      "a server that is not trusted does not say that it only adds",
      {},
      hinted({ destructiveHint: false }),
      "NeedsApproval"
    ],
    ["one that is trusted does, of adding", { trust: ["github"] }, hinted({ destructiveHint: false }), "PreApproved"],
    ["without hints it may destroy something", { trust: ["github"] }, hinted({}), "NeedsApproval"],
    [
      "hints that tighten count without trust",
      { destructive: "none", readonly: "deny", combine: "override" },
      hinted({
        readOnlyHint: true
      }),
      "Blocked"
    ],
    [
      "who is not trusted is what is said of those that say nothing",
      { destructive: "deny", readonly: "none" },
      hinted({
        readOnlyHint: true
      }),
      "Blocked"
    ]
  ]
  for (const [title, rules, tool, expected] of table) {
    it.effect(title, () => Effect.map(becomes(rules, tool), (tag) => assert.strictEqual(tag, expected)))
  }

  it.effect("a name such as mcp.github.list is of that server, and its annotations are the server's", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* becomes({}, Reads, "mcp.github.list"), "NeedsApproval")
      assert.strictEqual(yield* becomes({ trust: ["github"] }, Reads, "mcp.github.list"), "PreApproved")
      assert.strictEqual(yield* becomes({ trust: ["hub"] }, Reads, "mcp.github.list"), "NeedsApproval")
    }))

  const Value = Schema.Literals(["required", "none", "deny", "once_per_session", "default"])
  const rank = { PreApproved: 0, NeedsApproval: 1, Blocked: 2 }
  it.effect.prop(
    "nothing that a server says makes it looser than saying nothing, unless it is trusted by name",
    {
      rules: Schema.Struct({ destructive: Value, additive: Value, readonly: Value, openWorld: Value }),
      combine: Schema.Literals(["override", "tighten"]),
      hints: Schema.Struct({
        readOnlyHint: Schema.optionalKey(Schema.Boolean),
        destructiveHint: Schema.optionalKey(Schema.Boolean),
        openWorldHint: Schema.optionalKey(Schema.Boolean)
      }),
      gate: Schema.UndefinedOr(Schema.Boolean)
    },
    ({ combine, gate, hints, rules }) =>
      Effect.gen(function*() {
        const tool = (said: typeof hints) => {
          const made = gate === undefined ? Plain : Tool.setNeedsApproval(Plain, gate)
          return made.annotate(ApprovalPolicy.ServerHints, { server: "github", ...said })
        }
        const said = yield* becomes({ ...rules, combine, trust: ["other"] }, tool(hints))
        const silent = yield* becomes({ ...rules, combine, trust: ["other"] }, tool({}))
        assert.isAtLeast(rank[said], rank[silent])
        // And under tighten nothing is looser than the tool itself.
        if (combine === "tighten") assert.isAtLeast(rank[said], gate === true ? 1 : 0)
      })
  )
})
