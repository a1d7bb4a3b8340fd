/**
 * A process that handles what happens in a folder: `<folder> <event> <before|after>`. Before its place after that event is
 * kept, or after, it says "stopped" and does nothing more, until it is killed.
 */
import { Effect } from "effect"
import * as Follow from "../follow.ts"
import * as Statements from "../statements.ts"
import * as World from "../world.ts"

const [folder = "", number = "", side = ""] = process.argv.slice(2)
const world = World.at(folder)

const watcher = Statements.stopAt(Number(number), side, (sql) => Statements.begins(sql, "UPDATE ASSENT_READER"))
await Effect.runPromise(
  Effect.scoped(Effect.andThen(Statements.watch(world.filename, watcher), Follow.following(world)))
)
