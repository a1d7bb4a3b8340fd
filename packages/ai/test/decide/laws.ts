/** Every law that a table of decisions has to keep. None of them knows a table. */
import * as Facts from "./lawsOfFacts.ts"
import * as Reasons from "./lawsOfReasons.ts"
import * as Runs from "./lawsOfRuns.ts"
import type { Law } from "./walk.ts"

export const laws: ReadonlyArray<Law> = [...Runs.laws, ...Facts.laws, ...Reasons.laws]
