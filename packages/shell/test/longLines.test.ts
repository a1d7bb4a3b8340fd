/**
 * The longest lines that are read, each made to be slow somewhere. What is linear takes milliseconds; what is not takes
 * longer than a test may.
 */
import { ApprovalMatcher, Shell } from "@assent/shell"
import { assert, describe, it } from "@effect/vitest"

const patterns = ["*", "git *", "cat /srv/*/log/*"]
const matcher = ApprovalMatcher.shell(patterns, { param: "command" })

const fill = (before: string, part: string, after = ""): string =>
  before + part.repeat(Math.floor((16_384 - before.length - after.length) / part.length)) + after

const lines: ReadonlyArray<readonly [what: string, line: string]> = [
  ["many words", fill("git log", " a")],
  ["many commands", fill("", "git log;")],
  ["many filters", fill("git log", "|cat")],
  ["many folders", fill("", "cd a &&", "ls")],
  ["one word", fill("git log ", "a")],
  ["many steps up", fill("cat ", "../")],
  ["many revisions", fill("git log ", "a:")],
  ["many secrets", fill("cat ", ".env.")],
  ["nearly keys", fill("cat ", ":.", "pemx")],
  ["many slashes", fill("cat a", "/")],
  ["a long cluster", fill("ls -", "a")],
  ["wildcards", fill("ls", " a*")],
  ["stars", fill("ls a", "*")],
  ["a pattern's stars", fill("cat /srv/", "a/log/")],
  ["a script of sed", fill("sed -n '", "1,5p;", "' a")],
  ["nearly a script of sed", fill("sed -n '", "/a/,", "' a")],
  ["an expression of sed", fill("sed -n '/", "\\a", "' a")],
  ["a filter of jq", fill("jq '", "map ", "' a")],
  ["texts of jq", fill("jq '", "\"a\",", "\"' a")],
  ["a program of awk", fill("awk '", "NR>1&&", "' a")],
  ["tests of find", fill("find .", " -name a")],
  ["programs of find", fill("find .", " -exec cat {} +")],
  ["programs of find without an end", fill("find .", " -exec")],
  ["a range", fill("git blame -L ", "/a")],
  ["a format", fill("git log --format='", "%h", "%G'")],
  ["a key", fill("sort -k ", "1.")],
  ["an archive", fill("tar -tf ", "a/", ":")]
]

describe("a line of 16 kB", () => {
  it.each(lines)("of %s is decided on, explained, and something is offered for it or not", (_, line) => {
    const { covered } = Shell.explain(line, patterns)
    assert.strictEqual(matcher.covers({ command: line }), covered)
    const offered = Shell.suggestPatterns(line)
    assert.isTrue(offered === undefined || Shell.explain(line, offered.patterns).covered)
  })
})
