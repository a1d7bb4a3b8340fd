/** What was measured, as it stands in `results.json` and `sizes.json`. */
import * as Fs from "node:fs"
import * as Path from "node:path"

export const ours = "assent"

/** How long one operation takes. */
export interface Time {
  readonly library: string
  readonly version: string
  readonly medianMs: number
  readonly minMs: number
  readonly maxMs: number
}

export interface Size {
  readonly library: string
  readonly version: string
  readonly bytes: number
}

/** `ratioToOurs` is the median, or the bytes, of this library divided by ours: above 1, ours has less. */
export type Row<A> = { readonly scenario: string } & A & { readonly ratioToOurs: number }

export type TimeRow = Row<Time>
export type SizeRow = Row<Size>

const round = (value: number): number => Number(value.toPrecision(4))

const rows = <A extends { readonly library: string }>(
  scenario: string,
  measured: ReadonlyArray<A>,
  figure: (one: A) => number
): ReadonlyArray<Row<A>> => {
  const own = measured.find(({ library }) => library === ours)
  if (own === undefined) throw new Error(`${scenario}: ours was not measured.`)
  return measured.map((one) => ({ scenario, ...one, ratioToOurs: round(figure(one) / figure(own)) }))
}

export const timeRows = (scenario: string, times: ReadonlyArray<Time>): ReadonlyArray<TimeRow> =>
  rows(
    scenario,
    times.map(({ library, maxMs, medianMs, minMs, version }) => ({
      library,
      version,
      medianMs: round(medianMs),
      minMs: round(minMs),
      maxMs: round(maxMs)
    })),
    ({ medianMs }) => medianMs
  )

export const sizeRows = (scenario: string, sizes: ReadonlyArray<Size>): ReadonlyArray<SizeRow> =>
  rows(scenario, sizes, ({ bytes }) => bytes)

/** Puts them into the file, in this order; what was not measured now stays as it was measured last. */
export const write = <A>(
  name: "results.json" | "sizes.json",
  scenarios: ReadonlyArray<string>,
  now: ReadonlyArray<Row<A>>
): ReadonlyArray<Row<A>> => {
  const file = Path.join(import.meta.dirname, name)
  const before: ReadonlyArray<Row<A>> = Fs.existsSync(file) ? JSON.parse(Fs.readFileSync(file, "utf8")) : []
  const all = scenarios.flatMap((title) => {
    const found = now.filter(({ scenario }) => scenario === title)
    return found.length > 0 ? found : before.filter(({ scenario }) => scenario === title)
  })
  Fs.writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`)
  return all
}
