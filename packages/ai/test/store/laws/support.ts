/** What the laws of a store share: rows to write, and rows as they are compared. */
import type { Store } from "@assent/ai"
import type { Story } from "../../laws/story.ts"

/** Names a law and carries it out over a store of its own. */
export type Law = (title: string, body: Story<[store: Store.Store]>) => void

export const minute = 60_000

/** What names a request; the nonce says which. */
export const named = (nonce: string, fields?: Partial<Store.RequestName>): Store.RequestName => ({
  nonce,
  approvalId: `id-${nonce}`,
  toolName: "SendMail",
  toolCallId: `call-${nonce}`,
  kind: "approval",
  issuedAt: 0,
  ...fields
})

export const shown = (nonce: string, fields?: Partial<Store.RequestName>, request = `{"shown":"${nonce}"}`) => ({
  ...named(nonce, fields),
  request
})

export const waits = (nonce: string, fields?: Partial<Store.Suspended>): Store.Suspended => ({
  ...named(nonce),
  kind: "timer",
  suspension: `{"waits":"${nonce}"}`,
  ...fields
})

export const written = (fields?: Partial<Store.ConversationWrite>): Store.ConversationWrite => ({
  name: "talk",
  state: "{}",
  keep: 0,
  append: [],
  ...fields
})

export const answer = (id: string, fields?: Partial<Store.RememberedRow>): Store.RememberedRow => ({
  id,
  scope: "s",
  source: "local",
  toolName: "SendMail",
  denies: false,
  body: `{"id":"${id}"}`,
  ...fields
})

/** A row without the fields it does not have, which a store may say as `undefined` or not at all. */
export const plain = (row: object | undefined): object | undefined =>
  row === undefined ? undefined : Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined))

export const nonces = (rows: ReadonlyArray<Store.RequestRow>): ReadonlyArray<string> => rows.map(({ nonce }) => nonce)

/** Text that is stored as it is, or not at all. */
export const texts: ReadonlyArray<string> = [
  "",
  " ",
  "é",
  "e\u0301",
  "日本",
  "👩‍👩‍👧",
  "𐏿",
  "\uffff",
  "'; DROP TABLE request; --",
  "%_\\\"`",
  "a\nb\r\n",
  "A",
  "a"
]
