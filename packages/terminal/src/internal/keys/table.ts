/**
 * Every key, what it means and where. What stands below a screen, what `?` shows, and what a key without a meaning says
 * are all made of this; a key that is not in the row of a screen means nothing there.
 */
import type { Key } from "./key.ts"

/** A kind of screen, or a state of one in which keys mean something else. */
export type Place =
  | "question"
  | "page"
  | "pages"
  | "narrow"
  | "details"
  | "help"
  | "session"
  | "widest"
  | "edit"
  | "value"
  | "reason"
  | "batch"
  | "answer"
  | "note"
  | "verdict"
  | "choice"
  | "choices"
  | "form"
  | "formText"
  | "readBack"

/** What of it is so at the moment. */
export interface Now {
  /** Keys that this one screen does not offer. */
  readonly without?: ReadonlyArray<Key> | undefined
  /** How many there are to choose from. */
  readonly items?: number | undefined
  /** Whether `❯` points at something. */
  readonly points?: boolean | undefined
  /** The person's editor; without one there is no key for it. */
  readonly editor?: string | undefined
  /** Whether there are pages before what is shown. */
  readonly isPaged?: boolean | undefined
  /** What is not ticked. */
  readonly unticked?: "deny" | "ask" | undefined
}

/** A key in a place. */
export interface Meaning {
  readonly key: Key
  /** What is said of it below; nothing: it is told by `?` alone. */
  readonly wide?: string | undefined
  /** The same, in a narrow window. */
  readonly narrow?: string | undefined
  /** What is said of it where another key meant nothing. */
  readonly hint?: string | undefined
}

const key = (key: Key, wide?: string, narrow?: string, hint?: string): Meaning => ({ key, wide, narrow, hint })

const help = key("?", "? help", "?", "? all keys")
const details = key("d", "d details")
const back = key("Esc", "Esc goes back", "Esc goes back", "Esc goes back")
const pages = [
  key("space", "space next", "space next", "space next"),
  key("b", "b back"),
  key("End", "End last", "End last")
]

const digits = (items = 0): string => items === 1 ? "1" : items === 2 ? "1 or 2" : `1-${items}`

const list = ({ items = 0 }: Now): ReadonlyArray<Meaning> =>
  items > 9
    ? [key("↑↓", "↑↓ and Enter", "↑↓ and Enter", "↑↓ and Enter choose"), key("Enter")]
    : [
      key("1-9", `${digits(items)}, or ↑↓ and Enter`, `${digits(items)}, or ↑↓ and Enter`, `${digits(items)} choose`),
      key("↑↓"),
      key("Enter")
    ]

const ticks = ({ items = 0 }: Now): ReadonlyArray<Meaning> => [
  ...(items > 9
    ? [key("x", "x tick", "x tick", "x ticks")]
    : [key("1-9", `${digits(items)} tick`, `${digits(items)} tick`, `${digits(items)} tick`), key("x")]),
  key("a", "a all", "a all")
]

/** Where there are pages before this one. */
const looking = ({ isPaged = false }: Now): ReadonlyArray<Meaning> => isPaged ? [key("b")] : []

/** What a list has that is not told below it. */
const beside = (now: Now): ReadonlyArray<Meaning> => [
  key("d"),
  key("?", undefined, undefined, "? all keys"),
  ...looking(now),
  key("Ctrl-C")
]

const text = (editor: string | undefined): ReadonlyArray<Meaning> => [
  key("Alt-Enter", "Alt-Enter new line"),
  ...(editor === undefined ? [] : [key("Ctrl-G", `Ctrl-G ${editor}`)])
]

const options = ({ points = false }: Now): ReadonlyArray<Meaning> => [
  key("?", "? help", "? help", "? all keys"),
  key("d", "d details", "d details"),
  key("Esc", "Esc no"),
  key("Ctrl-C", "Ctrl-C stop"),
  key("Enter", points ? "Enter takes ❯" : "Enter only after ↑↓", points ? "Enter takes ❯" : "Enter after ↑↓"),
  key("↑↓")
]

const places: { readonly [P in Place]: (now: Now) => ReadonlyArray<Meaning> } = {
  question: (now) => [
    key("y", undefined, undefined, "y yes"),
    key("s"),
    key("e"),
    key("n", undefined, undefined, "n no"),
    ...options(now),
    ...looking(now)
  ],
  page: () => [...pages, key("n", "n no", "n no", "n no"), details, key("Esc", "Esc no"), help, key("Ctrl-C")],
  pages: () => [...pages, back, help, key("Ctrl-C")],
  narrow: () => [key("n", "n no", "n no", "n no"), key("Esc"), key("Ctrl-C")],
  details: () => [
    key("space", "space next page", "space next", "space next page"),
    key("b", "b back a page"),
    key("End", "End to the end", "End"),
    back,
    key("?"),
    key("Ctrl-C")
  ],
  help: () => [key("space"), key("b"), key("End"), key("d"), back, key("Ctrl-C")],
  session: (now) => [
    ...list(now),
    key("Esc", "the last one by ↑↓ only · Esc goes back", "Esc back", "Esc goes back"),
    ...beside(now)
  ],
  widest: (now) => [
    key("y", undefined, undefined, "y yes"),
    key("n", undefined, undefined, "n back to the list"),
    ...options(now).map((one) => one.key === "Esc" ? key("Esc", "Esc goes back") : one),
    ...looking(now)
  ],
  edit: (now) => [...list(now), back, ...beside(now)],
  value: ({ editor }) => [
    key("Enter", "Enter done, asked again", "Enter done", "Enter is done"),
    ...text(editor),
    back,
    key("Ctrl-C")
  ],
  reason: ({ editor }) => [
    key("Enter", "Enter denies, with or without words", "Enter denies", "Enter denies"),
    key("Alt-Enter"),
    ...(editor === undefined ? [] : [key("Ctrl-G")]),
    back,
    key("Ctrl-C")
  ],
  batch: (now) => [
    ...ticks(now),
    key("o", "o one by one"),
    key("n", "n deny all", "n deny all", "n deny all"),
    details,
    help,
    key("↑↓"),
    key("Enter"),
    key("Esc"),
    ...looking(now),
    key("Ctrl-C")
  ],
  answer: ({ editor }) => [
    key("Enter", "Enter sends", "Enter sends", "Enter sends"),
    ...text(editor),
    key("Esc", "Esc declines", "Esc declines", "Esc declines"),
    key("Ctrl-C")
  ],
  note: ({ editor }) => [
    key("Enter", "Enter says yes, with this note", "Enter says yes", "Enter says yes"),
    key("Alt-Enter"),
    ...(editor === undefined ? [] : [key("Ctrl-G")]),
    back,
    key("Ctrl-C")
  ],
  verdict: (now) => [
    key("y", undefined, undefined, "y yes"),
    key("w"),
    key("n", undefined, undefined, "n no"),
    ...options(now),
    ...looking(now)
  ],
  choice: (now) => [
    ...list(now),
    key("Esc", "Esc declines", "Esc declines", "Esc declines"),
    details,
    help,
    ...looking(now),
    key("Ctrl-C")
  ],
  choices: (now) => [
    ...ticks(now),
    key("Enter", "Enter reads it back", "Enter reads it back"),
    key("Esc", "Esc declines", undefined, "Esc declines"),
    details,
    help,
    key("↑↓"),
    ...looking(now),
    key("Ctrl-C")
  ],
  form: (now) => [
    key("Tab", "Tab next", "Tab next", "Tab next"),
    key("←→", "←→ choose"),
    key("Enter", "Enter reads it back", "Enter reads it back", "Enter reads it back"),
    key("Esc", "Esc declines"),
    help,
    key("d"),
    key("↑↓"),
    ...looking(now),
    key("Ctrl-C")
  ],
  formText: ({ editor }) => [
    key("Tab", "Tab next", "Tab next", "Tab next"),
    ...(editor === undefined ? [] : [key("Ctrl-G", `Ctrl-G ${editor}`)]),
    key("Enter", "Enter reads it back", "Enter reads it back", "Enter reads it back"),
    key("Esc", "Esc declines"),
    key("Alt-Enter"),
    key("↑↓"),
    key("Ctrl-C")
  ],
  readBack: (now) => [
    key("y", undefined, undefined, "y yes"),
    key("e"),
    key("n", undefined, undefined, "n no"),
    ...options(now),
    ...looking(now)
  ]
}

export const all: ReadonlyArray<Place> = Object.keys(places) as ReadonlyArray<Place> // Its keys are just these.

/** The keys that mean something, in the order in which they are told. */
export const meanings = (place: Place, now: Now): ReadonlyArray<Meaning> => {
  const { without = [] } = now
  return places[place](now).filter(({ key }) => !without.includes(key))
}

/** Whether `n` is a no there. */
export const declines = (place: Place, now: Now): boolean => meanings(place, now).some(({ key }) => key === "n")

/** What `?` says of a key, wherever it means something. */
export const told: ReadonlyArray<readonly [key: Key, says: string]> = [
  ["y", "runs it this once; nothing is remembered"],
  ["s", "runs it; you choose what is not asked again"],
  ["e", "you change it, see it whole, are asked again"],
  ["w", "says yes, with a note of yours"],
  ["1-9", "chooses that one, or ticks it"],
  ["x", "ticks what ❯ points at"],
  ["a", "ticks all; nothing runs by it"],
  ["o", "asks about each by itself"],
  ["n", "does not run it; you may say why"],
  ["d", "all of it: folded parameters, ids, times, JSON"],
  ["Tab", "goes to the next field"],
  ["←→", "choose in a field"],
  ["space", "shows the next page"],
  ["End", "goes to the last page"],
  ["Enter", "takes what ❯ points at; at first that is nothing"],
  ["Esc", "goes back; at the question: no, to this call"],
  ["Ctrl-C", "stops: nothing runs, asks or calls the model"]
]

/** Why a key that means something elsewhere means nothing here yet. */
export const refused = (place: Place, key: Key | undefined, now: Now): string | undefined => {
  return place === "page" && (key === "y" || key === "s") && now.without?.includes(key) !== true
    ? `${key} waits for all rows.`
    : undefined
}
