/**
 * The long search: `npm run laws -- --runs 100000 --seed 7`. Prints what it tries and meets; the first plan that breaks a
 * law ends it with code 1, made small, as a test to paste and as a file for the corpus. `npm run laws -- --exhaustive`
 * walks the table of decisions instead, over every standing of a call; `--bridge` searches with `@assent/ai-sdk` between
 * the engine and the provider, `--sqlite` with everything kept in a database. `--theme leaving` searches among readers that
 * leave, processes that die or stand still, and clocks that differ. Options it does not know end it with code 2.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Clock, Console, Effect, identity, Option } from "effect"
import { CliConfig, Command, Flag, GlobalFlag } from "effect/cli"
import { exhaustive as walkAll } from "../decide/exhaustive.ts"
import * as Leaving from "./leaving/search.ts"
import * as Report from "./report.ts"
import * as Search from "./search.ts"
import type * as Searching from "./searching.ts"
import * as Storage from "./storage.ts"

const exitWith = (code: number): Effect.Effect<void> =>
  Effect.sync(() => {
    process.exitCode = code
  })

const runs = Flag.Int("runs").pipe(
  Flag.withDescription("How many plans to try"),
  Flag.withMetavar("count"),
  Flag.filter((count) => count >= 1, () => "there has to be a plan to try"),
  Flag.withDefault(10_000)
)

const seed = Flag.String("seed").pipe(
  Flag.withDescription("Repeats the search of this seed"),
  Flag.withMetavar("text"),
  Flag.optional
)

const bridge = Flag.Boolean("bridge").pipe(
  Flag.withDefault(false),
  Flag.withDescription("Puts the bridge of @assent/ai-sdk between the engine and the provider")
)

const exhaustive = Flag.Boolean("exhaustive").pipe(
  Flag.withDefault(false),
  Flag.withDescription("Walks every standing of a call through the table of decisions, and changes each of its rows")
)

const sqlite = Flag.Boolean("sqlite").pipe(
  Flag.withDefault(false),
  Flag.withDescription("Keeps everything in SQLite, a database for each plan")
)

const theme = Flag.Literals("theme", ["histories", "leaving"]).pipe(
  Flag.withDefault("histories"),
  Flag.withDescription("What the plans are about: what becomes of histories, or who leaves, dies or stands still")
)

const plan = Flag.FileText("plan").pipe(
  Flag.withDescription("Carries out the plan of this file, as a corpus has them, and says which laws it breaks"),
  Flag.optional
)

/** What is wrong with a plan that somebody has kept. */
const examineKept = Effect.fnUntraced(function*<Plan>(
  { decodeKept, examine }: Pick<ReturnType<typeof Searching.make<Plan, unknown>>, "decodeKept" | "examine">,
  text: string
) {
  const { breaches } = yield* examine(decodeKept(text).plan)
  for (const { law, what } of breaches) yield* Console.log(Report.wrap(`It breaks ${law}: ${what}`))
  return breaches.length === 0 ? yield* Console.log("Every law holds.") : yield* exitWith(1)
})

/** Searches, says what it meets, and gives a plan that breaks a law, made small. */
const tell = Effect.fnUntraced(function*<Plan>(
  { search, shrink }: Pick<ReturnType<typeof Searching.make<Plan, unknown>>, "search" | "shrink">,
  { isDone, ...options }: Pick<Searching.Options<Plan>, "adapt" | "runs" | "seed"> & { readonly isDone: () => boolean }
) {
  const startedAt = yield* Clock.currentTimeMillis
  const isTerminal = process.stdout.isTTY
  const progress = Report.makeProgress({ runs: options.runs, startedAt, isTerminal })
  const found = yield* search({
    ...options,
    onProgress: ({ failures, tried }) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Effect.sync(() => {
          process.stdout.write(progress(tried, now))
          return failures.length === 0 && !isDone()
        }))
  })
  if (isTerminal) yield* Console.log()
  yield* Console.log(Report.coverage(found.coverage))
  const [first] = found.failures
  if (first === undefined || isDone()) return { tried: found.tried, failure: undefined }
  yield* Console.log(Report.wrap(`Plan ${first.tried} breaks ${first.law}: ${first.what}`))
  yield* Console.log("Making it small …")
  const failure: Searching.Failure = yield* shrink(first)
  return { tried: found.tried, failure }
})

const laws = Command.make(
  "laws",
  { bridge, exhaustive, plan, runs, seed, sqlite, theme },
  Effect.fnUntraced(function*({ bridge, exhaustive, plan, runs, seed, sqlite, theme }) {
    if (exhaustive) return yield* (yield* walkAll) ? Effect.void : exitWith(1)
    const makeStore = sqlite
      ? yield* Effect.flatMap(Effect.promise(() => import("../../../sql/test/search/store.ts")), ({ make }) => make)
      : yield* Storage.MakeStore
    if (Option.isSome(plan)) {
      const examined = theme === "leaving" ? examineKept(Leaving, plan.value) : examineKept(Search, plan.value)
      return yield* Effect.provideService(examined, Storage.MakeStore, makeStore)
    }
    const now = yield* Clock.currentTimeMillis
    const chosen = Option.getOrElse(seed, () => String(now))
    yield* Console.log(`seed ${chosen}`)
    // Vercel's SDK comes with it, which takes its time.
    const Bridge = bridge ? yield* Effect.promise(() => import("../../../ai-sdk/test/search/bridge.ts")) : undefined
    const problems = new Set<string>()
    const within = Bridge?.within(problems) ?? identity
    const options = { seed: chosen, runs, isDone: () => problems.size > 0 }
    const { failure, tried } = yield* Effect.provideService(
      within(theme === "leaving" ? tell(Leaving, options) : tell(Search, { ...options, adapt: Bridge?.adapt })),
      Storage.MakeStore,
      makeStore
    )
    for (const problem of problems) {
      yield* Console.log(`The bridge says something else: ${problem}`)
      return yield* exitWith(1)
    }
    if (failure === undefined) return yield* Console.log(`${tried} plans, and every law holds.`)
    yield* Console.log(Report.failure(failure))
    yield* exitWith(1)
  })
).pipe(
  Command.withDescription("Searches random histories for one that breaks a law of Assent."),
  Command.withExamples([
    { command: "npm run laws -- --runs 100000", description: "A long search" },
    { command: "npm run laws -- --seed 7", description: "The same search again" },
    { command: "npm run laws -- --bridge", description: "A search with the bridge before the provider" },
    { command: "npm run laws -- --sqlite", description: "A search with everything kept in a database" },
    { command: "npm run laws -- --theme leaving", description: "Readers that leave, processes that die, and clocks" },
    { command: "npm run laws -- --exhaustive", description: "Every standing, through the table of decisions" }
  ])
)

Command.run(laws, { version: "0" }).pipe(
  Effect.catchTag("ShowHelp", ({ errors }) => exitWith(errors.length === 0 ? 0 : 2)),
  Effect.provideService(CliConfig.CliConfig, CliConfig.make({ builtIns: [GlobalFlag.Help] })),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
