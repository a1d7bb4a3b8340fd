/**
 * What a database has to stand, in short: a few points of each kind, the same ones each time. `npm run chaos:sql` takes
 * them all.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Crowd from "../crowd/crowd.ts"
import * as Choose from "./choose.ts"
import * as Cut from "./cut.ts"
import * as Errors from "./errors.ts"
import * as Follow from "./follow.ts"
import * as Full from "./full.ts"
import * as Kill from "./kill.ts"
import * as Opening from "./opening.ts"

const test = (title: string, body: Effect.Effect<void, unknown>) => it.live(title, () => body, 60_000)

describe("a process that is killed", () => {
  test(
    "before or after any statement loses nothing that was acknowledged, and nothing is done twice",
    Effect.gen(function*() {
      const points = yield* Kill.points
      assert.isAbove(points.length, 300)
      const problems = yield* Effect.forEach(Choose.some(points, 3, 1), Kill.problemsAt, { concurrency: 4 })
      assert.deepStrictEqual(problems.flat(), [])
    })
  )
})

describe.concurrent("a process that is killed between what it handled and its place", () => {
  test(
    "is followed by one that goes on from there, and leaves nothing out",
    Effect.map(
      Effect.forEach(Follow.points.filter(({ event }) => event === 2), Follow.problemsAt, { concurrency: 2 }),
      (problems) => assert.deepStrictEqual(problems.flat(), [])
    )
  )
})

// What this process does is done while another one ends by itself, which takes seconds of waiting.
describe.concurrent("a loss of power", () => {
  test(
    "leaves every whole commit of the log, and half of none, wherever it is cut or damaged",
    Effect.scoped(Effect.gen(function*() {
      const recording = yield* Cut.record
      assert.isAbove(recording.commits.length, 20)
      const cuts = Choose.some(Cut.cuts(recording, 200, 1), 20, 1)
      const commits = Choose.some(recording.commits.map((_, index) => index), 3, 1)
      const problems = [
        ...(yield* Effect.forEach(cuts, (bytes, index) => Cut.problemsAt(recording, bytes, index % 15 === 10))),
        ...(yield* Effect.forEach(commits, (commit) => Cut.problemsOfDamage(recording, commit, commit)))
      ]
      assert.deepStrictEqual(problems.flat(), [])
    }))
  )
})

describe.concurrent("a disk that gets full", () => {
  test(
    "at any growth of the database: the turn says so, nothing runs without its claim, and with room it goes on",
    Effect.gen(function*() {
      const points = Choose.some(yield* Full.points, 4, 1)
      const found = yield* Effect.forEach(
        points.entries(),
        ([index, pages]) => Full.problemsAt(pages, index % 2 === 0 ? "in the same process" : "in another one")
      )
      assert.deepStrictEqual(found.flatMap(({ problems }) => problems), [])
      assert.isAbove(found.filter(({ wasFull }) => wasFull).length, 2)
    })
  )
})

describe.concurrent("an error of SQLite", () => {
  test(
    "at any statement is a typed error, nothing runs without a record, and no path or SQL reaches a model",
    Effect.gen(function*() {
      // Tables that are not made, a BEGIN whose answer is lost, a savepoint that cannot be released, and whatever comes.
      const points: ReadonlyArray<Errors.Point> = [
        { statement: 8, kind: "io", times: 3, isDone: false },
        { statement: 64, kind: "io", times: 1, isDone: true },
        { statement: 69, kind: "io", times: 1, isDone: false },
        ...Choose.some(Errors.points(238, [1, 3]), 3, 1),
        ...Choose.some(Errors.points(238, [Infinity]), 1, 1)
      ]
      const problems = yield* Effect.forEach(points, Errors.problemsAt, { concurrency: 4 })
      assert.deepStrictEqual(problems.flat(), [])
    })
  )

  test(
    "at every statement keeps no process alive, also one that never closes what it opened",
    Effect.map(Errors.problemsOfEnd(97, "io", "leaves"), ({ problems }) => assert.deepStrictEqual(problems, []))
  )
})

describe("several processes", () => {
  test(
    "carry out each approval once, though two of them send it",
    Effect.map(
      Crowd.race({ url: undefined, prefix: "assent_", processes: 3, approvals: 60 }),
      ({ approvals, problems }) => assert.deepStrictEqual([approvals, problems], [60, []])
    )
  )

  test(
    "that open a new file at the same moment make its tables once, and one key",
    Effect.map(Opening.problemsOf(30), (problems) => assert.deepStrictEqual(problems, []))
  )
})
