/** Requests in memory. */
import { definedFields } from "../fields.ts"
import type { ApprovalState } from "../states.ts"
import * as Bodies from "./bodies.ts"
import type { Bounds } from "./bounds.ts"
import * as Forgotten from "./forgotten.ts"
import * as Inbox from "./inbox.ts"
import type { MemoryEvents } from "./memoryEvents.ts"
import {
  type Ended,
  margin,
  type RequestName,
  type RequestRow,
  type Requests,
  type StoreError,
  waitingMargin
} from "./model.ts"
import * as Ordered from "./ordered.ts"
import * as Table from "./table.ts"
import type { Transactions } from "./transactions.ts"

export interface MemoryRequests {
  readonly operations: Requests
  readonly expired: (now: number) => string | undefined
  readonly reclaim: (nonce: string, now: number) => void
  /** Forgets what was asked in a conversation and never decided. */
  readonly forgetAskedIn: (conversation: string, ended: Ended, now: number) => void
  readonly isListed: (nonce: string) => boolean
}

export const make = ({ bounds, events, hasConversation, hasExpired, maxBodies, reclaimSome, transactions }: {
  readonly transactions: Transactions
  readonly events: Pick<MemoryEvents, "opened" | "ended">
  readonly bounds: Bounds
  /** How many characters the bodies of requests that are over may have. */
  readonly maxBodies: number
  readonly reclaimSome: (now: number) => void
  /** Whether that conversation has expired, and was not reclaimed yet. */
  readonly hasExpired: (conversation: string, now: number) => boolean
  /** Whether a conversation was begun in that call. */
  readonly hasConversation: (parent: string) => boolean
}): MemoryRequests => {
  const inbox = Inbox.make(() => table.rows())
  const due = Ordered.make()
  const webhooks = groups()
  const asked = groups()
  const nested = groups()
  const everNested = groups()
  const bodies = Bodies.make()

  const count = (nonce: string, row: RequestRow, by: 1 | -1) => {
    if (isOver(row)) bounds.settled += by
    else bounds.live += by
    bodies.set(nonce, by === 1 ? bodySize(row) : 0)
    const change = by === 1 ? "add" : "delete"
    if (row.waits === "open" && row.dueAt !== undefined) due[change](row.dueAt, nonce)
    webhooks[change](row.webhook, nonce)
    if (row.state === "pending") asked[change](row.conversation, nonce)
    everNested[change](row.parent, nonce)
    if (!isOver(row) || goesOnWithin.has(row.state)) nested[change](row.parent, nonce)
    inbox[change](row)
  }

  const table = Table.make<RequestRow>({
    transactions,
    expiryOf: ({ expiresAt, waits }) =>
      expiresAt === undefined || expiresAt === Infinity
        ? undefined
        : expiresAt + (waits === undefined ? margin : waitingMargin),
    changed: (nonce, before, after) => {
      if (before !== undefined) count(nonce, before, -1)
      if (after !== undefined) count(nonce, after, 1)
    }
  })

  const set = (row: RequestRow) => {
    table.set(row.nonce, isOver(row) ? tombstone(row) : row)
    for (let oldest = bodies.beyond(maxBodies); oldest !== undefined; oldest = bodies.beyond(maxBodies)) {
      table.set(oldest, withoutBodies(table.peek(oldest)!))
    }
  }

  let forgotten = Forgotten.none

  const reclaim = (nonce: string, now: number) => {
    const row = table.peek(nonce)
    if (row === undefined) return
    if (row.state === "pending") events.ended(nonce, { state: "expired" }, now)
    forgotten = Forgotten.withOne(forgotten, row)
    table.set(nonce, undefined)
  }

  /** The row; one that has expired is given up, and not in the way of another. */
  const take = (nonce: string, now: number): RequestRow | undefined => {
    const row = table.get(nonce, now)
    if (row === undefined) reclaim(nonce, now)
    return row
  }

  // What a tool waits for is kept for longer, and never in the place of what was forgotten.
  const isForgotten = (found: RequestRow | undefined, name: RequestName, now: number): boolean =>
    found?.waits === undefined && Forgotten.mayBe(forgotten, name, now)

  const write = <A>(run: (now: number) => A | StoreError) =>
    transactions.use((now) => {
      reclaimSome(now)
      return run(now)
    })

  // Of several, the one that waits, or else the latest.
  const best = (nonces: Iterable<string>, now: number): RequestRow | undefined => {
    let found: RequestRow | undefined
    for (const nonce of nonces) {
      const row = table.get(nonce, now)
      if (row !== undefined && (found === undefined || isBetter(row, found))) found = row
    }
    return found
  }

  /** Until it is reclaimed, what was asked in a conversation that has expired is there, and nobody can decide it. */
  const isLost = ({ conversation, root = conversation }: RequestRow, now: number): boolean =>
    (conversation !== undefined && hasExpired(conversation, now)) || (root !== undefined && hasExpired(root, now))

  const operations: Requests = {
    get: (nonce) => transactions.use((now) => table.get(nonce, now)),
    open: (requests) =>
      write((now) => {
        const fresh = new Set(requests.flatMap(({ nonce }) => take(nonce, now) === undefined ? [nonce] : []))
        const full = bounds.noRoom("requests.open", fresh.size)
        if (full !== undefined) return full
        for (const { request, ...name } of requests) {
          const row = table.get(name.nonce, now) ?? unasked(name)
          if (isOver(row)) continue
          const shown = { ...row, request }
          set(shown)
          if (Inbox.isOpen(shown)) events.opened(shown, now)
        }
      }),
    close: (nonces, ended) =>
      write((now) => {
        for (const nonce of nonces) {
          const row = table.get(nonce, now)
          if (row !== undefined && row.state !== "pending") continue
          if (ended !== undefined) events.ended(nonce, ended, now)
          if (row === undefined) continue
          const { given: __, request: _, ...unasked } = row
          table.set(nonce, row.version === 0 && row.waits === undefined ? undefined : unasked)
        }
      }),
    decide: (name, version, { entry, result, state }) =>
      write((now) => {
        const begins = version === 0 && (state === "running" || state === "pending")
        const found = take(name.nonce, now)
        if (begins && isForgotten(found, name, now)) return Forgotten.error("requests.decide")
        if ((found?.version ?? 0) !== version) return false
        const { result: _, ...row } = found ?? unasked(name)
        const decided = { ...row, state, version: version + 1, entry, ...definedFields({ result }) }
        if (found === undefined) {
          const full = isOver(decided)
            ? bounds.noRoomToSettle("requests.decide")
            : bounds.noRoom("requests.decide", 1)
          if (full !== undefined) return full
        }
        set(decided)
        if (state !== "pending") {
          if (row.state === "pending") events.ended(name.nonce, { state, entry }, now)
        } else if (row.state !== "pending" && Inbox.isOpen(decided)) events.opened(decided, now)
        return true
      }),
    suspend: (suspended) =>
      write((now) => {
        const { dueAt, suspension, webhook, ...name } = suspended
        const found = take(name.nonce, now)
        if (found?.waits !== undefined) return "known"
        if (isForgotten(found, name, now)) return Forgotten.error("requests.suspend")
        if (webhook !== undefined && best(webhooks.of(webhook), now)?.waits === "open") return "webhook"
        const full = found === undefined ? bounds.noRoom("requests.suspend", 1) : undefined
        if (full !== undefined) return full
        set({
          ...(found ?? unasked(name)),
          waits: "open",
          suspension,
          ...definedFields({ dueAt, webhook })
        })
        return "suspended"
      }),
    advance: (nonce, from, to, suspension) =>
      write((now) => {
        const found = table.get(nonce, now)
        if (found?.waits === undefined || found.waits === "over" || !from.includes(found.waits)) return false
        if (to !== "open" && found.state === "pending" && found.waits === "open") {
          events.ended(nonce, { state: to === "over" ? "withdrawn" : "answered" }, now)
        }
        const { answer, dueAt: _, ...row } = found
        set({
          ...row,
          waits: to,
          ...definedFields({ suspension: suspension ?? row.suspension, answer: to === "over" ? undefined : answer })
        })
        return true
      }),
    deliver: (nonce, answer, entry) =>
      write((now) => {
        const found = table.get(nonce, now)
        if (found?.waits !== "open" || found.answer !== undefined) return false
        set({ ...found, answer, dueAt: 0 })
        if (found.state === "pending") events.ended(nonce, { state: "answered", ...definedFields({ entry }) }, now)
        return true
      }),
    give: (nonce, known, given, wakes) =>
      write((now) => {
        const found = table.get(nonce, now)
        if (found === undefined || found.given !== known || !Inbox.isAsked(found) || isLost(found, now)) return false
        const { given: _, ...row } = found
        set({ ...row, ...definedFields({ given }) })
        const waiting = wakes === undefined ? undefined : table.get(wakes, now)
        if (waiting?.waits === "open") set({ ...waiting, dueAt: 0 })
        return true
      }),
    holds: (nonce, version) =>
      transactions.use((now) => {
        const row = table.get(nonce, now)
        return row?.state === "running" && row.version === version
      }),
    hasWithin: (parent) =>
      transactions.use(() => hasConversation(parent) || Array.from(everNested.of(parent)).length > 0),
    within: (parent) =>
      transactions.use((now) =>
        Array.from(nested.of(parent)).toSorted().flatMap((nonce) => table.get(nonce, now) ?? [])
      ),
    told: (nonce) =>
      write((now) => {
        const found = table.get(nonce, now)
        if (found?.dueAt === undefined) return
        const { dueAt: _, ...row } = found
        set(row)
      }),
    byWebhook: (webhook) => transactions.use((now) => best(webhooks.of(webhook), now)),
    page: (filter, options) =>
      transactions.use((now) =>
        inbox.page(
          filter,
          options,
          now,
          table.peek,
          (row) => isLost(row, now)
        )
      ),
    due: (until, limit, without) =>
      transactions.use((now) => {
        const rows: Array<RequestRow> = []
        for (const nonce of due.after()) {
          if (rows.length >= limit) break
          const row = table.peek(nonce)!
          if (row.dueAt! > until) break
          if (without?.has(nonce) !== true && table.get(nonce, now) !== undefined) rows.push(row)
        }
        return rows
      })
  }

  return {
    operations,
    expired: table.expired,
    reclaim,
    forgetAskedIn: (conversation, ended, now) => {
      for (const nonce of Array.from(asked.of(conversation)).toSorted()) {
        events.ended(nonce, ended, now)
        table.set(nonce, undefined)
      }
    },
    isListed: (nonce) => {
      const row = table.peek(nonce)
      return row?.request !== undefined && Inbox.isOpen(row)
    }
  }
}

const unasked = (name: RequestName): RequestRow => ({ ...definedFields({ ...name }), state: "pending", version: 0 })

const goesOn: ReadonlySet<ApprovalState> = new Set(["pending", "approved", "edited", "answered", "running"])

// Nobody decides it any more, and nobody waits: what is left is to know what became of it.
const isOver = ({ state, waits }: RequestRow): boolean =>
  waits === "over" ? state === "pending" || !goesOn.has(state) : waits === undefined && !goesOn.has(state)

// Of these a run has begun, within which others may be asked.
const goesOnWithin: ReadonlySet<ApprovalState> = new Set(["suspended", "unknown"])

const tombstone = ({ answer: _, dueAt: __, given: ____, request: ___, ...row }: RequestRow): RequestRow => row

const withoutBodies = ({ result: _, suspension: __, ...row }: RequestRow): RequestRow => row

const bodySize = (row: RequestRow): number =>
  isOver(row) ? (row.result?.length ?? 0) + (row.suspension?.length ?? 0) : 0

const isBetter = (one: RequestRow, other: RequestRow): boolean =>
  one.waits === "open" || other.waits === "open"
    ? one.waits === "open"
    : one.issuedAt > other.issuedAt || (one.issuedAt === other.issuedAt && one.nonce > other.nonce)

const groups = () => {
  const members = new Map<string, Set<string>>()
  return {
    add: (group: string | undefined, member: string) => {
      if (group === undefined) return
      const found = members.get(group)
      if (found === undefined) members.set(group, new Set([member]))
      else found.add(member)
    },
    delete: (group: string | undefined, member: string) => {
      const found = group === undefined ? undefined : members.get(group)
      if (group === undefined || found === undefined) return
      found.delete(member)
      if (found.size === 0) members.delete(group)
    },
    of: (group: string): Iterable<string> => members.get(group) ?? []
  }
}
