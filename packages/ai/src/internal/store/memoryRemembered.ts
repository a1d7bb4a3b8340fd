/** Remembered answers in memory. */
import type { Bounds } from "./bounds.ts"
import type { RememberedAnswers, RememberedRow, StoreError } from "./model.ts"
import * as Ordered from "./ordered.ts"
import * as Table from "./table.ts"
import type { Transactions } from "./transactions.ts"

export interface MemoryRemembered {
  readonly operations: RememberedAnswers
  readonly expired: (now: number) => string | undefined
  readonly reclaim: (id: string) => void
}

interface Kept {
  readonly row: RememberedRow
  /** Taken back, or used up: only that it was there is known of it. */
  readonly isOver: boolean
}

export const make = ({ bounds, reclaimSome, transactions }: {
  readonly transactions: Transactions
  readonly bounds: Bounds
  readonly reclaimSome: (now: number) => void
}): MemoryRemembered => {
  const byCall = new Map<string, Map<string, RememberedRow>>()
  const byScope = new Map<string, Ordered.Ordered>()

  const count = (row: RememberedRow, isOver: boolean, by: 1 | -1) => {
    if (isOver) {
      bounds.settled += by
      return
    }
    bounds.live += by
    const call = callKey(row, row.exact)
    const rows = byCall.get(call) ?? new Map<string, RememberedRow>()
    const ordered = byScope.get(row.scope) ?? Ordered.make()
    if (by === 1) {
      rows.set(row.id, row)
      ordered.add(0, row.id)
      byCall.set(call, rows)
      byScope.set(row.scope, ordered)
    } else {
      rows.delete(row.id)
      ordered.delete(0, row.id)
      if (rows.size === 0) byCall.delete(call)
      if (ordered.isEmpty()) byScope.delete(row.scope)
    }
  }

  const table = Table.make<Kept>({
    transactions,
    expiryOf: ({ row }) => row.expiresAt === Infinity ? undefined : row.expiresAt,
    changed: (_, before, after) => {
      if (before !== undefined) count(before.row, before.isOver, -1)
      if (after !== undefined) count(after.row, after.isOver, 1)
    }
  })

  const live = (id: string, now: number): RememberedRow | undefined => {
    const found = table.get(id, now)
    return found === undefined || found.isOver ? undefined : found.row
  }

  const end = (row: RememberedRow) => table.set(row.id, { row: { ...row, body: "" }, isOver: true })

  const write = <A>(run: (now: number) => A | StoreError) =>
    transactions.use((now) => {
      reclaimSome(now)
      return run(now)
    })

  const operations: RememberedAnswers = {
    candidates: (call) =>
      transactions.use((now) =>
        [callKey(call, undefined), callKey(call, call.exact)].flatMap((key) =>
          [...byCall.get(key)?.values() ?? []].filter(({ id }) => live(id, now) !== undefined)
        )
      ),
    insert: (row) =>
      write((now) => {
        if (table.get(row.id, now) !== undefined) return false
        const full = bounds.noRoom("remembered.insert", 1)
        if (full !== undefined) return full
        table.set(row.id, { row, isOver: false })
        return true
      }),
    take: (id) =>
      write((now) => {
        const row = live(id, now)
        if (row?.uses === undefined || row.uses < 1) return undefined
        const uses = row.uses - 1
        if (uses === 0) end(row)
        else table.set(id, { row: { ...row, uses }, isOver: false })
        return uses
      }),
    revoke: (scope, id) =>
      write((now) => {
        const row = live(id, now)
        if (row?.scope !== scope) return false
        end(row)
        return true
      }),
    list: (scope, { after, limit }) =>
      transactions.use((now) => {
        const rows: Array<RememberedRow> = []
        const ids = byScope.get(scope)?.after(after === undefined ? undefined : { at: 0, key: after }) ?? []
        for (const id of ids) {
          if (rows.length >= limit) break
          const row = live(id, now)
          if (row !== undefined) rows.push(row)
        }
        return rows
      })
  }

  return { operations, expired: table.expired, reclaim: (id) => table.set(id, undefined) }
}

// Without `exact`, those that are looked at for every call of the tool.
const callKey = (
  { scope, source, toolName }: { readonly scope: string; readonly source: string; readonly toolName: string },
  exact: string | undefined
): string => JSON.stringify([scope, source, toolName, exact ?? null])
