/** A store written as plainly as can be: rows in arrays, walked for everything. What others do is compared with it. */
import { Store } from "@assent/ai"

type Request = { -readonly [Key in keyof Store.RequestRow]: Store.RequestRow[Key] }

interface Rows {
  readonly requests: Array<Request>
  readonly conversations: Array<{ id: string; messages: Array<string>; expiresAt: number | undefined }>
  readonly remembered: Array<Store.RememberedRow & { isOver?: boolean }>
}

export interface Reference {
  readonly rows: Rows
  readonly now: number
}

export const empty: Reference = { rows: { requests: [], conversations: [], remembered: [] }, now: 0 }

/** Another with the same rows, which can be changed without changing these. */
export const copy = ({ now, rows }: Reference): Reference => ({ rows: structuredClone(rows), now })

export const make = ({ now, rows }: Reference) => {
  const isThere = (row: { readonly expiresAt?: number | undefined }, more = 0) =>
    row.expiresAt === undefined || now < row.expiresAt + more
  const requests = () =>
    rows.requests.filter((row) => isThere(row, row.waits === undefined ? Store.margin : Store.waitingMargin))
  const find = (nonce: string) => requests().find((row) => row.nonce === nonce)
  const insert = (name: Store.RequestName): Request => {
    const row: Request = { ...name, state: "pending", version: 0 }
    rows.requests.splice(0, rows.requests.length, ...rows.requests.filter(({ nonce }) => nonce !== name.nonce), row)
    return row
  }
  const remove = (isGone: (row: Request) => boolean) => {
    rows.requests.splice(0, rows.requests.length, ...rows.requests.filter((row) => !isGone(row)))
  }
  const conversation = (id: string) => rows.conversations.find((row) => row.id === id && isThere(row))
  const remembered = () => rows.remembered.filter((row) => row.isOver !== true && isThere(row))
  const order = (left: string, right: string) => left < right ? -1 : left > right ? 1 : 0
  const best = (found: ReadonlyArray<Request>) =>
    found.toSorted((left, right) =>
      Number(right.waits === "open") - Number(left.waits === "open") || right.issuedAt - left.issuedAt ||
      order(right.nonce, left.nonce)
    )[0]

  return {
    get: find,
    open: (name: Store.RequestName, request: string) => {
      const row = find(name.nonce) ?? insert(name)
      row.request = request
    },
    close: (nonce: string) => {
      const row = find(nonce)
      if (row?.state !== "pending") return
      if (row.version === 0 && row.waits === undefined) remove((one) => one === row)
      else row.request = undefined
    },
    decide: (name: Store.RequestName, version: number, { entry, result, state }: Store.Decided) => {
      const begins = version === 0 && (state === "running" || state === "pending")
      const found = find(name.nonce)
      if (begins && found?.waits === undefined && !isThere(name, Store.margin)) return "Forgotten"
      if ((found?.version ?? 0) !== version) return false
      Object.assign(found ?? insert(name), { state, entry, result, version: version + 1 })
      return true
    },
    suspend: ({ dueAt, suspension, webhook, ...name }: Store.Suspended) => {
      const found = find(name.nonce)
      if (found?.waits !== undefined) return "known"
      if (!isThere(name, Store.margin)) return "Forgotten"
      if (requests().some((row) => row.waits === "open" && row.webhook === webhook && webhook !== undefined)) {
        return "webhook"
      }
      Object.assign(found ?? insert(name), { waits: "open", suspension, dueAt, webhook })
      return "suspended"
    },
    advance: (nonce: string, from: ReadonlyArray<string>, to: "taken" | "over") => {
      const row = find(nonce)
      if (row?.waits === undefined || row.waits === "over" || !from.includes(row.waits)) return false
      Object.assign(row, { waits: to, dueAt: undefined })
      if (to === "over") row.answer = undefined
      return true
    },
    deliver: (nonce: string, answer: string) => {
      const row = find(nonce)
      if (row?.waits !== "open" || row.answer !== undefined) return false
      Object.assign(row, { answer, dueAt: 0 })
      return true
    },
    told: (nonce: string) => {
      const row = find(nonce)
      if (row !== undefined) row.dueAt = undefined
    },
    page: (filter: Store.RequestFilter) =>
      requests()
        .filter((row) =>
          isThere(row) && row.state === "pending" &&
          (row.waits === undefined ? row.request !== undefined : row.waits === "open" && row.answer === undefined) &&
          (filter.waiting !== true || row.waits === "open") &&
          (filter.tenant === undefined || row.tenant === filter.tenant) &&
          (filter.issuedBefore === undefined || row.issuedAt < filter.issuedBefore)
        )
        .toSorted((left, right) => left.issuedAt - right.issuedAt || order(left.nonce, right.nonce))
        .map(({ nonce }) => nonce),
    due: () =>
      requests()
        .filter((row) => row.waits === "open" && row.dueAt !== undefined && row.dueAt <= now)
        .toSorted((left, right) => left.dueAt! - right.dueAt! || order(left.nonce, right.nonce))
        .map(({ nonce }) => nonce),
    byWebhook: (webhook: string) => best(requests().filter((row) => row.webhook === webhook))?.nonce,
    /** Writes over what is there, if it is to be there. */
    write: (
      id: string,
      isThere: boolean,
      keep: number,
      append: ReadonlyArray<string>,
      expiresAt: number | undefined
    ) => {
      const found = conversation(id)
      if ((found !== undefined) !== isThere) return false
      const messages = [...found?.messages.slice(0, keep) ?? [], ...append]
      const others = rows.conversations.filter((row) => row.id !== id)
      rows.conversations.splice(0, rows.conversations.length, ...others, { id, messages, expiresAt })
      return true
    },
    read: (id: string) => conversation(id)?.messages,
    remove: (id: string) => {
      rows.conversations.splice(0, rows.conversations.length, ...rows.conversations.filter((row) => row.id !== id))
      remove((row) => row.conversation === id && row.state === "pending")
    },
    insert: (row: Store.RememberedRow) => {
      const others = rows.remembered.filter(({ id }) => id !== row.id)
      if (rows.remembered.some((one) => one.id === row.id && isThere(one))) return false
      rows.remembered.splice(0, rows.remembered.length, ...others, { ...row })
      return true
    },
    take: (id: string) => {
      const index = rows.remembered.findIndex((row) => row.id === id && row.isOver !== true && isThere(row))
      const row = rows.remembered[index]
      if (row?.uses === undefined) return undefined
      rows.remembered[index] = { ...row, uses: row.uses - 1, isOver: row.uses === 1 }
      return row.uses - 1
    },
    revoke: (id: string) => {
      const index = rows.remembered.findIndex((row) => row.id === id && row.isOver !== true && isThere(row))
      if (index < 0) return false
      rows.remembered[index] = { ...rows.remembered[index]!, isOver: true }
      return true
    },
    candidates: (exact: string) =>
      remembered()
        .filter((row) => row.exact === undefined || row.exact === exact)
        .map(({ id, uses }) => `${id} ${uses}`)
        .toSorted(),
    list: () => remembered().map(({ id }) => id).toSorted()
  }
}
