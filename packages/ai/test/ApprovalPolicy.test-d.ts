import { type Context, Effect, type FileSystem, type Layer, pipe, Schema } from "effect"
import { describe, expectTypeOf, it } from "vitest"
import * as ApprovalConfig from "../src/ApprovalConfig.ts"
import * as ApprovalPolicy from "../src/ApprovalPolicy.ts"
import * as Tool from "../src/Tool.ts"

describe("configurations", () => {
  it("are objects of known words", () => {
    expectTypeOf(ApprovalPolicy.layerConfig({ a: "deny", b: { approval: "required" }, c: {} })).toEqualTypeOf<
      Layer.Layer<never, ApprovalConfig.ApprovalConfigError>
    >()
    expectTypeOf(ApprovalPolicy.fromConfig({ combine: "tighten", tools: { a: "none" } })).toEqualTypeOf<
      Effect.Effect<ApprovalPolicy.Service, ApprovalConfig.ApprovalConfigError>
    >()
    // @ts-expect-error: no such word
    ApprovalPolicy.layerConfig({ tools: { a: "requird" } })
    // @ts-expect-error: no such field
    ApprovalPolicy.layerConfig({ tools: { a: { aproval: "deny" } } })
  })

  it("of a file need one, and fail as it does", () => {
    expectTypeOf(ApprovalPolicy.layerConfig(ApprovalConfig.fromFile("approval.yaml"))).toEqualTypeOf<
      Layer.Layer<never, ApprovalConfig.ApprovalConfigError, FileSystem.FileSystem>
    >()
  })
})

describe("combinators", () => {
  it("take policies in both orders", () => {
    const policy = ApprovalPolicy.fromAnnotations()
    expectTypeOf(pipe(policy, ApprovalPolicy.orElse(policy))).toEqualTypeOf<ApprovalPolicy.Service>()
    expectTypeOf(ApprovalPolicy.tighten(policy, policy)).toEqualTypeOf<ApprovalPolicy.Service>()
    expectTypeOf(pipe(policy, ApprovalPolicy.when((call) => call.toolName === "a"))).toEqualTypeOf<
      ApprovalPolicy.Service
    >()
  })
})

describe("questions", () => {
  it("may be what a gate returns", () => {
    const parameters = { path: Schema.String }
    Tool.make("a", { parameters, needsApproval: ({ path }) => path === "" ? false : { description: path } })
    Tool.make("a", { parameters, needsApproval: ({ path }) => Effect.succeed({ reason: path }) })
    // @ts-expect-error: not a question
    Tool.make("a", { parameters, needsApproval: () => ({ approved: true }) })
    // @ts-expect-error: a text is no question
    Tool.make("a", { parameters, needsApproval: () => "yes" })
    // @ts-expect-error: nothing is no answer
    Tool.make("a", { parameters, needsApproval: () => {} })
    // @ts-expect-error: an effect of a text is no question
    Tool.make("a", { parameters, needsApproval: () => Effect.succeed("yes") })
    Tool.make("a", { parameters, needsApproval: async ({ path }) => ({ description: path }) })
    // @ts-expect-error: a promise of a text is no question
    Tool.make("a", { parameters, needsApproval: () => Promise.resolve("yes") })
  })

  it("are annotations of tools", () => {
    expectTypeOf(ApprovalPolicy.ServerHints).toExtend<Context.Key<never, ApprovalPolicy.ServerHints | undefined>>()
  })
})
