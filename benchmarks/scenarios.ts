/** The rows: what is done, and by whom. The modules of a library are read only where it is measured. */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { alone, type Goal, more, ratio } from "./goals.ts"
import type { Holder } from "./heap.ts"
import { type Clock, type Contestant, measure, type Options } from "./measure.ts"
import type { Size, Time } from "./results.ts"

/** `share` is 1 for all rounds, and less for fewer. */
export interface How {
  readonly share: number
  readonly clock: Clock
}

/** `onProgress` is told how much of it is done. */
type Measure<A> = (how: How, onProgress: (done: number) => void) => Promise<ReadonlyArray<A>>

interface Common {
  readonly title: string
  readonly goals: ReadonlyArray<Goal>
  /** Whether it looks at the packages as they are published. */
  readonly needsBuild?: boolean
}

export type Scenario = Common & ({ readonly times: Measure<Time> } | { readonly sizes: Measure<Size> })

// =============================================================================
// Who takes part
// =============================================================================

type Kind = "asks" | "approves" | "denies"

/** Mastra asks about one call at a time. */
const approval = (kind: Kind, calls: number) => async (): Promise<ReadonlyArray<Contestant>> => {
  const libraries = await Promise.all([
    import("./contestants/assent.ts"),
    import("./contestants/effect.ts"),
    import("./contestants/aiSdk.ts"),
    import("./contestants/openaiAgents.ts"),
    import("./contestants/langchain.ts"),
    import("./contestants/bareLoop.ts")
  ])
  const contestants = libraries.map((library) => library[kind](calls))
  return calls > 1 ? contestants : [...contestants, (await import("./contestants/mastra.ts"))[kind]()]
}

const streams = async (): Promise<ReadonlyArray<Contestant>> => {
  const libraries = await Promise.all([
    import("./contestants/assent.ts"),
    import("./contestants/effect.ts"),
    import("./contestants/aiSdk.ts"),
    import("./contestants/openaiAgents.ts"),
    import("./contestants/langchain.ts"),
    import("./contestants/mastra.ts")
  ])
  return libraries.map((library) => library.streams())
}

/** The others go on until the model has said all it has to say, or keep no approvals in a history. */
const stateless = () =>
  Promise.all([
    import("./contestants/assent.ts"),
    import("./contestants/effect.ts"),
    import("./contestants/aiSdk.ts")
  ])

/** Each library has a file of its own in one folder of this machine's disk. */
const sqlite = (synchronous: "FULL" | "NORMAL") => async (): Promise<ReadonlyArray<Contestant>> => {
  const [Kept, LangChain, LangGraph] = await Promise.all([
    import("./contestants/kept.ts"),
    import("./contestants/langchain.ts"),
    import("./contestants/langgraph.ts")
  ])
  const folder = Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-benchmarks-"))
  process.once("exit", () => Fs.rmSync(folder, { recursive: true, force: true }))
  return [
    Kept.decides(Path.join(folder, "ours.db"), synchronous),
    LangChain.decidesOnSqlite(Path.join(folder, "langchain.db"), synchronous),
    LangGraph.decidesOnSqlite(Path.join(folder, "langgraph.db"), synchronous),
    Kept.decidesBare(Path.join(folder, "bare.db"), synchronous)
  ]
}

/** Who leaves it to the program to hold what was asked. */
export const holders = {
  assent: async () => (await import("./contestants/assent.ts")).holds(),
  effect: async () => (await import("./contestants/effect.ts")).holds(),
  ai: async () => (await import("./contestants/aiSdk.ts")).holds(),
  "@openai/agents": async () => (await import("./contestants/openaiAgents.ts")).holds(),
  "bare loop": async () => (await import("./contestants/bareLoop.ts")).holds()
} satisfies Record<string, () => Promise<Holder>>

/** Who keeps it, in memory. */
export const keepers = {
  assent: async () => (await import("./contestants/kept.ts")).keeps(),
  langchain: async () => (await import("./contestants/langchain.ts")).keeps(),
  "@mastra/core": async () => (await import("./contestants/mastra.ts")).keeps()
} satisfies Record<string, () => Promise<Holder>>

// =============================================================================
// How it is measured
// =============================================================================

type Rounds = Omit<Options, "clock" | "onRound" | "warmMs">

const one: Rounds = { rounds: 60, turnMs: 20, mostOperations: 200 }
const hundred: Rounds = { rounds: 40, turnMs: 40, mostOperations: 20 }
const long: Rounds = { rounds: 40, turnMs: 60, mostOperations: 50 }

const inRounds =
  (options: Rounds, contestants: () => Promise<ReadonlyArray<Contestant>>): Measure<Time> =>
  async ({ clock, share }, onProgress) => {
    const rounds = Math.max(5, Math.round(options.rounds * share))
    let done = 0
    return measure(await contestants(), {
      ...options,
      clock,
      rounds,
      warmMs: share < 1 ? 700 : 2_000,
      onRound: () => onProgress(++done / rounds)
    })
  }

const imports = (what: Clock): Measure<Time> => async ({ share }, onProgress) => {
  const rounds = Math.max(5, Math.round(24 * share))
  let done = 0
  const { measureImports } = await import("./imports.ts")
  return measureImports(what, rounds, () => onProgress(++done / (rounds + 1)))
}

/** In a process of its own, because what one library keeps is none of another's. */
const heaps = (which: "holders" | "keepers"): Measure<Size> => async ({ share }, onProgress) => {
  const { heapOf } = await import("./heaps.ts")
  const names = Object.keys(which === "holders" ? holders : keepers)
  const sizes: Array<Size> = []
  for (const name of names) {
    sizes.push(await heapOf(which, name, share < 1 ? 1_000 : 10_000))
    onProgress(sizes.length / names.length)
  }
  return sizes
}

// =============================================================================
// Rows
// =============================================================================

export const scenarios: ReadonlyArray<Scenario> = [
  { title: "ask one call", times: inRounds(one, approval("asks", 1)), goals: [ratio("ai", 0.5)] },
  { title: "resume one call", times: inRounds(one, approval("approves", 1)), goals: [ratio("ai", 0.7)] },
  { title: "deny one call", times: inRounds(one, approval("denies", 1)), goals: [ratio("ai", 1.5)] },
  { title: "ask 100 at once", times: inRounds(hundred, approval("asks", 100)), goals: [ratio("ai", 0.2)] },
  { title: "resume 100 at once", times: inRounds(hundred, approval("approves", 100)), goals: [ratio("ai", 0.35)] },
  {
    title: "stream of 2,000 deltas beside a gated tool",
    times: inRounds(long, streams),
    goals: [ratio("effect", 1.05)]
  },
  {
    title: "one ungated call run",
    times: inRounds(one, async () => (await stateless()).map((library) => library.runs())),
    goals: [ratio("effect", 1.05)]
  },
  {
    title: "history of 10,000 messages and a resume",
    times: inRounds(
      { rounds: 24, turnMs: 60, mostOperations: 4 },
      async () => (await stateless()).map((library) => library.approvesBehind(10_000))
    ),
    goals: [ratio("effect", 0.36)]
  },
  {
    title: "history of 100,000 messages and a resume",
    times: inRounds(
      { rounds: 12, turnMs: 60, mostOperations: 1 },
      async () => (await stateless()).map((library) => library.approvesBehind(100_000))
    ),
    goals: [ratio("effect", 0.27)]
  },
  ...(["FULL", "NORMAL"] as const).map((synchronous): Scenario => ({
    title: `decide on SQLite, synchronous ${synchronous}`,
    times: inRounds(long, sqlite(synchronous)),
    goals: [ratio("langchain", 0.8), ratio("langgraph", 0.8)]
  })),
  { title: "import, time of the clock", times: imports("wall"), goals: [more("effect", 25)], needsBuild: true },
  { title: "import, time of the processor", times: imports("processor"), goals: [], needsBuild: true },
  {
    title: "bundle of one gated tool, gzip",
    sizes: async () => (await import("./bundle.ts")).measureBundles(),
    goals: [more("effect", 25_000)],
    needsBuild: true
  },
  { title: "heap per pending request, program holds", sizes: heaps("holders"), goals: [alone(1_500)] },
  { title: "heap per pending request, library keeps", sizes: heaps("keepers"), goals: [alone(1_500)] }
]
