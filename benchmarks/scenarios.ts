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
    import("./contestants/aiSdk.ts"),
    import("./contestants/bareLoop.ts")
  ])
  return libraries.map((library) => library[kind](calls))
}

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
  ...(["FULL", "NORMAL"] as const).map((synchronous) => ({
    rounds: 40,
    turnMs: 60,
    mostOperations: 50,
    title: `decide on SQLite, synchronous ${synchronous}`,
    contestants: sqlite(synchronous),
    goals: ["langchain", "langgraph"].map((library) => ({ library, ratio: 0.8 }))
  }))
]
