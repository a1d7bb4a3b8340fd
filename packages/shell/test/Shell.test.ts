/** What a person is told of a line, and offered. */
import { ApprovalMatcher, Shell } from "@assent/shell"
import { assert, describe, it } from "@effect/vitest"
import { lines } from "./ordinary.ts"

describe("explain", () => {
  it("names every word that is not known, each with its kind", () => {
    assert.deepStrictEqual(Shell.explain("git log --output=/x && frob | wc a && git add b", ["*", "git *"]), {
      covered: false,
      refusals: [
        { kind: "option", word: "--output=/x", message: "--output=/x: not a known option of git log" },
        {
          kind: "program",
          word: "frob",
          message: "frob: not a known program; write the whole line as a pattern, or trust the program"
        },
        {
          kind: "writes",
          word: "git add",
          message: "git add: it changes files; the pattern `git add *` allows it"
        }
      ],
      heeds: []
    })
    assert.deepStrictEqual(Shell.explain("git", ["*"]).refusals, [
      { kind: "missing", word: "git", message: "git: a subcommand is missing" }
    ])
  })

  it("says what is heeded of what is covered", () => {
    assert.deepStrictEqual(Shell.explain("git status && ls && git log", ["*", "git *"]).heeds, ["git's settings"])
    assert.deepStrictEqual(Shell.explain("ls", ["*"]).heeds, [])
  })

  it("agrees with the matcher", () => {
    const patterns = ["*", "git *", "git add *", "npm test"]
    const matcher = ApprovalMatcher.shell(patterns, { param: "command" })
    for (const { line } of lines) {
      assert.strictEqual(Shell.explain(line, patterns).covered, matcher.covers({ command: line }), line)
    }
  })

  it("knows what is trusted", () => {
    assert.isFalse(Shell.explain("python a.py", ["python *"]).covered)
    assert.isTrue(Shell.explain("python a.py", ["python *"], { trust: ["python"] }).covered)
  })

  it("shows no more of a line than can be read", () => {
    const { refusals: [refusal] } = Shell.explain(`echo $(${"a".repeat(1_000)})`, ["*"])
    assert.strictEqual(refusal?.kind, "line")
    assert.lengthOf(refusal.word, 80)
  })
})

describe("suggestPatterns", () => {
  const cases: ReadonlyArray<readonly [line: string, patterns: ReadonlyArray<string> | undefined]> = [
    ["ls -la src", ["ls *"]],
    ["git log --oneline -5 | head", ["git log *"]],
    ["git status && git diff --stat", ["git status *", "git diff *"]],
    ["git stash list", ["git stash list *"]],
    ["git add src && git commit -m a", ["git add *", "git commit *"]],
    ["cd src && grep -rn a . | sort -u", ["grep *"]],
    ["wc -l src/*.ts", ["wc *"]],
    ["node --version", ["node --version"]],
    ["true", ["true"]],
    // Not everything is known of these.
    ["npm test 2>&1 | tail -5", ["npm test"]],
    ["git add src && npm test", ["git add src && npm test"]],
    ["cd a && npm test", ["cd a && npm test"]],
    ["cd src && git status", ["cd src && git status"]],
    ["git log --output=/x", ["git log --output=/x"]],
    ["npx prettier --check 'a b' \"it's\"", ["npx prettier --check 'a b' 'it'\\''s'"]],
    ["cat /etc/hosts", ["cat /etc/hosts"]],
    // These cannot be written as a pattern.
    ["npx eslint src/*.ts", undefined],
    ["echo $HOME", undefined],
    ["ls > a", undefined],
    ["", undefined]
  ]

  it.each(cases)("%j: %j", (line, patterns) => {
    assert.deepStrictEqual(Shell.suggestPatterns(line)?.patterns, patterns)
  })

  it("says what its patterns stand for, and what they heed", () => {
    assert.deepStrictEqual(Shell.suggestPatterns("git status && ls | wc -l && git status"), {
      patterns: ["git status *", "ls *"],
      says: ["git status and its options", "ls and its options"],
      heeds: ["git's settings"]
    })
    assert.deepStrictEqual(Shell.suggestPatterns("npm test"), { patterns: ["npm test"], says: [], heeds: [] })
  })

  it("offers only what covers the line, and has no problems", () => {
    let offered = 0
    for (const { line } of lines) {
      const suggestion = Shell.suggestPatterns(line)
      if (suggestion === undefined) continue
      offered++
      const matcher = ApprovalMatcher.shell(suggestion.patterns, { param: "command" })
      assert.deepStrictEqual(matcher.problems, [], line)
      assert.isTrue(matcher.covers({ command: line }), line)
    }
    assert.isAtLeast(offered, 250)
  })

  it("knows the working folder", () => {
    assert.deepStrictEqual(Shell.suggestPatterns("cd /srv/a && ls /srv/a/b", { folder: "/srv/a" })?.patterns, ["ls *"])
  })
})
