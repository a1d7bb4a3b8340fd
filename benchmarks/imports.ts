/** How long it takes until a library is there, in a new process, as it is published. */
import * as ChildProcess from "node:child_process"
import { median } from "./measure.ts"
import type { Time } from "./results.ts"
import { versionOf } from "./versions.ts"

const modules = [
  { library: "assent", version: versionOf("@assent/ai"), module: "@assent/ai/LanguageModel" },
  { library: "effect", version: versionOf("effect"), module: "effect/ai/LanguageModel" },
  { library: "ai", version: versionOf("ai"), module: "ai" }
]

/** The time of the clock, and that of the processor: of all threads, in the program and in the system for it. */
const program = (module: string): string => `
  const cpu = process.cpuUsage()
  const start = performance.now()
  await import(${JSON.stringify(module)})
  const wall = performance.now() - start
  const { user, system } = process.cpuUsage(cpu)
  console.log(JSON.stringify({ wall, processor: (user + system) / 1_000 }))`

const importOnce = (module: string): { readonly wall: number; readonly processor: number } =>
  JSON.parse(ChildProcess.execFileSync(process.execPath, ["--input-type=module", "--eval", program(module)], {
    cwd: import.meta.dirname,
    encoding: "utf8"
  }))

export const measureImports = async (
  what: "wall" | "processor",
  rounds: number,
  onRound: () => void
): Promise<ReadonlyArray<Time>> => {
  const times = modules.map(() => new Array<number>())
  // The first is not counted: files are read then that nobody had in memory.
  for (let round = 0; round <= rounds; round++) {
    for (let turn = 0; turn < modules.length; turn++) {
      const which = (round + turn) % modules.length
      const time = importOnce(modules[which]!.module)[what]
      if (round > 0) times[which]!.push(time)
    }
    onRound()
  }
  return modules.map(({ library, version }, which) => ({
    library,
    version,
    medianMs: median(times[which]!),
    minMs: Math.min(...times[which]!),
    maxMs: Math.max(...times[which]!)
  }))
}
