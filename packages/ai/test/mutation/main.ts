/**
 * `npm run mutation`: breaks a sample of lines in every wing, and says how many of them a test noticed.
 *
 * - `--sample 60` mutants of each wing; `--seed 1` draws others; `--workers 4`; `--budget 10` seconds of quick tests that
 *   a mutant may survive, and as many of slow ones, before it counts as alive.
 * - `--again` goes on with the last run: what survived meets the tests from the last file to the first, for as much time
 *   as `--budget` says then.
 * - Words pick wings or paths: `npm run mutation -- waiting mcp`.
 */
import { spawn } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { parseArgs } from "node:util"
import { type Mutant, root, sample, wingOf } from "./mutants.ts"
import { type Judged, table } from "./report.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: "string", default: "60" },
    seed: { type: "string", default: "1" },
    workers: { type: "string", default: String(Os.availableParallelism()) },
    budget: { type: "string", default: "10" },
    again: { type: "boolean", default: false }
  }
})

const directory = Path.join(root, "reports/mutation")
if (!values.again) Fs.rmSync(directory, { recursive: true, force: true })
for (const name of ["killed", "spent", "loaded", "slow"]) Fs.mkdirSync(Path.join(directory, name), { recursive: true })
const write = (name: string, value: unknown): void =>
  Fs.writeFileSync(Path.join(directory, name), JSON.stringify(value, undefined, 1))

const drawn = async () => {
  const { files, mutants, population } = await sample({
    count: Number(values.sample),
    seed: Number(values.seed),
    words: positionals
  })
  write("ids.json", mutants.map(({ id }) => id))
  write("files.json", Object.fromEntries(files))
  write("mutants.json", mutants)
  write("population.json", [...population])
}
if (!values.again) await drawn()
for (const name of Fs.readdirSync(directory)) if (name.startsWith("done-")) Fs.rmSync(Path.join(directory, name))
const read = (name: string) => JSON.parse(Fs.readFileSync(Path.join(directory, name), "utf8"))
const mutants: ReadonlyArray<Mutant> = read("mutants.json")
const population: ReadonlyMap<string, number> = new Map(read("population.json"))

const packages = new Set(mutants.map(({ path }) => path.split("/")[1] ?? ""))
const wings = new Set(mutants.map(({ path }) => wingOf(path).replace("ai ", "")))

/** What no mutant reaches: other processes, other programs, and the source read as text. */
const elsewhere =
  /\/(?:chaos|processes|screen|screens|drawings|signals|postgres|upgrade|crowd|proof|programs)\/|\.processes\.|(?:architecture|documentation|workspace|packed)\.test/

// Those of a wing's own folder first: they kill most, and a mutant's time is not spent elsewhere.
const rank = (path: string): number =>
  [...wings].some((wing) => path.includes(`/test/${wing}/`))
    ? 0
    : path.startsWith("packages/ai/test/laws/")
    ? 2
    : /packages\/ai\/test\/[^/]*$/.test(path)
    ? 1
    : path.startsWith("packages/ai/")
    ? 3
    : 4

const inOrder = ["ai", "ai-sdk", "openai", "shell", "sql", "terminal", "web"]
  .filter((name) => packages.has(name) || packages.has("ai"))
  .flatMap((name) =>
    Fs.readdirSync(Path.join(root, "packages", name, "test"), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".test.ts"))
      .map((path) => `packages/${name}/test/${path.replaceAll("\\", "/")}`)
  )
  .filter((path) => !elsewhere.test(path))
  .toSorted((left, right) => rank(left) - rank(right))
const tests = values.again ? inOrder.toReversed() : inOrder

interface Round {
  /** Milliseconds of one test, without a mutant. */
  readonly slowest: number
  /** Milliseconds of all tests that a mutant survives. */
  readonly budget: number
}

let chunks = 0

const killedCount = (): number => Fs.readdirSync(Path.join(directory, "killed")).length

/** A mutant in whose hands a process stood still for so long is killed, and the process too. */
const patience = 90_000

const run = (names: ReadonlyArray<string>, { budget, slowest }: Round): Promise<ReadonlyArray<string>> => {
  const chunk = String(chunks++)
  const heartbeat = Path.join(directory, `running-${chunk}`)
  const child = spawn(
    process.execPath,
    [Path.join(root, "node_modules/vitest/vitest.mjs"), "run", "--config", "packages/ai/vitest.mutation.config.ts"],
    {
      cwd: root,
      stdio: ["ignore", "ignore", Fs.openSync(Path.join(directory, `errors-${chunk}`), "w")],
      env: {
        ...process.env,
        MUTATION_DIRECTORY: directory,
        MUTATION_CHUNK: chunk,
        MUTATION_BUDGET: String(budget),
        MUTATION_SLOWEST: String(slowest),
        MUTATION_TESTS: JSON.stringify(names)
      }
    }
  )
  const begun = Date.now()
  let hung = false
  const watch = setInterval(() => {
    const since = Fs.statSync(heartbeat, { throwIfNoEntry: false })?.mtimeMs
    const stuck = since !== undefined && Date.now() - since > patience
    if (stuck) {
      const { id, test } = JSON.parse(Fs.readFileSync(heartbeat, "utf8"))
      Fs.writeFileSync(Path.join(directory, "killed", id), JSON.stringify({ test, failure: "stood still" }))
    }
    if (stuck || Date.now() - begun > 15 * 60_000) {
      hung = true
      child.kill("SIGKILL")
    }
  }, 1000)
  return new Promise((resolve) => {
    child.on("exit", () => {
      clearInterval(watch)
      const path = Path.join(directory, `done-${chunk}`)
      const done = Fs.existsSync(path) ? Fs.readFileSync(path, "utf8") : ""
      const left = names.filter((name) => !done.includes(name))
      // The file in which it hung is the first of those left: it is tried once more, and then by itself.
      resolve(hung && left.length < names.length ? left : hung ? left.slice(1) : [])
    })
  })
}

const meet = async (files: ReadonlyArray<string>, round: Round): Promise<void> => {
  const size = 12
  const queue = Array.from(
    { length: Math.ceil(files.length / size) },
    (_, index) => files.slice(index * size, (index + 1) * size)
  )
  const total = queue.length
  let finished = 0
  const work = async (): Promise<void> => {
    for (let names = queue.shift(); names !== undefined; names = queue.shift()) {
      const left = await run(names, round)
      if (left.length > 0) queue.unshift([...left])
      else finished++
      process.stderr.write(
        `${finished} of ${total} groups of test files, ${killedCount()} of ${mutants.length} mutants killed\n`
      )
    }
  }
  await Promise.all(Array.from({ length: Number(values.workers) }, work))
}

const budget = Number(values.budget) * 1000
await meet(tests, { slowest: 50, budget })
const slow = new Set(
  Fs.readdirSync(Path.join(directory, "slow")).map((name) => Path.relative(root, decodeURIComponent(name)))
)
process.stderr.write(`Slow tests, of ${slow.size} files:\n`)
await meet(tests.filter((path) => slow.has(path)), { slowest: Infinity, budget: 2 * budget })

const has = (folder: string, { id }: Mutant): boolean => Fs.existsSync(Path.join(directory, folder, id))

const judged = mutants.map((mutant): Judged => {
  if (has("killed", mutant)) {
    return {
      ...mutant,
      standing: "killed",
      ...JSON.parse(Fs.readFileSync(Path.join(directory, "killed", mutant.id), "utf8"))
    }
  }
  return { ...mutant, standing: has("spent", mutant) ? "survived" : has("loaded", mutant) ? "loaded" : "unreached" }
})
write("judged.json", judged)
process.stdout.write(`${table(judged, population)}\n`)
