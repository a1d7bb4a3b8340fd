/**
 * Whether a line may do what a pattern forbids, for all that text can tell.
 *
 * It errs to "may": what nobody can read, what is only known when the line runs, and what a shell or an interpreter is
 * given as text counts as anything. What a script in a file does, and what another name for the same act is that nobody
 * has written down, cannot be told from a line: so forbid by default where it matters, and allow what is known.
 */
import * as Acts from "./acts.ts"
import * as Line from "./line.ts"
import type { Reason } from "./reason.ts"
import * as Running from "./running.ts"
import * as Wanted from "./wanted.ts"
import * as Words from "./words.ts"

export type { Reason } from "./reason.ts"

type Why = (line: string) => Reason | undefined

/**
 * What patterns forbid: why a line may do it, or `undefined` if it surely does not. A pattern of several commands is for
 * lines that may do each of them.
 */
export const make = (patterns: ReadonlyArray<string>): Why => {
  // Most matchers are made to allow.
  let compiled: Why | undefined
  return (line) => (compiled ??= compileAll(patterns))(line)
}

const compileAll = (patterns: ReadonlyArray<string>): Why => {
  const read = patterns.map(commandsOf)
  const bad = read.findIndex((commands) => commands === undefined)
  if (bad >= 0) return () => ({ _tag: "Unreadable", word: patterns[bad]! })
  if (patterns.includes("*")) return (line) => ({ _tag: "Named", word: line })
  const single = compile(read.flatMap((commands) => commands!.length === 1 ? [commands![0]!] : []))
  const several = read.filter((commands) => commands!.length > 1).map((commands) =>
    commands!.map((one) => compile([one]))
  )
  return (line) => {
    const why = single(line)
    if (why !== undefined) return why
    for (const commands of several) {
      const reasons = commands.flatMap((command) => command(line) ?? [])
      if (reasons.length === commands.length) return reasons[0]
    }
    return undefined
  }
}

const compile = (commands: ReadonlyArray<ReadonlyArray<string>>): Why => {
  const made = commands.flatMap((words) => Wanted.make(words))
  const names = [...new Set(made.map(({ program }) => program))]
  const any = Wanted.namesOf(names)
  // A program alone is looked for in the whole text, so that nothing rides on how the line is read.
  const alone = made.filter(({ items, subcommand }) => items.length === 0 && subcommand === undefined)
  const texts = Acts.acts.flatMap(({ of, text }) => text !== undefined && names.includes(of) ? [text] : [])
  return (source) => {
    if (!Line.isSeen(source)) return { _tag: "Unreadable", word: "" }
    const folded = Words.fold(source)
    const bare = folded.replaceAll(/\\\n|\$['"]|['"\\]/g, "")
    const isNamed = any.test(folded) || any.test(bare)
    for (const { isSame, name, program } of isNamed ? alone : []) {
      if (name.test(folded) || name.test(bare)) return { _tag: isSame ? "Same" : "Named", word: program }
    }
    for (const text of texts) if (text.test(folded) || text.test(bare)) return { _tag: "Same", word: text.source }
    const line = Line.read(source)
    if (line === undefined) return { _tag: "Unreadable", word: "" }
    if (line.reason !== undefined) return line.reason
    for (const command of line.commands) {
      const reason = Running.reasonOf(command, line, names) ?? named(made, any, command)
      if (reason !== undefined) return reason
    }
    return undefined
  }
}

const named = (made: ReadonlyArray<Wanted.Wanted>, any: RegExp, command: Line.Command): Reason | undefined => {
  const tokens: Array<string> = []
  const ends = command.words.map((word) => {
    for (const token of tokensOf(word)) tokens.push(token)
    return tokens.length - 1
  })
  const folded = tokens.map(Words.fold)
  if (!any.test(folded.join(" "))) return undefined
  const found = made.find((wanted) => Wanted.isIn(wanted, command, tokens, folded, ends))
  return found === undefined ? undefined : { _tag: found.isSame ? "Same" : "Named", word: found.program }
}

/** A word may be a text that has words of its own. */
const tokensOf = (word: string): ReadonlyArray<string> =>
  /[\s;|&(){}<>'"`]/.test(word) ? word.split(/[\s;|&(){}<>'"`]+/).filter((part) => part !== "") : [word]

/** The words of a pattern's commands, in which a `*` stays as it is. */
const commandsOf = (pattern: string): ReadonlyArray<ReadonlyArray<string>> | undefined => {
  if (!Line.isSeen(pattern)) return undefined
  const line = Line.read(pattern.replaceAll("*", "__star__"))
  if (line === undefined || line.reason !== undefined || line.commands.length === 0) return undefined
  const commands = line.commands.map(({ words }) => words.map((word) => word.replaceAll("__star__", "*")))
  return commands.some((words) => words.some(Words.isUnknown) || words.length > 1 && words[0]!.includes("*"))
    ? undefined
    : commands
}

/** Whether a line may do what patterns forbid. */
export const mayCover = (patterns: ReadonlyArray<string>): (line: string) => boolean => {
  const why = make(patterns)
  return (line) => why(line) !== undefined
}
