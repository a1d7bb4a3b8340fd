/** Asks once, and meanwhile writes what it finds in a file, by each way that a program has; then says what was decided. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import * as Stage from "../../src/internal/screen/stage.ts"
import * as Cells from "../../src/internal/text/cells.ts"
import * as Style from "../../src/internal/text/style.ts"

interface Said {
  readonly by: "Console" | "log" | "error" | "stdout" | "stderr" | "bytes"
  readonly text: string
}

const [, , file, text = "git status"] = process.argv

const say = ({ by, text }: Said): Effect.Effect<void> => {
  switch (by) {
    case "Console":
      return Console.log(text)
    case "log":
      return Effect.log(text)
    case "error":
      return Console.error(text)
    case "stdout":
      return Effect.sync(() => void process.stdout.write(text))
    case "stderr":
      return Effect.sync(() => void process.stderr.write(text))
    case "bytes":
      return Effect.sync(() => {
        // A character of several bytes, in pieces.
        for (const byte of Buffer.from(text)) process.stdout.write(Uint8Array.of(byte))
      })
  }
}

const question = Stage.run((stage) =>
  Stage.prompt<undefined, "yes" | "no">(stage, {
    guarded: true,
    refusesPaste: true,
    takesEscape: true,
    begin: () => ({ state: undefined }),
    draw: (_, screen) => [
      ...Cells.layout(
        [{ first: Style.plain("  │ "), rest: Style.plain("  ⋮ "), body: Style.plain(text) }],
        screen
      ),
      ...Stage.asking(`Run it? ${screen.signs.yes} y ${screen.signs.dot} n`, screen)
    ],
    on: (state, happening) =>
      happening._tag === "Key" && happening.text === "y"
        ? { _tag: "Done", value: "yes" }
        : happening._tag === "Key" && (happening.text === "n" || happening.name === "escape")
        ? { _tag: "Done", value: "no" }
        : { _tag: "Next", state }
  })
)

const program = Effect.gen(function*() {
  process.stdout.write("a row that is left open")
  let read = 0
  const talking = Effect.forever(Effect.gen(function*() {
    yield* Effect.sleep("5 millis")
    const lines = Fs.readFileSync(file!, "utf8").split("\n").slice(0, -1)
    for (const line of lines.slice(read)) yield* say(JSON.parse(line))
    read = lines.length
  }))
  const decision = yield* Effect.raceFirst(question, talking)
  yield* Console.log(`decided: ${decision}`)
})

program.pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
