/** `kill -9`, before and after every statement of a process that plays the story. */
import { Effect } from "effect"
import * as Check from "./check.ts"
import * as Child from "./process.ts"
import * as Statements from "./statements.ts"
import * as Story from "./story.ts"
import * as World from "./world.ts"

export interface Point {
  readonly statement: number
  readonly side: "before" | "after"
}

/** Before and after each of the statements of which the story consists. */
export const points: Effect.Effect<ReadonlyArray<Point>, unknown> = Effect.scoped(Effect.gen(function*() {
  const world = yield* World.make
  let count = 0
  yield* Statements.watch(world.filename, (_, run) => {
    count++
    return run()
  })
  yield* Story.played(world)
  return Array.from({ length: count }, (_, index) => index + 1).flatMap((statement) => [
    { statement, side: "before" },
    { statement, side: "after" }
  ])
}))

/** What is wrong after a process was killed there, and another one has come to the end. */
export const problemsAt = ({ side, statement }: Point): Effect.Effect<ReadonlyArray<string>, unknown> =>
  Effect.scoped(Effect.gen(function*() {
    const world = yield* World.make
    const child = yield* Child.start("player.ts", world.folder, String(statement), side)
    yield* child.said("stopped")
    yield* child.kill
    const before = Check.problemsOf(world)
    yield* Story.played(world, { later: Story.tenMinutes })
    return [...before, ...Check.problemsAtEnd(world)].map((problem) => `${side} statement ${statement}: ${problem}`)
  }))
