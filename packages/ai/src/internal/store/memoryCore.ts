/**
 * What a store in memory has at least: requests, and who lives. It is all that a journal needs; what conversations, events and
 * remembered answers need is put around it where a program has them.
 */
import * as Bounds from "./bounds.ts"
import type { MemoryConversations } from "./memoryConversations.ts"
import type { MemoryEvents } from "./memoryEvents.ts"
import * as Requests from "./memoryRequests.ts"
import * as Model from "./model.ts"
import * as Table from "./table.ts"
import * as Transactions from "./transactions.ts"

export interface Options {
  readonly capacity?: number | undefined
  readonly maxSettled?: number | undefined
  readonly maxResultBytes?: number | undefined
}

/** Rows that expire, or are given up. */
export interface Group {
  readonly expired: (now: number) => string | undefined
  readonly remove: (key: string, now: number) => void
}

/** What is told of requests, and what they are told. */
export interface Surroundings {
  readonly events: Pick<MemoryEvents, "opened" | "ended">
  readonly conversations: Pick<MemoryConversations, "hasExpired" | "hasWithin">
}

export interface Core {
  readonly operations: Model.RequestOperations
  readonly sweep: Model.Operations["sweep"]
  readonly requests: Requests.MemoryRequests
  readonly transactions: Transactions.Transactions
  readonly bounds: Bounds.Bounds
  /** Every write does so, so that room is made faster than it is used up. */
  readonly reclaimSome: (now: number) => void
  /** Puts these around it, and reclaims such rows too. */
  readonly surround: (surroundings: Surroundings, groups: ReadonlyArray<Group>) => void
}

// No conversation asks, so nobody follows what is asked.
const nothing: Surroundings = {
  events: { opened: () => {}, ended: () => {} },
  conversations: { hasExpired: () => false, hasWithin: () => false }
}

export const make = (options?: Options): Core => {
  const transactions = Transactions.make()
  const bounds = Bounds.make(options?.capacity ?? 100_000, options?.maxSettled ?? 1_000_000)
  let around = nothing

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

  const reclaimSome = (now: number) => {
    reclaim(now, 2)
  }

  const requests = Requests.make({
    transactions,
    bounds,
    events: {
      opened: (row, now) => around.events.opened(row, now),
      ended: (nonce, ended, now) => around.events.ended(nonce, ended, now)
    },
    reclaimSome,
    hasExpired: (conversation, now) => around.conversations.hasExpired(conversation, now),
    hasConversation: (parent) => around.conversations.hasWithin(parent),
    maxBodies: options?.maxResultBytes ?? 64 * 1024 * 1024
  })

  const owners = Table.make<{ readonly row: Model.OwnerRow; readonly keepUntil: number }>({
    transactions,
    expiryOf: ({ keepUntil }) => keepUntil,
    changed: (_, before, after) => {
      bounds.live += (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1)
    }
  })

  const ofOwners: Group = { expired: owners.expired, remove: (id) => owners.set(id, undefined) }
  const groups: Array<Group> = [{ expired: requests.expired, remove: requests.reclaim }, ofOwners]

  return {
    operations: {
      isShared: false,
      atomically: transactions.atomically,
      requests: requests.operations,
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
      }
    },
    sweep: (limit) => transactions.use((now) => reclaim(now, limit)),
    requests,
    transactions,
    bounds,
    reclaimSome,
    surround: (surroundings, more) => {
      around = surroundings
      // In the order in which they always went: the owners last.
      groups.splice(1, 1, ...more, ofOwners)
    }
  }
}

const processCoreKey = Symbol.for("@assent/ai/Store/process/core")

/** One per process even when the module is loaded twice, as by hot reload: what ran must not be forgotten. */
export const ofProcess = (): Core => {
  const slots = globalThis as { [processCoreKey]?: Core }
  return slots[processCoreKey] ??= make()
}
