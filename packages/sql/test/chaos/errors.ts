/**
 * Errors that SQLite gives at every statement, once, for a while or for ever, before the statement is carried out or when
 * it was: a typed error, nothing runs without a record, no path and no SQL for a model, and then it goes on.
 */
import type { Prompt } from "@assent/ai"
import { Effect } from "effect"
import * as Check from "./check.ts"
import * as Failing from "./failing.ts"
import * as Child from "./process.ts"
import * as Statements from "./statements.ts"
import * as Story from "./story.ts"
import * as World from "./world.ts"

export const kinds = { io: 10, busy: 5, corrupt: 11 } as const

export interface Point {
  readonly statement: number
  readonly kind: keyof typeof kinds
  /** How many statements fail. */
  readonly times: number
  /** Whether it is carried out, and its answer lost. */
  readonly isDone: boolean
}

/** The words of `node:sqlite`, with more than it says: what a model must not read. */
export const errorOf = (world: World.World, kind: keyof typeof kinds, sql: string): Error =>
  Statements.sqliteError(kinds[kind], `SQLITE: ${kind} error of the disk: ${world.filename}: ${sql}`)

export const failing = (world: World.World, { isDone, kind, statement, times }: Point): Statements.Watcher => {
  let count = 0
  return (sql, run) => {
    count++
    if (count < statement || count >= statement + times) return run()
    if (isDone) run()
    throw errorOf(world, kind, sql)
  }
}

/** What is wrong when a statement fails: when the same process tries again, or the next one does. */
export const problemsAt = (point: Point) =>
  Effect.scoped(Effect.gen(function*() {
    const world = yield* World.make
    const prompts: Array<Prompt.Prompt> = []
    const problems: Array<string> = []
    const mayFail = true
    let isOver = false
    let hasTried = false
    const fails = failing(world, point)
    yield* Statements.watch(world.filename, (sql, run, database) => isOver ? run() : fails(sql, run, database))
    const first = Story.play(world).pipe(Effect.onExit((exit) =>
      Effect.sync(() => {
        problems.push(...Failing.problemsOfExit(exit))
        hasTried = exit._tag === "Failure"
      })
    ))
    const again = Effect.andThen(Effect.sync(() => (isOver = true)), Story.play(world))
    const exit = yield* Effect.exit(
      Story.within(world, { prompts })(
        Effect.flatMap(Effect.exit(first), (exit) => exit._tag === "Failure" && point.times < Infinity ? again : exit)
      )
    )
    isOver = true
    problems.push(...Failing.problemsOfExit(exit), ...Check.problemsOf(world, { mayFail }))
    if (exit._tag === "Failure") {
      if (hasTried && point.times < Infinity) problems.push("it does not go on")
      yield* Story.played(world, { later: Story.tenMinutes, prompts })
    }
    problems.push(...Check.problemsAtEnd(world, { mayFail }), ...Failing.problemsOfPrompts(world, prompts))
    return problems.map((problem) => `${JSON.stringify(point)}: ${problem}`)
  }))

/** How long a process may take to end, from the moment its program has. */
const maxEnd = 5_000

/** What is wrong with a process in which everything fails from a statement on: how it ends, and what it leaves. */
export const problemsOfEnd = (statement: number, kind: keyof typeof kinds, how: "closes" | "leaves") =>
  Effect.scoped(Effect.gen(function*() {
    const world = yield* World.make
    const child = yield* Child.start("failing.ts", world.folder, String(statement), kind, how)
    // Where the database cannot be opened, nothing is played.
    const isOver = yield* Effect.isSuccess(child.said("over"))
    const since = performance.now()
    const { signal } = yield* child.ended
    const took = performance.now() - since
    const problems = [...Check.problemsOf(world, { mayFail: true })]
    if (signal !== null) problems.push(`it was ended by ${signal}`)
    if (isOver && took > maxEnd) problems.push(`it took ${Math.round(took)} ms to end`)
    yield* Story.played(world, { later: Story.tenMinutes })
    problems.push(...Check.problemsAtEnd(world, { mayFail: true }))
    return {
      took: isOver ? took : 0,
      problems: problems.map((problem) => `statement ${statement}, ${kind} for ever, ${how}: ${problem}`)
    }
  }))

/** Every statement, with each kind of error, so often. */
export const points = (statements: number, times: ReadonlyArray<number>): ReadonlyArray<Point> =>
  Array.from({ length: statements }, (_, index) => index + 1).flatMap((statement) =>
    (["io", "busy", "corrupt"] as const).flatMap((kind) =>
      times.flatMap((times) => [false, true].map((isDone) => ({ statement, kind, times, isDone })))
    )
  )
