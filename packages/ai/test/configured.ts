/**
 * What tests of configurations share: what becomes of one call under a configuration, in the words of one.
 */
import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { type Approval, type ApprovalConfig, ApprovalPolicy, Tool } from "../src/index.ts"

export const makeTool = (name: string, needsApproval?: Tool.NeedsApproval<typeof Params>) =>
  Tool.make(name, { parameters: Params, success: Schema.String, needsApproval })

export const Params = Schema.Record(Schema.String, Schema.Json)

/** The result of a configuration for one call, with the tool's own word where it is left to it. */
export const decide = (
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

export const word = (result: Approval.ApprovalResult) =>
  result._tag === "PreApproved"
    ? "none"
    : result._tag === "Blocked"
    ? "deny"
    : result.remember === undefined
    ? "required"
    : "once_per_session"

export const decides = (
  config: ApprovalConfig.Input,
  name: string,
  params: { readonly [name: string]: Schema.Json },
  expected: ApprovalConfig.Value,
  message?: string
) => Effect.map(decide(config, name, params), (result) => assert.strictEqual(word(result), expected, message))

export const files: ApprovalConfig.Input = {
  write_file: {
    rules: [
      { path: "src/**", approval: "none" },
      { path: "src/generated/**", approval: "deny", reason: "it is generated" },
      { path: ["docs/*.md", "LICENSE"], approval: "once_per_session" }
    ],
    approval: "required"
  }
}

export const needs = (result: Approval.ApprovalResult) => {
  assert(result._tag === "NeedsApproval")
  return result
}
