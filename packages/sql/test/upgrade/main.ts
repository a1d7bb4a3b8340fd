/**
 * `npm run upgrade`: a process of this repository as it was before the tables were changed last, and one of today, at one SQLite
 * file and at one PostgreSQL database. `-- --from <commit>` takes another commit. Where it is not there, such as in a checkout
 * without history, it says that nothing was tried, and ends well.
 */
import { Effect } from "effect"
import * as Path from "node:path"
import { parseArgs } from "node:util"
import * as Binaries from "../postgres/server/binaries.ts"
import * as Server from "../postgres/server/server.ts"
import * as Before from "./before.ts"
import * as Story from "./story.ts"

/** The last one with PostgreSQL whose tables are those of two steps; there are four by now. */
const lastOfTheOldTables = "25ad405a"

const { values } = parseArgs({ options: { from: { type: "string", default: lastOfTheOldTables } } })

const program = "process.ts"

const play = async (name: string, url: string | undefined, before: string): Promise<boolean> => {
  const now = Path.join(import.meta.dirname, "programs", program)
  const { conversations, problems, refusal } = await Effect.runPromise(Story.play({ before, now, url }))
  console.log(`${name}: ${conversations} paid in both releases, ${problems.length} problems. Started again: ${refusal}`)
  for (const problem of problems) console.log(`  ${problem}`)
  return problems.length === 0
}

const main = async (): Promise<boolean> => {
  const found = Before.nameOf(values.from)
  if ("missing" in found) {
    console.log(
      `NOTHING was tried: ${values.from} is not in this checkout (${found.missing}). A whole clone has it; what was in the` +
        " tables of older versions is tried by `npm test -- migrations` and `npm run test:postgres -- migrations`."
    )
    return true
  }
  const checkout = Before.make(values.from)
  try {
    const before = checkout.programAt(program)
    console.log(`Before: ${found.name}`)
    let isWell = await play("SQLite", undefined, before)
    const bin = Binaries.find()
    if (bin === undefined) {
      console.log("No PostgreSQL server was found, so nothing was tried with one.")
      return isWell
    }
    const server = await Server.start({ bin })
    try {
      isWell = await play("PostgreSQL", server.url, before) && isWell
    } finally {
      await server.stop()
    }
    return isWell
  } finally {
    checkout.remove()
  }
}

if (!(await main())) process.exitCode = 1
