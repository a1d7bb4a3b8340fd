/** A drawing of `results.json`: how long each library takes beside ours, a line for each row, on a scale of powers of ten. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { ours, type TimeRow } from "./results.ts"

/** Okabe's and Ito's, which people tell apart who do not see all colours. */
const colors: Record<string, string> = {
  effect: "#000000",
  ai: "#d55e00",
  "@openai/agents": "#009e73",
  langchain: "#0072b2",
  langgraph: "#56b4e9",
  "@mastra/core": "#cc79a7",
  "bare loop": "#999999"
}

const width = 930
const left = 330
const right = 30
const top = 108
const lineHeight = 30
const radius = 6

const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

export const draw = (rows: ReadonlyArray<TimeRow>): string => {
  const titles = [...new Set(rows.map(({ scenario }) => scenario))]
  const others = rows.filter(({ library }) => library !== ours)
  const libraries = Object.keys(colors).filter((name) => others.some(({ library }) => library === name))
  const powers = others.map(({ ratioToOurs }) => Math.log10(ratioToOurs))
  const from = Math.min(-1, Math.floor(Math.min(...powers)))
  const to = Math.max(1, Math.ceil(Math.max(...powers)))
  const at = (power: number): number => left + (power - from) / (to - from) * (width - left - right)
  const bottom = top + titles.length * lineHeight
  const ticks = Array.from({ length: to - from + 1 }, (_, index) => from + index)
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${
      bottom + 52
    }" font-family="system-ui, sans-serif" font-size="13" fill="#222222">`,
    `<rect width="100%" height="100%" rx="8" fill="#ffffff"/>`,
    `<text x="24" y="34" font-size="17" font-weight="600">How long others take, where Assent takes 1</text>`,
    ...legend(libraries),
    ...ticks.map((power) => {
      const x = at(power)
      const isOurs = power === 0
      return `<path d="M${x} ${top - 6}V${bottom + 4}" stroke="${isOurs ? "#222222" : "#dddddd"}" stroke-width="${
        isOurs ? 2 : 1
      }"/>` +
        `<text x="${x}" y="${bottom + 22}" text-anchor="middle" fill="#555555">${
          isOurs ? "Assent" : `${Number((10 ** power).toPrecision(1))}×`
        }</text>`
    }),
    ...titles.flatMap((title, index) => {
      const y = top + (index + 0.5) * lineHeight
      const found = others.filter(({ scenario }) => scenario === title)
      return [
        `<text x="${left - 16}" y="${y + 4}" text-anchor="end">${escape(title)}</text>`,
        `<path d="M${left} ${y}H${width - right}" stroke="#eeeeee"/>`,
        ...found.map(({ library, medianMs, ratioToOurs, version }) =>
          `<circle cx="${at(Math.log10(ratioToOurs)).toFixed(1)}" cy="${y}" r="${radius}" fill="${
            colors[library] ?? "#222222"
          }" stroke="#ffffff">` +
          `<title>${escape(`${library} ${version}: ${medianMs} ms, ${ratioToOurs}×`)}</title></circle>`
        )
      ]
    }),
    `<text x="${at(0) - 12}" y="${bottom + 42}" text-anchor="end" fill="#555555">← faster than Assent</text>`,
    `<text x="${at(0) + 12}" y="${bottom + 42}" fill="#555555">slower than Assent →</text>`,
    "</svg>"
  ]
  return `${lines.join("\n")}\n`
}

/** Their names beside their colours, in one line. */
const legend = (libraries: ReadonlyArray<string>): ReadonlyArray<string> => {
  let x = 30
  return libraries.map((library) => {
    const entry = `<circle cx="${x}" cy="62" r="${radius}" fill="${colors[library]}"/><text x="${x + 12}" y="66">${
      escape(library)
    }</text>`
    x += 38 + library.length * 7
    return entry
  })
}

export const write = (rows: ReadonlyArray<TimeRow>): void =>
  Fs.writeFileSync(Path.join(import.meta.dirname, "chart.svg"), draw(rows))
