/** A process that takes one step of the story in a folder, and says how it stands: `<folder> <filename> <step as JSON>`. */
import { Effect } from "effect"
import * as Restarts from "../restarts.ts"

const [folder = "", filename = "", step = ""] = process.argv.slice(2)

const standing = await Effect.runPromise(
  Restarts.take(folder, filename, step === "" ? undefined : JSON.parse(step))
)
console.log(`stands ${JSON.stringify(standing)}`)
