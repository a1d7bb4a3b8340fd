/** The tables at a terminal of 80 columns. */
import { ours, type Row } from "./results.ts"
import type { Scenario } from "./scenarios.ts"

const milliseconds = (value: number): string =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value >= 1 ? value.toFixed(2) : value.toFixed(4)

const barWidth = 20

const bar = (share: number): string => {
  const eighths = Math.max(1, Math.round(share * barWidth * 8))
  const last = eighths % 8
  return "█".repeat(eighths >> 3) + (last === 0 ? "" : " ▏▎▍▌▋▊▉"[last]!)
}

/** The rows of one scenario. */
export const scenarioTable = (rows: ReadonlyArray<Row>): string => {
  const longest = Math.max(...rows.map(({ medianMs }) => medianMs))
  return [
    rows[0]!.scenario,
    ...rows.map(({ library, maxMs, medianMs, minMs, ratioToOurs, version }) => {
      const name = `${library} ${version}`.padEnd(22)
      const range = `${milliseconds(minMs)} – ${milliseconds(maxMs)}`.padEnd(17)
      const ratio = library === ours ? "" : `${ratioToOurs.toPrecision(2)}×`
      return `  ${name}${milliseconds(medianMs).padStart(8)} ms ${range}${ratio.padStart(7)} ${bar(medianMs / longest)}`
        .trimEnd()
    })
  ].join("\n")
}

interface Goal {
  readonly title: string
  readonly beside: string
  readonly figure: string
  readonly goal: string
  readonly isMet: boolean
}

export const goalsOf = (scenarios: ReadonlyArray<Scenario>, rows: ReadonlyArray<Row>): ReadonlyArray<Goal> =>
  scenarios.flatMap(({ goals, title }) =>
    goals.flatMap(({ library, ratio }) => {
      const theirs = rows.find((row) => row.scenario === title && row.library === library)
      if (theirs === undefined) return []
      const figure = 1 / theirs.ratioToOurs
      return [{ title, beside: library, figure: figure.toFixed(2), goal: ratio.toFixed(2), isMet: figure <= ratio }]
    })
  )

export const goalsTable = (goals: ReadonlyArray<Goal>): string => {
  const line = (title: string, beside: string, figure: string, goal: string, isMet: string) =>
    `${title.padEnd(44)} ${beside.padEnd(12)} ${figure.padStart(6)} ${goal.padStart(6)}  ${isMet}`.trimEnd()
  return [
    line("Ours divided by", "theirs", "is", "goal", ""),
    ...goals.map(({ beside, figure, goal, isMet, title }) =>
      line(title, beside, figure, goal, isMet ? "met" : "NOT met")
    )
  ].join("\n")
}
