/**
 * The approvals in VS Code's settings, as code.visualstudio.com/docs/copilot/agents/agent-tools and the descriptions of
 * the settings have them.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Commands from "./commands.ts"
import * as Imports from "./imported.ts"
import type { Difference, Imported, Said, ToolOption } from "./imported.ts"

export interface Context {
  readonly terminal: ReadonlyArray<ToolOption>
  readonly edits: ReadonlyArray<ToolOption>
  readonly links: "refused" | undefined
  readonly judge: Commands.Judge
  readonly problemOfGlob: (glob: string) => string | undefined
}

const product = "VS Code"

const terminalKey = "chat.tools.terminal.autoApprove"
const editsKey = "chat.tools.edits.autoApprove"

export const read = (settings: unknown, context: Context): Imported => {
  const differences: Array<Difference> = []
  const tell = (rule: string, effect: Difference["effect"], text: string) => {
    differences.push({ rule, effect, text })
  }
  const terminal = readTerminal(settings, context, tell)
  const edits = readEdits(settings, context, tell)
  for (
    const [tools, said, key] of [
      [context.terminal, terminal, terminalKey],
      [context.edits, edits, editsKey]
    ] as const
  ) {
    if (said.length > 0 && tools.length === 0) tell(key, "left out", "No tool of yours is given for it.")
  }
  for (const [key, text] of unreadSettings) {
    if (Imports.ownOf(settings, key) !== undefined) tell(key, "left out", text)
  }
  const all = Imports.start([...context.terminal, ...context.edits])
  for (const rule of terminal) for (const tool of context.terminal) Imports.add(all, tool, rule)
  for (const rule of edits) for (const tool of context.edits) Imports.add(all, tool, rule)
  const origin = { product, otherwise: "required", links: context.links } as const
  const tools = [...all].map(([name, said]) => [name, Imports.settle(name, said, origin, tell)] as const)
  return { config: { tools: Object.fromEntries(tools) }, differences }
}

const unreadSettings: ReadonlyArray<readonly [key: string, text: string]> = [
  ["chat.tools.global.autoApprove", "It would allow every tool."],
  ["chat.tools.autoApprove", "It would allow every tool."],
  ["chat.tools.urls.autoApprove", "There are no rules here for addresses."],
  ["chat.tools.eligibleForAutoApproval", "It names tools of VS Code."]
]

type Tell = (rule: string, effect: Difference["effect"], text: string) => void

// =============================================================================
// Command lines
// =============================================================================

const readTerminal = (settings: unknown, context: Context, tell: Tell): ReadonlyArray<Said> => {
  const written = Imports.ownOf(settings, terminalKey)
  if (!Predicate.isObject(written)) {
    if (written !== undefined) tell(terminalKey, "left out", "It is no map.")
    return []
  }
  const off = Imports.ownOf(settings, "chat.tools.terminal.enableAutoApprove") === false
  const refused: Array<RegExp> = []
  const said = Object.entries(written).flatMap(([key, value]): ReadonlyArray<Said> => {
    if (value === null) return []
    const approve = Predicate.isObject(value) ? Imports.ownOf(value, "approve") : value
    if (approve === null) return []
    if (typeof approve !== "boolean") {
      tell(key, "left out", "It is neither `true` nor `false`.")
      return approve === undefined ? [] : [{ _tag: "Unreadable", wanted: "required", rule: key }]
    }
    if (approve && off) {
      tell(key, "left out", "`chat.tools.terminal.enableAutoApprove` is off.")
      return []
    }
    if (approve && Predicate.isObject(value) && Imports.ownOf(value, "matchCommandLine") === true) {
      tell(key, "narrower", "Each command of a line must be allowed, not only the line as a whole.")
    }
    if (approve && key !== key.trim()) {
      tell(key, "left out", "A space at its end requires another word.")
      return []
    }
    const regex = toRegex(key)
    if (regex === "invalid") {
      tell(key, "left out", "It is no regular expression.")
      return approve ? [] : [{ _tag: "Unreadable", wanted: "required", rule: key }]
    }
    const commands = regex === undefined ? [{ text: key.trim(), rest: true }] : toCommands(regex)
    if (!approve) {
      const found = commands?.map(Commands.forbidding)
      if (found === undefined || found.some(({ patterns }) => patterns.length === 0)) {
        if (regex !== undefined) {
          refused.push(regex)
          return []
        }
        return [{ _tag: "Unreadable", wanted: "required", rule: key }]
      }
      return found.map(({ patterns }) => ({
        _tag: "Some",
        by: "shell",
        wanted: "required",
        rule: key,
        patterns
      }))
    }
    if (commands === undefined) {
      tell(key, "left out", "Only regular expressions of plain words are read, such as `/^git (status|log\\b.*)$/`.")
      return []
    }
    if (regex?.ignoreCase === true) tell(key, "narrower", "Lines in another letter case need approval.")
    return commands.flatMap((command) => {
      const found = Commands.allowing(command, context.judge)
      const { note, patterns, trust } = found
      if (note !== undefined) tell(key, patterns.length === 0 ? "left out" : "narrower", note)
      return patterns.length === 0 ? [] : [{ _tag: "Some", by: "shell", wanted: "none", rule: key, patterns, trust }]
    })
  })
  const kept = keepUnrefused(said, refused, tell)
  if (kept.some((rule) => rule.wanted === "required")) {
    tell(
      terminalKey,
      "narrower",
      "A rule that asks applies wherever its words are in a line, and to every line that cannot be read."
    )
    tell(
      terminalKey,
      "wider",
      "A rule about `rm` is about that word alone, not about longer words such as `rm-all`."
    )
  }
  if (kept.some((rule) => rule._tag === "Some" && rule.wanted === "none")) {
    tell(
      terminalKey,
      "narrower",
      "Words are compared, not text. A `*` covers known options and arguments, and only commands that read unless " +
        "the rule names the command. What VS Code allows by default needs approval unless a rule allows it."
    )
    tell(
      terminalKey,
      "wider",
      "After `|`, a filter that reads no file, such as `head`, needs no rule; nor do `true` and `cd below &&`."
    )
  }
  return kept
}

/** Which lines a regular expression means cannot be told from a pattern with `*`; a line that is written out it can. */
const keepUnrefused = (
  said: ReadonlyArray<Said>,
  refused: ReadonlyArray<RegExp>,
  tell: Tell
): ReadonlyArray<Said> => {
  if (refused.length === 0) return said
  for (const regex of refused) {
    tell(
      String(regex),
      "narrower",
      "It cannot be compared with rules that have a `*`, so only whole lines are allowed."
    )
  }
  return said.filter((rule) => {
    const isKept = rule._tag !== "Some" || rule.wanted !== "none" ||
      rule.patterns.every((pattern) => !pattern.includes("*") && refused.every((regex) => !regex.test(pattern)))
    if (!isKept) tell(rule.rule, "left out", "A regular expression may ask about some of its lines.")
    return isKept
  })
}

const toRegex = (key: string): RegExp | "invalid" | undefined => {
  const parts = /^\/(.+)\/([a-z]*)$/s.exec(key)
  if (parts === null) return undefined
  // Without `g` and `y`, which make a test remember the last one.
  return Result.getOrElse(
    Result.try(() => new RegExp(parts[1]!, parts[2]!.replaceAll(/[gy]/g, ""))),
    () => "invalid" as const
  )
}

/** `/^git (status|show\b.*)$/` as commands, if it begins at the start and has nothing but words and a group of them. */
const toCommands = (regex: RegExp): ReadonlyArray<Commands.Written> | undefined => {
  const source = /^\^([^()|]*)(?:\(([^()]*)\)([^()|]*))?$/.exec(regex.source.replaceAll("(?:", "("))
  if (source === null || regex.multiline) return undefined
  const [, before, group = "", after = ""] = source
  const found = group.split("|").map((choice) => toCommand(before! + choice + after))
  return found.every((command) => command !== undefined) ? found : undefined
}

const toCommand = (source: string): Commands.Written | undefined => {
  const ended = source.endsWith("$")
  const text = ended ? source.slice(0, -1) : source
  const open = /(?:\\b)?(?:\.\*)?$/.exec(text)![0]
  const literal = text.slice(0, text.length - open.length)
  // Only characters that mean themselves, with or without a backslash.
  if (!/^(?:[\w \-/:=@,%]|\\[^A-Za-z0-9])*[^ ]$/.test(literal)) return undefined
  const words = literal.replaceAll(/\\(.)/g, "$1")
  // `\b` at the end of a line means nothing more.
  const rest = !ended || open.endsWith(".*")
  return { text: words, rest, glued: rest && !open.startsWith("\\b") }
}

// =============================================================================
// Edits
// =============================================================================

const readEdits = (settings: unknown, context: Context, tell: Tell): ReadonlyArray<Said> => {
  const written = Imports.ownOf(settings, editsKey)
  if (!Predicate.isObject(written)) {
    if (written !== undefined) tell(editsKey, "left out", "It is no map.")
    return []
  }
  const said = Object.entries(written).flatMap(([key, value]): ReadonlyArray<Said> => {
    const wanted = value === true ? "none" : "required"
    if (typeof value !== "boolean") {
      tell(key, "narrower", "It is neither `true` nor `false`, so it needs approval.")
    }
    if (value === true && (key === "**/*" || key === "**")) {
      tell(key, "left out", "It is VS Code's own default, which has exceptions that are not read.")
      return []
    }
    const problem = context.problemOfGlob(key)
    if (problem === undefined) return [{ _tag: "Some", by: "path", wanted, rule: key, patterns: [key] }]
    if (wanted === "required") return [{ _tag: "Unreadable", wanted, rule: key }]
    tell(key, "left out", problem)
    return []
  })
  if (said.some((rule) => rule._tag === "Some" && rule.wanted === "none")) {
    tell(
      editsKey,
      "narrower",
      "The strictest glob decides, not the last. A relative glob allows only relative paths, and names that begin " +
        "with a dot only if it has the dot. Every other edit needs approval."
    )
    if (context.links === undefined) {
      tell(
        editsKey,
        "wider",
        "Symbolic links are followed. To refuse them, set `links: \"refused\"` and provide `isLink`."
      )
    }
  }
  return said
}
