/** Stands in the place of the engine's `internal/store/memoryCore.ts`: what the process keeps is in a database too. */
import { Effect } from "effect"
import * as MemoryCore from "../../../ai/src/internal/store/memoryCore.ts"
import { database } from "./memory.ts"

let ofThisProcess: MemoryCore.Core | undefined

export const ofProcess: typeof MemoryCore.ofProcess = () =>
  ofThisProcess ??= {
    ...MemoryCore.make(),
    operations: Effect.runSync(
      Effect.suspend(() =>
        database.current?.make ?? Effect.die("No database: a store was made before the setup file ran.")
      )
    )
  }

export const make = MemoryCore.make
