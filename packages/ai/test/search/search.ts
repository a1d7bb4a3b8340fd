/** The search over random histories: any of what can happen to the history of one conversation. */
import { Effect } from "effect"
import * as Arbitrary from "./arbitrary.ts"
import * as Coverage from "./coverage.ts"
import * as Laws from "./laws.ts"
import * as Plan from "./plan.ts"
import * as Searching from "./searching.ts"
import * as Shrink from "./shrink.ts"
import * as World from "./world.ts"

const subject: Searching.Subject<Plan.Plan, Laws.Case> = {
  folder: "search",
  schema: Plan.Plan,
  plans: Arbitrary.plans,
  carryOut: (plan) => Effect.map(World.carryOut(plan), Laws.makeCase),
  laws: Laws.laws,
  thingsOf: Coverage.thingsOf,
  smaller: Shrink.smaller
}

export const { decodeKept, examine, search, shrink } = Searching.make(subject)
