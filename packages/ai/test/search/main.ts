/**
 * The long search: `npm run laws -- --runs 100000 --seed 7`. Prints what it tries and meets; the first plan that breaks a
 * law ends it with code 1, made small, as a test to paste and as a file for the corpus.
 */
import { Effect } from "effect"
import * as Util from "node:util"
import * as Report from "./report.ts"
import * as Search from "./search.ts"

const { values } = Util.parseArgs({
  options: {
    runs: { type: "string", default: "10000" },
    seed: { type: "string", default: String(Date.now()) }
  }
})

const runs = Number(values.runs)
if (!Number.isInteger(runs) || runs < 1) {
  console.error(`--runs is how many plans to try, such as --runs 100000, not ${values.runs}`)
  process.exit(2)
}

const startedAt = performance.now()
const isTerminal = process.stdout.isTTY === true
let saidAt = 0

const sayProgress = ({ tried }: Search.Progress): void => {
  const now = performance.now()
  if (now - saidAt < (isTerminal ? 200 : 10_000) && tried < runs) return
  saidAt = now
  const perSecond = Math.round(tried / (now - startedAt) * 1_000)
  const memory = Math.round(process.memoryUsage().heapUsed / 1e6)
  const line = `${tried} of ${runs} plans, ${perSecond} a second, ${memory} MB`
  process.stdout.write(isTerminal ? `\r${line}   ` : `${line}\n`)
}

console.log(`seed ${values.seed}`)

const found = await Effect.runPromise(Search.search({
  seed: values.seed,
  runs,
  onProgress: (progress) => {
    sayProgress(progress)
    return progress.failures.length === 0
  }
}))

if (isTerminal) console.log()
console.log(Report.coverage(found.coverage))

const [first] = found.failures
if (first === undefined) {
  console.log(`${found.tried} plans, and every law holds.`)
} else {
  console.log(`Plan ${first.tried} breaks ${first.law}: ${first.what}\nMaking it small …`)
  console.log(Report.failure(await Effect.runPromise(Search.shrink(first))))
  process.exitCode = 1
}
