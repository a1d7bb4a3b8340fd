/**
 * A store in memory: rows in maps, what orders them beside them, and what undoes each change while somebody is inside. It is
 * a core of requests with all the rest beside them.
 */
import * as Effect from "effect/Effect"
import * as Conversations from "./memoryConversations.ts"
import * as Core from "./memoryCore.ts"
import * as Events from "./memoryEvents.ts"
import * as Remembered from "./memoryRemembered.ts"
import type * as Model from "./model.ts"

export interface Options extends Core.Options {
  readonly maxEvents?: number | undefined
  /** Milliseconds. */
  readonly eventLife?: number | undefined
}

export const make = <Store>(
  options: Options | undefined,
  make: (operations: Model.Operations) => Store
): Effect.Effect<Store> => Effect.sync(() => make(complete(Core.make(options), options)))

/** Everything that a store does, over the requests that are there already. */
export const complete = (core: Core.Core, options?: Options): Model.Operations => {
  const { bounds, reclaimSome, transactions } = core
  const { forgetAskedIn, isListed } = core.requests
  const events = Events.make({
    transactions,
    bounds,
    maxEvents: options?.maxEvents ?? 10_000,
    eventLife: options?.eventLife,
    isListed
  })
  const conversations = Conversations.make({ transactions, bounds, events, reclaimSome, forgetAskedIn })
  const remembered = Remembered.make({ transactions, bounds, reclaimSome })
  core.surround({ events, conversations }, [
    { expired: conversations.expired, remove: conversations.reclaim },
    { expired: remembered.expired, remove: remembered.reclaim },
    { expired: events.aged, remove: events.dropOldest }
  ])
  return {
    ...core.operations,
    conversations: conversations.operations,
    remembered: remembered.operations,
    events: events.events,
    readers: events.readers,
    sweep: core.sweep
  }
}
