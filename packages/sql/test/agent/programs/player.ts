/**
 * A process that plays the story in a folder: `<folder> <filename> <write> <before|after>`. At that write, before it or after it,
 * it says "stopped" and does nothing more, until it is killed.
 */
import { Effect } from "effect"
import * as Statements from "../../chaos/statements.ts"
import * as Story from "../story.ts"

const [folder = "", filename = "", number = "", side = ""] = process.argv.slice(2)

const watcher = Statements.stopAt(Number(number), side, Story.isWrite)

await Effect.runPromise(
  Effect.scoped(Effect.andThen(Statements.watch(filename, watcher), Story.played(folder, filename)))
)
