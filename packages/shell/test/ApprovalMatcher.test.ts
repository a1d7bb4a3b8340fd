import { ApprovalMatcher as Engine } from "@assent/ai"
import { ApprovalMatcher } from "@assent/shell"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Lines from "./lines.ts"

const shell = (...allowed: ReadonlyArray<string>) => ApprovalMatcher.shell(allowed, { param: "command" })

const trusting = (program: string, ...allowed: ReadonlyArray<string>) =>
  ApprovalMatcher.shell(allowed, { param: "command", trust: [program] })

const git = shell("git *")

const covered = (matcher: ApprovalMatcher.ApprovalMatcher, lines: ReadonlyArray<string>) =>
  lines.filter((command) => matcher.covers({ command }))

describe("a person allows `git *` for the session", () => {
  it("there are enough hostile lines, and no line twice", () => {
    const lines = [...Lines.hostile.map(([line]) => line), ...Lines.harmless]
    assert.isAtLeast(Lines.hostile.length, 80)
    assert.isAtLeast(Lines.reading.length, 35)
    assert.strictEqual(new Set(lines).size, lines.length)
  })

  describe("nothing rides on it", () => {
    it.each(Lines.hostile)("%j: %s", (command) => {
      assert.isFalse(git.covers({ command }))
    })
  })

  describe("git that only reads is not asked about again", () => {
    it.each(Lines.reading)("%j", (command) => {
      assert.isTrue(git.covers({ command }))
    })
  })

  describe("git that writes is, but where it is written out", () => {
    it.each(Lines.writing)("%j: %j", (pattern, command) => {
      assert.isFalse(git.covers({ command }))
      assert.isFalse(shell("*").covers({ command }))
      assert.isTrue(shell(pattern).covers({ command }))
      assert.deepStrictEqual(shell(pattern).problems, [])
    })
  })

  describe("what is not known is, but for this very line, and where git is trusted whole", () => {
    it.each(Lines.unknown)("%j", (command) => {
      assert.isFalse(shell("*", "git *").covers({ command }))
      assert.isTrue(shell(command).covers({ command }))
      assert.isTrue(trusting("git", "git *").covers({ command }))
    })
  })

  it("a line of any size is answered at once", () => {
    const huge = "git log ".repeat(2_000_000)
    assert.isFalse(git.covers({ command: huge }))
    for (const part of ["(", "$(", "{ ", "\"", "\\", "a=(", "[", "((", "'", "<<a ", "if ", ">", "!", "\n;"]) {
      assert.isFalse(git.covers({ command: `git ${part.repeat(8_001)}` }), part)
      assert.isFalse(git.covers({ command: part.repeat(8_001) }), part)
    }
    for (const line of ["git log a ".repeat(1_600), "git log;".repeat(2_000), `git log ${"'a'".repeat(5_000)}`]) {
      assert.isTrue(git.covers({ command: line }), line.slice(0, 20))
    }
  })
})

describe("patterns", () => {
  const cases: ReadonlyArray<
    readonly [pattern: string, covers: ReadonlyArray<string>, not: ReadonlyArray<string>]
  > = [
    ["git status", ["git status", "'git' \"status\"", "git status 2>&1"], ["git status -s", "git", "git status ''"]],
    ["git status *", ["git status", "git status -s", "git status -- a b"], [
      "git",
      "git stat",
      "git statusx",
      "git log"
    ]],
    ["git log -n *", ["git log -n 3", "git log -n 3 src"], ["git log", "git log -p", "git log -n"]],
    ["git stash *", ["git stash list"], ["git stash", "git stash pop"]],
    ["head *.txt", ["head a.txt", "head src/a.txt"], [
      "head -n.txt",
      "head a.txt b",
      "head a.md",
      "head ../a.txt",
      "head /a.txt"
    ]],
    ["echo a*b*c", ["echo abc", "echo a-b-b-c", "echo 'a;b c'"], ["echo acb", "echo ab", "echo xabc"]],
    ["git log --format=* -n 3", ["git log --format=%h -n 3"], ["git log --format=%G? -n 3", "git log --formatx -n 3"]],
    ["echo '*'", ["echo '*'", "echo \\*"], ["echo a", "echo *"]],
    ["echo 'a b'", ["echo 'a b'", "echo a\\ b"], ["echo a b"]],
    ["/usr/bin/git status", ["/usr/bin/git status"], ["git status", "/usr/bin/git log"]],
    ["npm test", ["npm test", "npm test 2>&1 | tail -30", "npm test; npm test"], [
      "npm test -- -u",
      "npm",
      "echo y | npm test",
      "cd packages/a && npm test"
    ]],
    ["cd a && npm test", ["cd a && npm test", "cd a &&\n npm test 2>&1"], [
      "cd a",
      "npm test",
      "cd b && npm test",
      "cd a; npm test",
      "cd a && npm test && npm test"
    ]],
    ["cat /srv/log/*", ["cat /srv/log/a.log", "cat /srv/log/b/c"], [
      "cat /srv/log/../../etc/passwd",
      "cat /srv/logs/a",
      "cat /etc/passwd",
      "cat /srv/log/a /etc/passwd"
    ]],
    ["cat ../shared/*", ["cat ../shared/a"], ["cat ../a", "cat ../shared/../a"]],
    ["ls *", ["ls", "ls -la src", "ls src 2>/dev/null", "ls *", "ls src/*.ts"], [
      "lsof",
      "ls; ls -la; rm x",
      "ls > x",
      "ls ../*",
      "ls src/.*"
    ]]
  ]

  it.each(cases)("%j", (pattern, yes, no) => {
    assert.deepStrictEqual(shell(pattern).problems, [])
    assert.deepStrictEqual(covered(shell(pattern), yes), yes)
    assert.deepStrictEqual(covered(shell(pattern), no), [])
  })

  it("every command of a line needs one that allows it, but filters of what comes through a pipe", () => {
    const both = shell("git *", "head -n *")
    assert.isTrue(both.covers({ command: "git log | head -n 5 && git status && head -n 5 a" }))
    assert.isFalse(both.covers({ command: "git log && head -c 5 a" }))
    assert.isFalse(both.covers({ command: "git log | head -n 5 | sh" }))
    assert.isTrue(git.covers({ command: "git log | head -n 5" }))
    assert.isFalse(git.covers({ command: "git log | head -n 5 a" }))
  })

  it("a prefix runs another command, so only the whole line is allowed", () => {
    for (const prefix of ["sudo", "env", "xargs", "eval", "exec", "nice", "nohup"]) {
      assert.isFalse(git.covers({ command: `${prefix} git status` }))
      assert.isTrue(shell(`${prefix} git status`).covers({ command: `${prefix} git status` }))
      assert.lengthOf(shell(`${prefix} git *`).problems, 1)
      assert.isFalse(shell(`${prefix} git *`).covers({ command: `${prefix} git status` }))
    }
  })

  it("a pattern whose `*` stands for nothing that is known says so, and what to write", () => {
    const said: ReadonlyArray<readonly [pattern: string, problem: string]> = [
      [
        "npm run test:*",
        "npm: it runs what package.json says; write each whole line as a pattern, such as `npm run test:…`, or trust"
      ],
      ["rm *", "rm: not a known program"],
      ["git push *", "push: not a subcommand of git that is known here; write each whole line as a pattern"],
      ["git -C a *", "-C: not a known option before a subcommand of git"],
      ["git log --output=/x *", "--output=/x: not a known option of git log"],
      ["git branch --show-curren *", "--show-curren: not a known option of git branch"],
      ["uniq a b *", "b: not a known argument of uniq"],
      ["/usr/bin/git *", "/usr/bin/git: not a known program"]
    ]
    for (const [pattern, problem] of said) {
      assert.include(
        shell(pattern).problems.join(),
        `The pattern ${JSON.stringify(pattern)} covers nothing: ${problem}`
      )
      // To forbid, it is as good as any.
      assert.deepStrictEqual(shell(pattern).problemsToForbid, [], pattern)
    }
  })
})

describe("trust", () => {
  it("lets a `*` stand for any words of a program, and the sentence says so", () => {
    const python = trusting("python", "python *")
    assert.deepStrictEqual(python.problems, [])
    assert.deepStrictEqual(covered(python, ["python a.py", "python -c 'print(1)'", "python"]).length, 3)
    assert.isFalse(python.covers({ command: "python3 a.py" }))
    assert.isFalse(python.covers({ command: "cd below && python a.py" }))
    assert.isFalse(python.covers({ command: "python a.py *" }))
    assert.isFalse(shell("python *").covers({ command: "python a.py" }))
    assert.strictEqual(
      ApprovalMatcher.toSentence(python, "Bash"),
      "any call of Bash whose command matches `python *`, where `python` may get any arguments"
    )
  })

  it("is part of the data", () => {
    const stored = JSON.parse(JSON.stringify(trusting("git", "git *").description))
    assert.deepStrictEqual(stored, { _tag: "Shell", allowed: ["git *"], param: "command", trust: ["git"] })
    const anew = ApprovalMatcher.fromDescription(Schema.decodeUnknownSync(ApprovalMatcher.Description)(stored))
    assert.isTrue(anew.covers({ command: "git push" }))
    assert.isTrue(ApprovalMatcher.equals(anew, trusting("git", "git *")))
    assert.isFalse(ApprovalMatcher.equals(anew, git))
  })

  it("of a program that no pattern speaks of is a mistake", () => {
    assert.lengthOf(trusting("pyton", "python3 a.py").problems, 1)
    assert.lengthOf(trusting("python", "*").problems, 1)
  })

  it("stops at what is known to make a program run another, unless the pattern writes it out", () => {
    const yes: ReadonlyArray<readonly [string, string]> = [
      ["git config *", "git config user.name Ada"],
      ["git -c core.pager=cat *", "git -c core.pager=cat log"],
      ["git -C repo *", "git -C repo status"],
      ["git -C *", "git -C repo status"],
      ["git rebase -x 'npm test' *", "git rebase -x 'npm test' main"],
      ["find . -exec grep *", "find . -exec grep x"],
      ["npm run test:*", "npm run test:unit"],
      ["constructor *", "constructor a"],
      ["tar -I zstd *", "tar -I zstd -xf a.tar"]
    ]
    const whole = (pattern: string) => trusting(pattern.split(" ")[0]!, pattern)
    for (const [pattern, command] of yes) assert.isTrue(whole(pattern).covers({ command }), pattern)
    const no: ReadonlyArray<readonly [string, string]> = [
      ["git -C repo *", "git -C repo config alias.x '!rm'"],
      ["git -C repo *", "git -C repo -c alias.x='!rm' x"],
      ["git * -s", "git config -s"],
      ["git con*", "git config x"],
      ["git rebase *", "git rebase -x rm"],
      ["find *", "find . -exec rm x"],
      ["tar *", "tar xIf rm a.tar"],
      ["tar *", "tar -xf a.tar --to-command=rm"],
      ["rsync *", "rsync -ae rm a b"],
      ["/usr/bin/find *", "/usr/bin/find . -exec rm x"]
    ]
    for (const [pattern, command] of no) assert.isFalse(whole(pattern).covers({ command }), `${pattern}: ${command}`)
    const unlisted = Lines.delegations.map(([line]) => line)
    assert.deepStrictEqual(covered(whole("git *"), unlisted), [])
  })
})

describe("validate", () => {
  it("L17 very many patterns cover nothing, may cover anything, and say so", () => {
    const patterns = (count: number) => Array.from({ length: count }, (_, index) => `git show ${index} *`)
    const matcher = ApprovalMatcher.shell(patterns(20_000), { param: "command" })
    assert.deepStrictEqual(matcher.problems, ["It has more than 1,000 patterns, so it covers nothing."])
    assert.isFalse(matcher.covers({ command: "git show 1 a" }))
    assert.isTrue(matcher.mayCover({ command: "ls" }))
    assert.deepStrictEqual(ApprovalMatcher.shell(patterns(1_000), { param: "command" }).problems, [])
  })

  it.effect("a pattern that is no plain command covers nothing, and says so", () =>
    Effect.gen(function*() {
      const bad = [
        "",
        "* status",
        "g*t status",
        "'' x",
        "git * && ls",
        "git *; ls",
        "git * | head",
        "git * &",
        "git * > x",
        "git * 2>&1",
        "A=b git *",
        "git $(x)",
        "git ?",
        "git {a,b}",
        "(git *)",
        "! git *",
        "time git *",
        "if git",
        "git 'x",
        "git * # x",
        "git\r*"
      ]
      for (const pattern of bad) {
        const matcher = shell(pattern, "ls")
        assert.lengthOf(matcher.problems, 1, pattern)
        assert.isFalse(matcher.covers({ command: pattern }), pattern)
        assert.isTrue(matcher.covers({ command: "ls" }), pattern)
        const error = yield* Effect.flip(ApprovalMatcher.validate(matcher))
        assert.strictEqual(error._tag, "ApprovalMatcherError")
        assert.include(error.message, JSON.stringify(pattern))
      }
      assert.strictEqual(yield* ApprovalMatcher.validate(git), git)
      assert.isFalse(shell().covers({ command: "" }))
      assert.lengthOf(shell().problems, 1)
    }))
})

describe("what stands beside the command", () => {
  it("is not covered unless it is named: it may change what runs", () => {
    for (const beside of [{ cwd: "/tmp" }, { env: { GIT_PAGER: "evil" } }, { shell: "/tmp/evil" }, { stdin: "" }]) {
      assert.isFalse(git.covers({ command: "git status", ...beside }))
    }
    const named = ApprovalMatcher.shell(["git *"], { param: "command", others: ["timeout", "description"] })
    assert.isTrue(named.covers({ command: "git status", timeout: 1, description: "look" }))
    assert.isTrue(named.covers({ command: "git status", cwd: undefined }))
    assert.isFalse(named.covers({ command: "git status", timeout: 1, cwd: "/tmp" }))
    const any = ApprovalMatcher.shell(["git *"], { param: "command", others: "any" })
    assert.isTrue(any.covers({ command: "git status", cwd: "/tmp" }))
  })

  it("whatever the parameters are, the answer is no and not an error", () => {
    const throwing = {
      get command(): string {
        throw new Error("no")
      }
    }
    const strange: ReadonlyArray<unknown> = [
      undefined,
      null,
      "git status",
      ["git status"],
      {},
      { command: ["git", "status"] },
      { command: { toString: () => "git status" } },
      { command: new String("git status") },
      { Command: "git status" },
      Object.create({ command: "git status" }),
      {
        get command() {
          return "git status"
        }
      },
      throwing,
      new Proxy({ command: "git status" }, {
        ownKeys: () => {
          throw new Error("no")
        }
      }),
      new (class {
        command = "git status"
      })(),
      () => "git status"
    ]
    for (const params of strange) assert.isFalse(git.covers(params))
    assert.isTrue(git.covers(Object.assign(Object.create(null), { command: "git status" })))
  })
})

describe("a matcher is data", () => {
  const description = { _tag: "Shell", allowed: ["git *", "ls"], param: "command" } as const

  it("that is stored and makes it anew", () => {
    const stored = JSON.parse(JSON.stringify(shell("ls", "git *", "ls").description))
    assert.deepStrictEqual(stored, description)
    const decoded = Schema.decodeUnknownSync(ApprovalMatcher.Description)(stored)
    const anew = ApprovalMatcher.fromDescription(decoded)
    assert.isTrue(anew.covers({ command: "git status; ls" }))
    assert.isFalse(anew.covers({ command: "git status; rm x" }))
    assert.isTrue(ApprovalMatcher.equals(anew, shell("git *", "ls")))
    assert.isFalse(ApprovalMatcher.equals(anew, shell("git *")))
    assert.isTrue(ApprovalMatcher.fromDescription({ _tag: "Tool" }).covers({}))
  })

  it("that covers nothing where there is no parser", () => {
    const anew = Engine.fromDescription(description)
    assert.isFalse(anew.covers({ command: "git status" }))
    assert.lengthOf(anew.problems, 1)
    assert.deepStrictEqual(anew.description, description)
  })

  it.effect("to which the layer gives the parser", () =>
    Effect.gen(function*() {
      const covers = Effect.map(Engine.Behaviors, (behaviors) =>
        Engine.fromDescription(description, behaviors).covers({ command: "git status" }))
      assert.isFalse(yield* covers)
      assert.isTrue(yield* Effect.provide(covers, ApprovalMatcher.layer({ keys: {} })))
    }))

  it("that a person can read", () => {
    const sentence = (matcher: ApprovalMatcher.ApprovalMatcher) => ApprovalMatcher.toSentence(matcher, "Bash")
    assert.strictEqual(sentence(git), "any call of Bash whose command matches `git *`")
    assert.strictEqual(sentence(shell("ls", "git *")), "any call of Bash whose command matches `git *` or `ls`")
    const named = ApprovalMatcher.shell(["git *"], { param: "command", others: ["timeout"] })
    assert.strictEqual(sentence(named), "any call of Bash whose command matches `git *`, with any timeout")
    const any = ApprovalMatcher.shell(["git *"], { param: "command", others: "any" })
    assert.strictEqual(sentence(any), "any call of Bash whose command matches `git *`, with any other parameters")
  })
})
