/**
 * The long fuzz: `npm run fuzz:shell -- --lines 1000000 --seed s`. Makes that many random lines and lets every shell that
 * it finds carry out those that are covered, `git` being trusted whole. The first that runs what is not covered ends it
 * with code 1. `npm test` does the same with a few hundred.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Clock, Console, Effect, Option } from "effect"
import { CliConfig, Command, Flag, GlobalFlag } from "effect/cli"
import * as Shells from "./shells.ts"
import * as Soup from "./soup.ts"

const exitWith = (code: number): Effect.Effect<void> =>
  Effect.sync(() => {
    process.exitCode = code
  })

const count = Flag.Int("lines").pipe(
  Flag.withDescription("How many lines to make"),
  Flag.withMetavar("count"),
  Flag.filter((lines) => lines >= 1, () => "there has to be a line to run"),
  Flag.withDefault(100_000)
)

const seed = Flag.String("seed").pipe(
  Flag.withDescription("Repeats the lines of this seed"),
  Flag.withMetavar("text"),
  Flag.optional
)

const chunk = 20_000

const fuzz = Command.make(
  "fuzz",
  { count, seed },
  Effect.fnUntraced(function*({ count, seed }) {
    const startedAt = yield* Clock.currentTimeMillis
    const chosen = Option.getOrElse(seed, () => String(startedAt))
    const shells = Shells.find()
    yield* Console.log(`seed ${chosen}; found ${shells.map((shell) => shell.join(" ")).join(", ")}`)
    const seen = new Set<string>()
    let covered = 0
    let ran = 0
    for (let made = 0; made < count; made += chunk) {
      const lines = yield* Soup.lines(`${chosen}-${made}`, Math.min(chunk, count - made))
      const safe = lines.filter(Soup.isCovered)
      covered += safe.length
      const fresh = [...new Set(safe)].filter((line) => !seen.has(line))
      for (const line of fresh) seen.add(line)
      ran += fresh.length * shells.length
      const found = yield* Effect.forEach(
        shells,
        (shell) =>
          Effect.map(
            Shells.run(shell, fresh),
            (surprises) => surprises.map(({ line, what }) => ({ line, what, shell }))
          ),
        { concurrency: 2 }
      )
      for (const { line, shell, what } of found.flat()) {
        yield* Console.log(`${shell.join(" ")}: ${JSON.stringify(line)}: ${what}`)
      }
      if (found.some((surprises) => surprises.length > 0)) return yield* exitWith(1)
      const seconds = Math.round(((yield* Clock.currentTimeMillis) - startedAt) / 1000)
      yield* Console.log(`${Math.min(made + chunk, count)} lines, ${covered} covered, ${ran} runs, ${seconds} s`)
    }
    yield* Console.log(
      `${count} lines, of which ${covered} are covered, ${seen.size} of them different; ` +
        `in ${shells.length} shells ${ran} runs, and 0 ran what is not covered.`
    )
  })
).pipe(
  Command.withDescription("Lets real shells carry out random lines that are covered."),
  Command.withExamples([
    { command: "npm run fuzz:shell -- --lines 1000000", description: "A long run" },
    { command: "npm run fuzz:shell -- --seed 7", description: "The same lines again" }
  ])
)

Command.run(fuzz, { version: "0" }).pipe(
  Effect.catchTag("ShowHelp", ({ errors }) => exitWith(errors.length === 0 ? 0 : 2)),
  Effect.provideService(CliConfig.CliConfig, CliConfig.make({ builtIns: [GlobalFlag.Help] })),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
