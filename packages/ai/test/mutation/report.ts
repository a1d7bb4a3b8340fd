/** What became of a sample of mutants, as a table with a row for each wing. */
import * as Arr from "effect/Array"
import type { Mutant } from "./mutants.ts"

export interface Judged extends Mutant {
  /** `loaded`: it runs only while its module loads, where no single test reaches it; it is left out of the score. */
  readonly standing: "killed" | "survived" | "unreached" | "loaded"
}

/** Half of Wilson's interval at 95 %, in percent: how far a sample may be from the whole. */
const margin = (killed: number, of: number): number => {
  const z = 1.96
  const share = killed / of
  return 100 * z * Math.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
}

const row = (name: string, of: ReadonlyArray<Judged>, population: number): string => {
  const count = (standing: Judged["standing"]) => of.filter((mutant) => mutant.standing === standing).length
  const killed = count("killed")
  const met = of.length - count("loaded")
  const score = met === 0 ? "–" : `${(100 * killed / met).toFixed(1)} ± ${margin(killed, met).toFixed(0)}`
  return `| ${name} | ${population} | ${killed} of ${met} | ${score} | ${count("survived")} | ${count("unreached")} | ${
    count("loaded")
  } |`
}

export const table = (judged: ReadonlyArray<Judged>, population: ReadonlyMap<string, number>): string => {
  const wings = Object.entries(Arr.groupBy(judged, ({ wing }) => wing))
  return [
    "| Wing | Mutants in all | Killed of the sample | Percent | Survived | Reached by no test | Left out |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...wings.toSorted().map(([wing, of]) => row(wing, of, population.get(wing) ?? 0)),
    row("all", judged, [...population.values()].reduce((sum, count) => sum + count, 0))
  ].join("\n")
}
