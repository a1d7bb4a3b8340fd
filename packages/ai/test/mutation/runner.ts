/**
 * Runs each test as always, and then once more for each mutant of the sample that it reached and nobody killed yet. So
 * one pass through the tests meets every mutant, and nothing is loaded or collected again for one.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { performance } from "node:perf_hooks"
import { type RunnerTestCase, type RunnerTestFile, TestRunner } from "vitest"

/** What Stryker's switches read and count, by name. */
interface Switches {
  activeMutant?: string | undefined
  currentTestId?: string | undefined
  hitCount?: number | undefined
  hitLimit?: number | undefined
  mutantCoverage?: { static: Record<string, number>; perTest: Record<string, Record<string, number>> }
}

const global: { __stryker__?: Switches } = globalThis as never
const switches = global.__stryker__ ??= {}
const coverage = switches.mutantCoverage ??= { static: {}, perTest: {} }

const directory = process.env["MUTATION_DIRECTORY"] ?? ""
const sampled: ReadonlySet<string> = new Set(JSON.parse(Fs.readFileSync(Path.join(directory, "ids.json"), "utf8")))
const heartbeat = Path.join(directory, `running-${process.env["MUTATION_CHUNK"]}`)
const milliseconds = Number(process.env["MUTATION_BUDGET"])

const killed = (id: string): string => Path.join(directory, "killed", id)
const spent = (id: string): string => Path.join(directory, "spent", id)
const isKilled = (id: string): boolean => Fs.existsSync(killed(id))
const spentOn = (id: string): number => Fs.existsSync(spent(id)) ? Number(Fs.readFileSync(spent(id), "utf8")) : 0
const loaded = (id: string): string => Path.join(directory, "loaded", id)
const note = (file: string, line: unknown): void =>
  Fs.appendFileSync(Path.join(directory, file), `${JSON.stringify(line)}\n`)

/** Milliseconds: a test that takes longer meets mutants only in the second round, when the quick ones killed most. */
const slowest = Number(process.env["MUTATION_SLOWEST"])
const slow = (file: string): string => Path.join(directory, "slow", encodeURIComponent(file))

const { clearTimeout, setTimeout } = globalThis

/** `undefined` where the test passed, and else why it did not. */
const outcome = async (run: () => unknown, limit: number): Promise<string | undefined> => {
  let timer: NodeJS.Timeout | undefined
  try {
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(resolve, limit, "took too long")
    })
    return await Promise.race([Promise.resolve().then(run).then(() => undefined), late])
  } catch (error) {
    return String(error instanceof Error ? error.message : error).slice(0, 200)
  } finally {
    clearTimeout(timer)
  }
}

export default class MutationRunner extends TestRunner {
  /** What runs while modules load is reached by no test in particular. */
  override onAfterRunFiles(files: Array<RunnerTestFile>): void {
    for (const id of Object.keys(coverage.static)) {
      if (sampled.has(id) && !Fs.existsSync(loaded(id))) Fs.writeFileSync(loaded(id), "")
    }
    super.onAfterRunFiles(files)
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    const run = TestRunner.getTestFn(test)
    switches.activeMutant = undefined
    switches.currentTestId = test.id
    const started = performance.now()
    try {
      await run()
    } catch (error) {
      note("failed.jsonl", { test: test.fullTestName, error: String(error).slice(0, 300) })
      throw error
    } finally {
      switches.currentTestId = undefined
    }
    const took = performance.now() - started
    const hits = coverage.perTest[test.id] ?? {}
    delete coverage.perTest[test.id]
    const reached = Object.keys(hits).filter((id) => sampled.has(id))
    for (const id of reached) {
      if (!Fs.existsSync(spent(id))) Fs.writeFileSync(spent(id), "0")
    }
    const meets = reached.filter((id) => !isKilled(id) && spentOn(id) < milliseconds)
      .toSorted((left, right) => spentOn(left) - spentOn(right))
    if (meets.length === 0) return
    if (took > slowest) return Fs.writeFileSync(slow(test.file.filepath), "")
    const limit = took * 10 + 1500
    switches.hitCount = undefined
    // A test that cannot be run twice says nothing about a mutant.
    if (await outcome(run, limit) !== undefined) return note("once.jsonl", { test: test.fullTestName })
    for (const id of meets) {
      const before = performance.now()
      Fs.writeFileSync(heartbeat, JSON.stringify({ id, test: test.fullTestName }))
      switches.hitCount = 0
      switches.hitLimit = (hits[id] ?? 0) * 100 + 1000
      switches.activeMutant = id
      const failure = await outcome(run, limit)
      switches.activeMutant = undefined
      switches.hitCount = undefined
      Fs.writeFileSync(spent(id), String(spentOn(id) + performance.now() - before))
      if (failure === undefined) continue
      // What the mutant left behind may fail this test from now on: then it is out for the others.
      const usable = await outcome(run, limit) === undefined
      Fs.writeFileSync(killed(id), JSON.stringify({ test: test.fullTestName, failure }))
      if (!usable) break
    }
    Fs.rmSync(heartbeat, { force: true })
  }
}
