/** What was measured, as it stands in `results.json`. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import type { Measured } from "./measure.ts"

export interface Row extends Measured {
  readonly scenario: string
  /** The median of this library divided by ours: above 1, ours is faster. */
  readonly ratioToOurs: number
}

export const ours = "assent"

export const rowsOf = (scenario: string, measured: ReadonlyArray<Measured>): ReadonlyArray<Row> => {
  const own = measured.find(({ library }) => library === ours)
  if (own === undefined) throw new Error(`${scenario}: ours was not measured.`)
  return measured.map((one) => ({
    scenario,
    library: one.library,
    version: one.version,
    medianMs: round(one.medianMs),
    minMs: round(one.minMs),
    maxMs: round(one.maxMs),
    ratioToOurs: round(one.medianMs / own.medianMs)
  }))
}

const round = (value: number): number => Number(value.toPrecision(4))

const file = Path.join(import.meta.dirname, "results.json")

export const read = (): ReadonlyArray<Row> => Fs.existsSync(file) ? JSON.parse(Fs.readFileSync(file, "utf8")) : []

export const write = (rows: ReadonlyArray<Row>): void => Fs.writeFileSync(file, `${JSON.stringify(rows, null, 2)}\n`)
