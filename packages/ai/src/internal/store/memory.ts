/** A store in memory: rows in maps, what orders them beside them, and what undoes each change while somebody is inside. */
import * as Effect from "effect/Effect"
import * as Bounds from "./bounds.ts"
import * as Conversations from "./memoryConversations.ts"
import * as Events from "./memoryEvents.ts"
import * as Remembered from "./memoryRemembered.ts"
import * as Requests from "./memoryRequests.ts"
import * as Model from "./model.ts"
import * as Table from "./table.ts"
import * as Transactions from "./transactions.ts"

export interface Options {
  readonly capacity?: number | undefined
  readonly maxSettled?: number | undefined
  readonly maxResultBytes?: number | undefined
  readonly maxEvents?: number | undefined
  /** Milliseconds. */
  readonly eventLife?: number | undefined
}

export const make = <Store>(
  options: Options | undefined,
  make: (operations: Model.Operations) => Store
): Effect.Effect<Store> =>
  Effect.sync(() => {
    const transactions = Transactions.make()
    const bounds = Bounds.make(options?.capacity ?? 100_000, options?.maxSettled ?? 1_000_000)

    // How many rows were reclaimed, of those that have expired.
    const reclaim = (now: number, limit: number): number => {
      for (let count = 0; count < limit; count++) {
        const isDone = groups.every(({ expired, remove }) => {
          const key = expired(now)
          if (key !== undefined) remove(key, now)
          return key === undefined
        })
        if (isDone) return count
      }
      return limit
    }

    // Every write does so, so that room is made faster than it is used up.
    const reclaimSome = (now: number) => {
      reclaim(now, 2)
    }

    const events = Events.make({
      transactions,
      bounds,
      maxEvents: options?.maxEvents ?? 10_000,
      eventLife: options?.eventLife,
      isListed: (nonce) => requests.isListed(nonce)
    })
    const requests: Requests.MemoryRequests = Requests.make({
      transactions,
      bounds,
      events,
      reclaimSome,
      hasExpired: (conversation, now) => conversations.hasExpired(conversation, now),
      hasConversation: (parent) => conversations.hasWithin(parent),
      maxBodies: options?.maxResultBytes ?? 64 * 1024 * 1024
    })
    const { forgetAskedIn } = requests
    const conversations: Conversations.MemoryConversations = Conversations.make({
      transactions,
      bounds,
      reclaimSome,
      forgetAskedIn
    })
    const remembered = Remembered.make({ transactions, bounds, reclaimSome })

    const owners = Table.make<{ readonly row: Model.OwnerRow; readonly keepUntil: number }>({
      transactions,
      expiryOf: ({ keepUntil }) => keepUntil,
      changed: (_, before, after) => {
        bounds.live += (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1)
      }
    })

    const groups: ReadonlyArray<{
      readonly expired: (now: number) => string | undefined
      readonly remove: (key: string, now: number) => void
    }> = [
      { expired: requests.expired, remove: requests.reclaim },
      { expired: conversations.expired, remove: conversations.reclaim },
      { expired: remembered.expired, remove: remembered.reclaim },
      { expired: events.aged, remove: events.dropOldest },
      { expired: owners.expired, remove: (id) => owners.set(id, undefined) }
    ]

    return make({
      isShared: false,
      atomically: transactions.atomically,
      conversations: conversations.operations,
      requests: requests.operations,
      remembered: remembered.operations,
      owners: {
        beat: (row) =>
          transactions.use((now) => {
            reclaimSome(now)
            const full = owners.peek(row.id) === undefined ? bounds.noRoom("owners.beat", 1) : undefined
            if (full !== undefined) return full
            owners.set(row.id, { row, keepUntil: now + Model.margin + 6 * row.every })
          }),
        // Whoever looks may have another clock than who beats.
        get: (id) => transactions.use(() => owners.peek(id)?.row)
      },
      events: events.events,
      readers: events.readers,
      sweep: (limit) => transactions.use((now) => reclaim(now, limit))
    })
  })
