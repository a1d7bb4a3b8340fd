/**
 * What is covered of the lines that coding agents type, and each that is missed with its reason: `ordinary.md`, which
 * `UPDATE_ORDINARY=1` writes anew.
 */
import { Shell } from "@assent/shell"
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as CommandLine from "../src/internal/line/commandLine.ts"
import * as Lines from "../src/internal/world/lines.ts"
import { lines } from "./ordinary.ts"

/** Where most of the lines with a whole path run. */
const folder = "/home/dev/shop"

const reading = lines.filter(({ does }) => does === "reads")

const everything = ["*", "git *"]
const five = ["git *", "grep *", "cat *", "rg *", "ls *"]
const eight = [...five, "find *", "sed *", "jq *"]

const share = (patterns: ReadonlyArray<string>, options?: Shell.Options): number =>
  reading.filter(({ line }) => Shell.explain(line, patterns, options).covered).length / reading.length

/** What five programs would cover if all of their words were, and every `cd`. */
const mostOfFive = (): number => {
  const needed = reading.flatMap(({ line }) => {
    const pieces = CommandLine.read(line, { wildcards: true })
    const programs = pieces?.filter((piece, index) =>
      piece.words[0] !== "cd" && Lines.isFree(piece, pieces[index + 1], folder) === undefined
    ).map(({ words }) => words[0]!)
    return programs === undefined ? [] : [[...new Set(programs)]]
  })
  const often = (program: string) => needed.filter((programs) => programs.includes(program)).length
  const common = [...new Set(needed.flat())].filter((program) => often(program) > 2)
  const choose = (from: number, chosen: ReadonlyArray<string>): number =>
    chosen.length === 5
      ? needed.filter((programs) => programs.every((program) => chosen.includes(program))).length
      : Math.max(0, ...common.slice(from).map((program, index) => choose(from + index + 1, [...chosen, program])))
  return choose(0, []) / reading.length
}

const percent = (part: number): string => `${(part * 100).toFixed(1)} %`

const report = (): string => {
  const missed = reading.flatMap(({ line }) => {
    const { covered, refusals } = Shell.explain(line, everything, { folder })
    const reasons = refusals.map(({ kind, message }) => kind === "line" ? "more than plain commands" : message)
    return covered ? [] : [`| \`${line.replaceAll("|", "\\|")}\` | ${reasons.join("; ").replaceAll("|", "\\|")} |`]
  })
  const row = (name: string, patterns: ReadonlyArray<string>) =>
    `| ${name} | ${percent(share(patterns))} | ${percent(share(patterns, { folder }))} |`
  return [
    "# Ordinary lines",
    "",
    `What is covered of the ${reading.length} lines in \`ordinary.ts\` that only read; with \`folder\`, where it is known where they run.`,
    "",
    "| Patterns | Covered | With `folder` |",
    "| --- | --- | --- |",
    row("`*` and `git *`", everything),
    row(`five: \`${five.join("`, `")}\``, five),
    `| any five programs with all of their words, at most | | ${percent(mostOfFive())} |`,
    row(`eight: these, \`${eight.slice(5).join("`, `")}\``, eight),
    "",
    "Missed by `*` and `git *`, with `folder`:",
    "",
    "| Line | Why |",
    "| --- | --- |",
    ...missed,
    ""
  ].join("\n")
}

describe("ordinary lines of coding agents", () => {
  it("that do not only read are covered by no `*` that does not write them out", () => {
    const covered = lines.filter(({ does, line }) =>
      does !== "reads" && Shell.explain(line, everything, { folder }).covered
    )
    assert.deepStrictEqual(covered, [])
  })

  it("that only read are covered, but for those in ordinary.md, each with its reason", () => {
    const file = Path.join(import.meta.dirname, "ordinary.md")
    if (process.env["UPDATE_ORDINARY"] === "1") Fs.writeFileSync(file, report())
    const cells = (text: string) => text.replaceAll(/ +\|/g, " |").replaceAll(/\| +/g, "| ").replaceAll(/-{3,}/g, "---")
    assert.strictEqual(cells(Fs.readFileSync(file, "utf8")), cells(report()))
    assert.isAtLeast(share(everything, { folder }), 0.9)
  })
})
