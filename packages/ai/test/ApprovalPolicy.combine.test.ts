/**
 * A configuration and the tool's own word: `override` and `tighten`.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Approval, type ApprovalConfig, type Tool } from "../src/index.ts"
import { decide, type Params, word } from "./configured.ts"

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
          approvers: [["ada", "bob"], ["bob", "eve"]],
          editable: false,
          presentation: new Approval.ApprovalPresentation({ type: "text", content: "x" })
        })
      )
      const both = yield* decide(
        { combine: "tighten", tools: { t: { approval: "required", approvers: ["eva"] } } },
        "t",
        {},
        gate
      )
      assert.deepInclude(both, { approvers: [["bob", "eve"], ["eva"]], editable: true })
    }))
})
