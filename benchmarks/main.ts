/**
 * `npm run bench`: Assent beside the libraries that people use for the same, on this machine, in this run.
 *
 *     npm run bench                      everything, ten minutes
 *     npm run bench -- --short           fewer rounds, two minutes
 *     npm run bench -- --only ask deny   the rows whose title has one of the words
 */
import * as ChildProcess from "node:child_process"
import * as Path from "node:path"
import { parseArgs } from "node:util"
import { install } from "./install.ts"
import type { Measured } from "./measure.ts"
import * as Report from "./report.ts"
import * as Results from "./results.ts"
import { type Scenario, scenarios } from "./scenarios.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { short: { type: "boolean", default: false }, only: { type: "string", multiple: true, default: [] } }
})
const words = [...values.only, ...positionals].map((word) => word.toLowerCase())
const share = values.short ? 0.2 : 1

type Message = { readonly done: number } | { readonly rows: ReadonlyArray<Measured> }

/** What one scenario does goes on in one line. */
const showProgress = (title: string, done: number): void => {
  if (!process.stderr.isTTY) return
  const width = 24
  const full = Math.round(done * width)
  process.stderr.write(`\r${title.slice(0, 48).padEnd(48)} ${"█".repeat(full)}${"░".repeat(width - full)}`)
}

const clearProgress = (): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r${" ".repeat(76)}\r`)
}

/** In a process of its own, so that nobody's heap is in the way of another's. */
const run = ({ title }: Scenario): Promise<ReadonlyArray<Measured>> =>
  new Promise((resolve, reject) => {
    const child = ChildProcess.fork(Path.join(import.meta.dirname, "scenario.ts"), [title, String(share)], {
      execArgv: ["--conditions=@assent/source"],
      stdio: ["ignore", "ignore", "pipe", "ipc"]
    })
    let errors = ""
    let rows: ReadonlyArray<Measured> | undefined
    child.stderr?.on("data", (data) => errors += data)
    child.on("message", (message: Message) => {
      if ("rows" in message) rows = message.rows
      else showProgress(title, message.done)
    })
    child.once("error", reject)
    child.once("close", (code) => {
      clearProgress()
      if (code === 0 && rows !== undefined) resolve(rows)
      else reject(new Error(`${title} failed.\n${errors}`))
    })
  })

const main = async (): Promise<number> => {
  const chosen = scenarios.filter(({ title }) =>
    words.length === 0 || words.some((word) => title.toLowerCase().includes(word))
  )
  if (chosen.length === 0) {
    console.error(
      `No row has one of these words in its title. They are:\n${scenarios.map(({ title }) => `  ${title}`).join("\n")}`
    )
    return 1
  }
  const status = install()
  if (status !== 0) return status
  const started = performance.now()
  let rows: ReadonlyArray<Results.Row> = []
  for (const scenario of chosen) {
    showProgress(scenario.title, 0)
    const measured = Results.rowsOf(scenario.title, await run(scenario))
    rows = [...rows, ...measured]
    console.log(`${Report.scenarioTable(measured)}\n`)
  }
  const before = Results.read()
  // What was not measured now stays as it was measured last.
  const all = scenarios.flatMap(({ title }) => {
    const now = rows.filter(({ scenario }) => scenario === title)
    return now.length > 0 ? now : before.filter(({ scenario }) => scenario === title)
  })
  Results.write(all)
  console.log(`${Report.goalsTable(Report.goalsOf(chosen, rows))}\n`)
  console.log(
    `${((performance.now() - started) / 1_000).toFixed(0)} s, Node ${process.version}; written: benchmarks/results.json`
  )
  return 0
}

process.exitCode = await main()
