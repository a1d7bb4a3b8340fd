/**
 * Each option of each command of the tables in each of its forms, alone.
 */
import type { Kind } from "../../src/internal/programs/program.ts"
import { entriesOf } from "../../src/internal/programs/program.ts"
import { behindOf, type Called, samples, spelled } from "./words.ts"

/** A call with one option in one form. */
export interface Form {
  readonly called: Called
  readonly option: string
  /** What stands before the option: the command and what it needs. */
  readonly before: ReadonlyArray<string>
  /** The option and its value. */
  readonly words: ReadonlyArray<string>
  /** What stands behind it, so that the command has what it asks for. */
  readonly behind: ReadonlyArray<string>
  /** Whether a value is left out that must be there. */
  readonly lacking?: true
}

/** A letter that goes with every other one, where the first of the table does not. */
const partners: Readonly<Record<string, string>> = {
  "git add": "-v",
  "git commit": "-q",
  cut: "-z",
  diff: "-a",
  du: "-h",
  id: "-r",
  sort: "-s",
  uniq: "-i"
}

const isLetter = (option: string): boolean => /^-[^-]$/.test(option)

export const formsOf = (called: Called): ReadonlyArray<Form> => {
  const { command, name } = called
  // It has no options: what looks like one is printed.
  if (command.noOptions === true) return []
  const flags = entriesOf(command.flags)
  const values = spelled(command.values)
  const optional = spelled(command.optional)
  const form = (option: string, words: ReadonlyArray<string>): Form => ({
    called,
    option,
    words,
    before: [...called.head, ...needed(called, option)],
    behind: behindOf(called, option)
  })
  const inOneWord = (option: string, kind: Kind) =>
    samples(name, option, kind).map((value) =>
      form(option, [option.startsWith("--") ? `${option}=${value}` : `${option}${value}`])
    )
  const letters = flags.filter(isLetter)
  const partner = partners[name] ?? letters[0] ?? ""
  return [
    ...flags.map((option) => form(option, [option])),
    ...values.flatMap(([option, kind]) => [
      // What looks like an option is no value in a word of its own.
      ...samples(name, option, kind).filter((value) => !/^-(?!\d+$)/.test(value)).map((value) =>
        form(option, [option, value])
      ),
      ...inOneWord(option, kind),
      { ...form(option, [option]), behind: [], lacking: true as const }
    ]),
    ...optional.flatMap(([option, kind]) => [form(option, [option]), ...inOneWord(option, kind)]),
    // Every letter before another one, and behind.
    ...(command.clusters === undefined ? [] : [
      ...letters.filter((letter) => letter !== partner).flatMap((letter) => [
        form(letter, [`${letter}${partner[1]}`]),
        form(letter, [`${partner}${letter[1]}`])
      ]),
      ...[...values, ...optional].filter(([option]) => isLetter(option)).flatMap(([option, kind]) => [
        form(option, [`${partner}${option[1]}${samples(name, option, kind)[0]}`])
      ])
    ]),
    ...(command.digits === undefined ? [] : [form("-5", ["-5"])]),
    ...(called.program.before === undefined || called.isAlone ?
      [] :
      entriesOf(called.program.before).map((option): Form => ({
        called,
        option,
        before: [],
        words: [called.head[0]!, option, ...called.head.slice(1)],
        behind: [...needed(called, option), ...behindOf(called, option)]
      }))),
    ...testsOf(called)
  ]
}

/** The tests of `find`, each behind a folder. */
const testsOf = (called: Called): ReadonlyArray<Form> => {
  const { command, head, name } = called
  if (command.tests === undefined) return []
  const form = (option: string, words: ReadonlyArray<string>): Form => ({
    called,
    option,
    words,
    before: [...head, "."],
    behind: []
  })
  return [
    ...entriesOf(command.tests.alone).flatMap((test) => {
      const inside = operators[test]
      return inside === undefined ? [form(test, [test])] : inside.length === 0 ? [] : [form(test, inside)]
    }),
    ...entriesOf(command.tests.running).flatMap((test) => [
      form(test, ["-type", "f", test, "wc", "-l", "{}", ";"]),
      form(test, ["-type", "f", test, "cat", "{}", "+"]),
      { ...form(test, [test]), lacking: true as const }
    ]),
    ...spelled(command.tests.valued).flatMap(([test, kind]) => [
      ...samples(name, test, kind).map((value) => form(test, [test, value])),
      { ...form(test, [test]), lacking: true as const }
    ])
  ]
}

/** What is no test by itself, in the smallest expression with it. */
const operators: Readonly<Record<string, ReadonlyArray<string>>> = {
  "(": ["(", "-true", ")"],
  ")": [],
  "!": ["!", "-true"],
  "-not": ["-not", "-true"],
  "-o": ["-true", "-o", "-true"],
  "-or": ["-true", "-or", "-true"],
  "-a": ["-true", "-a", "-true"],
  "-and": ["-true", "-and", "-true"]
}

/** One of the options that must be there, unless it is the one in question. */
const needed = (called: Called, option: string): ReadonlyArray<string> => {
  const needs = entriesOf(called.command.needs)
  if (needs.length === 0 || needs.includes(option)) return []
  const kind = spelled(called.command.values).find(([spelling]) => spelling === needs[0])?.[1]
  return kind === undefined ? [needs[0]!] : [needs[0]!, samples(called.name, needs[0]!, kind)[0]!]
}
