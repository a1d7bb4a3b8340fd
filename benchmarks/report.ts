/** The tables at a terminal of 80 columns. */
import type { Verdict } from "./goals.ts"
import { ours, type SizeRow, type TimeRow } from "./results.ts"

export const milliseconds = (value: number): string =>
  `${
    value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value >= 1 ? value.toFixed(2) : value.toFixed(3)
  }`

export const kilobytes = (bytes: number): string => (bytes / 1_000).toFixed(bytes < 100_000 ? 1 : 0)

const barWidth = 20

const bar = (share: number): string => {
  const eighths = Math.max(1, Math.round(share * barWidth * 8))
  const last = eighths % 8
  return "█".repeat(eighths >> 3) + (last === 0 ? "" : " ▏▎▍▌▋▊▉"[last]!)
}

interface Line {
  readonly library: string
  readonly version: string
  readonly ratioToOurs: number
  readonly figure: number
  readonly shown: string
  readonly range: string
}

const table = (title: string, lines: ReadonlyArray<Line>): string => {
  const most = Math.max(...lines.map(({ figure }) => figure))
  return [
    title,
    ...lines.map(({ figure, library, range, ratioToOurs, shown, version }) => {
      const ratio = library === ours ? "" : `${ratioToOurs.toPrecision(2)}×`
      const name = `${library} ${version}`.padEnd(22)
      return `  ${name}${shown.padStart(10)} ${range.padEnd(16)}${ratio.padStart(7)} ${bar(figure / most)}`.trimEnd()
    })
  ].join("\n")
}

/** The rows of one scenario. */
export const times = (rows: ReadonlyArray<TimeRow>): string =>
  table(
    rows[0]!.scenario,
    rows.map(({ library, maxMs, medianMs, minMs, ratioToOurs, version }) => ({
      library,
      version,
      ratioToOurs,
      figure: medianMs,
      shown: `${milliseconds(medianMs)} ms`,
      range: `${milliseconds(minMs)} – ${milliseconds(maxMs)}`
    }))
  )

/** The same of sizes. */
export const sizes = (rows: ReadonlyArray<SizeRow>): string =>
  table(
    rows[0]!.scenario,
    rows.map(({ bytes, library, ratioToOurs, version }) => ({
      library,
      version,
      ratioToOurs,
      figure: bytes,
      shown: `${kilobytes(bytes)} kB`,
      range: ""
    }))
  )

export const verdicts = (all: ReadonlyArray<Verdict>): string => {
  const line = (title: string, beside: string, figure: string, goal: string, isMet: string) =>
    `${title.padEnd(43)} ${beside.padEnd(11)} ${figure.padStart(8)} ${goal.padStart(8)} ${isMet}`.trimEnd()
  return [
    line("Ours divided by theirs, or as it says", "theirs", "is", "goal", ""),
    ...all.map(({ beside, figure, goal, isMet, title }) => line(title, beside, figure, goal, isMet ? "met" : "NOT met"))
  ].join("\n")
}
