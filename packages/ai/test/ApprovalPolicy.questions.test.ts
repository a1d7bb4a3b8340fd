/**
 * What a configuration says with a question: its fields, what is remembered of it, and beside `default`.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Approval, type ApprovalConfig, ApprovalMatcher } from "../src/index.ts"
import { decide, files, needs } from "./configured.ts"

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
        Approval.blocked("The configuration does not allow this call of t.")
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
      assert.deepInclude(
        yield* decide({ t: { self_approval: false } }, "t", {}, () => own),
        { _tag: "NeedsApproval", reason: "theirs", selfApproval: false }
      )
      assert.deepInclude(yield* decide({ t: { approval: "required", self_approval: false } }, "t"), {
        selfApproval: false
      })
      assert.deepStrictEqual(yield* decide(config, "t"), Approval.preApproved())
      assert.deepStrictEqual(yield* decide(config, "t", {}, () => Approval.blocked("no")), Approval.blocked("no"))
    }))
})
