/** Runs commands, and says what is not as it should be. */
import { Effect, Schema, Stream } from "effect"
import { ChildProcess } from "effect/process"

export class NotAsPublished extends Schema.TaggedError<NotAsPublished>()("NotAsPublished", {
  message: Schema.String
}) {}

/** What the command prints. It fails where the command does not end as it should. */
export const run = Effect.fnUntraced(
  function*(cwd: string, command: string, args: ReadonlyArray<string>, succeeds = true) {
    let output = ""
    const exitCode = yield* ChildProcess.make(command, args, { cwd, extendEnv: true, stdin: "ignore" }).pipe(
      Effect.flatMap((handle) =>
        Effect.andThen(
          Stream.runForEach(Stream.decodeText(handle.all), (text) => Effect.sync(() => output += text)),
          handle.exitCode
        )
      ),
      Effect.scoped
    )
    if ((exitCode === 0) === succeeds) return output
    return yield* new NotAsPublished({ message: `${command} ${args.join(" ")} ended with ${exitCode}:\n${output}` })
  }
)

export const expect = (what: boolean, message: string): Effect.Effect<void, NotAsPublished> =>
  what ? Effect.void : Effect.fail(new NotAsPublished({ message }))

/** Fails with all of the problems, if there are any. */
export const expectNone = (problems: ReadonlyArray<string>): Effect.Effect<void, NotAsPublished> =>
  expect(problems.length === 0, problems.join("\n"))
