/**
 * What a pattern that is forbidden wants to see in a command, in whatever order and spelling.
 */
import * as Acts from "./acts.ts"
import * as Git from "./git.ts"
import type { Command } from "./line.ts"
import * as Words from "./words.ts"

/** One way to say what is forbidden. */
export interface Wanted {
  readonly program: string
  /** Whether it is the pattern itself, and not another name for it. */
  readonly isSame: boolean
  readonly name: RegExp
  readonly subcommand: string | undefined
  /** Each must be seen after the program. */
  readonly items: ReadonlyArray<(word: string) => boolean>
}

/** All ways to say what the words of a pattern say. */
export const make = (words: ReadonlyArray<string>): ReadonlyArray<Wanted> => {
  const [program = "", ...rest] = words.map(Words.fold)
  const name = Words.nameOf(program)
  const cases = words.slice(1)
  const all = [compile(name, cases, name, false)]
  for (const { always, of, ways } of Acts.acts) {
    const [act = "", ...start] = of.split(" ")
    if (act !== name || start.some((word, index) => rest[index] !== word)) continue
    const further = cases.slice(start.length)
    const isMore = further.some((word) => word.startsWith("-"))
    // Options of one program are none of another with the same act, unless it is the same program.
    for (const way of act === "rm" && isMore ? [] : ways) all.push(compileWay(way, further, of))
    for (const way of always ?? []) all.push(compileWay(way, [], of))
  }
  return all
}

const compileWay = (way: string, further: ReadonlyArray<string>, of: string): Wanted => {
  const [program = "", ...start] = way.split(" ")
  return compile(program, [...start, ...further], of, true)
}

const compile = (program: string, rest: ReadonlyArray<string>, of: string, isSame: boolean): Wanted => {
  const said = program === "git" ? Git.read(rest, 0).at : rest.findIndex((word) => !word.startsWith("-"))
  const subcommand = rest[said]
  const isGit = program === "git" && subcommand !== undefined && !/^-|\*/.test(subcommand)
  const tables = [of, program, ...(subcommand === undefined ? [] : [`${program} ${subcommand}`])]
  return {
    program,
    isSame,
    name: namesOf([program]),
    subcommand: isGit ? Words.fold(subcommand) : undefined,
    items: rest.filter((word, index) => word !== "*" && !(isGit && index === said)).flatMap((
      word,
      index,
      all
    ) => item(word, all[index + 1], [...new Set(tables)], program))
  }
}

/** Finds one of some programs in a text. */
export const namesOf = (programs: ReadonlyArray<string>): RegExp =>
  Words.ownWord(programs, (program) => Acts.versioned.has(program))

/** Whether a command may be what is wanted. */
export const isIn = (
  { items, name, program, subcommand }: Wanted,
  { words }: Command,
  tokens: ReadonlyArray<string>,
  folded: ReadonlyArray<string>,
  ends: ReadonlyArray<number>
): boolean => {
  let last: ReadonlyArray<number> | undefined
  const hasItems = (at: number): boolean => {
    last ??= items.map((matches) => {
      const seen = (word: string): boolean => Words.isUnknown(word) ? isAny(word, matches) : matches(word)
      // In a part of a word, or in a word as a whole.
      return Math.max(tokens.findLastIndex(seen), ends[words.findLastIndex(seen)] ?? -1)
    })
    return last.every((index) => index > at)
  }
  const known = new Map<number, Git.Call>()
  for (let at = 0; at < tokens.length; at++) {
    const token = folded[at]!
    if (Words.isUnknown(Words.lastOf(token)) ? at > 0 || !Words.canBe(token, program) : !name.test(token)) continue
    if (subcommand === undefined) {
      if (hasItems(at)) return true
      continue
    }
    const call = Git.read(tokens, at + 1, known)
    if (call.runs !== undefined) return true
    const said = folded[call.at]
    if (said === undefined) continue
    const isUnknown = Words.isUnknown(said)
    // What is no subcommand of git's own may be an alias, and that may stand for anything, with its options.
    if (!isUnknown && said !== subcommand && !Git.builtins.has(said)) return true
    if ((isUnknown ? Words.matches(said, subcommand) : said === subcommand) && hasItems(at)) return true
    // Git's own subcommand, and another one: what stands after it is no call of git, unless it runs what it is given.
    if (at === 0 && Git.runsBy(words, Git.read(words, 1).at) === undefined) return false
  }
  return false
}

const isAny = (token: string, matches: (word: string) => boolean): boolean =>
  Words.isOpen(token) || token === Words.given || token === Words.wild || matches(token)

// =============================================================================
// Items
// =============================================================================

const item = (
  word: string,
  next: string | undefined,
  tables: ReadonlyArray<string>,
  program: string
): ReadonlyArray<(word: string) => boolean> => {
  if (/^-[A-Za-z0-9]{1,4}$/.test(word)) {
    const others = standIns(next, tables)
    return Array.from(word.slice(1), (letter) => {
      const matches = option(`-${letter}`, tables)
      return (token) => matches(token) || others.some((spelling) => spelling(token))
    })
  }
  if (word.startsWith("-")) return [option(word.replace(/=.*$/s, ""), tables)]
  const last = Words.fold(Words.lastOf(word))
  if (/^\**$/.test(last)) return []
  if (last.includes("*")) {
    const pattern = last.replaceAll("*", Words.wild)
    return [(token) => Words.matches(pattern, Words.fold(Words.lastOf(token)))]
  }
  const own = Words.ownWord([last])
  const others = standIns(last, tables)
  const isNpm = /^(?:npm|pnpm)$/.test(program)
  return [(token) => {
    const text = Words.fold(token)
    return Words.isUnknown(text) && Words.canBe(text, last) || own.test(text) ||
      // `-XPOST`, `npm pub`
      /^-[a-z0-9]+$/.test(text) && text.length > last.length + 1 && text.endsWith(last) ||
      isNpm && text.length >= 2 && last.startsWith(text) || others.some((spelling) => spelling(token))
  }]
}

/** Options that stand for a value. */
const standIns = (value: string | undefined, tables: ReadonlyArray<string>) => {
  const folded = Words.fold(value ?? "")
  return tables.flatMap((table) =>
    Object.hasOwn(Acts.values, table) && Object.hasOwn(Acts.values[table]!, folded) ? Acts.values[table]![folded]! : []
  ).map(spelled)
}

/** An option, and all that is known to be the same. */
const option = (word: string, tables: ReadonlyArray<string>): (word: string) => boolean => {
  const groups = tables.flatMap((table) => Object.hasOwn(Acts.options, table) ? Acts.options[table]! : [])
  const same = groups.filter((group) => group.includes(word))
  const spellings = [...new Set([word, ...same.flat()])].map(spelled)
  // Of a letter that no table knows, any long option that begins with it may be the same.
  const letter = /^-[A-Za-z]$/.test(word) && same.length === 0 ? word[1]!.toLowerCase() : undefined
  return (token) =>
    spellings.some((spelling) => spelling(token)) || letter !== undefined && token.startsWith(`--${letter}`)
}

/** One spelling of an option: a letter among others, a long option by its beginning, a word with `*`. */
const spelled = (word: string): (token: string) => boolean => {
  if (/^-[A-Za-z0-9]$/.test(word)) {
    const letter = word[1]!
    return (token) => token[0] === "-" && token[1] !== "-" && (token.includes(letter) || Words.isUnknown(token))
  }
  const stem = word.replace(/\*$/, "")
  const isOpenEnded = stem !== word
  return (token) => {
    if (token.charAt(0) !== stem[0] && !Words.isUnknown(token.charAt(0))) return false
    const name = token.replace(/[= ].*$/s, "")
    if (name === stem || isOpenEnded && token.startsWith(stem)) return true
    if (Words.isUnknown(name)) return Words.matches(name, stem)
    return word.startsWith("--") && name.length > 2 && name.startsWith("--") && stem.startsWith(name) ||
      // Where one dash and two are the same.
      /^-[^-]{2}/.test(stem) && name === `-${stem}`
  }
}
