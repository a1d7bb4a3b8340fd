/**
 * A process that plays the story while SQLite fails: `<folder> <statement> <io|busy|corrupt> <closes|leaves>`. From that
 * statement on every one fails. It says "over" when its program is done or has failed. With "leaves" it never closes what
 * it opened, and must end all the same.
 */
import { Effect, ManagedRuntime, Scope } from "effect"
import * as Fs from "node:fs"
import * as Errors from "../errors.ts"
import * as Statements from "../statements.ts"
import * as Story from "../story.ts"
import * as World from "../world.ts"

const [folder = "", statement = "", kind, how] = process.argv.slice(2)
const world = World.at(folder)

const watcher = Errors.failing(world, {
  statement: Number(statement),
  kind: kind === "busy" || kind === "corrupt" ? kind : "io",
  times: Infinity,
  isDone: false
})
await Effect.runPromise(Scope.provide(Statements.watch(world.filename, watcher), Scope.makeUnsafe()))

if (how === "closes") {
  await Effect.runPromise(Effect.exit(Story.within(world)(over(Story.play(world)))))
} else {
  await ManagedRuntime.make(Story.services(world)).runPromiseExit(over(Story.play(world)))
}

function over<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
  return Effect.onExit(effect, () => Effect.sync(() => Fs.writeSync(1, "over\n")))
}
