/** The rows: what is done, and by whom. The modules of a library are read only where it is measured. */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import type { Contestant } from "./measure.ts"

export interface Scenario {
  readonly title: string
  readonly contestants: () => Promise<ReadonlyArray<Contestant>>
  readonly rounds: number
  readonly turnMs: number
  readonly mostOperations: number
  /** Ours divided by another's, at most: what issue 26 asks for. */
  readonly goals: ReadonlyArray<{ readonly library: string; readonly ratio: number }>
}

type Kind = "asks" | "approves" | "denies"

const approval = (kind: Kind, calls: number) => async (): Promise<ReadonlyArray<Contestant>> => {
  const libraries = await Promise.all([
    import("./contestants/assent.ts"),
    import("./contestants/effect.ts"),
    import("./contestants/aiSdk.ts"),
    import("./contestants/openaiAgents.ts"),
    import("./contestants/langchain.ts"),
    import("./contestants/bareLoop.ts")
  ])
  // It asks about one call at a time.
  const Mastra = calls === 1 ? await import("./contestants/mastra.ts") : undefined
  return [...libraries.map((library) => library[kind](calls)), ...(Mastra === undefined ? [] : [Mastra[kind]()])]
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
  const [Sqlite, LangChain, LangGraph] = await Promise.all([
    import("./contestants/sqlite.ts"),
    import("./contestants/langchain.ts"),
    import("./contestants/langgraph.ts")
  ])
  const folder = Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-benchmarks-"))
  process.once("exit", () => Fs.rmSync(folder, { recursive: true, force: true }))
  return [
    Sqlite.decides(Path.join(folder, "ours.db"), synchronous),
    LangChain.decidesOnSqlite(Path.join(folder, "langchain.db"), synchronous),
    LangGraph.decidesOnSqlite(Path.join(folder, "langgraph.db"), synchronous),
    Sqlite.bare(Path.join(folder, "bare.db"), synchronous)
  ]
}

const one = { rounds: 60, turnMs: 20, mostOperations: 200 }
const hundred = { rounds: 40, turnMs: 40, mostOperations: 20 }

export const scenarios: ReadonlyArray<Scenario> = [
  {
    ...one,
    title: "ask one call",
    contestants: approval("asks", 1),
    goals: [{ library: "ai", ratio: 0.5 }]
  },
  {
    ...one,
    title: "resume one call",
    contestants: approval("approves", 1),
    goals: [{ library: "ai", ratio: 0.7 }]
  },
  {
    ...one,
    title: "deny one call",
    contestants: approval("denies", 1),
    goals: [{ library: "ai", ratio: 1.5 }]
  },
  {
    ...hundred,
    title: "ask 100 at once",
    contestants: approval("asks", 100),
    goals: [{ library: "ai", ratio: 0.2 }]
  },
  {
    ...hundred,
    title: "resume 100 at once",
    contestants: approval("approves", 100),
    goals: [{ library: "ai", ratio: 0.35 }]
  },
  {
    rounds: 40,
    turnMs: 60,
    mostOperations: 20,
    title: "stream of 2,000 deltas beside a gated tool",
    contestants: streams,
    goals: [{ library: "effect", ratio: 1.05 }]
  },
  {
    ...one,
    title: "one ungated call run",
    contestants: async () => (await stateless()).map((library) => library.runs()),
    goals: [{ library: "effect", ratio: 1.05 }]
  },
  {
    rounds: 24,
    turnMs: 60,
    mostOperations: 4,
    title: "history of 10,000 messages and a resume",
    contestants: async () => (await stateless()).map((library) => library.approvesBehind(10_000)),
    goals: [{ library: "effect", ratio: 0.36 }]
  },
  {
    rounds: 12,
    turnMs: 60,
    mostOperations: 1,
    title: "history of 100,000 messages and a resume",
    contestants: async () => (await stateless()).map((library) => library.approvesBehind(100_000)),
    goals: [{ library: "effect", ratio: 0.27 }]
  },
  ...(["FULL", "NORMAL"] as const).map((synchronous) => ({
    rounds: 40,
    turnMs: 60,
    mostOperations: 50,
    title: `decide on SQLite, synchronous ${synchronous}`,
    contestants: sqlite(synchronous),
    goals: ["langchain", "langgraph"].map((library) => ({ library, ratio: 0.8 }))
  }))
]
