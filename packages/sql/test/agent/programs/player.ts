/**
 * A process that plays the story in a folder: `<folder> <filename> <write> <before|after>`. At that write, before it or after it,
 * it says "stopped" and does nothing more, until it is killed.
 */
import { Effect } from "effect"
import * as Fs from "node:fs"
import * as Statements from "../../chaos/statements.ts"
import * as Story from "../story.ts"

const [folder = "", filename = "", number = "", side = ""] = process.argv.slice(2)

const stop = (): void => {
  Fs.writeSync(1, "stopped\n")
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

let count = 0
const watcher: Statements.Watcher = (sql, run) => {
  const isIt = Story.isWrite(sql) && ++count === Number(number)
  if (isIt && side === "before") stop()
  const result = run()
  if (isIt && side === "after") stop()
  return result
}

await Effect.runPromise(
  Effect.scoped(Effect.andThen(Statements.watch(filename, watcher), Story.played(folder, filename)))
)
