/** `kill -9`, before and after every write of a process that plays the story, at every level of its agents. */
import { StrictProvider } from "@assent/ai/testing"
import { Effect } from "effect"
import * as Path from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Person from "../../../ai/test/agent/person.ts"
import * as Child from "../chaos/process.ts"
import * as Statements from "../chaos/statements.ts"
import * as World from "../chaos/world.ts"
import * as Story from "./story.ts"

export interface Point {
  readonly write: number
  readonly side: "before" | "after"
}

/** Before and after each of the writes of which the story consists. */
export const points: Effect.Effect<ReadonlyArray<Point>, unknown> = Effect.scoped(Effect.gen(function*() {
  const { filename, folder } = yield* World.make
  let writes = 0
  yield* Statements.watch(filename, (sql, run) => {
    if (Story.isWrite(sql)) writes++
    return run()
  })
  yield* Story.played(folder, filename)
  return Array.from({ length: writes }, (_, index) => index + 1).flatMap((write): ReadonlyArray<Point> => [
    { write, side: "before" },
    { write, side: "after" }
  ])
}))

const program = Path.join("..", "..", "agent", "programs", "player.ts")

/** What is wrong after a process was killed there, and another one has come to the end. */
export const problemsAt = ({ side, write }: Point): Effect.Effect<ReadonlyArray<string>, unknown> =>
  Effect.scoped(Effect.gen(function*() {
    const { filename, folder } = yield* World.make
    const child = yield* Child.start(program, folder, filename, String(write), side)
    if (!(yield* Effect.isSuccess(child.said("stopped")))) {
      return [`${side} write ${write}: it ended before: ${child.output()}`]
    }
    yield* child.kill
    const { prompts, text } = yield* Story.played(folder, filename)
    return [
      ...Person.problemsAtEnd(Story.notesIn(folder), rowsOf(filename), text),
      ...prompts.flatMap((prompt) => StrictProvider.check(prompt).map(({ message }) => `refused: ${message}`))
    ].map((problem) => `${side} write ${write}: ${problem}`)
  }))

const rowsOf = (filename: string): ReadonlyArray<Person.Row> => {
  const database = new DatabaseSync(filename)
  try {
    const begun = "EXISTS (SELECT 1 FROM assent_conversation WHERE parent = nonce) AS begun"
    return database.prepare(`SELECT approval_id, kind, state, tool, ${begun} FROM assent_request`).all().map((
      row
    ) => ({
      approvalId: String(row["approval_id"]),
      kind: String(row["kind"]),
      state: row["state"] as Person.Row["state"],
      toolName: String(row["tool"]),
      hasWithin: row["begun"] === 1
    }))
  } finally {
    database.close()
  }
}
