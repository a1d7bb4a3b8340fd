/**
 * What a matcher may cover, for rules that ask or forbid: whatever is not plainly another call.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { ApprovalMatcher } from "../src/index.ts"

const secret = ApprovalMatcher.path(["secret/**"], { param: "path" })

const cases: ReadonlyArray<readonly [string, ApprovalMatcher.ApprovalMatcher, unknown, boolean]> = [
  ["what is covered", secret, { path: "secret/a" }, true],
  ["what is plainly another", secret, { path: "src/a" }, false],
  ["what stands beside it does not matter", ApprovalMatcher.path(["a"], { param: "path", others: [] }), {
    path: "a",
    force: true
  }, true],
  ["another case", secret, { path: "Secret/A" }, true],
  ["another case, in a letter that has no other", secret, { path: "\u017fecret/a" }, true],
  ["letters of full width, which some file systems make compatible", secret, { path: "\uff53ecret/a" }, true],
  ["a class of a letter that has none in the other case", ApprovalMatcher.path(["[\u00df]"], { param: "path" }), {
    path: "\u00df"
  }, true],
  ["a wildcard for a letter that is two in another folding", ApprovalMatcher.path(["?ss"], { param: "path" }), {
    path: "\u00df\u00df"
  }, true],
  ["a hidden file", secret, { path: "secret/.env" }, true],
  ["the folder itself", secret, { path: "secret" }, true],
  ["a way around", secret, { path: "src/../secret/a" }, true],
  ["a way around to somewhere else: nobody can tell", secret, { path: "a/../b" }, true],
  ["an absolute path for a relative glob", secret, { path: "/work/secret/a" }, true],
  [
    "a relative path for an absolute glob",
    ApprovalMatcher.path(["/etc/**"], { param: "path" }),
    { path: "passwd" },
    true
  ],
  ["another absolute path", ApprovalMatcher.path(["/etc/**"], { param: "path" }), { path: "/tmp/a" }, false],
  ["a Unicode form that is not NFC", secret, { path: "e\u0301" }, true],
  ["a device, an escape, a drive", secret, { path: "C:\\secret" }, true],
  ["a NUL", secret, { path: "src/a\0" }, true],
  ["too long a path", secret, { path: "a".repeat(5_000) }, true],
  ["no parameter", secret, { other: "secret/a" }, false],
  ["null for it", secret, { path: null }, false],
  ["undefined for it", secret, { path: undefined }, false],
  ["a list for it", secret, { path: ["src/a"] }, true],
  ["an object for it", secret, { path: {} }, true],
  ["a getter for it", secret, {
    get path() {
      return "src/a"
    }
  }, true],
  ["parameters that are no object", secret, "src/a", true],
  ["no parameters", secret, undefined, true],
  [
    "parameters of a class",
    secret,
    new (class {
      path = "src/a"
    })(),
    false
  ],
  ["inherited parameters", secret, Object.create({ path: "secret/a" }), true],
  [
    "a bad glob: nobody can tell what was meant",
    ApprovalMatcher.path(["../x"], { param: "path" }),
    { path: "a" },
    true
  ],
  ["exact", ApprovalMatcher.exact({ a: 1 }), { a: 1 }, true],
  ["not exact", ApprovalMatcher.exact({ a: 1 }), { a: 2 }, false],
  ["exact, of no JSON", ApprovalMatcher.exact({ a: 1 }), { a: 1n }, true],
  ["exact, made of no JSON", ApprovalMatcher.exact({ a: 1n }), { a: 2 }, true],
  ["the tool", ApprovalMatcher.tool, undefined, true],
  ["a key", ApprovalMatcher.key((params) => params.to, { name: "to" })({ to: "ada" }), { to: "ada" }, true],
  ["another key", ApprovalMatcher.key((params) => params.to, { name: "to" })({ to: "ada" }), { to: "bob" }, false],
  ["no key", ApprovalMatcher.key((params) => params.to, { name: "to" })({ to: "ada" }), {}, true],
  ["a key of nothing", ApprovalMatcher.key((params) => params.to, { name: "to" })({}), { to: "bob" }, true],
  ["a function that is missing", ApprovalMatcher.fromDescription({ _tag: "Key", name: "to", value: "\"ada\"" }), {
    to: "bob"
  }, true],
  [
    "a parser that is missing",
    ApprovalMatcher.fromDescription({ _tag: "Shell", allowed: ["rm *"], param: "command" }),
    {
      command: "ls"
    },
    true
  ]
]

describe("mayCover", () => {
  for (const [title, matcher, params, expected] of cases) {
    it(title, () => assert.strictEqual(matcher.mayCover(params), expected))
  }

  it("a link, and what may be one", () => {
    const linked = (isLink: (path: string) => boolean) =>
      ApprovalMatcher.path(["secret/**"], { param: "path", isLink }).mayCover({ path: "src/a" })
    assert.isFalse(linked(() => false))
    assert.isTrue(linked((path) => path === "src"))
    assert.isTrue(linked(() => {
      throw new Error("EACCES")
    }))
  })

  it("never throws, and is true of what it cannot read", () => {
    const hostile = new Proxy({}, {
      ownKeys: () => {
        throw new Error("no")
      },
      getOwnPropertyDescriptor: () => {
        throw new Error("no")
      }
    })
    assert.isTrue(secret.mayCover(hostile))
    assert.isTrue(ApprovalMatcher.exact({ a: 1 }).mayCover(hostile))
    assert.isTrue(
      ApprovalMatcher.makeParam({
        description: { _tag: "Shell", allowed: [], param: "command" },
        defaultOthers: [],
        covers: () => false,
        mayCover: () => {
          throw new Error("no")
        }
      }).mayCover({ command: "a" })
    )
  })

  it.effect.prop(
    "is true of whatever is covered",
    {
      glob: Schema.Literals(["src/**", "*", "**", "a/b", "/x/**", "[a-c]*", "{a,b}/*", "A*"]),
      path: Schema.Literals(["src/a", "a", "a/b", "A", "/x/y", "b/c", "B", ".a", "src/.a", "", "src"])
    },
    ({ glob, path }) =>
      Effect.sync(() => {
        const matcher = ApprovalMatcher.path([glob], { param: "path" })
        if (matcher.covers({ path })) assert.isTrue(matcher.mayCover({ path }))
      })
  )
})
