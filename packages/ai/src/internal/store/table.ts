/** Rows by their keys, which know when they expire and tell whoever keeps an index over them what changed. */
import * as Ordered from "./ordered.ts"
import type { Transactions } from "./transactions.ts"

export interface Table<Row> {
  /** The row, unless it has expired. */
  readonly get: (key: string, now: number) => Row | undefined
  /** The row, expired or not. */
  readonly peek: (key: string) => Row | undefined
  readonly set: (key: string, row: Row | undefined) => void
  /** The key of one that has expired, if there is one. */
  readonly expired: (now: number) => string | undefined
  readonly rows: () => Iterable<Row>
}

export const make = <Row>({ changed, expiryOf, transactions }: {
  readonly transactions: Transactions
  /** From when on the row is not there; `undefined` where it always is. */
  readonly expiryOf: (row: Row) => number | undefined
  readonly changed: (key: string, before: Row | undefined, after: Row | undefined) => void
}): Table<Row> => {
  const rows = new Map<string, Row>()
  const expiries = Ordered.make()

  const put = (key: string, before: Row | undefined, after: Row | undefined) => {
    const from = before === undefined ? undefined : expiryOf(before)
    const to = after === undefined ? undefined : expiryOf(after)
    if (from !== to) {
      if (from !== undefined) expiries.delete(from, key)
      if (to !== undefined) expiries.add(to, key)
    }
    if (after === undefined) rows.delete(key)
    else rows.set(key, after)
    changed(key, before, after)
  }

  return {
    get: (key, now) => {
      const row = rows.get(key)
      if (row === undefined) return undefined
      const expiry = expiryOf(row)
      return expiry === undefined || now < expiry ? row : undefined
    },
    peek: (key) => rows.get(key),
    set: (key, row) => {
      const before = rows.get(key)
      put(key, before, row)
      transactions.didWith(() => put(key, row, before))
    },
    expired: (now) => expiries.firstUntil(now),
    rows: () => rows.values()
  }
}
