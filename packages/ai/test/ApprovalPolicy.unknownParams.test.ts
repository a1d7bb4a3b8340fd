/**
 * What lint says of a parameter that a tool does not have is what becomes of its calls.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { type ApprovalConfig, ApprovalPolicy, Tool, Toolkit } from "../src/index.ts"
import { word } from "./configured.ts"

const tools = [
  Tool.make("write_file", { parameters: { path: Schema.String } }),
  Tool.make("move_file", { parameters: { from: Schema.String, to: Schema.String } }),
  Tool.make("get_file")
]

const written: ReadonlyArray<ApprovalConfig.Value> = ["none", "default", "once_per_session", "required", "deny"]

describe("a rule about a parameter that a tool does not have", () => {
  for (const name of ["*", "*_file", "write_file", "move_file", "get_file"]) {
    for (const approval of written) {
      it.effect(`${approval}, under ${name}: lint says what the engine does`, () =>
        Effect.gen(function*() {
          const rule = { path: "secret/**", param: "pth", approval, reason: "by the rule" } as const
          const config: ApprovalConfig.Input = { [name]: { approval: "none", rules: [rule] } }
          const findings = yield* ApprovalPolicy.lint(config, Toolkit.make(...tools))
          const policy = yield* ApprovalPolicy.fromConfig(config)
          for (const tool of tools) {
            const params = tool.name === "write_file"
              ? { path: "a" }
              : tool.name === "move_file"
              ? { from: "a", to: "b" }
              : {}
            const call = yield* ApprovalPolicy.makeCall(tool, params)
            const { steps } = yield* Effect.provideService(
              ApprovalPolicy.explain(call),
              ApprovalPolicy.ApprovalPolicy,
              policy
            )
            const said = findings.filter(({ kind, message }) =>
              kind === "unknown-param" && message.startsWith(`${tool.name} `)
            )
            const stands = name === tool.name || name.includes("*")
            // A glob may stand for tools that take nothing.
            assert.lengthOf(said, stands && !(name.includes("*") && tool.name === "get_file") ? 1 : 0)
            const counts = steps.some(({ at }) => at?.includes("rules[0]"))
            assert.strictEqual(said.some(({ message }) => message.includes("applies to all of them")), counts)
            if (counts && approval === "deny") {
              assert.strictEqual(word(yield* ApprovalPolicy.decide(policy, call, "1 second")), "deny")
            }
          }
        }))
    }
  }
})
