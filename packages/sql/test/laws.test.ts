/** What every store promises, on SQLite: in memory, and in a file that others may use too. */
import { Effect } from "effect"
import { describeStore } from "../../ai/test/store/laws.ts"
import { makeStore, storeInFile } from "./database.ts"

describeStore("SQLite in memory", Effect.map(makeStore(), ({ store }) => store), { runs: 15 })

describeStore("SQLite in a file", Effect.map(storeInFile, ({ store }) => store), { runs: 3 })
