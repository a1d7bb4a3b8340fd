import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ApprovalMatcher from "../src/ApprovalMatcher.ts"

const { exact, key, path, tool } = ApprovalMatcher

/** What is no set of parameters, or cannot be read as one. */
const strange: ReadonlyArray<readonly [what: string, params: unknown]> = [
  ["undefined", undefined],
  ["a function", () => ({ path: "src/a.ts" })],
  ["a symbol", Symbol("a")],
  ["a number that is none", NaN],
  ["a bigint", 1n],
  [
    "an instance",
    new (class {
      path = "src/a.ts"
    })()
  ],
  ["inherited parameters", Object.create({ path: "src/a.ts" })],
  ["a Map", new Map([["path", "src/a.ts"]])],
  ["a getter that throws", {
    get path(): string {
      throw new Error("no")
    }
  }],
  [
    "a Proxy that throws",
    new Proxy({ path: "src/a.ts" }, {
      ownKeys: () => {
        throw new Error("no")
      }
    })
  ],
  [
    "a revoked Proxy",
    (() => {
      const { proxy, revoke } = Proxy.revocable({}, {})
      revoke()
      return proxy
    })()
  ],
  ["half a character", { path: "\ud800" }],
  ["a huge text", { path: "a".repeat(3_000_000) }],
  [
    "what contains itself",
    (() => {
      const a: Record<string, unknown> = {}
      a["a"] = a
      return a
    })()
  ]
]

const matchers: ReadonlyArray<readonly [what: string, matcher: ApprovalMatcher.ApprovalMatcher]> = [
  ["exact", exact({ path: "src/a.ts" })],
  ["tool", tool],
  ["key", key((params) => params.path)({ path: "src/a.ts" })],
  ["path", path(["**"], { param: "path" })]
]

describe("whatever the parameters are, the answer is no and not an error", () => {
  it.each(
    matchers.flatMap(([kind, matcher]) => strange.map(([what, params]) => [kind, what, matcher, params] as const))
  )(
    "%s: %s",
    (_kind, _what, matcher, params) => {
      assert.isFalse(matcher.covers(params))
    }
  )

  it.each(matchers.filter(([kind]) => kind !== "tool"))("%s: no parameters are not any parameters", (_, matcher) => {
    for (const params of [{}, null, [], "src/a.ts", 0, { path: undefined }, { Path: "src/a.ts" }, ["src/a.ts"]]) {
      assert.isFalse(matcher.covers(params))
    }
  })

  it.prop("any JSON and anything else gets an answer", [Schema.Json, Schema.Unknown], ([json, value]) => {
    for (const [, matcher] of matchers) {
      assert.isBoolean(matcher.covers(json))
      assert.isBoolean(matcher.covers(value))
      assert.isBoolean(matcher.covers({ path: json }))
    }
  }, { arbitrary: { runs: 200, seed: "matcher" } })
})

describe("approve for the session: this call", () => {
  it.prop("covers the approved parameters, in any order, and no others", [Schema.Json, Schema.Json], ([one, two]) => {
    // Half characters are JSON to TypeScript, but to nobody else.
    if (exact([one, two]).problems.length > 0) return
    const same = ApprovalMatcher.equals(exact(one), exact(two))
    assert.isTrue(exact({ a: one, b: two }).covers({ b: two, a: one }))
    assert.strictEqual(exact({ a: one, b: two }).covers({ a: two, b: one }), same)
    assert.isFalse(exact({ a: one }).covers({ a: one, b: two }))
    assert.isFalse(exact({ a: one, b: two }).covers({ a: one }))
  }, { arbitrary: { runs: 300, seed: "exact" } })

  it("a call without parameters is covered by itself alone", () => {
    assert.isTrue(exact({}).covers({}))
    assert.isFalse(exact({}).covers({ path: "a" }))
  })

  it("names that mean something to JavaScript are names", () => {
    const params = JSON.parse(`{"__proto__":{"a":1},"constructor":2}`)
    assert.isTrue(exact(params).covers(JSON.parse(`{"constructor":2,"__proto__":{"a":1}}`)))
    assert.isFalse(exact(params).covers({ constructor: 2 }))
    assert.isFalse(exact({}).covers(params))
  })

  it("what is not JSON covers nothing, itself included", () => {
    for (const [, params] of strange) {
      assert.isFalse(exact(params).covers(params))
      assert.lengthOf(exact(params).problems, 1)
      assert.isFalse(ApprovalMatcher.fromDescription(exact(params).description).covers(params))
    }
  })
})

describe("approve for the session: this tool", () => {
  it("covers every call that has parameters", () => {
    for (const params of [{}, { path: "a" }, [], null, "text"]) assert.isTrue(tool.covers(params))
  })
})

describe("approve for the session: the payload (blocking-wrapper, Core Types)", () => {
  const file = (params: ApprovalMatcher.Params) => params.path

  it("calls with the same payload are the same", () => {
    const matcher = key(file)({ path: "a.txt", content: "one" })
    assert.isTrue(matcher.covers({ path: "a.txt", content: "two" }))
    assert.isTrue(matcher.covers({ path: "a.txt" }))
    assert.isFalse(matcher.covers({ path: "b.txt", content: "one" }))
    assert.isFalse(matcher.covers({ path: ["a.txt"] }))
  })

  it("a payload is JSON of any shape", () => {
    const matcher = key(({ mode, path }) => ({ path, mode: mode ?? "r" }))({ path: "a", mode: "w" })
    assert.isTrue(matcher.covers({ mode: "w", path: "a", more: true }))
    assert.isFalse(matcher.covers({ path: "a" }))
    assert.isTrue(key(() => null)({}).covers({}))
    assert.isTrue(key(() => "")({}).covers({}))
  })

  it("a payload that cannot be computed covers nothing", () => {
    const selects: ReadonlyArray<(params: ApprovalMatcher.Params) => unknown> = [
      () => undefined,
      () => {
        throw new Error("no")
      },
      () => Promise.resolve("a"),
      () => Effect.succeed("a"),
      () => NaN,
      (params) => params,
      () => () => "a"
    ]
    for (const select of selects) {
      const params = {
        get path(): string {
          throw new Error("no")
        }
      }
      assert.isFalse(key(select)(params).covers(params))
      assert.lengthOf(key(select)(params).problems, 1)
      // What is computed for the first time later is no key of the approved call.
      assert.isFalse(key(select)(undefined).covers({ path: "a" }))
    }
  })

  it("the function sees a copy without getters, and changes nothing", () => {
    const params = { list: ["a"] }
    const greedy = key((copy) => {
      if (Array.isArray(copy.list)) copy.list.length = 0
      return "same"
    })
    assert.isTrue(greedy(params).covers(params))
    assert.deepStrictEqual(params, { list: ["a"] })
  })
})

describe("a matcher is data", () => {
  const file = (params: ApprovalMatcher.Params) => params.path
  const isLink = () => false
  const behaviors = { keys: { file }, isLink }
  const all = [
    exact({ path: "a", deep: [{ b: null }] }),
    tool,
    key(file, { name: "file" })({ path: "a" }),
    path(["src/**", "a"], { param: "path" }),
    path(["src/**"], { param: "path", others: ["mode", "content"], isLink })
  ]
  const again = (description: ApprovalMatcher.Description) =>
    Schema.decodeUnknownSync(ApprovalMatcher.Description)(JSON.parse(JSON.stringify(description)))

  it.each(all.map((matcher) => [matcher.description._tag, matcher] as const))("%s survives JSON", (_, matcher) => {
    const anew = ApprovalMatcher.fromDescription(again(matcher.description), behaviors)
    assert.deepStrictEqual(anew.description, matcher.description)
    assert.deepStrictEqual(anew.problems, [])
    assert.isTrue(ApprovalMatcher.equals(anew, matcher))
    assert.isTrue(ApprovalMatcher.isApprovalMatcher(anew))
    for (
      const params of [{ path: "a" }, { path: "src/x" }, { path: "src/x", mode: "w" }, {
        path: "a",
        deep: [{ b: null }]
      }]
    ) {
      assert.strictEqual(anew.covers(params), matcher.covers(params))
    }
  })

  it("matchers of other descriptions are not equal", () => {
    for (const one of all) {
      for (const two of all) assert.strictEqual(ApprovalMatcher.equals(one, two), one === two)
    }
    assert.isTrue(ApprovalMatcher.equals(tool)(tool))
  })

  it("what means the same is spelled the same", () => {
    const same = (one: ApprovalMatcher.ApprovalMatcher, two: ApprovalMatcher.ApprovalMatcher) => {
      assert.deepStrictEqual(one.description, two.description)
      assert.isTrue(ApprovalMatcher.equals(one, two))
    }
    same(path(["b", "a", "a"], { param: "p" }), path(["a", "b"], { param: "p", others: "any" }))
    same(path(["a"], { param: "p", others: ["y", "x"] }), path(["a"], { param: "p", others: ["x", "y", "x"] }))
    assert.notDeepEqual(
      path(["a"], { param: "p", others: ["any"] }).description,
      path(["a"], { param: "p", others: "any" }).description
    )
  })

  it("a key without a name equals only itself and is not made anew", () => {
    const one = key(file)({ path: "a" })
    assert.isTrue(ApprovalMatcher.equals(one, one))
    assert.isFalse(ApprovalMatcher.equals(one, key(file)({ path: "a" })))
    const anew = ApprovalMatcher.fromDescription(one.description, behaviors)
    assert.isFalse(anew.covers({ path: "a" }))
    assert.lengthOf(anew.problems, 1)
  })

  it("a function that is missing makes it cover nothing, never more", () => {
    const cases: ReadonlyArray<ApprovalMatcher.Description> = [
      { _tag: "Key", name: "other", value: `"a"` },
      { _tag: "Key", name: "constructor", value: `"a"` },
      { _tag: "Key", name: "file", value: "" },
      { _tag: "Path", globs: ["**"], param: "path", links: "refused" },
      { _tag: "Shell", allowed: ["a"], param: "path" },
      { _tag: "Exact", params: "" },
      { _tag: "Path", globs: [], param: "path" }
    ]
    for (const description of cases) {
      const matcher = ApprovalMatcher.fromDescription(description, { keys: { file } })
      assert.isFalse(matcher.covers({ path: "a" }), JSON.stringify(description))
      assert.lengthOf(matcher.problems, 1, JSON.stringify(description))
    }
  })

  it("text that was not written canonically covers nothing", () => {
    assert.isFalse(ApprovalMatcher.fromDescription({ _tag: "Exact", params: `{ "a": 1 }` }).covers({ a: 1 }))
  })

  it.effect("the layer gives what is missing", () =>
    Effect.gen(function*() {
      const covers = Effect.map(ApprovalMatcher.Behaviors, (behaviors) =>
        ApprovalMatcher.fromDescription({ _tag: "Key", name: "file", value: `"a"` }, behaviors).covers({ path: "a" }))
      assert.isFalse(yield* covers)
      assert.isTrue(yield* Effect.provide(covers, ApprovalMatcher.layer({ keys: { file } })))
    }))

  it.effect("validate tells a good one from one that covers nothing", () =>
    Effect.gen(function*() {
      const good = path(["a"], { param: "p" })
      assert.strictEqual(yield* ApprovalMatcher.validate(good), good)
      const error = yield* Effect.flip(ApprovalMatcher.validate(path(["a", "../b", ""], { param: "p" })))
      assert.strictEqual(error._tag, "ApprovalMatcherError")
      assert.strictEqual(
        error.message,
        "The glob `` covers nothing: it is empty. The glob `../b` covers nothing: `.` and `..` match no path."
      )
    }))
})

describe("L15 what a person reads", () => {
  const say = (matcher: ApprovalMatcher.ApprovalMatcher, toolName = "Write") =>
    ApprovalMatcher.toSentence(matcher, toolName)

  it("says which calls are covered", () => {
    assert.strictEqual(say(exact({ path: "a", n: 1 })), "only the call Write(n=1, path='a')")
    assert.strictEqual(say(tool), "any call of Write")
    assert.strictEqual(
      say(key(({ path }) => path, { name: "file" })({ path: "a" })),
      "any call of Write whose file is \"a\""
    )
    assert.strictEqual(say(key(({ path }) => path)({ path: "a" })), "any call of Write whose key is \"a\"")
    assert.strictEqual(
      say(path(["src/**", "a"], { param: "path" })),
      "any call of Write whose path matches `a` or `src/**`"
    )
    assert.strictEqual(
      say(path(["a"], { param: "path", others: ["content"], isLink: () => false })),
      "any call of Write whose path matches `a` and has no symbolic link, with any content"
    )
    assert.strictEqual(
      say(path(["a"], { param: "path", others: [] })),
      "any call of Write whose path matches `a`, without other parameters"
    )
    assert.strictEqual(
      ApprovalMatcher.toSentence({ _tag: "Shell", allowed: ["git *"], param: "command", others: "any" }, "Bash"),
      "any call of Bash whose command matches `git *`, with any other parameters"
    )
    const trusting = { _tag: "Shell", allowed: ["a *", "b *"], param: "command", others: ["timeout"] } as const
    assert.strictEqual(
      ApprovalMatcher.toSentence({ ...trusting, trust: ["a", "b"] }, "Bash"),
      "any call of Bash whose command matches `a *` or `b *`, where `a` and `b` may get any arguments, with any timeout"
    )
    assert.deepStrictEqual(
      [["*"], ["*", "git *"]].map((allowed) =>
        ApprovalMatcher.toSentence({ _tag: "Shell", allowed, param: "command" }, "Bash")
      ),
      ["any call of Bash whose command only reads", "any call of Bash whose command only reads or matches `git *`"]
    )
    assert.strictEqual(
      ApprovalMatcher.toSentence({ ...trusting, trust: [] }, "Bash"),
      "any call of Bash whose command matches `a *` or `b *`, with any timeout"
    )
    assert.strictEqual(ApprovalMatcher.toSentence("Write")(tool), "any call of Write")
  })

  it("with everything escaped and bounded", () => {
    const evil = "\u001b[2K\u202e`\n".repeat(200)
    const many = Array.from({ length: 50 }, (_, index) => `${index}${evil}`)
    const sentences = [
      say(exact({ [evil]: evil }), evil),
      say(exact(evil)),
      say(tool, evil),
      say(key(() => evil, { name: evil })({}), evil),
      say(path(many, { param: evil, others: many }), evil),
      ApprovalMatcher.toSentence({ _tag: "Shell", allowed: many, param: evil, others: many, trust: many }, evil),
      ApprovalMatcher.toSentence({ _tag: "Exact", params: evil }, evil)
    ]
    for (const sentence of sentences) {
      assert.isBelow(sentence.length, 6_000)
      assert.notMatch(sentence, /[\p{Cc}\p{Cf}]/u)
    }
    assert.include(sentences[4]!, "or 40 more")
    assert.include(sentences[4]!, "and 40 more")
  })
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
