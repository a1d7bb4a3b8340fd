/**
 * What stands below `.git` makes git run code, so that no wildcard stands for it.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as ApprovalMatcher from "../src/ApprovalMatcher.ts"

const covers = (glob: string, path: string) => ApprovalMatcher.path([glob], { param: "path" }).covers({ path })

const wildcards = [
  ".*/**",
  ".*/*",
  ".g*/**",
  ".g?t/**",
  ".[g]it/**",
  ".gi[!x]/**",
  "**/.*/**",
  "**/.*/*",
  "**/.g*",
  "*/.*/**",
  "src/.*/**",
  "{.*,src}/**",
  "{.g,.h}*/**"
]

const below = [".git/config", ".git/hooks/pre-commit", "src/.git/config", ".git", "src/.git", ".git/.git/config"]

/** What some system takes for `.git`. */
const alike = [
  ".GIT",
  ".Git",
  ".giT",
  ".git ",
  ".git.",
  ".git. .",
  " .git",
  ".git::$INDEX_ALLOCATION",
  ".git:a",
  "git~1",
  "GIT~1",
  "GI7EBA~1",
  ".g\u0131t",
  ".g\u0130t",
  ".g\u200cit",
  ".git\ufeff",
  ".gi\u0301t",
  "\uff0egit",
  "\u2024git",
  ".\uff47it",
  ".\u24d6it",
  "./.git",
  "[.]git",
  ".[g]it",
  ".g`it",
  ".g^it",
  ".g''it",
  ".\\git",
  "%2egit",
  "%u002egit"
]

describe("what is below `.git`", () => {
  it.each(wildcards)("is not covered by %s", (glob) => {
    assert.deepStrictEqual(below.filter((path) => covers(glob, path)), [])
  })

  it("is covered where the glob writes it, each time that it stands in the path", () => {
    const cases: ReadonlyArray<readonly [glob: string, path: string, expected: boolean]> = [
      [".git/**", ".git/config", true],
      [".git/**", ".git/hooks/pre-commit", true],
      [".git/info/exclude", ".git/info/exclude", true],
      ["src/.git/*", "src/.git/config", true],
      ["**/.git/*", "a/b/.git/config", true],
      [".git", ".git", true],
      ["{.git,src}/*", ".git/config", true],
      ["{.git,src}/*", "src/a", true],
      [".gi{t,x}/*", ".git/config", true],
      [".git/.*", ".git/.a", true],
      [".git/.*", ".git/.git", false],
      [".git/**", ".git/a/.git/config", false],
      [".*/.git/*", ".git/.git/a", false],
      [".*/.git/*", ".a/.git/a", true],
      ["{.*/a,.git/b}/*", ".git/b/c", true],
      ["{.*/a,.git/b}/*", ".git/a/c", false]
    ]
    for (const [glob, path, expected] of cases) assert.strictEqual(covers(glob, path), expected, `${glob} ${path}`)
  })

  it("no look-alike is covered, whatever the glob writes", () => {
    for (const name of alike) {
      for (const glob of [...wildcards, "**", "**/.*", ".git/**", "**/.git/**", `${name}/**`]) {
        for (const path of [`${name}/config`, `src/${name}/config`, name]) {
          assert.isFalse(covers(glob, path), `${glob} ${path}`)
        }
      }
    }
  })

  it("names that only begin or end so are others", () => {
    for (const path of [".github/workflows/a.yml", ".gitignore", ".gitattributes", "a.git", ".gitx/a"]) {
      assert.isTrue(ApprovalMatcher.path([".*/**", ".*", "*"], { param: "path" }).covers({ path }), path)
    }
  })

  it("a rule that forbids is not smaller for it", () => {
    for (const path of [...below, ...alike.map((name) => `${name}/config`)]) {
      for (const glob of [".*/**", "**/.git/**", "**/.*/**"]) {
        if (glob !== ".*/**" || !path.startsWith("src")) {
          assert.isTrue(ApprovalMatcher.path([glob], { param: "path" }).mayCover({ path }), `${glob} ${path}`)
        }
      }
    }
  })

  const Segment = Schema.Literals([".git", ".a", "a", ".g", ".Git"])
  const Written = Schema.Literals([".git", ".*", "*", "**", ".g*", "a", "{.git,a}", "[.]git", ".[g]it"])
  it.prop(
    "a path has no more of it than the glob writes",
    [
      Schema.Array(Segment).check(Schema.isMinLength(1), Schema.isMaxLength(5)),
      Schema.Array(Written).check(Schema.isMinLength(1), Schema.isMaxLength(5))
    ],
    ([segments, glob]) => {
      if (!covers(glob.join("/"), segments.join("/"))) return
      const written = glob.filter((name) => name === ".git" || name === "{.git,a}").length
      assert.isAtMost(segments.filter((name) => name === ".git").length, written)
      assert.notInclude(segments, ".Git")
    },
    { arbitrary: { runs: 3_000, seed: "git" } }
  )
})
