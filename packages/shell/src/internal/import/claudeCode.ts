/**
 * The `permissions` of Claude Code's settings, as code.claude.com/docs/en/permissions has them.
 */
import * as Predicate from "effect/Predicate"
import * as Commands from "./commands.ts"
import * as Imports from "./imported.ts"
import type { Difference, Imported, Said, ToolOption, Wanted } from "./imported.ts"
import * as Names from "./names.ts"
import * as Paths from "./paths.ts"

export interface Context {
  readonly tools: (theirs: string) => ReadonlyArray<ToolOption>
  readonly theirs: ReadonlyArray<string>
  readonly home: string | undefined
  readonly links: "refused" | undefined
  readonly judge: Commands.Judge
}

const product = "Claude Code"

const editing = ["Edit", "Write", "MultiEdit", "NotebookEdit"]
const reading = ["Read", "Grep", "Glob", "LS"]

/** Accepted and never consulted: only `Edit` and `Read` have paths. */
const pathsWithoutMeaning = ["Write", "MultiEdit", "NotebookEdit", "Glob"]

const lists: ReadonlyArray<readonly [key: string, wanted: Wanted]> = [
  ["deny", "deny"],
  ["ask", "required"],
  ["allow", "none"]
]

export const read = (settings: unknown, context: Context): Imported => {
  const differences: Array<Difference> = []
  const said = Imports.start(context.theirs.flatMap(context.tools))
  const tell = (rule: string, effect: Difference["effect"], text: string) => {
    differences.push({ rule, effect, text })
  }
  const permissions = Imports.ownOf(settings, "permissions")
  if (!Predicate.isObject(permissions)) {
    tell("permissions", "left out", "There are none in these settings.")
    return { config: { tools: Object.fromEntries([...said].map(([name]) => [name, "required"])) }, differences }
  }
  const mode = Imports.ownOf(permissions, "defaultMode")
  // What nothing allows is refused there, also what a rule would ask about.
  const dontAsk = mode === "dontAsk"
  let hasServers = false

  const add = (tool: ToolOption, rule: Said) => {
    Imports.add(said, tool, dontAsk && rule.wanted === "required" ? { ...rule, wanted: "deny" } : rule)
  }
  /** Adds the rule for each of the tools; says so if there is none. */
  const addAll = (theirs: ReadonlyArray<string>, rule: Said) => {
    // One of ours may stand for several of theirs.
    const tools = theirs.flatMap(context.tools).filter(({ name, param }, index, all) =>
      all.findIndex((tool) => tool.name === name && tool.param === param) === index
    )
    if (tools.length === 0) tell(rule.rule, "left out", `No tool of yours is given for ${theirs[0]}.`)
    for (const tool of tools) add(tool, rule)
  }
  /** What cannot be told from other calls of the tool: asked about, or left out. */
  const addUnreadable = (theirs: ReadonlyArray<string>, rule: string, wanted: Wanted, why: string) => {
    if (wanted === "none") tell(rule, "left out", why)
    else addAll(theirs, { _tag: "Unreadable", wanted, rule })
  }

  const readBash = (rule: string, specifier: string, wanted: Wanted) => {
    if (specifier === "*" || specifier === "") return addAll(["Bash"], { _tag: "Every", wanted, rule })
    if (wanted !== "none" && /^command\s*:/.test(specifier)) {
      return tell(rule, "left out", `${product} ignores it too.`)
    }
    if (wanted !== "none" && /^[A-Za-z_]+\s*:\s*(?!\*$)\S/.test(specifier)) {
      return addUnreadable(["Bash"], rule, wanted, "")
    }
    const written = toWritten(specifier)
    const found = wanted === "none" ? Commands.allowing(written, context.judge) : Commands.forbidding(written)
    if (found.patterns.length === 0) return addUnreadable(["Bash"], rule, wanted, found.note!)
    if (found.note !== undefined) tell(rule, "narrower", found.note)
    addAll(["Bash"], { _tag: "Some", by: "shell", patterns: found.patterns, trust: found.trust, wanted, rule })
  }

  const readPath = (name: "Read" | "Edit", rule: string, specifier: string, wanted: Wanted) => {
    const allows = wanted === "none"
    const theirs = name === "Edit"
      ? editing
      : allows
      ? ["Read"]
      : wanted === "deny"
      ? [...reading, ...editing]
      : reading
    const globs = Paths.fromGitignore(specifier, { forbids: !allows, home: context.home })
    if (typeof globs === "string") return addUnreadable(theirs, rule, wanted, globs)
    addAll(theirs, { _tag: "Some", by: "path", patterns: globs, wanted, rule })
    if (!allows && context.tools("Bash").length > 0) {
      tell(rule, "wider", "Command lines are not checked for it: an allowed one may read or write such a file.")
    }
  }

  const readNamed = (rule: string, name: string, wanted: Wanted) => {
    if (name.startsWith("mcp__")) {
      // `files__read` is a tool of the server that is guarded as `files`.
      hasServers = true
      const rest = name.slice("mcp__".length)
      const ours = rest.includes("__") || rest.endsWith("*") ? rest : `${rest}__*`
      if (wanted === "none" && !/^[^*]+__/.test(ours)) return tell(rule, "left out", `${product} skips it, too.`)
      return add({ name: ours === "*" ? "*__*" : ours }, { _tag: "Every", wanted, rule })
    }
    if (!name.includes("*")) {
      if (wanted === "none" && name === "Edit" && editing.slice(1).some((theirs) => context.tools(theirs).length > 0)) {
        tell(rule, "narrower", "It allows your tools for Edit, but not your tools for Write.")
      }
      return addAll(wanted !== "none" && name === "Edit" ? editing : [name], { _tag: "Every", wanted, rule })
    }
    if (wanted === "none") return tell(rule, "left out", `${product} skips it, too.`)
    for (const theirs of context.theirs) {
      if (Names.overlap(name, theirs)) {
        for (const tool of context.tools(theirs)) add(tool, { _tag: "Every", wanted, rule })
      }
    }
    add({ name }, { _tag: "Every", wanted, rule })
  }

  for (const [key, wanted] of lists) {
    const list = Imports.ownOf(permissions, key) ?? []
    if (!Array.isArray(list)) {
      tell(`permissions.${key}`, "left out", "It is no list.")
      continue
    }
    for (const rule of list as ReadonlyArray<unknown>) {
      const parts = typeof rule === "string" ? /^\s*([^()\s]+)\s*(?:\((.*)\)\s*)?$/s.exec(rule) : null
      if (typeof rule !== "string" || parts === null) {
        tell(
          typeof rule === "string" ? rule : JSON.stringify(rule) ?? key,
          "left out",
          "It does not have the form of a rule."
        )
        continue
      }
      const [, name, inner] = parts
      const specifier = inner?.trim()
      if (specifier === undefined) readNamed(rule, name!, wanted)
      else if (name!.startsWith("mcp__")) {
        tell(rule, "left out", `${product} skips a rule of MCP with parentheses, too.`)
      } else if (name === "Bash") readBash(rule, specifier, wanted)
      else if (specifier === "*") readNamed(rule, name!, wanted)
      else if (name === "Read" || name === "Edit") readPath(name, rule, specifier, wanted)
      else if (pathsWithoutMeaning.includes(name!)) {
        tell(rule, "left out", `${product} ignores it too: only Edit and Read have paths.`)
      } else addUnreadable([name!], rule, wanted, "No rule here can tell such calls from others.")
    }
  }

  const origin = { product, otherwise: dontAsk ? "deny" : "required", links: context.links } as const
  const entries = [...said].map(([name, rules]) => [name, Imports.settle(name, rules, origin, tell)] as const)
  const tools = Names.yieldToStricter(entries, (name, effect, text) => {
    tell(said.get(name)![0]!.rule, effect, text)
  })
  differences.push(...generally([...said.values()].flat(), hasServers, context))
  for (const [key, text] of unreadSettings) {
    const holder = key.startsWith("permissions.") ? permissions : settings
    if (Imports.ownOf(holder, key.replace("permissions.", "")) !== undefined) tell(key, "left out", text)
  }
  if (typeof mode === "string" && !["default", "manual", "dontAsk"].includes(mode)) {
    tell(`permissions.defaultMode: ${mode}`, "left out", "Calls without a rule need approval.")
  }
  return { config: { tools: Object.fromEntries(tools) }, differences }
}

const unreadSettings: ReadonlyArray<readonly [key: string, text: string]> = [
  ["permissions.additionalDirectories", "Only rules about paths allow folders."],
  ["hooks", "Its hooks are not read. Write rules for what they forbid or ask about."],
  ["sandbox", "Its sandbox settings are not read."]
]

/** What differs for every rule of a kind. */
const generally = (said: ReadonlyArray<Said>, hasServers: boolean, context: Context): ReadonlyArray<Difference> => {
  const some = (by: "path" | "shell", allows: boolean) =>
    said.some((rule) => rule._tag === "Some" && rule.by === by && (rule.wanted === "none") === allows)
  const differences: Array<Difference> = []
  if (reading.some((theirs) => context.tools(theirs).length > 0)) {
    differences.push({
      rule: reading.join(", "),
      effect: "narrower",
      text: "Calls without a rule need approval, inside the project's folder too."
    })
  }
  if (hasServers) {
    differences.push({
      rule: "mcp__*",
      effect: "wider",
      text: "A server's tool without a rule asks only if the tool itself says so."
    })
  }
  if (some("shell", true)) {
    differences.push(
      {
        rule: "Bash",
        effect: "narrower",
        text:
          "Words are compared, not text. A `*` covers known options and arguments, and only commands that read unless " +
          "the rule names the command: `git *` does not allow `git commit`. Wrappers (`timeout 5 …`), variables before " +
          "a command, and commands that Claude Code always allows (`ls`) need approval unless a rule allows them."
      },
      {
        rule: "Bash",
        effect: "wider",
        text: "After `|`, a filter that reads no file, such as `head`, needs no rule; nor do `true` and `cd below &&`."
      }
    )
  }
  if (some("shell", false)) {
    differences.push({
      rule: "Bash",
      effect: "narrower",
      text:
        "A rule that forbids, or asks, applies wherever its words are in a line, and to every line that cannot be read."
    })
  }
  if (some("path", true)) {
    differences.push({
      rule: "Edit, Read",
      effect: "narrower",
      text: "A relative rule allows only relative paths, and an absolute rule only absolute ones. Names that begin " +
        "with a dot are allowed only if the rule has the dot."
    })
    if (context.links === undefined) {
      differences.push({
        rule: "Edit, Read",
        effect: "wider",
        text: "Symbolic links are followed. To refuse them, set `links: \"refused\"` and provide `isLink`."
      })
    }
  }
  if (some("path", false)) {
    differences.push({
      rule: "Edit, Read",
      effect: "narrower",
      text:
        "A relative rule also forbids, or asks about, every absolute path, and the reverse: they may be the same file."
    })
  }
  return differences
}

/** `git status:*`, `git status *` and `git status*`. */
const toWritten = (specifier: string): Commands.Written => {
  const ending = /(:\*|[ \t]+\*|\*)$/.exec(specifier)
  if (ending === null) return { text: specifier, rest: false }
  const text = specifier.slice(0, ending.index)
  // With another `*`, the one at the end is no longer optional: less is meant, never more.
  return { text, rest: true, glued: ending[0] === "*" }
}
