import { ApprovalMatcher as Engine } from "@assent/ai"
import { ApprovalMatcher, Shell } from "@assent/shell"
import type { Layer } from "effect"
import { describe, expectTypeOf, it } from "vitest"

describe("ApprovalMatcher", () => {
  it("is the engine's, with shell", () => {
    expectTypeOf<ApprovalMatcher.ApprovalMatcher>().toEqualTypeOf<Engine.ApprovalMatcher>()
    expectTypeOf<ApprovalMatcher.Description>().toEqualTypeOf<Engine.Description>()
    expectTypeOf(ApprovalMatcher.exact).toEqualTypeOf(Engine.exact)
    expectTypeOf(ApprovalMatcher.shell).returns.toEqualTypeOf<Engine.ApprovalMatcher>()
    expectTypeOf(ApprovalMatcher.layer).returns.toEqualTypeOf<Layer.Layer<never>>()
  })

  it("names the parameter", () => {
    void ApprovalMatcher.shell(["git *"], { param: "command" })
    void ApprovalMatcher.shell(["git *"], { param: "command", others: ["timeout"] })
    void ApprovalMatcher.shell(["git *"], { param: "command", others: "any" })
    void ApprovalMatcher.shell(["git *"], { param: "command", trust: ["git"], folder: "/srv/app" })
    void ApprovalMatcher.layer({ folder: "/srv/app", keys: {} })
    // @ts-expect-error Programs by their names: not everything at once.
    void ApprovalMatcher.shell(["git *"], { param: "command", trust: true })
    // @ts-expect-error Which parameter is the command line cannot be guessed.
    void ApprovalMatcher.shell(["git *"], {})
    // @ts-expect-error A list of patterns.
    void ApprovalMatcher.shell("git *", { param: "command" })
    // @ts-expect-error Not an option: a misspelling does not go unseen.
    void ApprovalMatcher.shell(["git *"], { param: "command", other: "any" })
  })

  it("says why, and what to offer", () => {
    expectTypeOf(Shell.explain("git", ["git *"]).refusals[0]!).toEqualTypeOf<Shell.Refusal>()
    expectTypeOf(Shell.suggestPatterns("git")).toEqualTypeOf<Shell.SuggestedPatterns | undefined>()
  })

  it("stands where the engine takes it", () => {
    const behaviors: Engine.Behaviors = { shell: ApprovalMatcher.shell }
    void Engine.fromDescription({ _tag: "Shell", allowed: ["git *"], param: "command" }, behaviors)
  })
})
