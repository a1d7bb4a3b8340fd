/**
 * Rules are found by an index, and read what they are about once: that changes no decision.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Approval, ApprovalConfig, type ApprovalMatcher } from "../../src/index.ts"
import * as LooseGlobs from "../../src/internal/matcher/looseGlobs.ts"
import * as PathIndex from "../../src/internal/matcher/pathIndex.ts"
import * as Reading from "../../src/internal/matcher/reading.ts"
import * as Rules from "../../src/internal/policy/rules.ts"
import { strictest } from "../../src/internal/policy/strictest.ts"

const own = { gated: false, says: Effect.succeed(Approval.preApproved()) }

const Value = Schema.Literals(["none", "default", "once_per_session", "required", "deny"])

const Glob = Schema.Literals([
  "src/**",
  "SRC/a/**",
  "src/a/*.ts",
  "src/{a,b}/**",
  "{src,/srv}/*",
  "**",
  "**/*.ts",
  "**/.env",
  "*",
  "*/b",
  "src/[ab]/*",
  "[s]rc/a",
  "/srv/**",
  "/srv/a",
  "/**",
  "{a/b,c}/[d]",
  "{a,[b]}/c",
  "src/a/b/c/d.ts",
  "caf\u00e9/*",
  "CAF\u00c9/a",
  "stra\u00dfe/**",
  "\uff53rc/*",
  "\u0391\u03a3/*",
  "src/(a)/*",
  ".git/**",
  ".*/**",
  "src/.env"
])

const Path = Schema.Literals([
  "src/a",
  "src/a/x.ts",
  "src/a/X.TS",
  "Src/B/y",
  "src",
  "src/a/b/c/d.ts",
  "src/a/b",
  "/srv/a",
  "/src/a",
  "/SRV/a/b",
  "a/b/d",
  "a/b/[d]",
  "c/d",
  "b/c",
  ".env",
  "src/.env",
  "src/[a]/x.ts",
  "[src]/a",
  "src/../a",
  "src\\a",
  "caf\u00e9/a",
  "CAF\u00c9/A",
  "STRASSE/a",
  "strasse/a",
  "stra\u00dfe/a",
  "\uff53rc/a",
  "\u03b1\u03c2/a",
  "\u0391\u03a3/\u0391\u03a3",
  "src/(a)/b",
  ".git/config",
  ".GIT/config",
  ""
])

const Rule = Schema.Struct({
  globs: Schema.NonEmptyArray(Glob),
  approval: Value,
  param: Schema.Literals(["path", "path", "path", "to"]),
  others: Schema.Literals(["any", "none", "content"]),
  reason: Schema.Literals(["", "", "x", "y"]),
  approvers: Schema.Literals(["", "", "", "ada", "bob"])
})

const Params = Schema.Union([
  Schema.Struct({ path: Path, content: Schema.optionalKey(Schema.String) }),
  Schema.Struct({ path: Path, to: Path }),
  Schema.Struct({ path: Schema.Array(Path) }),
  Schema.Struct({ to: Path }),
  Schema.Struct({ path: Schema.Null })
])

const configOf = (
  rules: ReadonlyArray<typeof Rule.Type>,
  approval: ApprovalConfig.Value,
  name: string
): ApprovalConfig.Input => ({
  [name]: {
    approval,
    rules: rules.map(({ approvers, globs, others, reason, ...rule }): ApprovalConfig.RuleInput => ({
      path: globs,
      approval: rule.approval,
      param: rule.param,
      ...(others === "any" ? {} : { others: others === "none" ? [] : [others] }),
      ...(reason === "" ? {} : { reason }),
      ...(approvers === "" || rule.approval === "none" ? {} : { approvers: [approvers] })
    }))
  }
})

const decideBoth = Effect.fnUntraced(function*(
  config: ApprovalConfig.Input,
  params: Schema.Json,
  behaviors: ApprovalMatcher.Behaviors,
  known: ReadonlyArray<string> | undefined
) {
  const read = yield* ApprovalConfig.make(config)
  const [indexed, plain] = [true, false].map((indexed) => Rules.make(read, behaviors, { indexed }))
  const decide = (rules: Rules.Rules) =>
    Effect.map(Rules.decide(rules, "t", params, own, known), ({ result, steps }) => ({ result, steps: steps() }))
  return [yield* decide(indexed!), yield* decide(plain!)] as const
})

describe("with an index and without", () => {
  it.effect.prop(
    "the same is decided, for the same reasons",
    {
      rules: Schema.Array(Rule).check(Schema.isMinLength(1), Schema.isMaxLength(12)),
      approval: Value,
      name: Schema.Literals(["t", "*"]),
      params: Params,
      link: Schema.Literals(["none", "none", "src", "/srv", "throws"]),
      known: Schema.Literals(["any", "any", "path", "to", "nothing"])
    },
    ({ approval, known, link, name, params, rules }) =>
      Effect.gen(function*() {
        const isLink = (path: string) => {
          if (link === "throws") throw new Error("EACCES")
          return path === link
        }
        const [indexed, plain] = yield* decideBoth(
          configOf(rules, approval, name),
          params,
          link === "none" ? {} : { isLink },
          known === "any" ? undefined : known === "nothing" ? [] : [known, "content"]
        )
        assert.deepStrictEqual(indexed, plain)
      }),
    { arbitrary: { runs: 60, seed: "index" } }
  )

  it.prop(
    "no glob is left out that may match",
    [Schema.Array(Glob).check(Schema.isMinLength(1), Schema.isMaxLength(10)), Path],
    ([globs, text]) => {
      const path = Reading.read(text)
      const index = PathIndex.make(globs.map((glob, place) => ({ place, globs: [glob], may: true })))
      const found = index.candidates(path)
      for (const [place, glob] of globs.entries()) {
        if (LooseGlobs.make(glob).some((loose) => LooseGlobs.mayMatch(loose, path))) {
          assert.isTrue(found === undefined || found.has(place), `${glob} ${text}`)
        }
      }
    },
    { arbitrary: { runs: 3_000, seed: "candidates" } }
  )

  it("a glob of which nobody can tell whether it is absolute is looked at for both", () => {
    const index = PathIndex.make([{ place: 0, globs: ["{a,[{]}/c"], may: false }])
    for (const path of ["a/c", "/a/c"]) {
      assert.deepStrictEqual([...index.candidates(Reading.read(path)) ?? []], [0], path)
    }
  })

  it("of many rules, few are looked at", () => {
    const index = PathIndex.make(
      Array.from(
        { length: 200 },
        (_, place) => ({ place, globs: [`src/folder${place}/**`, `**/*.x${place}`], may: true })
      )
    )
    assert.deepStrictEqual([...index.candidates(Reading.read("src/folder7/a.ts")) ?? []], [7])
    assert.deepStrictEqual([...index.candidates(Reading.read("lib/a.x150")) ?? []], [150])
  })
})

it.prop(
  "what many rules say together is the strictest of them, one after the other",
  [
    Schema.Array(Schema.Struct({
      approval: Value,
      reason: Schema.optionalKey(Schema.Literals(["x", "y"])),
      approvers: Schema.optionalKey(Schema.Array(Schema.Literals(["ada", "bob"])).check(Schema.isMinLength(1))),
      expiresIn: Schema.optionalKey(Schema.Literals([1, 2])),
      rememberable: Schema.optionalKey(Schema.Boolean),
      glob: Schema.Literals(["a", "b"])
    })).check(Schema.isMaxLength(6))
  ],
  ([said]) => {
    const words = said.map(({ glob, ...fields }) => {
      const match = { _tag: "Path", globs: [glob], param: "path" } as const
      const rule = new ApprovalConfig.Rule({ at: "", match, ...fields })
      return { rule, said: Rules.saidBy(rule, match) }
    })
    const results = words.flatMap(({ rule }) =>
      rule.approval === "default" ? [] : [Rules.resultOf(rule, rule.match, "t")]
    )
    const [first, ...others] = results
    assert.deepStrictEqual(
      Rules.saidTogether(words, "t"),
      first === undefined ? undefined : others.reduce((self, that) => strictest(self, that), first)
    )
  },
  { arbitrary: { runs: 3_000, seed: "together" } }
)

describe("what rules are about is read once", () => {
  it.effect("links are asked about once for each step of a path, and again for the next call", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const isLink = (path: string) => {
        asked.push(path)
        return false
      }
      const read = yield* ApprovalConfig.make({
        t: {
          approval: "required",
          rules: Array.from({ length: 20 }, (_, index) => ({
            path: "src/**",
            approval: index % 2 === 0 ? "none" : "deny"
          } as const))
        }
      })
      const rules = Rules.make(read, { isLink })
      yield* Rules.decide(rules, "t", { path: "src/a" }, own)
      assert.deepStrictEqual(asked, ["src", "src/a"])
      yield* Rules.decide(rules, "t", { path: "src/a" }, own)
      assert.lengthOf(asked, 4)
    }))
})
