/**
 * A process that handles what happens in a folder: `<folder> <event> <before|after>`. Before its place after that event is
 * kept, or after, it says "stopped" and does nothing more, until it is killed.
 */
import { Effect } from "effect"
import * as Fs from "node:fs"
import * as Follow from "../follow.ts"
import * as Statements from "../statements.ts"
import * as World from "../world.ts"

const [folder = "", number = "", side = ""] = process.argv.slice(2)
const world = World.at(folder)

const stop = (): void => {
  Fs.writeSync(1, "stopped\n")
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

let count = 0
const watcher: Statements.Watcher = (sql, run) => {
  const isIt = Statements.begins(sql, "UPDATE ASSENT_READER") && ++count === Number(number)
  if (isIt && side === "before") stop()
  const result = run()
  if (isIt && side === "after") stop()
  return result
}

await Effect.runPromise(
  Effect.scoped(Effect.andThen(Statements.watch(world.filename, watcher), Follow.following(world)))
)
