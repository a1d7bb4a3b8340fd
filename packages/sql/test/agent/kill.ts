/** `kill -9`, before and after every write of a process that plays the story, at every level of its agents. */
import { StrictProvider } from "@assent/ai/testing"
import { Effect } from "effect"
import * as Path from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Tree from "../../../ai/test/agent/tree.ts"
import * as Child from "../chaos/process.ts"
import * as Statements from "../chaos/statements.ts"
import * as World from "../chaos/world.ts"
import * as Story from "./story.ts"

export interface Point {
  readonly statement: number
  readonly side: "before" | "after"
}

const isWrite = (sql: string): boolean => !Statements.begins(sql, "SELECT", "PRAGMA", "BEGIN", "SAVEPOINT", "RELEASE")

/** Before and after each of the writes of which the story consists. */
export const points: Effect.Effect<ReadonlyArray<Point>, unknown> = Effect.scoped(Effect.gen(function*() {
  const { filename, folder } = yield* World.make
  const writes: Array<number> = []
  let count = 0
  yield* Statements.watch(filename, (sql, run) => {
    count++
    if (isWrite(sql)) writes.push(count)
    return run()
  })
  yield* Story.played(folder, filename)
  return writes.flatMap((statement): ReadonlyArray<Point> => [
    { statement, side: "before" },
    { statement, side: "after" }
  ])
}))

const program = Path.join("..", "..", "agent", "programs", "player.ts")

/** What is wrong after a process was killed there, and another one has come to the end. */
export const problemsAt = ({ side, statement }: Point): Effect.Effect<ReadonlyArray<string>, unknown> =>
  Effect.scoped(Effect.gen(function*() {
    const { filename, folder } = yield* World.make
    const child = yield* Child.start(program, folder, filename, String(statement), side)
    yield* child.said("stopped")
    yield* child.kill
    const { prompts, text } = yield* Story.played(folder, filename)
    return [
      ...problemsAtEnd(folder, filename, text ?? ""),
      ...prompts.flatMap((prompt) => StrictProvider.check(prompt).map(({ message }) => `refused: ${message}`))
    ].map((problem) => `${side} statement ${statement}: ${problem}`)
  }))

interface Row {
  readonly tool: string
  readonly state: string
  readonly kind: string
  readonly approval_id: string
  readonly request: string | null
}

/** What is wrong with how it has ended. */
const problemsAtEnd = (folder: string, filename: string, text: string): ReadonlyArray<string> => {
  const database = new DatabaseSync(filename)
  const rows = database.prepare("SELECT tool, state, kind, approval_id, request FROM assent_request")
    .all() as unknown as ReadonlyArray<Row>
  database.close()
  const found: Array<string> = []
  const wrong = (is: boolean, what: string) => is && found.push(what)

  // Each is asked once, and answered as the person answers.
  const decisions = new Map<string, Tree.Decision>()
  for (let open = Tree.stand(Story.tree, decisions).open; open.length > 0;) {
    for (const { key, kind } of open) decisions.set(key, Story.decisionOf(key, kind))
    open = Tree.stand(Story.tree, decisions).open
  }
  const ids = new Map<string, ReadonlyArray<string>>()
  for (const { approvalId, key } of Story.read(folder, "asked")) {
    ids.set(key, [...(ids.get(key) ?? []).filter((id) => id !== approvalId), approvalId])
  }
  const stateOf = (id: string | undefined) => rows.find(({ approval_id }) => approval_id === id)?.state
  for (const key of decisions.keys()) wrong(!ids.has(key), `${key} was never asked`)
  for (const [key, all] of ids) {
    wrong(!decisions.has(key), `${key} was asked`)
    // Anew only where nobody knows what the one before did.
    for (const id of all.slice(0, -1)) wrong(stateOf(id) !== "unknown", `${key} was asked anew: it is ${stateOf(id)}`)
  }

  // What is unknown is a payment that was under way, and never an agent.
  const told = new Map(decisions)
  for (const row of rows) {
    wrong(row.state === "unknown" && row.tool !== "Pay" && row.tool !== "Ask", `${row.tool} (${row.kind}) is unknown`)
    // One that nobody was told of is nobody's.
    const isTold = row.request !== null || row.kind === "nested"
    wrong(isTold && ["pending", "running"].includes(row.state), `${row.tool} (${row.kind}) is ${row.state}`)
  }
  for (const key of decisions.keys()) if (stateOf(ids.get(key)?.at(-1)) === "unknown") told.set(key, { _tag: "No" })

  const did = Story.read(folder, "did")
  const meant = Tree.stand(Story.tree, decisions).did
  const ended = Tree.stand(Story.tree, told)
  for (const what of meant) {
    const times = did.filter((one) => one === what).length
    const isRepeatable = what.startsWith("saw:") || what.startsWith("ask:")
    wrong(times > 1 && !isRepeatable, `${what} has happened ${times} times`)
    wrong(times === 0 && ended.did.includes(what), `${what} has not happened`)
  }
  for (const what of did) wrong(!meant.includes(what), `${what} has happened`)
  wrong(text !== ended.text, `it says ${text}, not ${ended.text}`)
  return found
}
