/**
 * Draws lines that the tables cover, each command as often as every other one: so `git` gets as many lines as it has
 * subcommands. The same seed draws the same lines.
 */
import type { Kind } from "../../src/internal/programs/program.ts"
import { entriesOf } from "../../src/internal/programs/program.ts"
import { behindOf, type Called, samples, spelled } from "./words.ts"

export type Draw = (called: Called) => ReadonlyArray<string>

export const make = (seed: number): Draw => {
  let state = seed
  // The generator of Numerical Recipes: what matters is that it repeats itself.
  const below = (count: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor(state / 4_294_967_296 * count)
  }
  const pick = <A>(from: ReadonlyArray<A>): A => from[below(from.length)]!
  const word = (name: string, place: string, kind: Kind): string =>
    typeof kind === "string" ? pick(words[kind]) : pick(samples(name, place, kind))

  return (called) => {
    const { command, head, name, program } = called
    const flags = entriesOf(command.flags)
    const letters = flags.filter((flag) => /^-[^-]$/.test(flag))
    const values = spelled(command.values)
    const optional = spelled(command.optional)
    const valued = ([option, kind]: readonly [string, Kind]): ReadonlyArray<string> => {
      const value = word(name, option, kind)
      const inOne = option.startsWith("--") ? `${option}=${value}` : `${option}${value}`
      return below(2) === 0 ? [inOne] : [option, value]
    }
    const option = (): ReadonlyArray<string> => {
      const dice = below(10)
      if (dice < 5 && flags.length > 0) return [pick(flags)]
      if (dice < 6 && command.clusters && letters.length > 0) {
        return [`-${Array.from({ length: 3 }, () => pick(letters)[1]).join("")}`]
      }
      if (dice < 8 && values.length > 0) return valued(pick(values))
      if (optional.length > 0) {
        const [option, kind] = pick(optional)
        return below(3) === 0 ? [option] : valued([option, kind]).slice(0, 1)
      }
      return command.digits ? [`-${1 + below(9)}`] : []
    }
    const test = (): ReadonlyArray<string> => {
      const alone = entriesOf(command.tests?.alone).filter((test) => !/^[()!]$|^-(?:not|o|or|a|and)$/.test(test))
      const running = entriesOf(command.tests?.running)
      if (running.length > 0 && below(5) === 0) return [pick(running), ...pick(ran)]
      if (below(2) === 0) return [pick(alone)]
      const [option, kind] = pick(spelled(command.tests?.valued))
      return [option, word(name, option, kind)]
    }

    const line: Array<string> = [...head]
    if (program.before !== undefined && below(5) === 0) line.splice(1, 0, pick(entriesOf(program.before)))
    const needs = entriesOf(command.needs)
    if (needs.length > 0) {
      const need = pick(needs)
      const kind = values.find(([spelling]) => spelling === need)?.[1]
      line.push(...kind === undefined ? [need] : valued([need, kind]))
    }
    for (let count = below(4); count > 0; count--) line.push(...option())
    if (below(4) === 0 && command.tests === undefined) line.push("--")
    const instead = entriesOf(command.insteadOfFirst)
    const isInstead = line.some((given) =>
      instead.some((option) =>
        option.startsWith("--") ? given === option || given.startsWith(`${option}=`) : given.startsWith(option)
      )
    )
    // Half of the lines get what is known to work, so that not all of them end before they have done anything.
    if (below(2) === 0) return [...line, ...behindOf(called, isInstead ? instead[0]! : "")]
    for (const [kind, count] of (command.operands ?? []).slice(isInstead ? 1 : 0)) {
      for (let times = count === "one" ? 1 : below(count === "any" ? 3 : 2); times > 0; times--) {
        line.push(word(name, "operand", kind))
      }
    }
    if (command.tests !== undefined) { for (let count = below(3); count > 0; count--) line.push(...test()) }
    return line
  }
}

/** What `find` runs. */
const ran = [["wc", "-l", "{}", ";"], ["cat", "{}", "+"], ["grep", "-l", "foo", "{}", "+"], ["head", "-n1", "{}", ";"]]

/** What could tempt a program: names of files that are not there, that are options, that are commands. */
const words: Readonly<Record<Extract<Kind, string>, ReadonlyArray<string>>> = {
  path: [
    ".",
    "a.txt",
    "b.txt",
    "c.ts",
    "src",
    "src/d.ts",
    "data.json",
    "dump.hex",
    "many.txt",
    "link",
    "missing",
    "--pre=evil"
  ],
  revision: ["HEAD", "HEAD~1", "main", "main..dev", "v1", "HEAD:a.txt", "dev", "origin/main", "a.txt", "src"],
  glob: ["*", "*.txt", "!a", "**/e.txt"],
  text: ["foo", "a", "*", "^x", "-exec", "|id", "$(id)", "!id", ".", "`id`", "%s"],
  number: ["1", "5", "20"],
  sedScript: ["1,2p", "5p", "$p", "/foo/,/x/p", "2q"],
  jqFilter: [".", ".scripts", "keys", ".scripts.test", "to_entries | map(.key)"],
  awkProgram: ["{print $1}", "NR>2", "/foo/ {print $NF}", "$1 > 1", "END {print NR}"]
}
