/**
 * A text in the person's own editor: a file that only they may read, in a folder of its own, gone afterwards. While the
 * editor runs, the terminal is its own.
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as ChildProcess from "effect/process/ChildProcess"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"

export interface Editor {
  readonly name: string
  /** The text afterwards; the failure is a sentence. */
  readonly edit: (text: string) => Effect.Effect<string, string, FileSystem.FileSystem | Path.Path>
}

/** `$VISUAL`, or `$EDITOR`, where programs can be started; a command may have arguments, parted by spaces. */
export const find = (command: string | undefined): Effect.Effect<Editor | undefined> =>
  Effect.gen(function*() {
    const spawner = yield* Effect.serviceOption(ChildProcessSpawner.ChildProcessSpawner)
    const named = (name: string) => Effect.orElseSucceed(Config.String(name).pipe(Config.withDefault("")), () => "")
    const words = (command ?? ((yield* named("VISUAL")) || (yield* named("EDITOR")))).split(" ").filter((word) => word)
    const [program, ...rest] = words
    if (Option.isNone(spawner) || program === undefined) return undefined
    return { name: program, edit: (text) => edit(spawner.value, program, rest, text) }
  })

/** The terminal service lets go of raw mode a moment after its last reader. */
const released = "50 millis"

const edit = (
  spawner: ChildProcessSpawner.ChildProcessSpawner["Service"],
  program: string,
  rest: ReadonlyArray<string>,
  text: string
) =>
  Effect.scoped(Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "assent-" })
    const file = (yield* Path.Path).join(folder, /^\s*[[{]/.test(text) ? "parameters.json" : "text.txt")
    yield* fs.writeFileString(file, `${text}\n`, { mode: 0o600, flag: "wx" })
    yield* Effect.sleep(released)
    const code = yield* spawner.exitCode(
      ChildProcess.make(program, [...rest, file], { stdin: "inherit", stdout: "inherit", stderr: "inherit" })
    )
    if (code !== 0) return yield* Effect.fail(`"${program}" ended with ${code}, so nothing is changed.`)
    return (yield* fs.readFileString(file)).replace(/\r?\n$/, "")
  })).pipe(
    Effect.mapError((error) => typeof error === "string" ? error : `"${program}" could not be used: ${error.message}`)
  )
