/**
 * Command lines in a configuration (config-approval.md § Consistency Goal): the same `approval` as for files and
 * functions, with a parser behind it.
 */
import { ApprovalConfig, ApprovalPolicy, Tool } from "@assent/ai"
import { ApprovalMatcher } from "@assent/shell"
import { assert, describe, it } from "@effect/vitest"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const Bash = Tool.make("bash", {
  parameters: { command: Schema.String, cwd: Schema.optionalKey(Schema.String) },
  success: Schema.String
})

const become = (config: ApprovalConfig.Input, command: string, cwd?: string) =>
  Effect.gen(function*() {
    const policy = yield* ApprovalPolicy.fromConfig(config)
    const call = yield* ApprovalPolicy.makeCall(Bash, cwd === undefined ? { command } : { command, cwd })
    const result = yield* ApprovalPolicy.decide(policy, call, "1 second")
    return result._tag
  }).pipe(Effect.provide(ApprovalMatcher.layer()))

const text = `
bash:
  rules:
    - { shell: ["git status", "git log *"], approval: none }
    - { shell: "git push *", approval: deny, reason: release by CI }
  approval: required
`

describe("commands of a configuration", () => {
  const cases: ReadonlyArray<readonly [string, string]> = [
    ["git status", "PreApproved"],
    ["git log --oneline | cat", "PreApproved"],
    ["git log --oneline | tee a", "NeedsApproval"],
    ["git log --zz", "NeedsApproval"],
    ["git status --short", "NeedsApproval"],
    ["git log -n 3 && git status", "PreApproved"],
    ["git status; rm -rf build", "NeedsApproval"],
    // It can be told that this is no push.
    ["git status; rm -rf ~", "NeedsApproval"],
    // Nobody can tell what this runs, and one rule denies.
    ["git status; $x", "Blocked"],
    ["git status 'x", "Blocked"],
    ["git push", "Blocked"],
    ["git status && git push --force", "Blocked"],
    ["/usr/bin/git push", "Blocked"],
    ["sudo git push", "Blocked"],
    ["git -C elsewhere push", "Blocked"],
    ["ls", "NeedsApproval"]
  ]
  for (const [command, expected] of cases) {
    it.effect(`${command} → ${expected}`, () =>
      Effect.gen(function*() {
        const config = yield* ApprovalConfig.parse(text, { format: "yaml" })
        const policy = yield* Effect.provide(ApprovalPolicy.fromConfig(config), ApprovalMatcher.layer())
        const call = yield* ApprovalPolicy.makeCall(Bash, { command })
        const { _tag } = yield* ApprovalPolicy.decide(policy, call, "1 second")
        assert.strictEqual(_tag, expected)
      }))
  }

  it.effect("a line that nobody can read may run what is forbidden", () =>
    Effect.gen(function*() {
      const config: ApprovalConfig.Input = {
        bash: { rules: [{ shell: "rm *", approval: "deny" }], approval: "none" }
      }
      for (
        const line of [
          "rm a",
          "echo $(rm a)",
          "`rm a`",
          "X=1 rm a",
          "ls & rm a",
          "$x a",
          "if true; then rm a; fi",
          "bash -c 'rm a'",
          "sudo sh -c \"rm a\"",
          "printf 'rm a' | sh",
          "eval 'rm a'",
          "env -S 'rm a'",
          "python3 -c 'import os; os.remove(\"a\")'",
          "perl -e 'unlink \"a\"'",
          "awk 'BEGIN { system(\"rm a\") }'",
          "sed -n '1e rm a' b",
          "sed 's/.*/rm a/e' b",
          "ssh host 'rm a'",
          "su -c 'rm a'",
          "find . -exec rm a +",
          "/bin/rm a",
          "RM a",
          "rm.exe a"
        ]
      ) {
        assert.strictEqual(yield* become(config, line), "Blocked", line)
      }
      const others = [
        "ls",
        "echo hi",
        // Other redirects than to nowhere are asked about by rules that allow, but remove nothing.
        "echo hi > a",
        "git status && ls",
        "python3 a.py -v",
        "node a.mjs",
        "awk '{ print $1 }' a",
        "sed -n '1,5p' a",
        "sed 's/a/b/g' a",
        "sed -e 's/one/two/' the.file",
        "npm test",
        "env"
      ]
      for (const line of others) {
        assert.strictEqual(yield* become(config, line), "PreApproved", line)
      }
    }))

  it.effect("an allowed command somewhere else is asked about, unless the rule says so", () =>
    Effect.gen(function*() {
      const config = (others?: "any"): ApprovalConfig.Input => ({
        bash: {
          rules: [{ shell: "git status", approval: "none", ...(others === undefined ? {} : { others }) }],
          approval: "required"
        }
      })
      assert.strictEqual(yield* become(config(), "git status", "/tmp"), "NeedsApproval")
      assert.strictEqual(yield* become(config("any"), "git status", "/tmp"), "PreApproved")
    }))

  it.effect("a pattern that covers nothing is an error with its line", () =>
    Effect.gen(function*() {
      const config = yield* ApprovalConfig.parse(text.replace("git status", "git status && *"), { file: "a.yaml" })
      const error = yield* Effect.flip(Effect.provide(ApprovalPolicy.fromConfig(config), ApprovalMatcher.layer()))
      assert.isTrue(error.message.startsWith("a.yaml:4: bash.rules[0]: The pattern"))
    }))

  it.effect("a pattern whose `*` stands for nothing that is known is one too, unless it is to forbid", () =>
    Effect.gen(function*() {
      const config = (approval: "none" | "once_per_session" | "required" | "deny"): ApprovalConfig.Input => ({
        bash: { rules: [{ shell: ["frob *", "npm run test:*"], approval }], approval: "required" }
      })
      const said = (findings: Effect.Effect<unknown, { readonly message: string }>) =>
        Effect.provide(
          Effect.match(findings, { onFailure: ({ message }) => message, onSuccess: () => "" }),
          ApprovalMatcher.layer()
        )
      for (const approval of ["none", "once_per_session"] as const) {
        const messages = [
          yield* said(ApprovalPolicy.fromConfig(config(approval))),
          yield* said(ApprovalPolicy.lint(config(approval), Toolkit.make(Bash)))
        ]
        for (const message of messages) {
          assert.include(message, "The pattern \"frob *\" covers nothing: frob: not a known program")
          assert.include(
            message,
            "npm: it runs what package.json says; write each whole line as a pattern, such as `npm run test:…`"
          )
        }
      }
      for (const approval of ["required", "deny"] as const) {
        assert.strictEqual(yield* said(ApprovalPolicy.fromConfig(config(approval))), "")
      }
      assert.strictEqual(yield* become(config("deny"), "npm run test:unit"), "Blocked")
    }))

  it.effect("lint tells what allowed programs heed, and which are trusted", () =>
    Effect.gen(function*() {
      const rules = (approval: "none" | "required"): ApprovalConfig.Input => ({
        bash: {
          rules: [
            { shell: ["*", "git *", "git status", "ls *", "npm test", "git --version"], approval },
            { shell: "python *", trust: "python", approval }
          ],
          approval: "required"
        }
      })
      const cautions = (config: ApprovalConfig.Input) =>
        Effect.map(
          Effect.provide(ApprovalPolicy.lint(config, Toolkit.make(Bash)), ApprovalMatcher.layer()),
          (findings) => findings.filter(({ kind }) => kind === "caution").map(({ at, message }) => `${at}: ${message}`)
        )
      const heeds = "reads git's settings, which can name programs to run. Allow it only in folders that you trust."
      assert.deepStrictEqual(yield* cautions(rules("none")), [
        `bash.rules[0]: \`git *\` ${heeds}`,
        `bash.rules[0]: \`git status\` ${heeds}`,
        "bash.rules[1]: `python *` covers python with any arguments, because python is trusted."
      ])
      assert.deepStrictEqual(yield* cautions(rules("required")), [])
    }))

  it.effect("a rule can trust a program", () =>
    Effect.gen(function*() {
      for (const trust of ["python", ["python"]]) {
        const config: ApprovalConfig.Input = {
          bash: { rules: [{ shell: "python *", trust, approval: "none" }], approval: "required" }
        }
        assert.strictEqual(yield* become(config, "python a.py"), "PreApproved")
        assert.strictEqual(yield* become(config, "git status"), "NeedsApproval")
      }
    }))

  it.effect.prop(
    "what is covered may be covered, whatever the line",
    {
      pattern: Schema.Literals(["*", "git *", "git status", "ls *", "npm run test:unit", "git status | ls"]),
      line: Schema.Literals([
        "git status",
        "git",
        "ls -l",
        "npm run test:unit",
        "git status | ls",
        "echo",
        "git -c a=b x"
      ])
    },
    ({ line, pattern }) =>
      Effect.sync(() => {
        const matcher = ApprovalMatcher.shell([pattern], { param: "command" })
        if (matcher.covers({ command: line })) assert.isTrue(matcher.mayCover({ command: line }))
      })
  )
})
