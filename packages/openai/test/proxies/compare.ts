/** What a program saw of an answer that came through a proxy, beside what the model said. */
import { type Difference, differences, type Facts, stable } from "../recorded/facts.ts"
import * as GoingOn from "../recorded/goingOn.ts"
import type { Seen } from "../recorded/program.ts"
import * as Reader from "../recorded/reader.ts"
import type { Answer } from "./proxy.ts"

/** Without what names an item by an id that OpenAI never gave it. */
const withoutIds = (facts: Facts): Facts =>
  new Map([...facts].filter(([fact]) => !/^(hosted|encrypted|asked|output of|item) /.test(fact)))

/** Calls by their ids instead of their numbers, and texts by their letters: what is out cannot be put before what came first. */
const inAnyOrder = (facts: Facts): Facts => {
  const found: Facts = new Map()
  for (const [fact, value] of facts) {
    const [, number, what] = /^call (\d+) (\w+)$/.exec(fact) ?? []
    if (number !== undefined) found.set(`call ${String(facts.get(`call ${number} id`))} ${what}`, value)
    else found.set(fact, fact === "text" || fact === "reasoning" ? [...String(value)].toSorted().join("") : value)
  }
  return found
}

export const compare = ({ isOrdered, response, rotates }: Answer, seen: Seen): ReadonlyArray<Difference> => {
  const answer = Reader.ofBody(response)
  const read = (facts: Facts): Facts => {
    const ordered = isOrdered ? facts : inAnyOrder(facts)
    return rotates ? withoutIds(ordered) : ordered
  }
  return [
    ...differences(read(Reader.facts(answer)), read(seen.facts)),
    // What goes back has its order again; the outputs of calls are the program's.
    ...(rotates ? [] : GoingOn.differences(answer, seen).filter((difference) => !isSame(difference)))
  ]
}

const isSame = ({ kind, seen, sent }: Difference): boolean =>
  kind === "wrong" && stable(withSortedOutputs(sent)) === stable(withSortedOutputs(seen))

const withSortedOutputs = (words: unknown): unknown => {
  const isOutput = (word: unknown) => /^\w+_output /.test(String(word))
  return Array.isArray(words)
    ? [...words.filter((word) => !isOutput(word)), ...words.filter(isOutput).toSorted()]
    : words
}
