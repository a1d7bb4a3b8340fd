import { Effect } from "effect"
import { pg } from "../../src/internal/store/dialect.ts"
import { describeBefore } from "../before.ts"
import { makeClient, makePrefix } from "./database.ts"

describeBefore("PostgreSQL", Effect.sync(() => ({ dialect: pg, prefix: makePrefix(), connect: makeClient() })))
