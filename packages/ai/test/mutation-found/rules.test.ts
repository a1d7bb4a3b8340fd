/** Rules of a configuration and matchers, in the corners that mutants of `policyRules.ts` and `ApprovalMatcher.ts` showed. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type ApprovalConfig, ApprovalMatcher, ApprovalPolicy } from "../../src/index.ts"
import { decide, makeTool, needs } from "../configured.ts"

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

describe("the trace of a decision", () => {
  it.effect("says of what a rule speaks, whether it decides, and what the tool says where it is left to it", () =>
    Effect.gen(function*() {
      const rules = [{ path: "secret/**", approval: "default", reason: "ours" }] as const
      const policy = yield* ApprovalPolicy.fromConfig({ t: { rules: [...rules], approval: "none" } })
      const call = yield* ApprovalPolicy.makeCall(makeTool("t", true), { path: "secret/a" })
      const { result, steps } = yield* Effect.provideService(
        ApprovalPolicy.explain(call),
        ApprovalPolicy.ApprovalPolicy,
        policy
      )
      assert.strictEqual(needs(result).reason, "ours")
      assert.deepStrictEqual(steps.map(({ decides, source }) => [source, decides]), [["config", true], ["tool", true]])
      assert.strictEqual(steps[0]?.why, "It speaks of any call of t whose path matches `secret/**`.")
    }))
})

describe("matchers", () => {
  const file = ApprovalMatcher.key((params) => params.path, { name: "file" })

  it("a key that there is has no problem, and its description no name that was not given", () => {
    assert.deepStrictEqual(file({ path: "a" }).problems, [])
    assert.deepStrictEqual(
      Object.keys(ApprovalMatcher.key((params) => params.path)({ path: "a" }).description).toSorted(),
      [
        "_tag",
        "value"
      ]
    )
  })

  it("made of no JSON, or of nothing, they are the same anew: they cover nothing, and say so", () => {
    for (const matcher of [ApprovalMatcher.exact({ a: 1n }), file({})]) {
      const anew = ApprovalMatcher.fromDescription(matcher.description, { keys: { file: (params) => params.path } })
      assert.lengthOf(anew.problems, 1)
      assert.deepStrictEqual([anew.covers({ a: 1 }), anew.mayCover({ path: "a" })], [false, true])
    }
  })

  it("a glob that covers nothing leaves the others as they are", () => {
    const matcher = ApprovalMatcher.path(["src/**", "../**"], { param: "path" })
    assert.lengthOf(matcher.problems, 1)
    assert.deepStrictEqual(
      ["src/a", "../a", "a"].map((path) => matcher.covers({ path })),
      [true, false, false]
    )
    assert.isTrue(matcher.mayCover({ path: "a" }), "nobody knows what it was meant to cover")
  })

  it("of a kind of one's own without mayCover, every text may be covered", () => {
    const matcher = ApprovalMatcher.makeParam({
      description: { _tag: "Shell", allowed: [], param: "command" },
      defaultOthers: [],
      covers: () => false
    })
    assert.deepStrictEqual([matcher.problems, matcher.mayCover({ command: "ls" })], [[], true])
  })
})
