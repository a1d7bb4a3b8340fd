/** Approvals of VS Code: what each form becomes, and what is told of it. */
import { ApprovalPolicy } from "@assent/ai"
import { ApprovalImport, ApprovalMatcher } from "@assent/shell"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

const fromVsCode = (settings: object) => ApprovalImport.fromVsCode(settings, { terminal: "bash", edits: "write_file" })

const terminal = (rules: object, more?: object) => fromVsCode({ "chat.tools.terminal.autoApprove": rules, ...more })

const effects = ({ differences }: ApprovalImport.Imported, rule: string) =>
  differences.filter((difference) => difference.rule === rule).map(({ effect }) => effect)

describe("command lines", () => {
  const allow = (...patterns: ReadonlyArray<string>) => ({
    bash: { rules: patterns.map((shell) => ({ shell, approval: "none" })), approval: "required" }
  })
  const ask = (shell: string, key: string) => ({
    bash: { rules: [{ shell, approval: "required", reason: `VS Code: ${key}` }], approval: "required" }
  } as const)
  const cases: ReadonlyArray<readonly [rules: object, tools: object, key?: string, effects?: ReadonlyArray<string>]> = [
    [{ "git status": true }, allow("git status *"), "git status", []],
    [{ "git status": { approve: true } }, allow("git status *")],
    [{ "git status": { approve: true, matchCommandLine: true } }, allow("git status *"), "git status", ["narrower"]],
    [{ "git status": null }, {}],
    [{ "git status": { approve: null } }, {}],
    [{ "/^git status$/": true }, allow("git status"), "/^git status$/", []],
    [{ "/^ls/": true }, allow("ls *"), "/^ls/", ["narrower"]],
    [{ "/^git status\\b/": true }, allow("git status *"), "/^git status\\b/", []],
    [{ "/^git (status|show\\b.*)$/": true }, allow("git status", "git show *")],
    [{ "/^(?:git) log\\b/i": true }, allow("git log *"), "/^(?:git) log\\b/i", ["narrower"]],
    [{ "/^cat package\\.json$/": true }, allow("cat package.json")],
    [{ "/git status/": true }, {}, "/git status/", ["left out"]],
    [{ "/.*/": true }, {}, "/.*/", ["left out"]],
    [{ "/^git .+$/": true }, {}, "/^git .+$/", ["left out"]],
    [{ "/^git log .*/": true }, {}, "/^git log .*/", ["left out"]],
    [{ "/^git (?!push)/": true }, {}, "/^git (?!push)/", ["left out"]],
    [{ "/(/": true }, {}, "/(/", ["left out"]],
    [{ "/(/": false }, { bash: "required" }, "/(/", ["left out", "narrower"]],
    [{ "git status ": true }, {}, "git status ", ["left out"]],
    [{ "cd": true }, {}, "cd", ["left out"]],
    [{ "*": true }, {}, "*", ["left out"]],
    [{ "*": false, "git status": true }, { bash: "required" }, "git status", ["left out"]],
    [{ "git status": "yes" }, { bash: "required" }, "git status", ["left out", "narrower"]],
    [{ rm: false }, ask("rm *", "rm"), "chat.tools.terminal.autoApprove", ["narrower", "wider"]],
    [{ "/^git push\\b/": { approve: false, matchCommandLine: true } }, ask("git push *", "/^git push\\b/")],
    [{ "/dangerous/": false, "git status": true }, {}, "git status", ["left out"]],
    [{ "/dangerous/": false, "/^git status$/": true }, allow("git status"), "/dangerous/", ["narrower"]],
    [{ "/stat/g": false, "/^git status$/": true }, {}, "/^git status$/", ["left out"]]
  ]
  it.effect.each(cases)("%j", ([rules, tools, key, expected]) =>
    Effect.gen(function*() {
      const imported = terminal(rules)
      assert.deepStrictEqual(imported.config.tools, { bash: "required", write_file: "required", ...tools })
      if (key !== undefined) assert.deepStrictEqual(effects(imported, key), expected)
      // A pattern that covers nothing would be an error.
      yield* Effect.provide(ApprovalPolicy.fromConfig(imported.config), ApprovalMatcher.layer())
    }))

  it("auto-approval that is off allows nothing, and what asks stays", () => {
    const imported = terminal({ "git status": true, rm: false }, { "chat.tools.terminal.enableAutoApprove": false })
    assert.deepStrictEqual(imported.config.tools["bash"], ask("rm *", "rm").bash)
    assert.deepStrictEqual(effects(imported, "git status"), ["left out"])
  })

  it("what is no map, and what is for every tool, is told", () => {
    const imported = fromVsCode({
      "chat.tools.terminal.autoApprove": true,
      "chat.tools.edits.autoApprove": [],
      "chat.tools.global.autoApprove": true,
      "chat.tools.urls.autoApprove": {}
    })
    assert.deepStrictEqual(imported.config.tools, { bash: "required", write_file: "required" })
    assert.deepStrictEqual(imported.differences.map(({ effect, rule }) => [effect, rule]), [
      ["left out", "chat.tools.terminal.autoApprove"],
      ["left out", "chat.tools.edits.autoApprove"],
      ["left out", "chat.tools.global.autoApprove"],
      ["left out", "chat.tools.urls.autoApprove"]
    ])
    for (const settings of [undefined, null, 5, "x", {}]) {
      assert.deepStrictEqual(ApprovalImport.fromVsCode(settings, {}), { config: { tools: {} }, differences: [] })
    }
  })

  it("a tool that is not named is told", () => {
    const imported = ApprovalImport.fromVsCode({ "chat.tools.terminal.autoApprove": { "git status": true } }, {})
    assert.deepStrictEqual(imported.config.tools, {})
    assert.include(effects(imported, "chat.tools.terminal.autoApprove"), "left out")
  })
})

describe("edits", () => {
  const cases: ReadonlyArray<readonly [globs: object, tools: object, key?: string, effects?: ReadonlyArray<string>]> = [
    [{ "docs/*.md": true }, { write_file: { rules: [{ path: "docs/*.md", approval: "none" }], approval: "required" } }],
    [{ "**/.env": false }, {
      write_file: {
        rules: [{ path: "**/.env", approval: "required", reason: "VS Code: **/.env" }],
        approval: "required"
      }
    }],
    [{ "**/*": true }, {}, "**/*", ["left out"]],
    [{ "../x": true }, {}, "../x", ["left out"]],
    [{ "../x": false, "docs/*.md": true }, { write_file: "required" }, "docs/*.md", ["left out"]],
    [
      { "docs/*.md": 1 },
      {
        write_file: {
          rules: [{ path: "docs/*.md", approval: "required", reason: "VS Code: docs/*.md" }],
          approval: "required"
        }
      },
      "docs/*.md",
      ["narrower"]
    ]
  ]
  it.each(cases.map((edits) => [edits] as const))("%j", ([globs, tools, key, expected]) => {
    const imported = fromVsCode({ "chat.tools.edits.autoApprove": globs })
    assert.deepStrictEqual(imported.config.tools, { bash: "required", write_file: "required", ...tools })
    if (key !== undefined) assert.deepStrictEqual(effects(imported, key), expected)
  })

  it("one tool for both has the rules of both", () => {
    const { config } = ApprovalImport.fromVsCode(
      { "chat.tools.terminal.autoApprove": { "git status": true }, "chat.tools.edits.autoApprove": { "a/*": true } },
      { terminal: "x", edits: { name: "x", param: "file" }, links: "refused" }
    )
    assert.deepStrictEqual(config.tools, {
      x: {
        rules: [
          { shell: "git status *", approval: "none" },
          { path: "a/*", param: "file", links: "refused", approval: "none" }
        ],
        approval: "required"
      }
    })
  })
})
