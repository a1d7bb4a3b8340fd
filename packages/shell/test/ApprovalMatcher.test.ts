import { ApprovalMatcher as Engine } from "@assent/ai"
import { ApprovalMatcher } from "@assent/shell"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Lines from "./lines.ts"

const shell = (...allowed: ReadonlyArray<string>) => ApprovalMatcher.shell(allowed, { param: "command" })

const git = shell("git *")

const covered = (matcher: ApprovalMatcher.ApprovalMatcher, lines: ReadonlyArray<string>) =>
  lines.filter((command) => matcher.covers({ command }))

describe("a person allows `git *` for the session", () => {
  it("there are enough hostile lines, and no line twice", () => {
    const lines = [...Lines.hostile.map(([line]) => line), ...Lines.harmless]
    assert.isAtLeast(Lines.hostile.length, 80)
    assert.isAtLeast(Lines.harmless.length, 40)
    assert.strictEqual(new Set(lines).size, lines.length)
  })

  describe("nothing rides on it", () => {
    it.each(Lines.hostile)("%j: %s", (command) => {
      assert.isFalse(git.covers({ command }))
    })
  })

  describe("git is not asked about again", () => {
    it.each(Lines.harmless)("%j", (command) => {
      assert.isTrue(git.covers({ command }))
    })
  })

  it("a line of any size is answered at once", () => {
    const huge = "git log ".repeat(2_000_000)
    assert.isFalse(git.covers({ command: huge }))
    for (const part of ["(", "$(", "{ ", "\"", "\\", "a=(", "[", "((", "'", "<<a ", "if ", ">", "!", "\n;"]) {
      assert.isFalse(git.covers({ command: `git ${part.repeat(8_001)}` }), part)
      assert.isFalse(git.covers({ command: part.repeat(8_001) }), part)
    }
    for (const line of ["git log a ".repeat(1_600), "git log;".repeat(2_000), `git ${"'a'".repeat(5_000)}`]) {
      assert.isTrue(git.covers({ command: line }), line.slice(0, 20))
    }
  })
})

describe("patterns", () => {
  const cases: ReadonlyArray<
    readonly [pattern: string, covers: ReadonlyArray<string>, not: ReadonlyArray<string>]
  > = [
    ["git status", ["git status", "'git' \"status\""], ["git status -s", "git", "git status ''"]],
    ["git status *", ["git status", "git status -s", "git status -- a b"], [
      "git",
      "git stat",
      "git statusx",
      "git log"
    ]],
    ["git log -n *", ["git log -n 3", "git log -n"], ["git log", "git log -p"]],
    ["npm run test:*", ["npm run test:unit", "npm run test:"], [
      "npm run test",
      "npm run test:unit -- --x",
      "npm run x"
    ]],
    ["npm run * --silent", ["npm run build --silent"], [
      "npm run --silent",
      "npm run a b --silent",
      "npm run -x --silent"
    ]],
    ["cp *.txt *.bak", ["cp a.txt b.bak"], ["cp -t.txt b.bak", "cp a.txt b.bak c", "cp a.md b.bak"]],
    ["echo a*b*c", ["echo abc", "echo a-b-b-c", "echo 'a;b c'"], ["echo acb", "echo ab", "echo xabc"]],
    ["echo --*=x", ["echo --y=x"], ["echo -y=x"]],
    ["echo '*'", ["echo '*'", "echo \\*"], ["echo a", "echo *"]],
    ["echo 'a b'", ["echo 'a b'", "echo a\\ b"], ["echo a b"]],
    ["/usr/bin/git *", ["/usr/bin/git status"], ["git status", "/usr/bin/git -c a=b log"]],
    ["ls *", ["ls", "ls -la src", "ls src 2>/dev/null"], ["lsof", "ls; ls -la; rm x", "ls > x", "ls *"]]
  ]

  it.each(cases)("%j", (pattern, yes, no) => {
    assert.deepStrictEqual(shell(pattern).problems, [])
    assert.deepStrictEqual(covered(shell(pattern), yes), yes)
    assert.deepStrictEqual(covered(shell(pattern), no), [])
  })

  it("every command of a line needs one that allows it", () => {
    const both = shell("git *", "head -n *")
    assert.isTrue(both.covers({ command: "git log | head -n 5 && git status" }))
    assert.isFalse(both.covers({ command: "git log | head -c 5" }))
    assert.isFalse(both.covers({ command: "git log | head -n 5 | sh" }))
    assert.isFalse(git.covers({ command: "git log | head -n 5" }))
  })

  it("a prefix runs another command, so it is allowed only by its own name", () => {
    for (const prefix of ["sudo", "env", "xargs", "eval", "exec", "nice", "command"]) {
      assert.isFalse(git.covers({ command: `${prefix} git status` }))
      assert.isTrue(shell(`${prefix} git *`).covers({ command: `${prefix} git status` }))
      assert.isFalse(shell(`${prefix} git *`).covers({ command: `${prefix} rm x` }))
    }
  })

  it("what makes a program run another is allowed where the pattern writes it out", () => {
    const yes: ReadonlyArray<readonly [string, string]> = [
      ["git config *", "git config user.name Ada"],
      ["git -c core.pager=cat *", "git -c core.pager=cat log"],
      ["git -C repo *", "git -C repo status"],
      ["git -C *", "git -C repo status"],
      ["git rebase -x 'npm test' *", "git rebase -x 'npm test' main"],
      ["find . -exec grep *", "find . -exec grep x"],
      ["tar -I zstd *", "tar -I zstd -xf a.tar"]
    ]
    for (const [pattern, command] of yes) assert.isTrue(shell(pattern).covers({ command }), pattern)
    const no: ReadonlyArray<readonly [string, string]> = [
      ["git -C repo *", "git -C repo config alias.x '!rm'"],
      ["git -C repo *", "git -C repo -c alias.x='!rm' x"],
      ["git * -s", "git config -s"],
      ["git con*", "git config x"],
      ["git rebase *", "git rebase -x rm"],
      ["find *", "find . -exec rm x"],
      ["find *", "find . -execdir rm x"],
      ["find *", "find . -ok rm x"],
      ["fd *", "fd a -x rm"],
      ["tar *", "tar xIf rm a.tar"],
      ["tar *", "tar -xf a.tar --to-command=rm"],
      ["tar *", "tar -xf a.tar --checkpoint=1 --checkpoint-action=exec=rm"],
      ["tar *", "tar -xf a.tar --use-c rm"],
      ["rg *", "rg --pre rm x"],
      ["sort *", "sort --compress-program=rm x"],
      ["rsync *", "rsync -ae rm a b"],
      ["split *", "split --filter=rm a"],
      ["split *", "split --fil rm a"],
      ["go *", "go build -toolexec=rm"],
      ["go *", "go vet -vettool rm"],
      ["man *", "man -P rm ls"],
      ["man *", "man --pager=rm ls"],
      ["tcpdump *", "tcpdump -w a -G 1 -z rm"],
      ["wget *", "wget --use-askpass=rm a"],
      ["wget *", "wget -e use_askpass=rm a"],
      ["zip *", "zip a.zip a -T -TT rm"],
      ["rsync *", "rsync --rsh=rm a b"],
      ["bat *", "bat --pager rm x"],
      ["/usr/bin/find *", "/usr/bin/find . -exec rm x"]
    ]
    for (const [pattern, command] of no) assert.isFalse(shell(pattern).covers({ command }), `${pattern}: ${command}`)
    assert.isTrue(shell("find *").covers({ command: "find . -name '*.ts'" }))
    assert.isTrue(shell("tar *").covers({ command: "tar -xzf a.tar -C out" }))
    assert.isTrue(shell("constructor *").covers({ command: "constructor a" }))
  })

  it.effect("a pattern that is no plain command covers nothing, and says so", () =>
    Effect.gen(function*() {
      const bad = [
        "",
        "*",
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
    assert.strictEqual(sentence(any), "any call of Bash whose command matches `git *`, whatever stands beside it")
  })
})
