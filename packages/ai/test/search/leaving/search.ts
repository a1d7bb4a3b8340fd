/** The search over plans that leave: readers that go, processes that die or stand still, and clocks that differ. */
import * as Searching from "../searching.ts"
import * as Arbitrary from "./arbitrary.ts"
import * as Coverage from "./coverage.ts"
import * as Laws from "./laws.ts"
import * as Plan from "./plan.ts"
import type * as Record from "./record.ts"
import { smaller } from "./smaller.ts"
import * as World from "./world.ts"

const subject: Searching.Subject<Plan.Plan, Record.Record> = {
  folder: "search/leaving",
  schema: Plan.Plan,
  plans: Arbitrary.plans,
  carryOut: World.carryOut,
  laws: Laws.laws,
  thingsOf: Coverage.thingsOf,
  smaller
}

export const { decodeKept, examine, search, shrink } = Searching.make(subject)
