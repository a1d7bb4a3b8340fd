/**
 * Globs of rules that forbid: braces, brackets and whatever else is hard to read forbids more, never less.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as ApprovalMatcher from "../src/ApprovalMatcher.ts"

const mayCover = (glob: string, path: string) => ApprovalMatcher.path([glob], { param: "path" }).mayCover({ path })

const forbids: ReadonlyArray<readonly [glob: string, paths: ReadonlyArray<string>]> = [
  ["{.env,secrets}/**", [".env/a", "secrets/a", "secrets", ".env", "SECRETS/a", ".Env/x/y"]],
  ["[.]env", [".env", ".ENV"]],
  ["**/[.]env", ["a/.env", ".env"]],
  ["**/*.{pem,key}", ["a/b.PEM", "a.key"]],
  ["[!A]BC", ["abc", "xbc"]],
  ["[Z-a]x", ["zx", "_x"]],
  ["[[:upper:]]x", ["ax", "Ax"]],
  ["[A-Z]*", ["a", "\u00e9"]],
  ["{/etc,secrets}/**", ["/etc/passwd", "secrets/a", "etc/passwd"]],
  ["{etc,/secrets}/**", ["secrets/a", "/etc/a"]],
  ["{src}/a", ["src/a"]],
  ["{1..3}", ["2"]],
  ["a[/]b", ["a/b"]],
  ["[a", ["a"]],
  ["{a,b", ["a", "b"]],
  ["{a,{b,{c,d}}}/e", ["a/e", "b/e", "c/e", "D/E"]],
  ["a{,.bak}", ["a", "a.bak"]],
  ["{a,[b}]c}", ["a", "b", "c"]],
  ["\u0391\u03a3*", ["\u0391\u03a3\u0391", "\u03b1\u03c3\u03b1"]],
  ["\u0391\u03a3/a", ["\u03b1\u03c2/a"]],
  [`${"{a,b}".repeat(14)}`, ["a".repeat(14), "ab".repeat(7)]],
  [`${"{".repeat(80)}a,b}${",c}".repeat(79)}`, ["a", "c"]],
  // A path that is a pattern itself, for a tool that expands.
  ["src/i.ts", ["src/[id].ts"]],
  ["src/s/secret", ["src/[...slug]/secret"]],
  ["src/b/x/*", ["src/[a-c]/[xyz]/a"]],
  ["**/b", ["src/[abc]"]]
]

/** What is forbidden stays small enough to be of use. */
const leaves: ReadonlyArray<readonly [glob: string, paths: ReadonlyArray<string>]> = [
  ["{.env,secrets}/**", ["src/a", "env/a", "a/.env"]],
  ["[.]env", ["env2", "src/env", "a.env"]],
  ["**/.env", ["src/[slug]/page.tsx", "src/[[...slug]]/page.tsx", "src/env"]],
  ["**/*.{pem,key}", ["a/b.pem.ts", "key"]],
  ["src/[ab]/secret", ["src/a/public", "lib/a/secret"]],
  ["src/x.ts", ["src/[id].ts"]],
  ["docs/report\\[1\\].md", ["docs/report1.md", "docs/report[2].md"]],
  ["/etc/**", ["/tmp/a"]],
  ["{/etc,/srv}/**", ["/tmp/a"]]
]

describe("a glob of a rule that forbids", () => {
  it.each(forbids)("%s", (glob, paths) => {
    assert.deepStrictEqual(paths.filter((path) => !mayCover(glob, path)), [])
  })

  it.each(leaves)("%s is not everything", (glob, paths) => {
    assert.deepStrictEqual(paths.filter((path) => mayCover(glob, path)), [])
  })

  it("takes no long time, whatever the path", () => {
    for (const glob of ["**/a*a*a*a*a*a*a*a*b/**/c", `${"**/a/".repeat(50)}b`, `${"{a,b}".repeat(8)}*x`]) {
      for (const path of ["a".repeat(4_000), `${"a/".repeat(2_000)}c`, `${"[ab]/".repeat(700)}d`]) {
        assert.isBoolean(mayCover(glob, path))
      }
    }
  })

  const Part = Schema.Literals([
    "a",
    "A",
    ".",
    "*",
    "?",
    "[ab]",
    "[!a]",
    "{a,b}",
    "{a,b/c}",
    "**",
    "/",
    "/",
    "\u00e9",
    "\\["
  ])
  const Name = Schema.Literals(["a", "A", ".a", "b", "ab", "[", "\u00e9", "/", "/", "[ab]", "B"])
  it.prop(
    "forbids whatever is covered, in any case",
    [
      Schema.Array(Part).check(Schema.isMinLength(1), Schema.isMaxLength(7)),
      Schema.Array(Name).check(Schema.isMinLength(1), Schema.isMaxLength(6))
    ],
    ([parts, names]) => {
      const matcher = ApprovalMatcher.path([parts.join("")], { param: "path" })
      const path = names.join("")
      for (const written of [path, path.toLowerCase(), path.toUpperCase()]) {
        if (!matcher.covers({ path: written })) continue
        for (const spelled of [written, written.toLowerCase(), written.toUpperCase()]) {
          assert.isTrue(matcher.mayCover({ path: spelled }), `${parts.join("")} ${spelled}`)
        }
      }
    },
    { arbitrary: { runs: 3_000, seed: "forbid" } }
  )
})
