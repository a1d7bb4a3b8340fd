/**
 * Runs every program in this folder, one after another and each as a process of its own, as `npm run examples`: no
 * person at the keyboard, no key, at most 120 seconds each. A program is a `*.ts` file directly in here or in `providers`,
 * other than this one and tests; one that can be run in several ways is run in each. Ends with 1 when one fails, after
 * showing what it printed, and when there is none to run.
 */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Duration, Effect, FileSystem, Option, Path, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"

const limit = Duration.seconds(120)

/** Arguments for another run of a program. */
const again: Readonly<Record<string, ReadonlyArray<string>>> = { "janitor.ts": ["--openai"] }

/** What an account would be billed for is not an example. */
const withoutKeys = Object.fromEntries(
  ["OPENAI", "ANTHROPIC", "GOOGLE_GENERATIVE_AI", "MISTRAL", "XAI", "GROQ", "COMPATIBLE"].map((
    name
  ) => [`${name}_API_KEY`, ""])
)

class ExamplesFailed extends Schema.TaggedError<ExamplesFailed>()("ExamplesFailed", { message: Schema.String }) {}

const programs = Effect.fnUntraced(function*(directory: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const here = yield* fs.readDirectory(directory)
  const providers = yield* fs.readDirectory(path.join(directory, "providers"))
  return [...here, ...providers.map((name) => path.join("providers", name))]
    .filter((name) => name.endsWith(".ts") && !/\.test\.ts$|\.d\.ts$|^examples\.ts$/.test(name)).toSorted()
    .flatMap((name) => again[name] === undefined ? [[name]] : [[name], [name, ...again[name]]])
})

/** Runs one program and says whether it passed. What it prints is shown when it did not. */
const run = Effect.fnUntraced(function*(directory: string, program: ReadonlyArray<string>) {
  let output = ""
  const [elapsed, exitCode] = yield* ChildProcess.make(
    process.execPath,
    ["--conditions=@assent/source", ...program],
    { cwd: directory, env: withoutKeys, extendEnv: true, stdin: "ignore", forceKillAfter: "2 seconds" }
  ).pipe(
    Effect.flatMap((handle) =>
      Effect.andThen(
        Stream.runForEach(Stream.decodeText(handle.all), (text) => Effect.sync(() => output += text)),
        handle.exitCode
      )
    ),
    Effect.scoped,
    Effect.timeoutOption(limit),
    Effect.timed
  )
  const passed = Option.contains(exitCode, ChildProcessSpawner.ExitCode(0))
  const outcome = passed
    ? "passed"
    : Option.match(exitCode, {
      onNone: () => `failed: not done after ${Duration.format(limit)}`,
      onSome: (code) => `failed: exit code ${code}`
    })
  yield* Console.log(`${program.join(" ")}  ${(Duration.toMillis(elapsed) / 1000).toFixed(1)} s  ${outcome}`)
  if (!passed) yield* Console.log(output.replace(/^/gm, "  | "))
  return passed
})

const main = Effect.gen(function*() {
  const path = yield* Path.Path
  const directory = path.dirname(yield* path.fromFileUrl(new URL(import.meta.url)))
  const found = yield* programs(directory)
  if (found.length === 0) return yield* new ExamplesFailed({ message: `There is no program to run in ${directory}` })
  const results = yield* Effect.forEach(found, (program) => run(directory, program))
  const failed = results.filter((passed) => !passed).length
  yield* Console.log(`${found.length - failed} passed, ${failed} failed`)
  if (failed > 0) return yield* new ExamplesFailed({ message: `${failed} of ${found.length} programs failed` })
})

main.pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
