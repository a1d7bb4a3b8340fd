/** The laws of the plans that leave, all in one place. */
import type * as Searching from "../searching.ts"
import * as Leaving from "./lawsOfLeaving.ts"
import * as Running from "./lawsOfRunning.ts"
import type * as Record from "./record.ts"

export type Law = Searching.Law<Record.Record>

export const laws: ReadonlyArray<Law> = [
  Running.Approved,
  Running.Once,
  Leaving.Told,
  Leaving.ToldLate,
  Leaving.Said,
  Leaving.OnRecord,
  Leaving.Unknown,
  Leaving.Running,
  Running.Stop,
  Running.WellFormed,
  Running.GoesOn,
  Running.Ends,
  Running.Alive
]
