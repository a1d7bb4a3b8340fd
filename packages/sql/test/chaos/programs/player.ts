/**
 * A process that plays the story in a folder: `<folder> <statement> <before|after>`. At that statement, before it or after
 * it, it says "stopped" and does nothing more, until it is killed.
 */
import { Effect } from "effect"
import * as Statements from "../statements.ts"
import * as Story from "../story.ts"
import * as World from "../world.ts"

const [folder = "", number = "", side = ""] = process.argv.slice(2)
const world = World.at(folder)

await Effect.runPromise(Effect.scoped(Effect.andThen(
  Statements.watch(world.filename, Statements.stopAt(Number(number), side)),
  // A loss of power is another test's: here the process alone dies.
  Story.played(world)
)))
