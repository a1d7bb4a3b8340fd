/**
 * Whether every word of a command is known, by what is written down of its program.
 */
import { star } from "../line/plain.ts"
import type { Command, Kind } from "../programs/program.ts"
import * as Kinds from "./kinds.ts"
import * as Refusal from "./refusal.ts"
import * as Table from "./table.ts"

/** A command of which every word is known. */
export interface Checked {
  readonly command: Command
  /** `git stash list`. */
  readonly name: string
  /** Where the words of the subcommand end. */
  readonly nameEnds: number
  /** Whether the words are all that is known: `git --version`. */
  readonly whole: boolean
  /** Whether it passes on what comes through a pipe, and opens no file. */
  readonly filters: boolean
}

export interface Options {
  /** How many characters of a word the pattern writes out. */
  readonly written?: ((index: number) => number) | undefined
  /** Where the line runs, if that is known. */
  readonly folder?: string | undefined
  /** Whether the words are those of a pattern, of which a `*` may stand for anything, and more may follow. */
  readonly pattern?: { readonly rest: boolean } | undefined
}

export const check = (words: ReadonlyArray<string>, options: Options = {}): Checked | Refusal.Refusal => {
  const known = Table.find(words[0]!)
  if (known === undefined) {
    return Refusal.make(
      "program",
      words[0]!,
      "not a known program; write the whole line as a pattern, or trust the program"
    )
  }
  if (words.length === 2 && known.alone.has(words[1]!)) return alone(words)
  if (known.program.runs !== undefined) {
    const example = options.pattern === undefined ? "" : `, such as \`${exampleOf(words, options.pattern.rest)}\``
    return Refusal.make(
      "program",
      words[0]!,
      `it runs ${known.program.runs}; write each whole line as a pattern${example}, or trust the program`
    )
  }
  if (known.command !== undefined) return new Reader(words, 1, words[0]!, known.command, options).read()
  let at = 1
  while (at < words.length && known.before.has(words[at]!)) at++
  const word = words[at]
  // A `*` of a pattern may be any subcommand.
  if (options.pattern !== undefined && (word === undefined ? options.pattern.rest : word.includes(star))) {
    return alone(words)
  }
  if (word === undefined) return Refusal.make("missing", words[0]!, "a subcommand is missing")
  for (const subcommand of [`${word} ${words[at + 1]}`, word]) {
    const entry = known.commands.get(subcommand)
    if (entry === undefined) continue
    const ends = at + subcommand.split(" ").length
    return new Reader(words, ends, `${words[0]} ${subcommand}`, entry, options).read()
  }
  // `git stash *` may go on as `git stash list`.
  if (options.pattern?.rest === true && at + 1 === words.length) {
    if ([...known.commands.keys()].some((subcommand) => subcommand.startsWith(`${word} `))) return alone(words)
  }
  return word.startsWith("-")
    ? Refusal.make("option", word, `not a known option before a subcommand of ${words[0]}`)
    : Refusal.make("subcommand", word, problemOfSubcommand(words[0]!, word, [...known.commands.keys()]))
}

/** Of `git stash pop`: `git stash is covered only with list or show`. */
const problemOfSubcommand = (program: string, word: string, commands: ReadonlyArray<string>): string => {
  const further = commands.flatMap((name) => name.startsWith(`${word} `) ? [`\`${name.slice(word.length + 1)}\``] : [])
  return further.length === 0
    ? `not a subcommand of ${program} that is known here; write each whole line as a pattern`
    : `${program} ${word} is covered only with ${further.join(" or ")}`
}

const alone = (words: ReadonlyArray<string>): Checked => ({
  command: { does: "reads", says: words.join(" ") },
  name: words[0]!,
  nameEnds: 1,
  whole: true,
  filters: false
})

/** What may be found: no more than a path, whatever else is expected in its place. */
const found = "./{}: @"

/** With `+` any number is found; more than any command takes one by one. */
const many = 4

/** How a pattern with a `*` may look without it. */
const exampleOf = (words: ReadonlyArray<string>, rest: boolean): string => {
  const written = words.map((word) => word.replaceAll(star, "…"))
  return (rest ? [...written, "…"] : written).join(" ")
}

class Reader {
  readonly words: ReadonlyArray<string>
  readonly name: string
  readonly entry: Table.Entry
  readonly options: Options
  readonly nameEnds: number
  at: number
  /** Options that were there. */
  readonly given = new Set<string>()
  operands = 0
  opensFile = false
  runsAnother = false
  /** What a test looks for, if that is likely to hold secrets: it may be listed, and not be handed on. */
  secret: Refusal.Refusal | undefined

  constructor(words: ReadonlyArray<string>, at: number, name: string, entry: Table.Entry, options: Options) {
    this.words = words
    this.at = at
    this.nameEnds = at
    this.name = name
    this.entry = entry
    this.options = options
  }

  read(): Checked | Refusal.Refusal {
    const { command } = this.entry
    const first = this.words[this.at]
    if (command.dashFirst === true && first !== undefined && !first.startsWith("-")) {
      return Refusal.make("option", first, `${this.name} reads its first argument as options; write them with a dash`)
    }
    const operands: Array<number> = []
    let ended = false
    let testing = false
    for (; this.at < this.words.length; this.at++) {
      const word = this.words[this.at]!
      testing ||= command.tests !== undefined && /^[-(!]/.test(word) && !this.entry.flags.has(word)
      if (
        !testing &&
        (ended || command.noOptions === true || this.isAfterOperands(operands) || !word.startsWith("-") || word === "-")
      ) {
        operands.push(this.at)
        continue
      }
      if (!testing && word === "--") {
        ended = true
        continue
      }
      const refusal = testing ? this.readTest(word) : this.readOption(word)
      if (refusal !== undefined) return refusal
    }
    if (this.runsAnother && this.secret !== undefined) return this.secret
    return this.readOperands(operands) ?? this.missing() ?? {
      command,
      name: this.name,
      nameEnds: this.nameEnds,
      whole: false,
      filters: command.filter !== undefined && !this.opensFile &&
        ![...this.entry.unless].some((option) => this.given.has(option))
    }
  }

  isAfterOperands(operands: ReadonlyArray<number>): boolean {
    return this.entry.command.optionsFirst === true && operands.length > 0
  }

  /** Whether the word is one of a pattern that may stand for any. */
  isAny(word: string): boolean {
    return this.options.pattern !== undefined && word.includes(star)
  }

  readOption(word: string): Refusal.Refusal | undefined {
    const { command, flags, optional, values } = this.entry
    if (flags.has(word) || optional.has(word)) {
      this.given.add(word)
      return undefined
    }
    if (command.digits === true && /^-\d+$/.test(word)) return undefined
    if (values.has(word)) return this.readNext(word, values.get(word)!)
    if (this.isAny(word)) return undefined
    if (word.startsWith("--")) {
      const equals = word.indexOf("=")
      const option = equals < 0 ? word : word.slice(0, equals)
      const kind = values.get(option) ?? optional.get(option)
      return equals < 0 || kind === undefined ? this.unknown(word) : this.readValue(option, kind, word, equals + 1)
    }
    return this.readCluster(word)
  }

  /** `-n5`, `-la`, `-rnA3`. */
  readCluster(word: string): Refusal.Refusal | undefined {
    const { command, flags, optional, values } = this.entry
    for (let index = 1; index < word.length; index++) {
      const letter = `-${word[index]}`
      const kind = index === 1 || command.clusters === true ? values.get(letter) ?? optional.get(letter) : undefined
      if (kind !== undefined) {
        if (index + 1 < word.length) return this.readValue(letter, kind, word, index + 1)
        this.given.add(letter)
        return values.has(letter) ? this.readNext(letter, kind) : undefined
      }
      if (command.clusters !== true || !flags.has(letter)) return this.unknown(word)
      this.given.add(letter)
    }
    return undefined
  }

  /** A value in a word of its own. If the option took none, that word would be an option, or an operand that is known. */
  readNext(option: string, kind: Kind): Refusal.Refusal | undefined {
    const word = this.words[this.at + 1]
    if (word === undefined) {
      return this.options.pattern?.rest === true
        ? undefined
        : Refusal.make("missing", option, "its value is missing")
    }
    this.at++
    if (/^-(?!\d+$)/.test(word)) {
      const form = option.startsWith("--") ? `${option}=…` : `${option}…`
      return Refusal.make("value", word, `this value looks like an option; write it in one word, \`${form}\``)
    }
    return this.readValue(option, kind, word, 0)
  }

  readValue(option: string, kind: Kind, word: string, start: number): Refusal.Refusal | undefined {
    this.given.add(option)
    if (kind === "path") this.opensFile = true
    if (this.isAny(word)) return undefined
    // A wildcard in a word of its own may become any number of words, and in another any number of options.
    if (word.includes(star) && (start === 0 || (kind !== "text" && kind !== "glob"))) {
      return Refusal.make("wildcard", word, "the shell replaces it with file names")
    }
    const value = word.slice(start)
    const problem = Kinds.problemOf(kind, value, this.context(this.at, start))
    return problem === undefined ? undefined : Refusal.make("value", word, problem)
  }

  readTest(word: string): Refusal.Refusal | undefined {
    const { testsAlone, testsRunning, testsValued } = this.entry
    if (testsRunning.has(word)) return this.readRunning()
    if (testsAlone.has(word) || this.isAny(word)) return undefined
    const kind = testsValued.get(word)
    if (kind === undefined) return this.unknown(word)
    const value = this.words[this.at + 1]
    if (value === undefined) {
      return this.options.pattern?.rest === true ? undefined : Refusal.make("missing", word, "its value is missing")
    }
    const isLeftOut = /^(?:!|-not)$/.test(this.words[this.at - 1]!)
    this.at++
    const refusal = this.readValue(word, kind, value, 0)
    if (kind !== "glob" || refusal?.kind !== "value") return refusal
    if (!isLeftOut) this.secret ??= refusal
    return undefined
  }

  /** `-exec wc -l {} +`. What is found begins as the operand does that it was found in, so it is no option. */
  readRunning(): Refusal.Refusal | undefined {
    this.runsAnother = true
    const start = this.at + 1
    // A `+` elsewhere is a word of the command, which goes on.
    const length = this.words.slice(start).findIndex((word, index, all) =>
      word === ";" || (word === "+" && all[index - 1] === "{}")
    )
    if (length < 1) {
      return Refusal.make("missing", this.words[this.at]!, "its command, or the end of that command, is missing")
    }
    const command = this.words.slice(start, start + length)
    this.at = start + length
    // The program puts what it finds in the place of `{}` within a word, too, and the shell any words in that of a `*`.
    const strange = command.find((word) => word.includes(star) || (word.includes("{}") && word !== "{}"))
    if (strange !== undefined) {
      return Refusal.make("value", strange, "a file name that is found would become a part of it")
    }
    const times = this.words[this.at] === "+" ? many : 1
    const checked = check(
      command.flatMap((word) => word === "{}" ? Array.from({ length: times }, () => found) : [word]),
      { folder: this.options.folder }
    )
    if (Refusal.isRefusal(checked)) return checked.word === found ? { ...checked, word: "{}" } : checked
    return checked.command.does === "reads" && checked.command.heeds === undefined &&
        checked.command.tests === undefined
      ? undefined
      : Refusal.make("value", checked.name, `${this.name} may run only programs that read, and that use no settings`)
  }

  readOperands(indexes: ReadonlyArray<number>): Refusal.Refusal | undefined {
    const { command, insteadOfFirst, operandsNeed } = this.entry
    const expected = command.operands ?? []
    let slot = [...insteadOfFirst].some((option) => this.given.has(option)) ? 1 : 0
    for (const index of indexes) {
      const word = this.words[index]!
      if (command.plusOptions === true && word.startsWith("+")) return this.unknown(word)
      const operand = expected[slot]
      if (operand === undefined) return Refusal.make("operand", word, `not a known argument of ${this.name}`)
      if (operandsNeed.length > 0 && !operandsNeed.some((option) => this.given.has(option))) {
        return Refusal.make("operand", word, `allowed for ${this.name} only with \`${operandsNeed[0]}\``)
      }
      const [kind, count] = operand
      if (count !== "any") slot++
      if ((kind === "path" || kind === "revision") && word !== "-") this.opensFile = true
      if (this.isAny(word)) continue
      const wildcard = word.includes(star)
        ? count === "any"
          ? Kinds.problemOfWildcard(word, command.tame === true)
          : "the shell replaces it with file names"
        : undefined
      if (wildcard !== undefined) return Refusal.make("wildcard", word, wildcard)
      const problem = Kinds.problemOf(kind, word, this.context(index, 0))
      if (problem !== undefined) return Refusal.make("operand", word, problem)
    }
    const missing = expected.slice(slot).find(([, count]) => count === "one")
    return missing === undefined || this.options.pattern?.rest === true
      ? undefined
      : Refusal.make("missing", this.name, "an argument is missing")
  }

  missing(): Refusal.Refusal | undefined {
    const { needs } = this.entry
    return needs.length === 0 || this.options.pattern?.rest === true || needs.some((option) => this.given.has(option))
      ? undefined
      : Refusal.make("missing", this.name, `covered only with \`${needs[0]}\``)
  }

  context(index: number, start: number): Kinds.Context {
    const written = this.options.pattern === undefined ? this.options.written?.(index) ?? 0 : Number.POSITIVE_INFINITY
    return { written: Math.max(0, written - start), folder: this.options.folder }
  }

  unknown(word: string): Refusal.Refusal {
    return Refusal.make("option", word, `not a known option of ${this.name}`)
  }
}
