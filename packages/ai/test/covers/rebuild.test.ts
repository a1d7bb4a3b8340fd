/** The new text, made of a unified diff and the old text: of none but a true diff, and of that to the byte. */
import { assert, describe, it } from "@effect/vitest"
import { Schema, TextDiff } from "effect"
import * as Origins from "../../src/internal/seal/origins.ts"

const name = "src/a.ts"

const diffOf = (before: string, after: string): string =>
  TextDiff.unified(TextDiff.lines(before, after), { fromFile: name, toFile: name })

const rebuild = (diff: string, before: string): string | undefined => Origins.rebuild(diff, before, name)

/** Lines that a diff has signs for, and ends of lines and of the text. */
const Piece = Schema.Literals([
  ..."abcdefgh".split("").map((line) => `${line}\n`),
  ..."abc".split(""),
  "\n",
  "\r\n",
  "-a\n",
  "+a\n",
  " a\n",
  "--- src/a.ts\n",
  "+++ src/a.ts\n",
  "@@ -1 +1 @@\n",
  "@@ -1,3 +1,3 @@\n",
  "\\ No newline at end of file\n",
  "\u2028"
])
const Text = Schema.Array(Piece).check(Schema.isMaxLength(30))
const Place = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))
const Character = Schema.Literals([..."ab+- @,01239\\\n"])

const runs = { arbitrary: { runs: 500, seed: "rebuild" } }

describe("rebuild", () => {
  it.prop("a diff of any two texts, and the old one, give the new one", [Text, Text], ([old, young]) => {
    const [before, after] = [old.join(""), young.join("")]
    assert.strictEqual(rebuild(diffOf(before, after), before), after)
  }, runs)

  it.prop("with one character changed, left out or put in anywhere they give another one, or none", [
    Text,
    Text,
    Place,
    Character
  ], ([old, young, place, character]) => {
    const [before, after] = [old.join(""), young.join("")]
    const diff = diffOf(before, after)
    if (diff === "") return
    const at = place % diff.length
    for (const rest of [diff.slice(at + 1), diff.slice(at)]) {
      for (const wrong of [diff.slice(0, at) + character + rest, diff.slice(0, at) + rest]) {
        if (wrong !== diff) {
          assert.notStrictEqual(rebuild(wrong, before), after, JSON.stringify({ diff, wrong, before }))
        }
      }
    }
  }, runs)

  it.prop("with another old text they give none, or not what was there", [Text, Text, Text], ([old, young, other]) => {
    const [before, after, another] = [old.join(""), young.join(""), other.join("")]
    const diff = diffOf(before, after)
    const made = rebuild(diff, another)
    // Only where the diff is as true of the other text.
    if (made !== undefined && diff !== "") {
      assert.strictEqual(
        made.split("\n").length - another.split("\n").length,
        after.split("\n").length - before.split("\n").length
      )
    }
  }, runs)

  const before = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`).join("")
  const after = before.replace("line 10\n", "line ten\n").replace("line 25\n", "")
  const diff = diffOf(before, after)
  const wrong: ReadonlyArray<readonly [string, string]> = [
    ["no header", diff.slice(diff.indexOf("@@"))],
    ["another name", diff.replaceAll(name, "src/b.ts")],
    ["a context line that lies", diff.replace(" line 9\n", " line nine\n")],
    ["a deleted line that lies", diff.replace("-line 10\n", "-line 11\n")],
    ["a hunk that stands elsewhere", diff.replace("@@ -7,7 +7,7 @@", "@@ -8,7 +8,7 @@")],
    ["a hunk whose new lines are numbered elsewhere", diff.replace("+7,7 @@", "+8,7 @@")],
    ["a hunk that says it is longer", diff.replace("@@ -7,7 +7,7 @@", "@@ -7,8 +7,8 @@")],
    [
      "hunks in another order",
      diff.slice(0, diff.indexOf("@@")) + diff.slice(diff.lastIndexOf("@@ -")) +
      diff.slice(diff.indexOf("@@"), diff.lastIndexOf("@@ -"))
    ],
    ["a hunk twice", diff + diff.slice(diff.lastIndexOf("@@ -"))],
    ["a text after the last hunk", `${diff}and more\n`],
    ["a hunk that is none", `${diff}@@ -30,0 +29,0 @@\n`],
    ["an end in the middle of a line", diff.slice(0, -1)],
    ["a line in the middle that has no end", diff.replace("+line ten\n", "+line ten\n\\ No newline at end of file\n")]
  ]
  it.each(wrong)("nothing is made of a diff with %s", (_, wrong) => {
    assert.notStrictEqual(wrong, diff)
    assert.isUndefined(rebuild(wrong, before))
    assert.strictEqual(rebuild(diff, before), after)
  })

  it("hunks that touch are told apart, and each stands where it says", () => {
    const [one, two] = ["@@ -1,2 +1,2 @@\n-a\n+A\n b\n", "@@ -3,2 +3,2 @@\n-c\n+C\n d\n"]
    const made = (second: string) => rebuild(`--- ${name}\n+++ ${name}\n${one}${second}`, "a\nb\nc\nd\n")
    assert.strictEqual(made(two), "A\nb\nC\nd\n")
    assert.isUndefined(made(two.replace("-3,2", "-1,2")))
    assert.isUndefined(made(two.replace("+3,2", "+1,2")))
  })

  it("a hunk has as many lines of each side as it says, and no more", () => {
    const made = (ranges: string) => rebuild(`--- ${name}\n+++ ${name}\n@@ ${ranges} @@\n a\n b\n+c\n`, "a\nb\n")
    assert.strictEqual(made("-1,2 +1,3"), "a\nb\nc\n")
    for (const ranges of ["-1 +1,3", "-1,2 +1,2", "-1,3 +1,3", "-1,2 +1,4", "-0,0 +1,3"]) {
      assert.isUndefined(made(ranges))
    }
  })

  it("two lines of which one has no end are not one line", () => {
    const header = `--- ${name}\n+++ ${name}\n`
    assert.isUndefined(rebuild(`${header}@@ -0,0 +1,2 @@\n+a\n\\ No newline at end of file\n+b\n`, ""))
    assert.strictEqual(rebuild(`${header}@@ -0,0 +1,2 @@\n+a\n+b\n`, ""), "a\nb\n")
  })
})
