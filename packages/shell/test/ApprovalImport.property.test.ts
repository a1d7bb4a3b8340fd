/**
 * What was read in is never wider than what was read, unless that is told. Their meaning is here by itself, as their
 * documentation has it: text and regular expressions, `.gitignore`, the strictest list.
 */
import { ApprovalPolicy, Tool } from "@assent/ai"
import { ApprovalImport, ApprovalMatcher } from "@assent/shell"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const strictness = { allow: 0, ask: 1, deny: 2 }

type Verdict = keyof typeof strictness

const Bash = Tool.make("bash", { parameters: { command: Schema.String }, success: Schema.String })
const EditFile = Tool.make("edit_file", { parameters: { path: Schema.String }, success: Schema.String })

const verdicts: { readonly [tag: string]: Verdict } = { PreApproved: "allow", NeedsApproval: "ask", Blocked: "deny" }

const ours = (imported: ApprovalImport.Imported, call: ReturnType<typeof ApprovalPolicy.makeCall>) =>
  Effect.gen(function*() {
    const policy = yield* ApprovalPolicy.fromConfig(imported.config)
    const { _tag } = yield* ApprovalPolicy.decide(policy, yield* call, "1 second")
    return verdicts[_tag]!
  }).pipe(Effect.provide(ApprovalMatcher.layer()), Effect.orDie)

/** At least as strict, or what is wider is told: a person is asked where they would refuse. */
const assertNotWider = (imported: ApprovalImport.Imported, we: Verdict, they: Verdict, about: unknown) => {
  if (strictness[we] >= strictness[they]) return
  const isTold = imported.differences.some(({ effect, text }) =>
    effect === "wider" && text.includes("asks about every call")
  )
  assert.isTrue(isTold && we === "ask", `${JSON.stringify(about)}: ${we}, and there ${they}`)
}

const lists = <S extends Schema.Schema<string>>(rule: S) => {
  const some = Schema.Array(rule).check(Schema.isMaxLength(3))
  return { allow: some, ask: some, deny: some }
}

// =============================================================================
// Commands
// =============================================================================

const CommandRule = Schema.Literals([
  "Bash",
  "Bash(*)",
  "Bash(git:*)",
  "Bash(git status)",
  "Bash(git status:*)",
  "Bash(git log *)",
  "Bash(git log*)",
  "Bash(git * main)",
  "Bash(* --version)",
  "Bash(cat a.txt)",
  "Bash(cat:*)",
  "Bash(ls:*)",
  "Bash(ls*)",
  "Bash(rm:*)",
  "Bash(rm -rf *)",
  "Bash(cd:*)",
  "Bash(npm run test)",
  "Bash(npm run test:*)",
  "Bash(npm run test*)",
  "Bash(\"git\" status)"
])

const CommandText = Schema.Literals([
  "git",
  "git status",
  "git status -s",
  "git  status",
  "git log",
  "git log -n 3 main",
  "git logs",
  "git merge main",
  "node --version",
  "cat a.txt",
  "cat",
  "cat b.txt",
  "ls",
  "ls -la",
  "lsof",
  "rm",
  "rm -rf a",
  "rmdir a",
  "cd",
  "cd a",
  "npm run test",
  "npm run test --watch",
  "npm run test:unit",
  "'git' status",
  "timeout 5 git status"
])

/** Words are compared, not text: another spelling of the same words is the same command. */
const plainly = (text: string): string => text.replaceAll(/['"]| (?= )/g, "")

/** To a folder below: Claude Code allows it by itself, and of VS Code it is told. */
const isBelow = (text: string): boolean => text === "cd a"

const commandMatcher = (rule: string): (text: string) => boolean => {
  const specifier = /^Bash(?:\((.*)\))?$/.exec(rule)![1] ?? "*"
  if (specifier === "*") return () => true
  const spaced = specifier.replace(/:\*$/, " *")
  const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&").replaceAll("\\*", ".*")
  const source = spaced.endsWith(" *") && spaced.indexOf("*") === spaced.length - 1
    ? `${escaped(spaced.slice(0, -2))}(?: .*)?`
    : escaped(spaced)
  const regex = new RegExp(`^${source}$`, "s")
  return (text) => regex.test(text)
}

describe("Claude Code", () => {
  it.effect.prop(
    "command lines",
    {
      ...lists(CommandRule),
      texts: Schema.Array(CommandText).check(Schema.isMinLength(1), Schema.isMaxLength(2)),
      join: Schema.Literals([" && ", "; ", "\n", " || "])
    },
    ({ allow, ask, deny, join, texts }) =>
      Effect.gen(function*() {
        const imported = ApprovalImport.fromClaudeCode({ permissions: { allow, ask, deny } }, {
          tools: { Bash: "bash" }
        })
        const any = (rules: ReadonlyArray<string>, text: string) => rules.some((rule) => commandMatcher(rule)(text))
        const allowed = (text: string) => any(allow, text) || any(allow.map(plainly), plainly(text)) || isBelow(text)
        const they: Verdict = texts.some((text) => any(deny, text))
          ? "deny"
          : texts.some((text) => any(ask, text)) || !texts.every(allowed)
          ? "ask"
          : "allow"
        const command = texts.join(join)
        const we = yield* ours(imported, ApprovalPolicy.makeCall(Bash, { command }))
        assertNotWider(imported, we, they, { allow, ask, deny, command })
      }),
    { arbitrary: { runs: 80, seed: "import" }, timeout: 60_000 }
  )

  // ===========================================================================
  // Paths
  // ===========================================================================

  const PathRule = Schema.Literals([
    "Edit",
    "Edit(**)",
    "Edit(*)",
    "Edit(src/**)",
    "Edit(/src/**)",
    "Edit(./src/a.ts)",
    "Edit(src/ui/**)",
    "Edit(src/ui)",
    "Edit(**/ui/**)",
    "Edit(*.ts)",
    "Edit(a.ts)",
    "Edit(ui)",
    "Edit(ui/)",
    "Edit(src/*.ts)",
    "Edit(src/a**ts)",
    "Edit(.env)",
    "Edit(src/[ab].ts)",
    "Edit({a}.ts)",
    "Edit(!src/**)"
  ])

  const PathText = Schema.Literals([
    "a.ts",
    "{a}.ts",
    "src/a.ts",
    "src/b.ts",
    "src/c.txt",
    "src/ui/a.ts",
    "src/ui/deep/a.ts",
    "ui/a.ts",
    "ui",
    "lib/src/a.ts",
    "lib/ui/x",
    ".env",
    "src/.env",
    "src/.git/a.ts"
  ])

  const ignores = (rule: string, allows: boolean): (path: string) => boolean => {
    const specifier = /^Edit(?:\((.*)\))?$/.exec(rule)![1]
    if (specifier === undefined) return () => true
    if (specifier.startsWith("!")) return () => false
    const text = specifier.replace(/^\.\//, "/").replace(/\/$/, "")
    const single = /^[^/*]+\/\*\*$/.test(text)
    const anchored = text.startsWith("/") || (text.includes("/") && !(single && !allows))
    const source = text.replace(/^\//, "").split("/").map((segment) =>
      segment === "**" ? "**" : segment
        .replaceAll(/[\\^$.+?(){}|]/g, "\\$&").replaceAll(/\*+/g, "[^/]*")
    ).join("/").replaceAll("**/", "(?:.*/)?").replace(/\/\*\*$/, "(?:/.*)").replace(/^\*\*$/, ".*")
    const regex = new RegExp(`^${anchored ? "" : "(?:.*/)?"}${source}(?:/.*)?$`)
    return (path) => regex.test(path)
  }

  it.effect.prop(
    "paths",
    { ...lists(PathRule), path: PathText },
    ({ allow, ask, deny, path }) =>
      Effect.gen(function*() {
        const imported = ApprovalImport.fromClaudeCode({ permissions: { allow, ask, deny } }, {
          tools: { Edit: "edit_file" }
        })
        const any = (rules: ReadonlyArray<string>, allows: boolean) => rules.some((rule) => ignores(rule, allows)(path))
        const they: Verdict = any(deny, false) ? "deny" : any(ask, false) || !any(allow, true) ? "ask" : "allow"
        const we = yield* ours(imported, ApprovalPolicy.makeCall(EditFile, { path }))
        assertNotWider(imported, we, they, { allow, ask, deny, path })
      }),
    { arbitrary: { runs: 80, seed: "import" }, timeout: 60_000 }
  )

  // ===========================================================================
  // Names of tools
  // ===========================================================================

  const NameRule = Schema.Literals([
    "*",
    "mcp__*",
    "mcp__a",
    "mcp__a__*",
    "mcp__a__get",
    "mcp__a__get_*",
    "mcp__*__get*",
    "mcp__b__get",
    "mcp__a*",
    "*get*"
  ])

  it.effect.prop(
    "tools of MCP servers",
    { ...lists(NameRule), name: Schema.Literals(["a__get", "a__get_all", "a__set", "b__get", "b__set"]) },
    ({ allow, ask, deny, name }) =>
      Effect.gen(function*() {
        const imported = ApprovalImport.fromClaudeCode({ permissions: { allow, ask, deny } }, { tools: {} })
        const any = (rules: ReadonlyArray<string>) =>
          rules.some((rule) =>
            new RegExp(`^${rule.replaceAll("*", ".*")}$`).test(`mcp__${name}`) || `mcp__${name}`.startsWith(`${rule}__`)
          )
        // What allows has to name a server.
        const servers = allow.filter((rule) => /^mcp__[^*]+?(?:__|$)/.test(rule))
        const they: Verdict = any(deny) ? "deny" : any(ask) || !any(servers) ? "ask" : "allow"
        // One that asks by itself, as theirs do.
        const tool = Tool.make(name, { success: Schema.String, needsApproval: true })
        const we = yield* ours(imported, ApprovalPolicy.makeCall(tool, {}))
        assertNotWider(imported, we, they, { allow, ask, deny, name })
      }),
    { arbitrary: { runs: 80, seed: "import" }, timeout: 60_000 }
  )
})

describe("VS Code", () => {
  const Key = Schema.Literals([
    "git status",
    "git",
    "ls",
    "rm",
    "cat a.txt",
    "npm run test",
    "/^git (status|log\\b.*)$/",
    "/^git log\\b/",
    "/^ls/",
    "/^cat a\\.txt$/",
    "/rm/",
    "/.*/",
    "/^git log .*/"
  ])
  const Value = Schema.Literals([true, false])

  it.effect.prop(
    "command lines",
    {
      rules: Schema.Array(Schema.Tuple([Key, Value])).check(Schema.isMaxLength(4)),
      texts: Schema.Array(CommandText).check(Schema.isMinLength(1), Schema.isMaxLength(2))
    },
    ({ rules, texts }) =>
      Effect.gen(function*() {
        const settings = Object.fromEntries(rules)
        const imported = ApprovalImport.fromVsCode({ "chat.tools.terminal.autoApprove": settings }, {
          terminal: "bash"
        })
        const any = (value: boolean, text: string) =>
          Object.entries(settings).some(([key, approve]) => {
            const regex = /^\/(.*)\/$/.exec(key)?.[1] ?? `^${key.replaceAll(".", "\\.")}\\b`
            return approve === value && new RegExp(regex).test(text)
          })
        const they: Verdict = texts.some((text) => any(false, text)) || !texts.every((text) =>
            any(true, plainly(text)) || isBelow(text)
          )
          ? "ask"
          : "allow"
        const command = texts.join(" && ")
        const we = yield* ours(imported, ApprovalPolicy.makeCall(Bash, { command }))
        assertNotWider(imported, we, they, { settings, command })
      }),
    { arbitrary: { runs: 80, seed: "import" }, timeout: 60_000 }
  )
})
