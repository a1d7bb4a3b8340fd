/** A store written as plainly as can be: rows in arrays, walked for everything. What others do is compared with it. */
import { Store } from "@assent/ai"

type Request = { -readonly [Key in keyof Store.RequestRow]: Store.RequestRow[Key] }

interface Rows {
  readonly requests: Array<Request>
  readonly conversations: Array<{ id: string; messages: Array<string>; expiresAt: number | undefined }>
  readonly remembered: Array<Store.RememberedRow & { isOver?: boolean }>
  /** What was told, and of what there may be more to tell. */
  readonly told: Array<string>
  readonly asked: Array<{ nonce: string; expiresAt: number | undefined; hasExpired: boolean }>
}

export interface Reference {
  readonly rows: Rows
  readonly now: number
}

export const empty: Reference = {
  rows: { requests: [], conversations: [], remembered: [], told: [], asked: [] },
  now: 0
}

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

  const isOpen = (row: Request) =>
    row.state === "pending" &&
    (row.waits === undefined ? row.request !== undefined : row.waits === "open" && row.answer === undefined)
  const opened = (row: Request) => {
    if (!isOpen(row) || row.request === undefined || !isThere(row)) return
    if (rows.asked.some(({ nonce }) => nonce === row.nonce)) return
    rows.asked.push({ nonce: row.nonce, expiresAt: row.expiresAt, hasExpired: false })
    rows.told.push(`${row.nonce} opened`)
  }
  const ended = (nonce: string, state: Store.EndState) => {
    const index = rows.asked.findIndex((one) => one.nonce === nonce)
    const one = rows.asked[index]
    if (one === undefined || (one.hasExpired && state !== "running" && state !== "denied" && state !== "answered")) {
      return
    }
    rows.asked.splice(index, 1)
    rows.told.push(`${nonce} decided ${state}`)
  }

  return {
    get: find,
    open: (name: Store.RequestName, request: string) => {
      const row = find(name.nonce) ?? insert(name)
      if (row.waits === "over" || (row.waits === undefined && isSettled.has(row.state))) return
      row.request = request
      opened(row)
    },
    close: (nonce: string, isWithdrawn: boolean) => {
      const row = find(nonce)
      if (isWithdrawn && (row === undefined || row.state === "pending")) ended(nonce, "withdrawn")
      if (row?.state !== "pending") return
      if (row.version === 0 && row.waits === undefined) remove((one) => one === row)
      else row.request = undefined
    },
    decide: (name: Store.RequestName, version: number, { entry, result, state }: Store.Decided) => {
      const begins = version === 0 && (state === "running" || state === "pending")
      const found = find(name.nonce)
      if (begins && found?.waits === undefined && !isThere(name, Store.margin)) return "Forgotten"
      if ((found?.version ?? 0) !== version) return false
      const before = found?.state ?? "pending"
      const row = found ?? insert(name)
      Object.assign(row, { state, entry, result, version: version + 1 })
      if (isSettled.has(state) && (row.waits === undefined || row.waits === "over")) row.request = undefined
      if (before === "pending" && state !== "pending") ended(name.nonce, state)
      if (before !== "pending") opened(row)
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
      if (row.state === "pending" && row.waits === "open") ended(nonce, to === "over" ? "withdrawn" : "answered")
      Object.assign(row, { waits: to, dueAt: undefined })
      if (to === "over") {
        row.answer = undefined
        if (row.state !== "running") row.request = undefined
      }
      return true
    },
    deliver: (nonce: string, answer: string) => {
      const row = find(nonce)
      if (row?.waits !== "open" || row.answer !== undefined) return false
      Object.assign(row, { answer, dueAt: 0 })
      if (row.state === "pending") ended(nonce, "answered")
      return true
    },
    told: (nonce: string) => {
      const row = find(nonce)
      if (row !== undefined) row.dueAt = undefined
    },
    page: (filter: Store.RequestFilter) =>
      requests()
        .filter((row) =>
          isThere(row) && isOpen(row) &&
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
      const isAskedThere = (row: Request) => row.conversation === id && row.state === "pending"
      for (const { nonce } of rows.requests.filter(isAskedThere).toSorted((a, b) => order(a.nonce, b.nonce))) {
        ended(nonce, "withdrawn")
      }
      remove(isAskedThere)
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
    list: () => remembered().map(({ id }) => id).toSorted(),
    /** All that was told by now, while nothing is old enough to be given up. */
    events: () => {
      const due = rows.asked.filter(({ expiresAt, hasExpired }) =>
        !hasExpired && expiresAt !== undefined && expiresAt <= now
      )
      for (const one of due.toSorted((a, b) => a.expiresAt! - b.expiresAt! || order(a.nonce, b.nonce))) {
        one.hasExpired = true
        rows.told.push(`${one.nonce} expired`)
      }
      return now < Store.eventLife ? rows.told : []
    }
  }
}

const isSettled: ReadonlySet<string> = new Set(["done", "denied"])
