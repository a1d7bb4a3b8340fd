/** What happened to requests, in memory: a log of which the oldest are given up, and what in it has not ended yet. */
import { definedFields } from "../fields.ts"
import type { Bounds } from "./bounds.ts"
import {
  type Ended,
  type EventFilter,
  eventLife,
  type EventRow,
  type Events,
  maxScanned,
  type ReaderRow,
  type Readers
} from "./eventModel.ts"
import type { RequestRow } from "./model.ts"
import * as Ordered from "./ordered.ts"
import { StoreError } from "./storeError.ts"
import type { Transactions } from "./transactions.ts"

export interface MemoryEvents {
  readonly events: Events
  readonly readers: Readers
  /** It is listed: that is told, unless it was before and nothing has ended it since. */
  readonly opened: (row: RequestRow, now: number) => void
  readonly ended: (nonce: string, ended: Ended, now: number) => void
  /** The oldest that has been kept for long enough, if there is one. */
  readonly aged: (now: number) => string | undefined
  readonly dropOldest: () => void
}

type Named = "nonce" | "tenant" | "principal" | "conversation" | "toolName" | "kind" | "expiresAt"

/** A request that was told to be open. What is told of it later tells it too, as it was shown last. */
interface Asked {
  readonly row: Pick<RequestRow, Named>
  request: string
  hasExpired: boolean
}

type Entry = Pick<EventRow, "event" | "at" | "ended"> & { readonly seq: number; readonly asked: Asked }

export interface Options {
  readonly maxEvents: number
  readonly eventLife?: number | undefined
  readonly transactions: Transactions
  readonly bounds: Bounds
  /** Whether the request is listed still, expired or not. */
  readonly isListed: (nonce: string) => boolean
}

export const make = (
  { bounds, eventLife: life = eventLife, isListed, maxEvents, transactions }: Options
): MemoryEvents => {
  const asked = new Map<string, Asked>()
  const expiries = Ordered.make()
  // Those before `head` are given up.
  const log: Array<Entry | undefined> = []
  let head = 0
  let last = 0
  let floor = 0

  const dropOldest = () => {
    const oldest = log[head]
    if (oldest === undefined) return
    floor = oldest.seq
    log[head++] = undefined
    if (head > 1_000 && head * 2 > log.length) {
      log.splice(0, head)
      head = 0
    }
    // What was answered and never carried out ends nowhere else.
    const { nonce } = oldest.asked.row
    if (oldest.event === "opened" && asked.get(nonce) === oldest.asked && !isListed(nonce)) forget(oldest.asked)
  }

  const append = (entry: Omit<Entry, "seq">) => {
    const seq = ++last
    log.push({ ...entry, seq })
    transactions.didWith(() => {
      if (log.length > head && log.at(-1)?.seq === seq) log.pop()
    })
    while (log.length - head > maxEvents) dropOldest()
  }

  const remember = (one: Asked) => {
    const { expiresAt, nonce } = one.row
    asked.set(nonce, one)
    if (expiresAt !== undefined && !one.hasExpired) expiries.add(expiresAt, nonce)
    transactions.didWith(() => forgetNow(one))
  }

  const forgetNow = ({ row: { expiresAt, nonce } }: Asked) => {
    asked.delete(nonce)
    if (expiresAt !== undefined) expiries.delete(expiresAt, nonce)
  }

  const forget = (one: Asked) => {
    forgetNow(one)
    transactions.didWith(() => {
      asked.set(one.row.nonce, one)
      if (one.row.expiresAt !== undefined && !one.hasExpired) expiries.add(one.row.expiresAt, one.row.nonce)
    })
  }

  const expire = (one: Asked, at: number) => {
    one.hasExpired = true
    expiries.delete(one.row.expiresAt ?? 0, one.row.nonce)
    transactions.didWith(() => {
      one.hasExpired = false
      if (one.row.expiresAt !== undefined) expiries.add(one.row.expiresAt, one.row.nonce)
    })
    append({ event: "expired", at, asked: one })
  }

  // What nobody has told yet.
  const expireAll = (now: number) => {
    for (let nonce = expiries.firstUntil(now); nonce !== undefined; nonce = expiries.firstUntil(now)) {
      expire(asked.get(nonce)!, now)
    }
  }

  const opened: MemoryEvents["opened"] = (row, now) => {
    // What an agent asks is of the outermost conversation.
    const { expiresAt, kind, nonce, principal, request, root: conversation = row.conversation, tenant, toolName } = row
    if (request === undefined) return
    const known = asked.get(nonce)
    if (known === undefined) {
      if (expiresAt !== undefined && expiresAt <= now) return
      const named = { nonce, tenant, principal, conversation, toolName, kind, expiresAt }
      const one: Asked = { row: named, request, hasExpired: false }
      remember(one)
      append({ event: "opened", at: now, asked: one })
    } else if (known.request !== request) {
      const before = known.request
      known.request = request
      transactions.didWith(() => (known.request = before))
    }
  }

  const ended: MemoryEvents["ended"] = (nonce, ended, at) => {
    const one = asked.get(nonce)
    if (one === undefined) return
    if (ended.state === "expired") {
      if (!one.hasExpired) expire(one, at)
    } else if (!one.hasExpired || isNewsOfExpired.has(ended.state)) {
      forget(one)
      append({ event: "decided", at, asked: one, ended })
    }
  }

  const rowOf = ({ asked: { request, row }, at, ended, event, seq }: Entry): EventRow => {
    const { conversation, kind, nonce, principal, tenant, toolName } = row
    return {
      cursor: String(seq),
      event,
      at,
      nonce,
      toolName,
      kind,
      request,
      ...definedFields({ tenant, principal, conversation, ended })
    }
  }

  // The first that comes after a place.
  const indexAfter = (seq: number): number => {
    let low = head
    let high = log.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (log[middle]!.seq <= seq) low = middle + 1
      else high = middle
    }
    return low
  }

  const rows = new Map<string, ReaderRow>()

  return {
    opened,
    ended,
    aged: (now) => {
      const oldest = log[head]
      return oldest !== undefined && oldest.at + life <= now ? String(oldest.seq) : undefined
    },
    dropOldest,
    events: {
      latest: transactions.use(() => String(last)),
      page: (filter, { after, limit }) =>
        transactions.use((now) => {
          const place = after === undefined ? undefined : placeOf(after)
          if (after !== undefined && place === undefined) return noPlace
          expireAll(now)
          const isMissed = place !== undefined && (place < floor || place > last)
          const from = isMissed || place === undefined ? floor : place
          const first = indexAfter(from)
          const most = Math.max(1, limit)
          const events: Array<EventRow> = []
          let index = first
          while (index < log.length && index - first < maxScanned && events.length < most) {
            const entry = log[index++]!
            if (isNamed(filter, entry.asked.row)) events.push(rowOf(entry))
          }
          const next = index === first ? from : log[index - 1]!.seq
          return { events, from: String(from), next: String(next), isMore: index < log.length, isMissed }
        })
    },
    readers: {
      get: (name) => transactions.use(() => rows.get(name)),
      move: (name, version, to) =>
        transactions.use(() => {
          const before = rows.get(name)
          if (before?.version !== version) return undefined
          const full = before === undefined ? bounds.noRoom("readers.move", 1) : undefined
          if (full !== undefined) return full
          const next = (version ?? 0) + 1
          rows.set(name, { version: next, ...definedFields(to) })
          if (before === undefined) bounds.live++
          transactions.didWith(() => {
            if (before !== undefined) return rows.set(name, before)
            rows.delete(name)
            bounds.live--
          })
          return next
        })
    }
  }
}

/** What is still told of a request that has expired: somebody decided it all the same, by another clock. */
const isNewsOfExpired: ReadonlySet<Ended["state"]> = new Set([
  "approved",
  "edited",
  "answered",
  "running",
  "denied"
])

const isNamed = (filter: EventFilter, row: Asked["row"]): boolean =>
  (filter.tenant === undefined || filter.tenant === row.tenant) &&
  (filter.principal === undefined || filter.principal === row.principal) &&
  (filter.conversation === undefined || filter.conversation === row.conversation) &&
  (filter.toolName === undefined || filter.toolName === row.toolName) &&
  (filter.kind === undefined || filter.kind === row.kind)

const placeOf = (cursor: string): number | undefined => {
  const seq = Number(cursor)
  return /^\d+$/.test(cursor) && Number.isSafeInteger(seq) ? seq : undefined
}

const noPlace = new StoreError({
  operation: "events.page",
  reason: "Unavailable",
  description: "What came after that cannot be found: it is not what an event gave as `cursor`. Begin without one."
})
