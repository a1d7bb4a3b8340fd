/** Conversations in memory. */
import { definedFields } from "../fields.ts"
import type { Bounds } from "./bounds.ts"
import type { ConversationRow, Conversations, Ended, StoreError } from "./model.ts"
import * as Table from "./table.ts"
import type { Transactions } from "./transactions.ts"

export interface MemoryConversations {
  readonly operations: Conversations
  readonly expired: (now: number) => string | undefined
  readonly hasExpired: (id: string, now: number) => boolean
  /** Whether there is one that was begun in that call. */
  readonly hasWithin: (parent: string) => boolean
  /** One that has expired. */
  readonly reclaim: (id: string, now: number) => void
}

interface Kept {
  readonly row: ConversationRow
  /** Only the first `row.messages` are of it: what comes after is of a version that follows, or of one that was undone. */
  readonly messages: Array<string>
}

export const make = ({ bounds, forgetAskedIn, reclaimSome, transactions }: {
  readonly transactions: Transactions
  readonly bounds: Bounds
  readonly forgetAskedIn: (conversation: string, ended: Ended, now: number) => void
  readonly reclaimSome: (now: number) => void
}): MemoryConversations => {
  // No version is given twice, so that whoever knows one of a conversation that was removed cannot take it for another.
  let versions = 0
  // Those of agents, by the outermost, with which they go.
  const agents = new Map<string, Set<string>>()
  // How many there are of each call.
  const begun = new Map<string, number>()
  const count = (parent: string | undefined, by: 1 | -1) => {
    if (parent === undefined) return
    const now = (begun.get(parent) ?? 0) + by
    if (now === 0) begun.delete(parent)
    else begun.set(parent, now)
  }

  const table = Table.make<Kept>({
    transactions,
    expiryOf: ({ row }) => row.expiresAt === Infinity ? undefined : row.expiresAt,
    changed: (id, before, after) => {
      count(before?.row.parent, -1)
      count(after?.row.parent, 1)
      if (before?.row.parent !== undefined) agents.get(before.row.root ?? "")?.delete(id)
      if (after?.row.parent !== undefined) {
        const { root = "" } = after.row
        agents.set(root, (agents.get(root) ?? new Set()).add(id))
      }
      bounds.live += (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1)
    }
  })

  const remove = (id: string, ended: Ended, now: number) => {
    table.set(id, undefined)
    forgetAskedIn(id, ended, now)
    for (const agent of Array.from(agents.get(id) ?? [])) remove(agent, ended, now)
    agents.delete(id)
  }

  const reclaim = (id: string, now: number) => remove(id, { state: "expired" }, now)

  const write = <A>(run: (now: number) => A | StoreError) =>
    transactions.use((now) => {
      reclaimSome(now)
      return run(now)
    })

  const appended = (found: Kept | undefined, keep: number, append: ReadonlyArray<string>): Array<string> => {
    const known = found?.messages ?? []
    if (known.length !== keep) return [...known.slice(0, keep), ...append]
    for (const message of append) known.push(message)
    return known
  }

  const operations: Conversations = {
    get: (id) => transactions.use((now) => table.get(id, now)?.row),
    read: (id) =>
      transactions.use((now) => {
        const found = table.get(id, now)
        return found === undefined
          ? undefined
          : { row: found.row, messages: found.messages.slice(0, found.row.messages) }
      }),
    write: (id, version, { append, begins: _, keep: wanted, state, ...fields }) =>
      write((now) => {
        const found = table.get(id, now)
        if (found?.row.version !== version) return undefined
        const full = found === undefined ? bounds.noRoom("conversations.write", 1) : undefined
        if (full !== undefined) return full
        // What is left of one that has expired.
        if (found === undefined && table.peek(id) !== undefined) reclaim(id, now)
        const keep = Math.min(wanted, found?.row.messages ?? 0)
        const gone = found?.messages.slice(keep, found.row.messages) ?? []
        const bytes = (found?.row.bytes ?? 0) - utf8Length(found?.row.state ?? "") - sum(gone) + sum(append) +
          utf8Length(state)
        versions += 1
        const messages = appended(found, keep, append)
        const row = {
          ...definedFields(fields),
          id,
          version: versions,
          state,
          stopped: found?.row.stopped ?? 0,
          messages: keep + append.length,
          bytes
        }
        table.set(id, { row, messages })
        return versions
      }),
    stop: (id) =>
      transactions.use((now) => {
        const found = table.get(id, now)
        if (found !== undefined) table.set(id, { ...found, row: { ...found.row, stopped: found.row.stopped + 1 } })
        return found !== undefined
      }),
    remove: (id) =>
      write((now) => {
        const hasExpired = table.peek(id) !== undefined && table.get(id, now) === undefined
        remove(id, { state: hasExpired ? "expired" : "withdrawn" }, now)
      })
  }

  return {
    operations,
    expired: table.expired,
    hasWithin: (parent) => begun.has(parent),
    hasExpired: (id, now) => table.peek(id) !== undefined && table.get(id, now) === undefined,
    reclaim
  }
}

const sum = (texts: ReadonlyArray<string>): number => texts.reduce((total, text) => total + utf8Length(text), 0)

/** The bytes of a text as UTF-8. */
const utf8Length = (text: string): number => {
  let bytes = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    if (unit < 0x800) bytes += 1
    // A pair is two units and four bytes; half of one is written as U+FFFD.
    else if (unit >= 0xd800 && unit < 0xdc00 && isLow(text.charCodeAt(index + 1))) {
      index++
      bytes += 2
    } else bytes += 2
  }
  return bytes
}

const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff
