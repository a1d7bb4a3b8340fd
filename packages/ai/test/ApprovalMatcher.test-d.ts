import type { Effect, Layer, Schema } from "effect"
import { describe, expectTypeOf, it } from "vitest"
import * as ApprovalMatcher from "../src/ApprovalMatcher.ts"

type Matcher = ApprovalMatcher.ApprovalMatcher

describe("ApprovalMatcher", () => {
  it("covers says yes or no to anything, at once", () => {
    expectTypeOf<Matcher["covers"]>().toEqualTypeOf<(params: unknown) => boolean>()
    expectTypeOf(ApprovalMatcher.exact).toEqualTypeOf<(params: unknown) => Matcher>()
    expectTypeOf(ApprovalMatcher.tool).toEqualTypeOf<Matcher>()
  })

  it("what is made of an approved call is a function of its parameters", () => {
    const ways: ReadonlyArray<(approved: unknown) => Matcher> = [
      ApprovalMatcher.exact,
      () => ApprovalMatcher.tool,
      ApprovalMatcher.key((params) => params.path),
      ApprovalMatcher.key(({ path, mode }) => [path, mode], { name: "place" }),
      () => ApprovalMatcher.path(["src/**"], { param: "path" })
    ]
    void ways
    ApprovalMatcher.key((params) => expectTypeOf(params).toEqualTypeOf<{ readonly [name: string]: Schema.Json }>())
    // @ts-expect-error Nobody knows that the path is a text.
    ApprovalMatcher.key((params) => params.path.length)
  })

  it("options", () => {
    void ApprovalMatcher.path(["src/**"], { param: "path", others: ["content"], isLink: () => false })
    // @ts-expect-error Which parameter is the path cannot be guessed.
    void ApprovalMatcher.path(["src/**"], {})
    // @ts-expect-error Not an option: a misspelling does not go unseen.
    void ApprovalMatcher.path(["src/**"], { param: "path", islink: () => false })
    // @ts-expect-error A list of globs.
    void ApprovalMatcher.path("src/**", { param: "path" })
  })

  it("descriptions are JSON", () => {
    expectTypeOf<ApprovalMatcher.Description>().toExtend<Schema.Json>()
    expectTypeOf<typeof ApprovalMatcher.Description.Encoded>().toEqualTypeOf<ApprovalMatcher.Description>()
    expectTypeOf<ApprovalMatcher.Description["_tag"]>().toEqualTypeOf<"Exact" | "Tool" | "Key" | "Path" | "Shell">()
  })

  it("combinators", () => {
    const { tool } = ApprovalMatcher
    expectTypeOf(ApprovalMatcher.validate(tool)).toEqualTypeOf<
      Effect.Effect<Matcher, ApprovalMatcher.ApprovalMatcherError>
    >()
    expectTypeOf(ApprovalMatcher.layer({})).toEqualTypeOf<Layer.Layer<never>>()
    expectTypeOf(ApprovalMatcher.equals(tool)(tool)).toEqualTypeOf<boolean>()
    expectTypeOf(ApprovalMatcher.toSentence("Bash")(tool)).toEqualTypeOf<string>()
    expectTypeOf(ApprovalMatcher.toSentence(tool.description, "Bash")).toEqualTypeOf<string>()
    // @ts-expect-error A matcher is made by a constructor: this may say one thing and do another.
    const matcher: Matcher = { description: tool.description, problems: [], covers: () => true }
    void matcher
  })
})
