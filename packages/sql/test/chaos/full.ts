/**
 * A disk that gets full at every point at which the database grows while the story is played: the turn says so, nothing
 * runs without its claim, and when there is room again it goes on, in the same process or in another one.
 */
import type { Prompt } from "@assent/ai"
import { Effect } from "effect"
import type { DatabaseSync } from "node:sqlite"
import * as Check from "./check.ts"
import * as Failing from "./failing.ts"
import * as Statements from "./statements.ts"
import * as Story from "./story.ts"
import * as World from "./world.ts"

const noLimit = 1_073_741_823

/** Every size in pages that the database has, but the last: there was room for that. */
export const points = Effect.scoped(Effect.gen(function*() {
  const world = yield* World.make
  let pages = 0
  yield* Statements.watch(world.filename, (sql, run, database) => {
    const result = run()
    if (sql !== pageCount) pages = Math.max(pages, Number(database.prepare(pageCount).all()[0]?.["page_count"]))
    return result
  })
  yield* Story.played(world)
  return Array.from({ length: pages - 1 }, (_, index) => index + 1)
}))

const pageCount = "PRAGMA page_count"

/** What is wrong when there is room for so many pages, and then for all: in the same process, or in the next one. */
export const problemsAt = (pages: number, then: "in the same process" | "in another one") =>
  Effect.scoped(Effect.gen(function*() {
    const world = yield* World.make
    const prompts: Array<Prompt.Prompt> = []
    const opened = new Set<DatabaseSync>()
    let limit = pages
    yield* Statements.watch(world.filename, (_, run, database) => {
      if (!opened.has(database)) {
        opened.add(database)
        database.exec(`PRAGMA max_page_count = ${limit}`)
      }
      return run()
    })
    const makeRoom = Effect.sync(() => {
      limit = noLimit
      for (const database of opened) if (database.isOpen) database.exec(`PRAGMA max_page_count = ${limit}`)
    })
    const problems: Array<string> = []
    let isFull = false
    const first = Story.play(world).pipe(Effect.onExit((exit) =>
      Effect.sync(() => {
        isFull = exit._tag === "Failure"
        problems.push(
          ...Failing.problemsOfExit(exit, "The disk has no room left"),
          ...Check.problemsOf(world, { mayFail: true })
        )
      })
    ))
    const again = Effect.andThen(makeRoom, Story.play(world))
    const exit = yield* Effect.exit(
      Story.within(world, { prompts })(then === "in the same process" ? Effect.catch(first, () => again) : first)
    )
    // Where the tables could not be made, it has not begun.
    if (opened.size > 0 && !isFull) problems.push(...Failing.problemsOfExit(exit, "The disk has no room left"))
    if (exit._tag === "Failure") {
      if (isFull && then === "in the same process") problems.push("it does not go on")
      yield* makeRoom
      yield* Story.played(world, { later: Story.tenMinutes, prompts })
    }
    problems.push(...Check.problemsAtEnd(world, { mayFail: true }), ...Failing.problemsOfPrompts(world, prompts))
    return {
      wasFull: isFull || exit._tag === "Failure",
      problems: problems.map((problem) => `${pages} pages, ${then}: ${problem}`)
    }
  }))
