/**
 * What every store promises, whatever it keeps its rows in: `describeStore` makes the tests of one.
 */
import type { Store } from "@assent/ai"
import { describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { tell } from "../laws/story.ts"
import { agents } from "./laws/agents.ts"
import { clocks } from "./laws/clocks.ts"
import { conversations } from "./laws/conversations.ts"
import { events } from "./laws/events.ts"
import { pages } from "./laws/pages.ts"
import { random } from "./laws/random.ts"
import { owners, remembered } from "./laws/remembered.ts"
import { removed } from "./laws/removed.ts"
import { requests } from "./laws/requests.ts"
import type { Law } from "./laws/support.ts"
import { transactions } from "./laws/transactions.ts"
import { waiting } from "./laws/waiting.ts"

/** `make` makes an empty one, which may live as long as its scope. The clock is a `TestClock` that nobody else moves. */
export const describeStore = (
  name: string,
  make: Effect.Effect<Store.Store, unknown, Scope.Scope>,
  options?: {
    readonly runs?: number | undefined
    /** Whether of several operations that are done atomically each sees what others have committed by then. */
    readonly seesOthers?: boolean | undefined
  }
): void => {
  const seesOthers = options?.seesOthers ?? false
  const law: Law = (title, body) =>
    it.effect(title, () => Effect.scoped(Effect.flatMap(make, (store) => tell(body, store))))
  const groups = {
    requests,
    waiting,
    pages,
    conversations,
    remembered,
    owners,
    events,
    removed,
    clocks,
    transactions: (law: Law) => transactions(law, seesOthers),
    agents
  }
  for (const [group, laws] of Object.entries(groups)) {
    describe(`${name}: ${group}`, () => {
      laws(law)
    })
  }
  describe(`${name}: over random operations`, () => {
    random(make, options?.runs ?? 100, seesOthers)
  })
}
