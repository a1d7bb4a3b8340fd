/** Two processes that open a new file at the same moment: its tables are made once, and one key. */
import { Effect } from "effect"
import { DatabaseSync } from "node:sqlite"
import { steps } from "../../src/internal/store/migrations.ts"
import * as Child from "./process.ts"
import * as World from "./world.ts"

export const problemsOf = (rounds: number) =>
  Effect.scoped(Effect.gen(function*() {
    const children = [yield* Child.start("opener.ts"), yield* Child.start("opener.ts")]
    const all = <A>(use: (child: Child.Child) => Effect.Effect<A, Error>) =>
      Effect.forEach(children, use, { concurrency: "unbounded" })
    yield* all(({ said }) => said("ready"))
    const problems: Array<string> = []
    for (let round = 1; round <= rounds; round++) {
      const world = yield* World.make
      yield* all(({ say }) => say(world.folder))
      const keys = yield* all(({ said }) => said("key"))
      const database = new DatabaseSync(world.filename)
      const rows = (sql: string) => database.prepare(sql).all().length
      if (new Set(keys).size !== 1) problems.push(`round ${round}: the keys are ${keys.join(" and ")}`)
      if (rows("SELECT 1 FROM assent_setting WHERE name = 'seal_key'") !== 1) {
        problems.push(`round ${round}: no one key`)
      }
      if (rows("SELECT 1 FROM assent_migration") !== steps.length) {
        problems.push(`round ${round}: the tables were made again`)
      }
      database.close()
    }
    return problems
  }))
