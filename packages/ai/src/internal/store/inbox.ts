/** The requests that wait for a decision, in the order they were asked in, whatever they are filtered by. */
import { type RequestFilter, type RequestPage, type RequestRow, StoreError } from "./model.ts"
import * as Ordered from "./ordered.ts"

export interface Inbox {
  readonly add: (row: RequestRow) => void
  readonly delete: (row: RequestRow) => void
  readonly page: (
    filter: RequestFilter,
    options: { readonly after?: string | undefined; readonly limit: number },
    now: number,
    peek: (nonce: string) => RequestRow | undefined,
    isLost: (row: RequestRow) => boolean
  ) => RequestPage | StoreError
}

// By what there is an order of its own. `waiting` has one value, `all` too.
const parts = {
  conversation: (row: RequestRow) => row.conversation,
  root: (row: RequestRow) => row.root,
  principal: (row: RequestRow) => row.principal,
  tenant: (row: RequestRow) => row.tenant,
  toolName: (row: RequestRow) => row.toolName,
  kind: (row: RequestRow) => row.kind,
  waiting: (row: RequestRow) => row.waits === "open" ? "" : undefined,
  all: (): string | undefined => ""
}

type Part = keyof typeof parts

interface Order {
  readonly of: (row: RequestRow) => string | undefined
  readonly values: Map<string, Ordered.Ordered>
}

export const make = (rows: () => Iterable<RequestRow>): Inbox => {
  // An order is kept from when it is first asked for, so that nobody else pays for it.
  const orders = new Map<Part, Order>()
  // When which of them expires.
  let closing: Ordered.Ordered | undefined

  const addTo = ({ of, values }: Order, row: RequestRow) => {
    const value = of(row)
    if (value === undefined) return
    const ordered = values.get(value) ?? Ordered.make()
    values.set(value, ordered)
    ordered.add(row.issuedAt, row.nonce)
  }

  const deleteFrom = ({ of, values }: Order, row: RequestRow) => {
    const value = of(row)
    const ordered = value === undefined ? undefined : values.get(value)
    if (value === undefined || ordered === undefined) return
    ordered.delete(row.issuedAt, row.nonce)
    if (ordered.isEmpty()) values.delete(value)
  }

  // Those that have expired may have been left out of the others already.
  const orderOf = (part: Part, now: number): Order => {
    const known = orders.get(part)
    if (known !== undefined) return known
    const order: Order = { of: parts[part], values: new Map() }
    for (const row of rows()) if (isOpen(row) && (row.expiresAt === undefined || now < row.expiresAt)) addTo(order, row)
    orders.set(part, order)
    return order
  }

  const leaveOut = (row: RequestRow) => {
    for (const order of orders.values()) deleteFrom(order, row)
  }

  const leaveOutExpired = (now: number, peek: (nonce: string) => RequestRow | undefined) => {
    if (closing === undefined) {
      closing = Ordered.make()
      for (const row of rows()) if (isOpen(row) && row.expiresAt !== undefined) closing.add(row.expiresAt, row.nonce)
    }
    for (let nonce = closing.firstUntil(now); nonce !== undefined; nonce = closing.firstUntil(now)) {
      const row = peek(nonce)!
      closing.delete(row.expiresAt!, nonce)
      leaveOut(row)
    }
  }

  return {
    add: (row) => {
      if (!isOpen(row)) return
      for (const order of orders.values()) addTo(order, row)
      if (row.expiresAt !== undefined) closing?.add(row.expiresAt, row.nonce)
    },
    delete: (row) => {
      if (!isOpen(row)) return
      leaveOut(row)
      if (row.expiresAt !== undefined) closing?.delete(row.expiresAt, row.nonce)
    },
    page: (filter, { after, limit }, now, peek, isLost) => {
      const place = after === undefined ? undefined : placeOf(after)
      if (after !== undefined && place === undefined) {
        return new StoreError({
          operation: "requests.page",
          reason: "Unavailable",
          description:
            "The page after that cannot be found: it is not what a page gave as `next`. Begin with the first."
        })
      }
      const entries = Object.entries(parts) as ReadonlyArray<[Part, Order["of"]]>
      const wanted = entries.flatMap(([part, of]) => {
        const value = part === "all"
          ? ""
          : part === "waiting"
          ? (filter.waiting === true ? "" : undefined)
          : filter[part]
        return value === undefined ? [] : [{ part, of, value }]
      })
      // By the first of `parts` that is asked for: they stand there from the narrowest to the widest.
      const [{ part, value }] = wanted as [(typeof wanted)[0]]
      const order = orderOf(part, now)
      leaveOutExpired(now, peek)
      const requests: Array<RequestRow> = []
      const most = Math.max(1, limit)
      for (const nonce of order.values.get(value)?.after(place) ?? []) {
        const row = peek(nonce)!
        if (filter.issuedBefore !== undefined && row.issuedAt >= filter.issuedBefore) break
        if (!wanted.every(({ of, value }) => of(row) === value) || isLost(row)) continue
        if (requests.length === most) {
          const last = requests[most - 1]!
          return { requests, next: `${last.issuedAt}.${last.nonce}` }
        }
        requests.push(row)
      }
      return { requests, next: undefined }
    }
  }
}

/** It waits for a decision, of which some may have been given. */
export const isAsked = ({ answer, request, state, waits }: RequestRow): boolean =>
  state === "pending" && (waits === undefined ? request !== undefined : waits === "open" && answer === undefined)

/** The same, and none was given. */
export const isOpen = (row: RequestRow): boolean => row.given === undefined && isAsked(row)

const placeOf = (cursor: string): { readonly at: number; readonly key: string } | undefined => {
  const dot = cursor.indexOf(".")
  const at = dot < 1 ? NaN : Number(cursor.slice(0, dot))
  return Number.isFinite(at) ? { at, key: cursor.slice(dot + 1) } : undefined
}
