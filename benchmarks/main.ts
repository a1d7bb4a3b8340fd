/**
 * `npm run bench`: Assent beside the libraries that people use for the same, on this machine, in this run.
 *
 *     npm run bench                      everything, under ten minutes
 *     npm run bench -- --short           fewer rounds, two minutes
 *     npm run bench -- --only ask deny   the rows whose title has one of the words
 *     npm run bench -- --processor       the processor's time, for a machine that is busy; writes nothing
 */
import * as ChildProcess from "node:child_process"
import * as Os from "node:os"
import * as Path from "node:path"
import { parseArgs } from "node:util"
import * as Chart from "./chart.ts"
import * as Goals from "./goals.ts"
import { install } from "./install.ts"
import * as Report from "./report.ts"
import * as Results from "./results.ts"
import type { Message } from "./scenario.ts"
import { type How, scenarios } from "./scenarios.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: "boolean", default: false },
    processor: { type: "boolean", default: false },
    only: { type: "string", multiple: true, default: [] }
  }
})
const words = [...values.only, ...positionals].map((word) => word.toLowerCase())
const how: How = { share: values.short ? 0.2 : 1, clock: values.processor ? "processor" : "wall" }

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
const run = (title: string): Promise<Exclude<Message, { readonly done: number }>> =>
  new Promise((resolve, reject) => {
    const child = ChildProcess.fork(Path.join(import.meta.dirname, "scenario.ts"), [title, JSON.stringify(how)], {
      execArgv: ["--conditions=@assent/source"],
      stdio: ["ignore", "ignore", "pipe", "ipc"]
    })
    let errors = ""
    let measured: Exclude<Message, { readonly done: number }> | undefined
    child.stderr?.on("data", (data) => errors += data)
    child.on("message", (message: Message) => {
      if ("done" in message) showProgress(title, message.done)
      else measured = message
    })
    child.once("error", reject)
    child.once("close", (code) => {
      clearProgress()
      if (code === 0 && measured !== undefined) resolve(measured)
      else reject(new Error(`${title} failed.\n${errors}`))
    })
  })

const builds = (): number => {
  console.error("Building the packages, as they are published …")
  const { status } = ChildProcess.spawnSync("npm", ["run", "--silent", "build"], {
    cwd: Path.join(import.meta.dirname, ".."),
    stdio: ["ignore", 2, 2],
    // npm of Windows is a script of its shell.
    shell: process.platform === "win32"
  })
  return status ?? 1
}

/** Other times than those of the clock are compared, and not kept. */
const write = (times: ReadonlyArray<Results.TimeRow>, sizes: ReadonlyArray<Results.SizeRow>): string => {
  if (values.processor) return "the times are the processor's, so nothing was written"
  const titles = scenarios.map(({ title }) => title)
  Chart.write(Results.write("results.json", titles, times))
  Results.write("sizes.json", titles, sizes)
  return "written: chart.svg, results.json and sizes.json in benchmarks/"
}

const main = async (): Promise<number> => {
  const chosen = scenarios.filter(({ title }) =>
    words.length === 0 || words.some((word) => title.toLowerCase().includes(word))
  )
  if (chosen.length === 0) {
    const titles = scenarios.map(({ title }) => `  ${title}`).join("\n")
    console.error(`No row has one of these words in its title. They are:\n${titles}`)
    return 1
  }
  const status = install() || (chosen.some(({ needsBuild }) => needsBuild) ? builds() : 0)
  if (status !== 0) return status
  const [load = 0] = Os.loadavg()
  if (load > Os.availableParallelism() / 2 && !values.processor) {
    console.error(
      `This machine is busy (a load of ${load.toFixed(0)}), which slows some more than others: try --processor.`
    )
  }
  const started = performance.now()
  const times: Array<Results.TimeRow> = []
  const sizes: Array<Results.SizeRow> = []
  const verdicts: Array<Goals.Verdict> = []
  let failed = 0
  for (const { goals, title } of chosen) {
    showProgress(title, 0)
    const measured = await run(title).catch((error: unknown) => {
      console.error(`NOT measured: ${error instanceof Error ? error.message : String(error)}\n`)
      failed++
    })
    if (measured === undefined) continue
    let figures: Goals.Figures
    if ("times" in measured) {
      const rows = Results.timeRows(title, measured.times)
      times.push(...rows)
      figures = {
        of: new Map(rows.map(({ library, medianMs }) => [library, medianMs])),
        show: (figure) => `${Report.milliseconds(figure)} ms`
      }
      console.log(`${Report.times(rows)}\n`)
    } else {
      const rows = Results.sizeRows(title, measured.sizes)
      sizes.push(...rows)
      figures = {
        of: new Map(rows.map(({ bytes, library }) => [library, bytes])),
        show: (figure) => `${Report.kilobytes(figure)} kB`
      }
      console.log(`${Report.sizes(rows)}\n`)
    }
    verdicts.push(...goals.flatMap((goal) => Goals.verdict(title, goal, figures) ?? []))
  }
  if (verdicts.length > 0) console.log(`${Report.verdicts(verdicts)}\n`)
  const seconds = ((performance.now() - started) / 1_000).toFixed(0)
  console.log(`${seconds} s, Node ${process.version}; ${write(times, sizes)}`)
  return failed === 0 ? 0 : 1
}

process.exitCode = await main()
