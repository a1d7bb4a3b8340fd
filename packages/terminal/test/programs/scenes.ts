/** The scenes that are named, one after the other, at this terminal. What became of each goes into a file. */
import * as TerminalController from "@assent/terminal/TerminalController"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import * as Around from "../play/around.ts"
import * as Scenes from "../play/scenes.ts"

const [, , output, ...names] = process.argv

const tell = (what: object) => Fs.appendFileSync(output!, `${JSON.stringify(what)}\n`)

const isScene = (name: string): name is Scenes.SceneName => name in Scenes.scenes

const play = Effect.fnUntraced(function*(name: Scenes.SceneName, index: number) {
  const told = Scenes.nothingTold()
  const over = Effect.flatMap(
    Effect.suspend(() => told.models),
    ({ length }) => Effect.sync(() => tell({ scene: name, ran: told.ran, models: length }))
  )
  yield* Scenes.scenes[name](told, Scenes.files()).pipe(
    TerminalController.untilStopped,
    Effect.ensuring(over),
    Effect.provide(Around.layer(name))
  )
  yield* Console.log(`-- ${index} is over --`)
})

Effect.forEach(names.filter(isScene), play, { discard: true }).pipe(
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
