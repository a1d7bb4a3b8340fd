/** What must be so at the end of every story, whatever happened in it. */
import type { UIMessage } from "ai"
import { cards, type Page } from "../server.ts"
import { isCut, type Mortal } from "./mortal.ts"
import type { Reader } from "./paging.ts"

export interface Ending {
  readonly server: Mortal
  /** The conversation, as a page has it that begins now. */
  readonly kept: Array<UIMessage>
  readonly pages: ReadonlyArray<Reader>
  /** Those that were closed, or loaded again since. */
  readonly gone: ReadonlyArray<Reader>
  /** The paths that somebody has let be deleted: as they were asked about, or as they were changed. */
  readonly allowed: ReadonlySet<string>
  readonly mayBeCut: boolean
  readonly mayFail: boolean
}

/** What people read where the model fails. */
export const noAnswer = "The model did not answer. What was done is kept; try again."

/** What people read who come back to a turn whose process was killed. */
const isLeft =
  "The turn did not come to its end: whoever took it left, or their process ended. What it did before is in the history."

export const edited = (path: string): string => `${path}-edited`

/** Whoever sees that tries again. */
export const isStuck = (page: Page): boolean => page.chat.status === "error" || unsettled(page).length > 0

/** The call, as it was asked. */
const originalOf = (path: string): string => path.replace(/-edited$/, "")

export const problemsOf = (ending: Ending): ReadonlyArray<string> => {
  const { allowed, gone, kept, mayBeCut, mayFail, pages, server } = ending
  const expected = new Set([
    ...(mayBeCut ? [isCut] : []),
    ...(server.wasKilled() ? [isLeft] : []),
    ...(mayFail ? [noAnswer] : [])
  ])
  const everyone = [...pages, ...gone]
  return [
    ...everyone.flatMap(({ errors }) =>
      errors.filter(({ message }) => !expected.has(message)).map(({ message }) => `a client failed: ${message}`)
    ),
    ...everyone.flatMap((page) => {
      const unasked = page.unasked()
      return unasked === 0 ? [] : [`${unasked} posts that nobody had a part in`]
    }),
    ...repeated(textsOf(kept)).map((text) => `"${text}" was said twice`),
    ...repeated(server.begun.map((what) => originalOf(what))).map((what) => `${what} began twice`),
    ...server.deleted.filter((path) => !allowed.has(path)).map((path) => `nobody let ${path} be deleted`),
    ...pages.flatMap((page) => unsettled(page)),
    ...pages.flatMap((page) => different(page, kept)),
    ...everyone.flatMap((page) => lost(page, kept)),
    ...untrue(ending)
  ]
}

const repeated = (all: ReadonlyArray<string>): ReadonlyArray<string> =>
  all.filter((one, index) => all.indexOf(one) !== index)

// What the user said: each of them says something else.
const textsOf = (messages: ReadonlyArray<UIMessage>): ReadonlyArray<string> =>
  messages.flatMap(({ parts, role }) =>
    role === "user" ? parts.map((part) => part.type === "text" ? part.text : "") : []
  )

// A card that stays answered in the last message is what a client posts for, again and again.
const unsettled = ({ chat }: Page): ReadonlyArray<string> =>
  chat.lastMessage?.role !== "assistant" || chat.status !== "ready" ?
    [] :
    chat.lastMessage.parts.flatMap((part: any) =>
      part.state === "approval-responded" ? [`${part.input.path} stays answered`] : []
    )

// What a page shows as settled is what is kept.
const different = (page: Page, kept: Array<UIMessage>): ReadonlyArray<string> => {
  const inHistory = cards({ chat: { messages: kept } })
  return cards(page).flatMap((one) => {
    const same = inHistory.find((other) =>
      other.approval === undefined || one.approval === undefined
        ? false
        : other.approval.id === one.approval.id
    )
    const isSettled = String(one.state).startsWith("output-") && one.preliminary !== true
    return same === undefined || !isSettled || same.state === one.state
      ? []
      : [`${one.input.path} is ${one.state} on a page and ${same.state} in the history`]
  })
}

// Who was told nothing else has been heard. A message that was cut off before is one that its page shows as failed.
const lost = ({ heard }: Reader, kept: Array<UIMessage>): ReadonlyArray<string> => {
  const said = new Set(textsOf(kept))
  return Array.from(heard).filter((text) => !said.has(text)).map((text) =>
    `"${text}" was heard, and is not in the history`
  )
}

// What the history says of a call is what the tool did.
const untrue = ({ kept, server }: Ending): ReadonlyArray<string> => {
  const deleted = new Set(server.deleted.map(originalOf))
  const begun = new Set(server.begun.map(originalOf))
  const told = new Set<string>()
  const problems = cards({ chat: { messages: kept } }).flatMap(({ input, state, type }) => {
    if (type !== "tool-DeleteFile") return []
    const path = originalOf(input.path)
    if (state === "output-available") {
      told.add(path)
      return deleted.has(path) ? [] : [`${path} is told to be deleted, and is not`]
    }
    return state === "output-denied" && begun.has(`delete ${path}`) ? [`${path} is denied, and was begun`] : []
  })
  return [
    ...problems,
    ...Array.from(deleted)
      .filter((path) => !told.has(path) && !server.wasKilled())
      .map((path) => `${path} was deleted, and the history does not say so`)
  ]
}
