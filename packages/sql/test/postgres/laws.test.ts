/** What every store promises, on PostgreSQL. */
import { Effect } from "effect"
import { describeStore } from "../../../ai/test/store/laws.ts"
import { makeStore } from "./database.ts"

describeStore("PostgreSQL", Effect.map(makeStore(), ({ store }) => store), { runs: 15, seesOthers: true })
