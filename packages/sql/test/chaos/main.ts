/**
 * The long form: `npm run chaos:sql`, or `npm run chaos:sql -- --only kill`. Kills a process before and after every
 * statement, cuts the log at every frame and anywhere, fills the disk at every growth, fails every statement in every way,
 * and lets eight processes race for 2,000 approvals. The first thing that is wrong ends it with code 1.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Option } from "effect"
import { CliConfig, Command, Flag, GlobalFlag } from "effect/cli"
import * as Crowd from "../crowd/crowd.ts"
import * as Choose from "./choose.ts"
import * as Cut from "./cut.ts"
import * as Errors from "./errors.ts"
import * as Follow from "./follow.ts"
import * as Full from "./full.ts"
import * as Kill from "./kill.ts"
import * as Opening from "./opening.ts"

const statements = Effect.map(Kill.points, (points) => points.length / 2)

type Problems = ReadonlyArray<string>

const every = <A, E>(points: ReadonlyArray<A>, problemsAt: (point: A) => Effect.Effect<Problems, E>, concurrency = 4) =>
  Effect.map(
    Effect.forEach(points, problemsAt, { concurrency }),
    (problems) => ({ points: points.length, problems: problems.flat() })
  )

const parts: Readonly<
  Record<string, Effect.Effect<{ readonly points: number; readonly problems: Problems }, unknown>>
> = {
  kill: Effect.flatMap(Kill.points, (points) => every(points, Kill.problemsAt)),
  follow: every(Follow.points, Follow.problemsAt),
  cut: Effect.scoped(Effect.gen(function*() {
    const recording = yield* Cut.record
    const cuts = yield* every(
      [...Cut.cuts(recording, 2_000, 7).entries()],
      ([index, bytes]) => Cut.problemsAt(recording, bytes, index % 20 === 0),
      1
    )
    const damaged = yield* every(
      recording.commits.flatMap((_, commit) => Array.from({ length: 10 }, (_, seed) => ({ commit, seed }))),
      ({ commit, seed }) => Cut.problemsOfDamage(recording, commit, seed),
      1
    )
    return { points: cuts.points + damaged.points, problems: [...cuts.problems, ...damaged.problems] }
  })),
  full: Effect.flatMap(Full.points, (pages) =>
    every(
      pages.flatMap((pages) => (["in the same process", "in another one"] as const).map((then) => ({ pages, then }))),
      ({ pages, then }) => Effect.map(Full.problemsAt(pages, then), ({ problems }) => problems)
    )),
  errors: Effect.flatMap(statements, (count) => every(Errors.points(count, [1, 3, Infinity]), Errors.problemsAt, 8)),
  end: Effect.flatMap(statements, (count) =>
    every(
      Choose.some(Errors.points(count, [Infinity]).filter(({ isDone }) => !isDone), 60, 7),
      ({ kind, statement }) => Effect.map(Errors.problemsOfEnd(statement, kind, "leaves"), ({ problems }) => problems),
      2
    )),
  crowd: Effect.gen(function*() {
    const { approvals, problems, took, tries } = yield* Crowd.race({
      url: undefined,
      prefix: "assent_",
      processes: 8,
      approvals: 2_000
    })
    yield* Console.log(`8 processes, ${approvals} approvals: ${Math.round(took)} ms, ${tries} tried again`)
    return { points: approvals, problems }
  }),
  opening: Effect.map(Opening.problemsOf(30), (problems) => ({ points: 30, problems }))
}

const only = Flag.String("only").pipe(
  Flag.withDescription(`One of ${Object.keys(parts).join(", ")}`),
  Flag.withMetavar("part"),
  Flag.filter((name) => Object.hasOwn(parts, name), () => `there are ${Object.keys(parts).join(", ")}`),
  Flag.optional
)

const exitWith = (code: number): Effect.Effect<void> =>
  Effect.sync(() => {
    process.exitCode = code
  })

const chaos = Command.make(
  "chaos",
  { only },
  Effect.fnUntraced(function*({ only }) {
    for (const [name, part] of Object.entries(parts)) {
      if (Option.isSome(only) && only.value !== name) continue
      const since = performance.now()
      const { points, problems } = yield* Effect.orDie(part)
      yield* Console.log(`${name}: ${points} points in ${Math.round((performance.now() - since) / 1_000)} s`)
      for (const problem of problems) yield* Console.log(`  ${problem}`)
      if (problems.length > 0) return yield* exitWith(1)
    }
    yield* Console.log("Nothing was lost, and nothing was done twice.")
  })
).pipe(Command.withDescription("Does to the database of @assent/sql what a machine may do to it."))

Command.run(chaos, { version: "0" }).pipe(
  Effect.catchTag("ShowHelp", ({ errors }) => exitWith(errors.length === 0 ? 0 : 2)),
  Effect.provideService(CliConfig.CliConfig, CliConfig.make({ builtIns: [GlobalFlag.Help] })),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
