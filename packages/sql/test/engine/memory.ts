/**
 * Stands in the place of the engine's `internal/store/memory.ts` while its tests are run on SQLite (`vitest.engine.config.ts`):
 * every store that a test or the engine makes in memory is a database then. What a test says of how much memory may hold is
 * said of memory.
 */
import type { Store } from "@assent/ai"
import { Effect } from "effect"
import * as Memory from "../../../ai/src/internal/store/memory.ts"

export type Options = Memory.Options

/** How `setup.ts` makes a database; not imported, since what makes one imports the store. */
export interface Database {
  readonly make: Effect.Effect<Store.Store>
}

export const database: { current: Database | undefined } = { current: undefined }

// What the engine itself asks for where nobody says how much, and more than a test writes.
const unbounded = 10_000

const isBounded = ({ capacity = unbounded, maxEvents, maxResultBytes, maxSettled }: Options): boolean =>
  capacity < unbounded || maxEvents !== undefined || maxResultBytes !== undefined || maxSettled !== undefined

/** What is of the process is one database, for its journal and for whatever else is kept. */
export const complete: typeof Memory.complete = (core, options) =>
  isStore(core.operations) ? core.operations : Memory.complete(core, options)

const isStore = (operations: Store.RequestOperations): operations is Store.Operations => "conversations" in operations

export const make: typeof Memory.make = (options, make) =>
  options !== undefined && isBounded(options)
    ? Memory.make(options, make)
    : Effect.suspend(() =>
      database.current === undefined
        ? Effect.die("No database: a store was made before the setup file ran.")
        : Effect.map(database.current.make, make)
    )
