/** What the walks have to tell, as text for people. */
import type * as Composition from "./composition.ts"
import type { Judged, Mutant } from "./mutants.ts"
import { type Breach, keyOf, type Walked } from "./walk.ts"

const wordOf = (value: unknown): string => typeof value === "string" ? value : JSON.stringify(value)

/** A law that is broken, and one standing that shows it. */
export const breach = ({ asked, configuration, law, said, world }: Breach): string =>
  [
    `${law.name}: ${law.title}`,
    `broken in "${configuration}" by: ${JSON.stringify(said)}`,
    `where ${world.map(([name, value]) => `${name} is ${wordOf(value)}`).join(", ")}`,
    `after asking for ${asked.length === 0 ? "nothing" : asked.map(keyOf).join(", ").replaceAll("Need ", "")}`
  ].join("\n  ")

const countOf = (count: bigint | number): string => count.toLocaleString("en")

/** How much of it was seen. */
const shareOf = ({ size, standings, whole }: Walked): string =>
  whole
    ? standings === size ? "all of them" : `${countOf(standings)} of them, which is a mistake`
    : `${(Number(standings * 10_000n / size) / 100).toFixed(2)} % of them`

/** A walk, with how long it took. */
export const walked = (walked: Walked, milliseconds: number): string =>
  [
    `${walked.configuration}: ${countOf(walked.size)} standings, ${shareOf(walked)} in ${
      countOf(walked.classes)
    } classes,` +
    ` ${(milliseconds / 1_000).toFixed(1)} s`,
    ...Array.from(walked.decisions)
      .toSorted(([, left], [, right]) => right - left)
      .map(([name, count]) => `${String(count).padStart(9)}  ${name}`),
    ...walked.breaches.map(breach)
  ].join("\n")

const changeOf = ({ change, row }: Mutant): string => `  "${row}" ${change}`

/** What became of the tables that are wrong in one place; `alike` are those of which a row never said anything else. */
export const judged = (all: ReadonlyArray<Judged>, alike: ReadonlyArray<Mutant>): string => {
  const noticed = all.filter(({ breach }) => breach !== undefined)
  const unnoticed = all.filter(({ breach }) => breach === undefined)
  const differing = (how: Judged["differs"]) =>
    unnoticed.filter(({ differs }) => differs === how).map(({ mutant }) => mutant)
  const same = [...differing("nowhere"), ...alike]
  const asking = differing("asks")
  const missed = differing("decides")
  const byLaw = new Map<string, number>()
  for (const { breach } of noticed) {
    const law = `${breach!.law.name}: ${breach!.law.title}`
    byLaw.set(law, (byLaw.get(law) ?? 0) + 1)
  }
  const listed = (title: string, mutants: ReadonlyArray<Mutant>): ReadonlyArray<string> =>
    mutants.length === 0 ? [] : [title, ...mutants.map(changeOf)]
  return [
    `${all.length + alike.length} changes of the table: ${noticed.length} break a law, ${missed.length} are missed,` +
    ` ${asking.length} ask for other facts and decide alike, ${same.length} make no difference`,
    ...Array.from(byLaw)
      .toSorted(([, left], [, right]) => right - left)
      .map(([law, count]) => `${String(count).padStart(9)}  ${law}`),
    ...listed("Missed:", missed),
    ...listed("Ask for other facts:", asking),
    ...listed("Make no difference:", same)
  ].join("\n")
}

/** A law of levels that is broken, and one cell that shows it, from the inside to the outside. */
export const composed = ({ cell, law, outcome }: Composition.Breach): string =>
  [
    law,
    `broken in "${cell.nesting}", of a tool whose gate says ${cell.gate}, by: ${JSON.stringify(outcome)}`,
    `where ${cell.levels.map(({ policy, who }) => `${policy} with ${who}`).join(" stands inside ")}`
  ].join("\n  ")

/** Levels inside one another, with how long it took. */
export const composition = (name: string, walked: Composition.Walked, milliseconds: number): string =>
  [
    `${name}: ${countOf(walked.cells)} cells, ${(milliseconds / 1_000).toFixed(1)} s`,
    ...Object.entries(walked.ends).map(([end, count]) => `${String(count).padStart(9)}  ${end}`),
    ...Array.from(walked.exceptions, ([why, count]) =>
      `${String(count).padStart(9)}  levels that alone would not have let it run: ${why}`),
    ...walked.breaches.map(composed)
  ].join("\n")
