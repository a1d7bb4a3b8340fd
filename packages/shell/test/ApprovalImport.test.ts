/** Rules of other products: what each form becomes, and what is told of it. Never wider: `ApprovalImport.property`. */
import { ApprovalPolicy } from "@assent/ai"
import { ApprovalImport, ApprovalMatcher } from "@assent/shell"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

const tools = { Bash: "bash", Read: "read_file", Edit: "edit_file", Write: "write_file", WebFetch: "fetch" }

const fromClaudeCode = (permissions: object, options?: { readonly home?: string; readonly links?: "refused" }) =>
  ApprovalImport.fromClaudeCode({ permissions }, { tools, ...options })

/** What is told of a rule, or of `*` for all of its kind, in one word each. */
const told = ({ differences }: ApprovalImport.Imported, rule: string) =>
  differences.filter((difference) => difference.rule === rule).map(({ effect }) => effect)

describe("one rule of Claude Code", () => {
  const allow = { approval: "none" } as const
  const deny = (rule: string) => ({ approval: "deny", reason: `Claude Code: ${rule}` }) as const
  const one = (rule: object) => ({ approval: "required", rules: [rule] })

  const cases: ReadonlyArray<readonly [permissions: object, tools: object]> = [
    [{ allow: ["Bash(git status)"] }, { bash: one({ shell: "git status", ...allow }) }],
    [{ allow: ["Bash(git status:*)"] }, { bash: one({ shell: "git status *", ...allow }) }],
    [{ allow: ["Bash(git status *)"] }, { bash: one({ shell: "git status *", ...allow }) }],
    [{ allow: ["Bash(git status*)"] }, { bash: one({ shell: ["git status *", "git status*"], ...allow }) }],
    [{ allow: ["Bash(cat /srv/log/*)"] }, { bash: one({ shell: ["cat /srv/log/ *", "cat /srv/log/*"], ...allow }) }],
    [{ allow: ["Bash(npm run test:*)"] }, { bash: one({ shell: "npm run test", ...allow }) }],
    [{ allow: ["Bash(npm run build)"] }, { bash: one({ shell: "npm run build", ...allow }) }],
    [{ allow: ["Bash(make:all)"] }, { bash: one({ shell: "make:all", ...allow }) }],
    [{ allow: ["Bash"] }, { bash: "none" }],
    [{ allow: ["Bash(*)"] }, { bash: "none" }],
    [{ allow: ["Bash", "Bash(git log:*)"] }, { bash: "none" }],
    [{ allow: ["Bash(git * main)"] }, {}],
    [{ allow: ["Bash(* --version)"] }, {}],
    [{ allow: ["Bash(cd:*)"] }, {}],
    [{ allow: ["Bash(source .venv/bin/activate)"] }, {}],
    [{ allow: ["Bash(echo $HOME)"] }, {}],
    [{ allow: ["Bash(git status && git diff)"] }, {}],
    [{ deny: ["Bash"] }, { bash: "deny" }],
    [{ deny: ["Bash"], allow: ["Bash(git log:*)"] }, { bash: "deny" }],
    [{ deny: ["Bash(rm:*)"] }, { bash: one({ shell: "rm *", ...deny("Bash(rm:*)") }) }],
    [{ deny: ["Bash(npm publish)"] }, { bash: one({ shell: "npm publish", ...deny("Bash(npm publish)") }) }],
    [{ deny: ["Bash(git * main)"] }, { bash: one({ shell: "git *", ...deny("Bash(git * main)") }) }],
    [{ deny: ["Bash(curl http://x/*)"] }, { bash: one({ shell: "curl *", ...deny("Bash(curl http://x/*)") }) }],
    [{ deny: ["Bash(rm*)"] }, { bash: "required" }],
    [{ deny: ["Bash(*secret*)"], allow: ["Bash(git status)"] }, { bash: "required" }],
    [{ deny: ["Bash(run_in_background:true)"] }, { bash: "required" }],
    [{ deny: ["Bash(command:rm *)"] }, {}],
    [{ ask: ["Bash"], allow: ["Bash(git log:*)"] }, { bash: "required" }],
    [{ ask: ["Bash"], deny: ["Bash(rm:*)"] }, { bash: one({ shell: "rm *", ...deny("Bash(rm:*)") }) }],
    [
      { allow: ["Bash"], ask: ["Bash(git push:*)"] },
      {
        bash: {
          rules: [{ shell: "git push *", approval: "required", reason: "Claude Code: Bash(git push:*)" }],
          approval: "none"
        }
      }
    ],
    [{ defaultMode: "dontAsk", allow: ["Bash(git status)"] }, {
      bash: { rules: [{ shell: "git status", ...allow }], approval: "deny" }
    }],
    [{ defaultMode: "dontAsk", ask: ["Bash"] }, { bash: "deny" }],
    [{ allow: ["Edit(src/**)"] }, {
      edit_file: one({ path: "src/**", ...allow }),
      write_file: one({ path: "src/**", ...allow })
    }],
    [{ allow: ["Read(/docs/)"] }, { read_file: one({ path: "docs/**", ...allow }) }],
    [{ allow: ["Read(src//x.txt)"] }, {}],
    [{ allow: ["Read(//tmp/x.txt)"] }, { read_file: one({ path: "/tmp/x.txt", ...allow }) }],
    [{ allow: ["Read(*.md)"] }, { read_file: one({ path: "**/*.md", ...allow }) }],
    [{ allow: ["Read(~/.zshrc)"] }, {}],
    [{ allow: ["Read(src/{a,b})"] }, {}],
    [{ allow: ["Write(src/**)"] }, {}],
    [{ allow: ["Read", "Edit"] }, { read_file: "none", edit_file: "none" }],
    [{ deny: ["Edit"] }, { edit_file: "deny", write_file: "deny" }],
    [{ deny: ["Edit(.env)"] }, {
      edit_file: one({ path: [".env", ".env/**", "**/.env", "**/.env/**"], ...deny("Edit(.env)") }),
      write_file: one({ path: [".env", ".env/**", "**/.env", "**/.env/**"], ...deny("Edit(.env)") })
    }],
    [{ deny: ["Read(//etc/**)"] }, {
      read_file: one({ path: "/etc/**", ...deny("Read(//etc/**)") }),
      edit_file: one({ path: "/etc/**", ...deny("Read(//etc/**)") }),
      write_file: one({ path: "/etc/**", ...deny("Read(//etc/**)") })
    }],
    [{ ask: ["Read(secrets/**)"] }, {
      read_file: one({
        path: ["secrets/**", "**/secrets/**"],
        approval: "required",
        reason: "Claude Code: Read(secrets/**)"
      })
    }],
    [{ ask: ["Read(**/secrets)"] }, {
      read_file: one({
        path: ["**/secrets", "**/secrets/**"],
        approval: "required",
        reason: "Claude Code: Read(**/secrets)"
      })
    }],
    [{ allow: ["WebFetch(domain:example.com)"] }, {}],
    [{ deny: ["WebFetch(domain:example.com)"] }, { fetch: "required" }],
    [{ deny: ["WebFetch(*)"] }, { fetch: "deny" }],
    [{ allow: ["mcp__github__get_issue"] }, { github__get_issue: "none" }],
    [{ allow: ["mcp__github"] }, { "github__*": "none" }],
    [{ allow: ["mcp__github__*"] }, { "github__*": "none" }],
    [{ allow: ["mcp__*", "mcp__git*", "B*"] }, {}],
    [{ deny: ["mcp__*"] }, { "*__*": "deny" }],
    [{ deny: ["mcp__github"], allow: ["mcp__github__get_issue"] }, {
      "github__*": "deny",
      github__get_issue: "deny"
    }],
    [{ deny: ["mcp__*__write*"], allow: ["mcp__github__*"] }, { "*__write*": "deny" }],
    [{ deny: ["mcp__*__write*"], ask: ["mcp__github__*"] }, { "*__write*": "deny", "github__*": "deny" }],
    [{ deny: ["B*"] }, { bash: "deny", "B*": "deny" }],
    [{ ask: ["*"], deny: ["Bash(rm:*)"], allow: ["Bash(git status)", "mcp__a__b"] }, {
      bash: one({ shell: "rm *", ...deny("Bash(rm:*)") }),
      read_file: "required",
      edit_file: "required",
      write_file: "required",
      fetch: "required",
      "*": "required",
      a__b: "required"
    }],
    [{ allow: ["Agent(Explore)", "mcp__a__b(c)", "Nothing", "no(rule", 5] }, {}],
    [{ allow: "Bash" }, {}]
  ]
  it.effect.each(cases)("%j", ([permissions, expected]) =>
    Effect.gen(function*() {
      const { config, differences } = fromClaudeCode(permissions)
      const otherwise = "defaultMode" in permissions ? "deny" : "required"
      const named = ["bash", "read_file", "edit_file", "write_file", "fetch"].map((name) => [name, otherwise])
      assert.deepStrictEqual(config.tools, { ...Object.fromEntries(named), ...expected })
      // Whatever has no rule is told.
      if (Object.keys(expected).length === 0) assert.isNotEmpty(differences)
      // A pattern that covers nothing would be an error.
      yield* Effect.provide(ApprovalPolicy.fromConfig(config), ApprovalMatcher.layer())
    }))
})

describe("what is told of Claude Code", () => {
  it("a rule that is left out, with its reason", () => {
    const imported = fromClaudeCode({ allow: ["Bash(git * main)"] })
    assert.deepStrictEqual(imported.differences.slice(0, 1), [{
      rule: "Bash(git * main)",
      effect: "left out",
      text: "A `*` before the end stands for any text, options and other commands too."
    }])
  })

  const cases: ReadonlyArray<readonly [permissions: object, rule: string, effects: ReadonlyArray<string>]> = [
    [{ allow: ["Bash(git status)"] }, "Bash(git status)", []],
    [{ allow: ["Bash(git status)"] }, "Bash", ["narrower", "wider"]],
    [{ allow: ["Bash(git status*)"] }, "Bash(git status*)", []],
    [{ allow: ["Bash(ls*)"] }, "Bash(ls*)", ["narrower"]],
    [{ allow: ["Bash(export:*)"] }, "Bash(export:*)", ["left out"]],
    [{ deny: ["Bash(rm:*)"] }, "Bash", ["narrower"]],
    [{ deny: ["Bash(rm*)"] }, "Bash(rm*)", ["wider"]],
    [{ ask: ["Bash(rm*)"] }, "Bash(rm*)", ["narrower"]],
    [{ deny: ["Bash(rm*)"], defaultMode: "dontAsk" }, "Bash(rm*)", ["narrower"]],
    [{ deny: ["Bash(rm*)"], allow: ["Bash(git status)"] }, "Bash(git status)", ["left out"]],
    [{ allow: ["Edit(src/**)"] }, "Edit, Read", ["narrower", "wider"]],
    [{ allow: ["Edit"] }, "Edit", ["narrower"]],
    [{ deny: ["Read(.env)"] }, "Read(.env)", ["wider"]],
    [{ deny: ["Read(../x)"] }, "Read(../x)", ["wider", "wider", "wider"]],
    [{ deny: ["WebFetch(domain:x.com)"] }, "WebFetch(domain:x.com)", ["wider"]],
    [{ allow: ["Glob(src/**)"] }, "Glob(src/**)", ["left out"]],
    [{ allow: ["Agent(Explore)"] }, "Agent(Explore)", ["left out"]],
    [{ deny: ["Agent(Explore)"] }, "Agent(Explore)", ["left out"]],
    [{ deny: ["mcp__*__write*"], allow: ["mcp__github__*"] }, "mcp__github__*", ["left out"]],
    [{}, "Read, Grep, Glob, LS", ["narrower"]],
    [{ allow: ["mcp__a__b"] }, "mcp__*", ["wider"]],
    [{ additionalDirectories: ["../x"] }, "permissions.additionalDirectories", ["left out"]],
    [{ defaultMode: "acceptEdits" }, "permissions.defaultMode: acceptEdits", ["left out"]],
    [{ allow: "Bash" }, "permissions.allow", ["left out"]],
    [{ allow: [5] }, "5", ["left out"]]
  ]
  it.each(cases)("%j: %s", (permissions, rule, effects) => {
    assert.deepStrictEqual(told(fromClaudeCode(permissions), rule), effects)
  })

  it("hooks, a sandbox and settings without permissions", () => {
    const imported = ApprovalImport.fromClaudeCode({ hooks: {}, permissions: {}, sandbox: {} }, { tools })
    assert.deepStrictEqual(imported.differences.map(({ rule }) => rule), ["Read, Grep, Glob, LS", "hooks", "sandbox"])
    for (const settings of [undefined, null, 5, "x", [], {}, { permissions: 5 }]) {
      const nothing = ApprovalImport.fromClaudeCode(settings, { tools })
      assert.isTrue(Object.values(nothing.config.tools).every((value) => value === "required"))
      assert.deepStrictEqual(told(nothing, "permissions"), ["left out"])
    }
  })

  it("a program that is trusted may get any arguments, as it may there", () => {
    const permissions = { allow: ["Bash(npm run test:*)", "Bash(npm ci)", "Bash(make:*)"] }
    const imported = ApprovalImport.fromClaudeCode({ permissions }, { tools: { Bash: "bash" }, trust: ["npm"] })
    assert.deepStrictEqual(imported.config.tools, {
      bash: {
        rules: [
          { shell: "npm run test *", trust: "npm", approval: "none" },
          { shell: "npm ci", approval: "none" },
          { shell: "make", approval: "none" }
        ],
        approval: "required"
      }
    })
    assert.deepStrictEqual(told(imported, "Bash(npm run test:*)"), [])
    assert.deepStrictEqual(told(imported, "Bash(make:*)"), ["narrower"])
  })

  it("one tool may stand for several, and has each rule once", () => {
    const { config } = ApprovalImport.fromClaudeCode(
      { permissions: { allow: ["Read(docs/**)"], deny: ["Edit(src/a/**)"] } },
      { tools: { Read: "files", Edit: "files", Write: "files" } }
    )
    assert.deepStrictEqual(config.tools, {
      files: {
        rules: [
          { path: "src/a/**", approval: "deny", reason: "Claude Code: Edit(src/a/**)" },
          { path: "docs/**", approval: "none" }
        ],
        approval: "required"
      }
    })
  })

  it("home, links and the names of parameters are the program's", () => {
    const { config } = ApprovalImport.fromClaudeCode(
      { permissions: { allow: ["Read(~/notes/**)", "Bash(git status)"], deny: ["Read(~/notes/x)"] } },
      {
        tools: { Bash: { name: "run", param: "line" }, Read: { name: "open", param: "file" } },
        home: "/home/ada/",
        links: "refused"
      }
    )
    assert.deepStrictEqual(config.tools, {
      open: {
        rules: [
          {
            path: ["/home/ada/notes/x", "/home/ada/notes/x/**"],
            param: "file",
            approval: "deny",
            reason: "Claude Code: Read(~/notes/x)"
          },
          { path: "/home/ada/notes/**", param: "file", links: "refused", approval: "none" }
        ],
        approval: "required"
      },
      run: { rules: [{ shell: "git status", param: "line", approval: "none" }], approval: "required" }
    })
  })
})
