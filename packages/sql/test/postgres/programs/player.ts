/** A process that plays the story of `test/chaos` over PostgreSQL: `<folder> <url> <prefix>`. */
import { Effect } from "effect"
import * as Story from "../../chaos/story.ts"
import * as World from "../../chaos/world.ts"
import * as Kept from "../kept.ts"

const [folder = "", url = "", prefix = ""] = process.argv.slice(2)

await Effect.runPromise(
  Story.played(World.at(folder), { kept: Kept.layer(url, { prefix, heartbeat: "250 millis" }) })
)
