/**
 * Two words about a call as one, and why in a person's language: `internal/policy/strictest.ts`, `internal/policy/trace.ts` and
 * `internal/policy/annotations.ts` by themselves (laws L1, L15).
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect } from "effect"
import { Approval, Tool } from "../src/index.ts"
import * as Annotations from "../src/internal/policy/annotations.ts"
import { ServerHints } from "../src/internal/policy/server.ts"
import { strictest } from "../src/internal/policy/strictest.ts"
import * as Trace from "../src/internal/policy/trace.ts"

const asks = (fields: ConstructorParameters<typeof Approval.NeedsApproval>[0] = {}) =>
  new Approval.NeedsApproval(fields)

describe("L1 the stricter of two words", () => {
  const [blocked, asked, allowed] = [Approval.blocked("no"), asks({ reason: "ask" }), Approval.preApproved("fine")]

  it("L1 is blocked before asked before let run, whichever comes first", () => {
    for (const [strict, loose] of [[blocked, asked], [blocked, allowed], [asked, allowed]] as const) {
      assert.strictEqual(strictest(strict, loose), strict)
      assert.strictEqual(strictest(loose, strict), strict)
    }
  })

  it("L1 of two that are the same both reasons are told, and one that both have once", () => {
    assert.deepStrictEqual(strictest(blocked, Approval.blocked("never")), Approval.blocked("no never"))
    assert.deepStrictEqual(strictest(blocked, Approval.blocked("no")), blocked)
    assert.deepStrictEqual(strictest(allowed, Approval.preApproved()), allowed)
    assert.deepStrictEqual(strictest(Approval.preApproved(), allowed), allowed)
    assert.deepStrictEqual(strictest(asked, asks({ reason: "too" })), asks({ reason: "ask too" }))
  })

  it("L1 of two that ask each field is the narrower one, and what one does not say is the other's", () => {
    const remember = { covers: { _tag: "Tool" as const } }
    const fields = { approvers: ["a", "b"], editable: true, expiresIn: 5_000, rememberable: true, remember }
    assert.deepStrictEqual(strictest(asks(fields), asks()), asks(fields))
    assert.deepStrictEqual(strictest(asks(), asks(fields)), asks(fields))
    assert.deepStrictEqual(
      strictest(asks(fields), asks({ approvers: ["b", "c"], editable: false, expiresIn: 9_000, remember })),
      asks({ approvers: [["a", "b"], ["b", "c"]], editable: false, expiresIn: 5_000, rememberable: true, remember })
    )
    assert.deepStrictEqual(
      strictest(asks(fields), asks({ remember: "session" })),
      asks({ approvers: ["a", "b"], editable: true, expiresIn: 5_000, rememberable: false })
    )
  })

  it("L1 L16 of two lists of approvers one of each is needed, and nobody may approve what a list without names asks for", () => {
    assert.deepStrictEqual(
      strictest(asks({ approvers: ["a", "b"] }), asks({ approvers: ["c", "d"] })),
      asks({ approvers: [["a", "b"], ["c", "d"]] })
    )
    assert.deepStrictEqual(
      strictest(asks({ approvers: [] }), asks({ approvers: ["a"] })),
      Approval.blocked("Nobody may approve it: its list of approvers is empty.")
    )
  })
})

describe("why, in words", () => {
  const step = (fields: Partial<Trace.Step>) =>
    new Trace.Step({ source: "config", says: "deny", why: "It says so.", decides: false, ...fields })

  const sentence = (result: Approval.ApprovalResult, ...steps: ReadonlyArray<Trace.Step>) =>
    Trace.toSentence(new Trace.Explanation({ toolName: "Act", result, steps }))

  it("says what becomes of the call, and its reason if there is one", () => {
    assert.strictEqual(sentence(Approval.preApproved()), "Act runs without asking.")
    assert.strictEqual(sentence(asks({ reason: "why" })), "Act is asked (\"why\").")
    assert.strictEqual(sentence(Approval.blocked("no")), "Act does not run, and nobody is asked (\"no\").")
  })

  it("marks the step that decides, and says where it stands as far as that is known", () => {
    assert.deepStrictEqual(
      sentence(
        Approval.preApproved(),
        step({ decides: true }),
        step({ at: "/tools/Act" }),
        step({ at: "/tools/Act", file: "a.yaml" }),
        step({ at: "/tools/Act", line: 3 }),
        step({ at: "/tools/Act", file: "a.yaml", line: 3 })
      ).split("\n").slice(1),
      [
        "  → The configuration says deny: It says so.",
        "  · /tools/Act says deny: It says so.",
        "  · /tools/Act (a.yaml) says deny: It says so.",
        "  · /tools/Act (line 3) says deny: It says so.",
        "  · /tools/Act (a.yaml:3) says deny: It says so."
      ]
    )
  })

  it("L15 is escaped and cut", () => {
    const words = sentence(Approval.preApproved(), step({ why: `a\u001b${"x".repeat(5_000)}` }))
    assert.notInclude(words, "\u001b")
    assert.isBelow(words.length, 1_000)
  })

  it("has a word for every result", () => {
    const results = [undefined, Approval.preApproved(), asks(), Approval.blocked("no")]
    assert.deepStrictEqual(results.map(Trace.wordOf), ["nothing", "none", "required", "deny"])
    assert.deepInclude(Trace.ownStep(asks(), true), {
      source: "tool",
      says: "required",
      why: "It is what the tool's own needsApproval says.",
      decides: true
    })
    assert.match(Trace.ownStep(asks(), false).why, /no needsApproval of its own/)
  })
})

describe("L1 what a tool is annotated with", () => {
  const decide = (
    rules: Annotations.AnnotationRules,
    hints?: ServerHints,
    toolName = "Act",
    annotate: (tool: Tool.Any) => Tool.Any = (tool) => tool
  ) => {
    const made = Tool.make(toolName)
    const tool = annotate(hints === undefined ? made : made.annotate(ServerHints, hints))
    return Effect.map(
      Annotations.decide(rules, tool, toolName, { gated: true, says: Effect.succeed(Approval.preApproved()) }),
      ({ result, steps }) => [result?._tag, ...steps().map(({ decides, says, why }) => `${decides} ${says} ${why}`)]
    )
  }

  it.effect("L1 every word is told, with who says it, and which one decides", () =>
    Effect.gen(function*() {
      const reads = { server: "github", readOnlyHint: true, openWorldHint: false }
      const rules = { readonly: "none", destructive: "required", openWorld: "deny" } as const
      assert.deepStrictEqual(yield* decide(rules), [
        "Blocked",
        "false required It may destroy something.",
        "true deny It reaches out to others."
      ])
      assert.deepStrictEqual(yield* decide({ ...rules, trust: ["github"] }, reads), [
        undefined,
        "true none It only reads, says the trusted server github."
      ])
      assert.deepStrictEqual(yield* decide(rules, reads), [
        "Blocked",
        "false none It only reads, says the server github.",
        "false required It may destroy something or may do so: the server github is not trusted.",
        "true deny It reaches out to others or may do so: the server github is not trusted."
      ])
      assert.deepStrictEqual(
        yield* decide({ readonly: "required", destructive: "required" }, { ...reads, destructiveHint: false }),
        [
          "NeedsApproval",
          "true required It only reads, says the server github.",
          "true required It may destroy something or may do so: the server github is not trusted.",
          "true none It is what the tool's own needsApproval says."
        ]
      )
    }))

  it.effect("L1 a tool that only adds is left to itself; where nothing else is said that decides", () =>
    Effect.gen(function*() {
      const adds = (tool: Tool.Any) =>
        ({ ...tool, annotations: Context.add(tool.annotations, Tool.Destructive, false) }) as Tool.Any
      assert.deepStrictEqual(yield* decide({}, undefined, "Act", adds), [
        undefined,
        "true default It only adds something."
      ])
      const both = { openWorld: "required", trust: ["github"] } as const
      assert.deepStrictEqual(
        yield* decide(both, { server: "github", destructiveHint: false }),
        [
          "NeedsApproval",
          "false default It only adds something, says the trusted server github.",
          "true required It reaches out to others, says the trusted server github."
        ].concat("true none It is what the tool's own needsApproval says.")
      )
    }))

  it.effect("L1 a tool is its server's by its name, only at the beginning of it", () =>
    Effect.gen(function*() {
      const [, ...named] = yield* decide({}, undefined, "mcp.github.read")
      assert.lengthOf(named, 3, "its server is not trusted: both words are told, and the tool's own")
      const [, ...inside] = yield* decide({}, undefined, "my_mcp.github.read")
      assert.lengthOf(inside, 2)
      const [, ...unfinished] = yield* decide({}, undefined, "mcp.github")
      assert.lengthOf(unfinished, 2)
    }))
})
